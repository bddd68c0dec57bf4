"""Moves by chance of all samples of a batch, each drawn from the numbers of its sample as if it were alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.images.random import (
    check_crop_size,
    draw_crop_offsets,
    draw_unit,
    flip_selected,
    slice_window,
)

# Generators of the samples, for the seed of an operation.
Numbers = Callable[[int | None], Iterable[np.random.Generator]]


def _crop(numbers: Numbers, values: NDArray[Any], size: Any, seed: int | None = None) -> NDArray[Any]:
    lengths = check_crop_size(values[0], size).tolist()
    out = np.empty((len(values), *lengths), values.dtype)
    for target, value, drawn in zip(out, values, numbers(seed), strict=True):
        target[...] = slice_window(value, draw_crop_offsets(drawn, value.shape, lengths), lengths)
    return out


def _flip(axis: int) -> Callable[..., NDArray[Any]]:
    def flipped(numbers: Numbers, pixels: NDArray[Any], seed: int | None = None) -> NDArray[Any]:
        is_flipped = np.array([draw_unit(drawn) < 0.5 for drawn in numbers(seed)])
        return flip_selected(pixels, axis, is_flipped)

    return flipped


# How many axes a sample has (None: any), and what is made of all of them. Arguments are those of the operations.
DRAWN: dict[str, tuple[int | None, Callable[..., NDArray[Any]]]] = {
    "image.random_crop": (None, _crop),
    "image.random_flip_left_right": (3, _flip(-2)),
    "image.random_flip_up_down": (3, _flip(-3)),
}

"""Moves of pixels that random operations decide about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.pixel_copies import laid_out, put
from recordmill.compat.tensorflow.images.checks import image_of


def mirrored(image: NDArray[Any], axis: int, chances: NDArray[np.float32]) -> NDArray[Any]:
    """Mirror one image or some of a batch."""
    pixels = image_of(image)
    turned = np.flip(pixels, axis)
    if pixels.ndim == 3:
        return laid_out(turned) if chances < 0.5 else pixels
    return chosen_of(turned, pixels, np.rint(chances) > 0)


def chosen_of(first: NDArray[Any], second: NDArray[Any], are_first: Iterable[bool | np.bool_]) -> NDArray[Any]:
    """Batch of some images of one batch and the others of another."""
    out = np.empty(second.shape, second.dtype)
    for row, is_first in enumerate(are_first):
        put(out[row], (first if is_first else second)[row])
    return out


def window(values: NDArray[Any], first: Sequence[int], lengths: Sequence[int]) -> NDArray[Any]:
    """Part of an array, as a view."""
    return values[tuple(slice(start, start + length) for start, length in zip(first, lengths, strict=True))]


def sliced(values: NDArray[Any], first: Sequence[int], lengths: Sequence[int]) -> NDArray[Any]:
    """Part of an array, side by side in memory; see `window`."""
    return np.ascontiguousarray(window(values, first, lengths))

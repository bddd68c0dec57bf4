"""``mx.nd.image``: operations on pictures (height, width, channels), alone or several of one size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from recordmill.compat.mxnet.absent import absent
from recordmill.compat.mxnet.base import ParameterError
from recordmill.compat.mxnet.image import functions
from recordmill.compat.mxnet.nd import NDArray, array, flip, stack

__getattr__ = absent(__name__, {}, "do it with mx.image, or NumPy on .asnumpy()")


def to_tensor(data: Any) -> NDArray:
    """Channels in front, values from 0 to 1 as float32."""
    values = np.moveaxis(np.asarray(data), -1, -3).astype(np.float32, order="C")
    values /= np.float32(255)
    return array(values)


def normalize(data: Any, mean: Any = 0.0, std: Any = 1.0) -> NDArray:
    """Values minus `mean`, divided by `std`, of each channel."""
    means, deviations = (np.atleast_1d(np.asarray(one, np.float32))[:, None, None] for one in (mean, std))
    values = np.subtract(data.asnumpy(), means, dtype=np.float32)
    values /= deviations
    return array(values)


def resize(src: Any, size: int | Sequence[int], keep_ratio: bool = False, interp: int = 1) -> NDArray:
    """Pictures of another size."""
    if src.ndim == 4:
        return stack(*[resize(one, size, keep_ratio, interp) for one in src])
    height, width = src.shape[:2]
    if not isinstance(size, int):
        sides = int(size[0]), int(size[1])
    elif not keep_ratio:
        sides = size, size
    else:
        sides = (size, height * size // width) if height > width else (width * size // height, size)
    return functions.imresize(src, *sides, interp)


def crop(data: Any, x: int, y: int, width: int, height: int) -> NDArray:
    """A part of pictures, in place of which a ParameterError comes where it lies outside."""
    if y + height > data.shape[-3] or x + width > data.shape[-2]:
        raise ParameterError(f"a part of {y + height} rows and {x + width} columns lies outside of {data.shape}")
    part: NDArray = data[..., y : y + height, x : x + width, :]
    return part


def flip_left_right(data: Any) -> NDArray:
    """Left and right exchanged."""
    return flip(data, axis=data.ndim - 2)


def flip_top_bottom(data: Any) -> NDArray:
    """Top and bottom exchanged."""
    return flip(data, axis=data.ndim - 3)

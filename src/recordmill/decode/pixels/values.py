"""Levels to the numbers of the batch: order of colors, mean and deviation, dtype, layout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.errors import ImageError


@dataclass(frozen=True, slots=True)
class Values:
    """What the numbers of the output are.

    Parameters
    ----------
    dtype : {"uint8", "uint16", "float16", "float32"}
    layout : {"chw", "hwc"}
    reverse : bool
        Whether colors go blue, green, red.
    mean, std : tuple of float, optional
        One number, or one for each channel of the output, in units of `white`.
    white : float
        What the brightest level becomes in float output.
    first : bool
        Whether levels become floats in units of `white` before they are resized, and not at the end.
    """

    dtype: str = "uint8"
    layout: str = "hwc"
    reverse: bool = False
    mean: tuple[float, ...] | None = None
    std: tuple[float, ...] | None = None
    white: float = 1.0
    first: bool = False


def scaled_first(pixels: NDArray[Any], brightest: int, how: Values) -> tuple[NDArray[Any], float]:
    """Levels as they are resized, and the brightest of them."""
    if not how.first:
        return pixels, brightest
    return pixels.astype(np.float32) * np.float32(how.white / brightest), how.white


def finish(pixels: NDArray[Any], brightest: float, how: Values, out: NDArray[Any] | None = None) -> NDArray[Any]:
    """Numbers of an image as they stand in a batch."""
    channels = pixels.shape[2]
    order = [2, 1, 0, *range(3, channels)] if how.reverse and channels >= 3 else list(range(channels))
    if out is None:
        height, width = pixels.shape[:2]
        out = np.empty((channels, height, width) if how.layout == "chw" else (height, width, channels), how.dtype)
    planes = out if how.layout == "chw" else out.transpose(2, 0, 1)
    ordered = pixels[:, :, order] if how.reverse else pixels
    if how.dtype.startswith("uint"):
        planes[...] = _whole(ordered, brightest, how).transpose(2, 0, 1)
    elif pixels.dtype == np.uint8:
        levels = np.broadcast_to(np.arange(256, dtype=np.uint8)[:, None, None], (256, 1, channels))
        table = _fractions(levels, brightest, how)[:, 0].astype(how.dtype)
        for place, channel in enumerate(order):
            planes[place] = table[:, place].take(pixels[:, :, channel])
    else:
        planes[...] = _fractions(ordered, brightest, how).transpose(2, 0, 1)
    return out


def _whole(pixels: NDArray[Any], brightest: float, how: Values) -> NDArray[Any]:
    limit = 255 if how.dtype == "uint8" else 65535
    if pixels.dtype == np.float32:
        scaled = pixels if limit == brightest else pixels * np.float32(limit / brightest)
        rounded: NDArray[Any] = np.clip(np.rint(scaled), 0, limit).astype(how.dtype)
        return rounded
    return pixels.astype(np.uint16) * np.uint16(257) if limit > brightest else pixels


def _fractions(pixels: NDArray[Any], brightest: float, how: Values) -> NDArray[np.float32]:
    for numbers_of in (how.mean, how.std):
        if numbers_of is not None and len(numbers_of) not in (1, pixels.shape[2]):
            raise ImageError(
                "mean and std have another number of entries than the image has channels",
                kind="channel_mismatch",
                expected=f"1 or {pixels.shape[2]}",
                found=str(len(numbers_of)),
            )
    numbers = pixels.astype(np.float32)
    if how.mean is not None:
        numbers = numbers - np.asarray([mean * (brightest / how.white) for mean in how.mean], np.float32)
    factor = np.float32(how.white / brightest) / np.asarray(how.std or (1.0,), np.float32)
    return numbers * factor if (factor != 1).any() else numbers

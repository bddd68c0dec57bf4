"""Images brought to another size, with the arithmetic of the library that is named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.decode.pillow import need_pillow
from recordmill.decode.pixels.planes import through_pillow
from recordmill.decode.presets import KERNELS
from recordmill.errors import ImageError

Pixels = NDArray[Any]
_FIXED_BITS = 11

# What this module has; other kernels are native alone, and compared with recordings of their libraries.
RESIZED_HERE = frozenset(
    [f"pillow:{word}" for word in KERNELS["pillow"]]
    + [f"{library}:{word}" for library in ("opencv", "tensorflow") for word in ("nearest", "bilinear")]
)


def resize_pixels(pixels: Pixels, size: tuple[int, int], kernel: str) -> Pixels:
    """Scale an image; channels do not mix."""
    library, _, word = kernel.partition(":")
    if library == "pillow":
        return _like_pillow(pixels, size, word)
    if word == "nearest":
        return _nearest(pixels, size, _opencv_places if library == "opencv" else _tensorflow_places)
    return _bilinear_opencv(pixels, size) if library == "opencv" else _bilinear_tensorflow(pixels, size)


def _like_pillow(pixels: Pixels, size: tuple[int, int], word: str) -> Pixels:
    kernel = getattr(need_pillow().Resampling, word.upper(), None)
    if kernel is None:
        raise ImageError(f"this Pillow has no kernel {word}", kind="unsupported", hint="newer ones have: Pillow 13")
    return through_pillow(pixels, lambda plane: plane.resize((size[1], size[0]), kernel))


def _nearest(pixels: Pixels, size: tuple[int, int], places: Callable[[int, int], NDArray[np.int64]]) -> Pixels:
    rows, columns = places(size[0], pixels.shape[0]), places(size[1], pixels.shape[1])
    return pixels[rows[:, None], columns]


def _opencv_places(new: int, old: int) -> NDArray[np.int64]:
    """INTER_NEAREST: the pixel at the upper left of each new one."""
    step = 1 / (new / old)
    places: NDArray[np.int64] = np.minimum(np.floor(np.arange(new) * step).astype(np.int64), old - 1)
    return places


def _tensorflow_places(new: int, old: int) -> NDArray[np.int64]:
    """``tf.image.resize(method="nearest")``: the pixel under the middle of each new one."""
    step = np.float32(old) / np.float32(new)
    middles = (np.arange(new, dtype=np.float32) + np.float32(0.5)) * step
    places: NDArray[np.int64] = np.minimum(np.floor(middles).astype(np.int64), old - 1)
    return places


def _bilinear_opencv(pixels: Pixels, size: tuple[int, int]) -> Pixels:
    """INTER_LINEAR; an exact half is the mean of four pixels, as there."""
    height, width = pixels.shape[:2]
    if size == (height, width):
        return pixels.copy()
    if pixels.dtype != np.float32 and pixels.shape[2] != 2 and (height, width) == (2 * size[0], 2 * size[1]):
        wide = pixels.astype(np.uint32)
        total = wide[0::2, 0::2] + wide[0::2, 1::2] + wide[1::2, 0::2] + wide[1::2, 1::2]
        halves: Pixels = ((total + 2) >> 2).astype(pixels.dtype)
        return halves
    top, bottom, upper, lower = _opencv_taps(size[0], height)
    left, right, first, second = _opencv_taps(size[1], width, whole_at_edges=True)
    if pixels.dtype == np.uint8:
        return _fixed_point(pixels, (top, bottom, upper, lower), (left, right, first, second))
    wide = pixels.astype(np.float32)
    rows = wide[:, left] * first[:, None] + wide[:, right] * second[:, None]
    mixed = rows[top] * upper[:, None, None] + rows[bottom] * lower[:, None, None]
    return mixed if pixels.dtype == np.float32 else np.clip(np.rint(mixed), 0, 65535).astype(pixels.dtype)


def _opencv_taps(
    new: int, old: int, *, whole_at_edges: bool = False
) -> tuple[NDArray[np.int64], NDArray[np.int64], Pixels, Pixels]:
    """Two neighbors and their weights; beyond the edges the outermost pixel twice, or once with all the weight."""
    step = 1 / (new / old)
    middles = ((np.arange(new) + 0.5) * step - 0.5).astype(np.float32)
    first = np.floor(middles).astype(np.int64)
    weight = middles - first.astype(np.float32)
    if whole_at_edges:
        weight[(first < 0) | (first >= old - 1)] = 0
        first = np.clip(first, 0, old - 1)
    return np.clip(first, 0, old - 1), np.clip(first + 1, 0, old - 1), np.float32(1) - weight, weight


def _fixed_point(pixels: Pixels, vertical: tuple[Pixels, ...], horizontal: tuple[Pixels, ...]) -> Pixels:
    """Weights of 11 bits, and the shifts by 4, 16 and 2 of OpenCV's vertical pass."""
    (top, bottom, upper, lower), (left, right, first, second) = (
        (*taps[:2], *(np.rint(weight * (1 << _FIXED_BITS)).astype(np.int32) for weight in taps[2:]))
        for taps in (vertical, horizontal)
    )
    wide = pixels.astype(np.int32)
    rows = (wide[:, left] * first[:, None] + wide[:, right] * second[:, None]) >> 4
    mixed = (rows[top] * upper[:, None, None] >> 16) + (rows[bottom] * lower[:, None, None] >> 16)
    levels: Pixels = np.clip((mixed + 2) >> 2, 0, 255).astype(np.uint8)
    return levels


def _bilinear_tensorflow(pixels: Pixels, size: tuple[int, int]) -> NDArray[np.float32]:
    """``tf.image.resize``: half-pixel middles, no antialiasing, float32 throughout."""
    wide = pixels.astype(np.float32)
    top, bottom, down = _tensorflow_taps(size[0], pixels.shape[0])
    left, right, across = _tensorflow_taps(size[1], pixels.shape[1])
    upper, lower = wide[top], wide[bottom]
    high = upper[:, left] + (upper[:, right] - upper[:, left]) * across[:, None]
    low = lower[:, left] + (lower[:, right] - lower[:, left]) * across[:, None]
    mixed: NDArray[np.float32] = high + (low - high) * down[:, None, None]
    return mixed


def _tensorflow_taps(new: int, old: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
    step = np.float32(old) / np.float32(new)
    middles = (np.arange(new, dtype=np.float32) + np.float32(0.5)) * step - np.float32(0.5)
    floor = np.floor(middles)
    first = np.maximum(floor.astype(np.int64), 0)
    last = np.minimum(np.ceil(middles).astype(np.int64), old - 1)
    return first, last, middles - floor

"""Conversions of colors as several libraries make them, each with its own weights and rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def gray_like_opencv(colors: NDArray[np.uint8], bits: int = 14) -> NDArray[np.uint8]:
    """Gray as OpenCV makes it where the format's own library does not: rounded."""
    weights = (4899, 9617, 1868) if bits == 14 else (9798, 19235, 3735)
    return _weighted(colors, weights, bits, 1 << (bits - 1))


def gray_like_libpng(colors: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Gray with weights of 15 bits, cut off: what OpenCV and TensorFlow let libpng do with color PNG."""
    return _weighted(colors, (9797, 19234, 3737), 15, 0)


def _weighted(colors: NDArray[np.uint8], weights: tuple[int, int, int], bits: int, half: int) -> NDArray[np.uint8]:
    total = colors.astype(np.uint32) @ np.array(weights, np.uint32)
    return ((total + np.uint32(half)) >> np.uint32(bits)).astype(np.uint8)[:, :, None]


def cmyk_like_opencv(inks: NDArray[Any]) -> NDArray[np.uint8]:
    """Red, green and blue as OpenCV computes them from the four planes of a JPEG."""
    colors, left = inks[:, :, :3].astype(np.int32), 255 - inks[:, :, 3:].astype(np.int32)
    return (left - (colors * left >> 8)).astype(np.uint8)


def cmyk_like_tensorflow(inks: NDArray[Any], *, adobe: bool) -> NDArray[np.uint8]:
    """Red, green and blue as TensorFlow computes them from the four planes of a JPEG."""
    levels = (255 - inks if adobe else inks).astype(np.int32)
    return (levels[:, :, :3] * levels[:, :, 3:] // 255).astype(np.uint8)

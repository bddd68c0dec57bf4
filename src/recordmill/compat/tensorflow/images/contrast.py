"""Contrast of images: levels further from, or nearer to, the means of their channels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.short_axes import combined
from recordmill.compat.tensorflow.images.level_tables import LEVELS, looked_up
from recordmill.compat.tensorflow.images.levels import converted_levels

_FLOAT = np.dtype(np.float32)


def contrasted(images: NDArray[np.float32], factor: float) -> NDArray[np.float32]:
    """Change the contrast of floating-point levels."""
    means = channel_means(images)
    out: NDArray[np.float32] = combined(np.subtract, images, means)
    out *= np.float32(factor)
    combined(np.add, out, means, out=out)
    return out


def contrasted_bytes(images: NDArray[np.uint8], factor: float) -> NDArray[np.uint8]:
    """Change the contrast of 8-bit levels, which are floats from 0 to 1 on the way."""
    out = np.empty(images.shape, np.uint8)
    means = channel_means(converted_levels(images, _FLOAT))
    levels = converted_levels(LEVELS, _FLOAT)
    for place in np.ndindex((*images.shape[:-3], images.shape[-1])):
        image, channel = place[:-1], place[-1]
        mean = means[image][0, 0, channel]
        table = converted_levels((levels - mean) * np.float32(factor) + mean, LEVELS.dtype, saturate=True)
        out[image][..., channel] = looked_up(images[image][..., channel], table)
    return out


def channel_means(images: NDArray[np.float32]) -> NDArray[np.float32]:
    """Mean of every channel of every image, added in halves as TensorFlow adds, and so with its rounding."""
    *batch, height, width, channels = images.shape
    count = height * width
    sums = images.reshape(*batch, count, channels)
    if count > 1:
        sums, count = _halved(sums)
    while count > 1:
        right = count // 2
        front, back = sums[..., :right, :], sums[..., count - right : count, :]
        np.add(front, back, out=front)
        count -= right
    return (sums[..., :1, :] * np.float32(1 / (height * width))).reshape(*batch, 1, 1, channels)


def _halved(sums: NDArray[np.float32]) -> tuple[NDArray[np.float32], int]:
    """First half with the second one added, in an array of its own, and its length."""
    count = sums.shape[-2]
    right = count // 2
    left = count - right
    half = np.empty((*sums.shape[:-2], left, sums.shape[-1]), np.float32)
    np.add(sums[..., :right, :], sums[..., left:, :], out=half[..., :right, :])
    half[..., right:, :] = sums[..., right:left, :]
    return half, left

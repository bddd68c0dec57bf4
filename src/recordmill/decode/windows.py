"""Windows of random area and shape, for a whole batch at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recordmill.decode.draws import Draws, Stage
from recordmill.decode.specs.geometry import RandomResizedCrop

Ints = NDArray[np.int64]
ATTEMPTS = 10


def random_windows(sizes: Ints, crop: RandomResizedCrop, draws: Draws, positions: ArrayLike) -> Ints:
    """Windows of RandomResizedCrop."""
    shapes, found = draw_shapes(sizes, crop.scale, crop.ratio, draws, positions, Stage.CROP)
    shapes[~found] = _largest(sizes[~found], crop.ratio)
    room = sizes - shapes
    corner = np.stack(
        [draws.integers(positions, Stage.CROP, room[:, axis] + 1, first=2 * ATTEMPTS + axis) for axis in (0, 1)], axis=1
    )
    corner[~found] = room[~found] // 2
    return np.concatenate([corner, shapes], axis=1)


def draw_shapes(
    sizes: Ints,
    scale: tuple[float, float],
    ratio: tuple[float, float],
    draws: Draws,
    positions: ArrayLike,
    stage: int,
    first: int = 0,
) -> tuple[Ints, NDArray[np.bool_]]:
    """Draw rectangles until one fits: area uniform, logarithm of width / height uniform."""
    unit = draws.uniform(positions, stage, 2 * ATTEMPTS, first)
    area = sizes.prod(axis=1)[:, None] * (scale[0] + (scale[1] - scale[0]) * unit[:, 0::2])
    low, high = np.log(ratio)
    aspect = np.exp(low + (high - low) * unit[:, 1::2])
    tried = np.rint(np.sqrt(np.stack([area * aspect, area / aspect], axis=2))).astype(np.int64)
    fits = ((tried > 0) & (tried <= sizes[:, None, :])).all(axis=2)
    chosen = tried[np.arange(len(sizes)), fits.argmax(axis=1)]
    return chosen, fits.any(axis=1)


def _largest(sizes: Ints, ratio: tuple[float, float]) -> Ints:
    """Largest shapes within the images whose width / height is within the range."""
    width, height = sizes.astype(np.float64).T
    shape = width / np.maximum(height, 1)
    wide: Any = np.where(shape > ratio[1], np.rint(height * ratio[1]), width)
    high: Any = np.where(shape < ratio[0], np.rint(width / ratio[0]), height)
    return np.clip(np.stack([wide, high], axis=1).astype(np.int64), 1, np.maximum(sizes, 1))

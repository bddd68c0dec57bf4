"""Windows that a random crop takes, drawn as OneFlow's documentation tells it; the generator is ours.

References
----------
oneflow/user/image/random_crop_generator.cpp of OneFlow 0.9.0 (distribution).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.dataclass import dataclass

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
_STAGE = 20_000


@dataclass(frozen=True, slots=True)
class WindowRule:
    """How windows are drawn."""

    num_attempts: int
    area: tuple[float, float]
    aspect_ratio: tuple[float, float]

    def __post_init__(self) -> None:
        """Refuse what no window could satisfy."""
        if self.num_attempts < 1:
            raise ValueError(f"num_attempts is at least 1, not {self.num_attempts}")
        for name in ("area", "aspect_ratio"):
            pair = getattr(self, name)
            if len(pair) != 2 or not 0 < pair[0] <= pair[1]:
                raise ValueError(f"random_{name} is two numbers, 0 < first <= second, not {pair!r}")

    def windows(self, sizes: Ints, draws: rm.Draws) -> Ints:
        """Draw a window for each image."""
        numbers = draws.uniform(np.arange(len(sizes)), _STAGE, 2 * self.num_attempts + 2)
        whole = np.ascontiguousarray(sizes[:, ::-1])
        sides = self._sides(whole, numbers[:, 0:-2:2], numbers[:, 1:-2:2])
        corners = (numbers[:, -2:] * (whole - sides + 1)).astype(np.int64)
        return np.concatenate([corners, sides], axis=1)

    def _sides(self, whole: Ints, first: Floats, second: Floats) -> Ints:
        """Widths and heights: those of the first attempt that fits."""
        low, high = np.log(self.aspect_ratio)
        area = whole.prod(axis=1)[:, None] * (self.area[0] + (self.area[1] - self.area[0]) * first)
        ratio = np.exp(low + (high - low) * second)
        tried = np.rint(np.sqrt(np.stack([area * ratio, area / ratio], axis=2))).astype(np.int64)
        fits = ((tried > 0) & (tried <= whole[:, None])).all(axis=2)
        chosen = tried[np.arange(len(whole)), fits.argmax(axis=1)]
        return np.asarray(np.where(fits.any(axis=1)[:, None], chosen, self._largest(whole)))

    def _largest(self, whole: Ints) -> Ints:
        """Largest windows whose shape and area are allowed; whole sides are cut off as OneFlow's integers are."""
        width, height = whole.T
        low, high = np.asarray(self.aspect_ratio, np.float32)
        ratio = width.astype(np.float32) / height.astype(np.float32)
        widths = np.where(ratio > high, (height.astype(np.float32) * high).astype(np.int64), width)
        heights = np.where(ratio < low, (width.astype(np.float32) / low).astype(np.int64), height)
        sides = np.maximum(1, np.stack([widths, heights], axis=1))
        most = np.float32(self.area[1]) * (width * height).astype(np.float32)
        shrink = np.sqrt(np.minimum(np.float32(1), most / sides.prod(axis=1).astype(np.float32)))
        return np.asarray(np.maximum(1, (sides.astype(np.float32) * shrink[:, None]).astype(np.int64)))

"""Windows that a random crop takes, drawn as OneFlow's documentation tells it; the generator is ours.

References
----------
oneflow/user/image/random_crop_generator.cpp of OneFlow 0.9.0 (distribution).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import recordmill as rm

Window = tuple[int, int, int, int]
_STAGE = 20_000


@dataclass(frozen=True, slots=True)
class WindowRule:
    """How windows are drawn.

    Parameters
    ----------
    num_attempts : int
        Windows that are tried, until one fits the image.
    area : (float, float)
        Of the image's area, drawn evenly.
    aspect_ratio : (float, float)
        Width to height, drawn evenly on a logarithmic scale.
    """

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

    def windows(self, sizes: NDArray[np.int64], draws: rm.Draws) -> list[Window]:
        """Draw a window for each image.

        Parameters
        ----------
        sizes : ndarray of int64, shape (n, 2)
            Heights and widths.
        draws : Draws
            One position for each image.

        Returns
        -------
        list of (int, int, int, int)
            x, y, width and height.
        """
        numbers = draws.uniform(np.arange(len(sizes)), _STAGE, 2 * self.num_attempts + 2)
        return [self._window(int(h), int(w), row) for (h, w), row in zip(sizes, numbers, strict=True)]

    def _window(self, height: int, width: int, numbers: NDArray[np.float64]) -> Window:
        wide, high = self._extent(height, width, numbers)
        return int(numbers[-2] * (width - wide + 1)), int(numbers[-1] * (height - high + 1)), wide, high

    def _extent(self, height: int, width: int, numbers: NDArray[np.float64]) -> tuple[int, int]:
        low, high = (math.log(ratio) for ratio in self.aspect_ratio)
        for first, second in numbers[:-2].reshape(-1, 2):
            area = height * width * (self.area[0] + (self.area[1] - self.area[0]) * first)
            ratio = math.exp(low + (high - low) * second)
            wide, tall = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
            if 0 < wide <= width and 0 < tall <= height:
                return wide, tall
        return self._largest(height, width)

    def _largest(self, height: int, width: int) -> tuple[int, int]:
        """Largest window whose shape and area are allowed."""
        ratio = min(max(width / height, self.aspect_ratio[0]), self.aspect_ratio[1])
        wide, tall = min(float(width), height * ratio), min(float(height), width / ratio)
        shrink = min(1.0, math.sqrt(self.area[1] * height * width / (wide * tall)))
        return max(1, round(wide * shrink)), max(1, round(tall * shrink))

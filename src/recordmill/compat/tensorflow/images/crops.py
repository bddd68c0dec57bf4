"""How TensorFlow draws a window of random area and shape: in float32, sides rounded to the nearest.

References
----------
tensorflow/core/kernels/image/sample_distorted_bounding_box_op.cc (which numbers are drawn, and in which order).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.images.checks import number_of
from recordmill.compat.tensorflow.images.philox import unit_of
from recordmill.dataclass import dataclass

_WORDS = 2**32
Crop = tuple[int, int, int, int]


class Source:
    """Numbers made of words of 32 bits."""

    def __init__(self, words: Any) -> None:
        self._words = words

    def unit(self) -> np.float32:
        """Take a number from 0 to 1, of 23 bits."""
        return unit_of(self._words.word())

    def below(self, limit: int) -> int:
        """Take a whole number, all equally likely."""
        uneven = (_WORDS - 1) % limit + 1 if limit & (limit - 1) else 0
        word: int = self._words.word()
        while word < uneven:
            word = self._words.word()
        return word % limit


@dataclass(frozen=True, slots=True)
class CropRule:
    """Which windows are drawn."""

    covered: float
    shapes: tuple[float, float]
    areas: tuple[float, float]
    attempts: int

    @classmethod
    def checked(
        cls, covered: Any, shapes: Sequence[float] | None, areas: Sequence[float] | None, attempts: Any
    ) -> CropRule:
        """Make a rule of what TensorFlow's operation is given."""
        low, high = (0.75, 1.33) if shapes is None else shapes
        least, most = (0.05, 1.0) if areas is None else areas
        tries, part = 100 if attempts is None else attempts, float(number_of(covered))
        if part < 0:
            raise InvalidArgumentError(f"Min object covered must be non-negative: {part}", kind="bad_argument")
        if low <= 0 or high <= 0 or low > high:
            raise InvalidArgumentError(f"Aspect ratio range must be above zero and in order: {low}, {high}")
        if not 0 < least <= most <= 1:
            raise InvalidArgumentError(f"Area range must be within (0, 1] and in order: {least}, {most}")
        if tries <= 0:
            raise InvalidArgumentError(f"Max attempts must be non-negative: {tries}", kind="bad_argument")
        return cls(part, (low, high), (least, most), tries)

    def crop(self, source: Source, height: int, width: int, objects: NDArray[np.int64]) -> Crop | None:
        """Draw a window."""
        low, high = np.float32(self.shapes[0]), np.float32(self.shapes[1])
        for _ in range(self.attempts):
            found = self._attempt(source, height, width, source.unit() * (high - low) + low)
            if found is not None and _covers(found, objects, self.covered):
                return found
        return None

    def _attempt(self, source: Source, height: int, width: int, shape: np.float32) -> Crop | None:
        least, most = (np.float32(area) * np.float32(width) * np.float32(height) for area in self.areas)
        tall, tallest = (_rounded(np.sqrt(area / shape)) for area in (least, most))
        tallest = min(_tallest(tallest, width, shape), height)
        tall = min(tall, tallest)
        if tall < tallest:
            tall += source.below(tallest - tall + 1)
        tall, wide = _within(tall, shape, least, most)
        if not (least <= tall * wide <= most and 0 < wide <= width and 0 < tall <= height):
            return None
        y = source.below(height - tall) if tall < height else 0
        x = source.below(width - wide) if wide < width else 0
        return y, x, tall, wide


def _rounded(number: Any) -> int:
    return int(np.rint(number))


def _tallest(tall: int, width: int, shape: np.float32) -> int:
    """Largest height whose width is not beyond the image's."""
    if _rounded(np.float32(tall) * shape) > width:
        tall = int((width + 0.5 - 0.0000001) / float(shape))
        if _rounded(np.float32(tall) * shape) > width:
            tall -= 1
    return tall


def _within(tall: int, shape: np.float32, least: np.float32, most: np.float32) -> tuple[int, int]:
    """Height and width; one more or one less row where rounding led out of the range of areas."""
    wide = _rounded(np.float32(tall) * shape)
    if tall * wide < least:
        tall += 1
        wide = _rounded(np.float32(tall) * shape)
    if tall * wide > most:
        tall -= 1
        wide = _rounded(np.float32(tall) * shape)
    return tall, wide


def _covers(crop: Crop, objects: NDArray[np.int64], part: float) -> bool:
    """Whether enough of one of the objects lies in a window."""
    y, x, tall, wide = crop
    for top, left, bottom, right in objects.tolist():
        area = (bottom - top) * (right - left)
        if area < 1:
            continue
        common = max(min(y + tall, bottom) - max(y, top), 0) * max(min(x + wide, right) - max(x, left), 0)
        if np.float32(common) / np.float32(area) >= np.float32(part):
            return True
    return False

"""Sizes and formats of the image files in a feature, read from the headers of the files."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.decode.signatures import are_mostly_images, find_image_formats
from recordmill.errors import MissingExtraError
from recordmill.types import Ragged

# Minimum and maximum; None if there are no values.
Range = tuple[Any, Any] | None


@dataclass(frozen=True, slots=True)
class ImageStatistics:
    """Statistics of the image files in a feature, read from the headers of the files.

    Parameters
    ----------
    widths, heights : (int, int) or None
        Minimum and maximum, in pixels, as stored (before the EXIF rotation).
    formats : dict of str to int
        Number of images by format: "jpeg", "png", "gif", "bmp", "webp", "tiff", or "unknown".
    num_unreadable : int
        Number of images whose size cannot be read: the header is broken, the image has more than 67,108,864 pixels, or
        its format needs the extra ``image``, which is not installed.
    """

    widths: tuple[int, int] | None
    heights: tuple[int, int] | None
    formats: dict[str, int]
    num_unreadable: int


def extend_range(known: Range, values: NDArray[Any]) -> Range:
    """Extend a known minimum and maximum by new values."""
    if not len(values):
        return known
    low, high = values.min().item(), values.max().item()
    return (low, high) if known is None else (min(low, known[0]), max(high, known[1]))


class ImageCollector:
    """Collects the sizes and formats of image files."""

    def __init__(self) -> None:
        self._sizes: tuple[Range, Range] = (None, None)
        self._formats: Counter[str] = Counter()
        self._num_unreadable = 0

    @classmethod
    def create_for(cls, values: Ragged) -> ImageCollector | None:
        """Return an empty collector. Return None if most `values` are not image files or no header can be read."""
        return cls() if are_mostly_images(values) and _read_image_sizes(values).any() else None

    def add(self, files: Ragged) -> NDArray[np.int64]:
        """Add image files; return the heights and widths of those that can be read."""
        sizes = _read_image_sizes(files)
        readable = sizes[sizes.any(axis=1)]
        heights, widths = self._sizes
        self._sizes = extend_range(heights, readable[:, 0]), extend_range(widths, readable[:, 1])
        self._num_unreadable += len(files) - len(readable)
        self._formats.update(name or "unknown" for name in find_image_formats(files))
        return readable

    def finish(self) -> ImageStatistics:
        """Return the statistics, with the most frequent format first."""
        heights, widths = self._sizes
        return ImageStatistics(widths, heights, dict(self._formats.most_common()), self._num_unreadable)


def _read_image_sizes(files: Ragged) -> NDArray[np.int64]:
    """Return the height and width of each image; both are 0 for an image that cannot be read."""
    from recordmill.decode.image_files import image_sizes

    try:
        return image_sizes(files, orientation="ignore")
    except MissingExtraError:
        if len(files) == 1:
            return np.zeros((1, 2), np.int64)
        return np.concatenate([_read_image_sizes(files[row : row + 1]) for row in range(len(files))])

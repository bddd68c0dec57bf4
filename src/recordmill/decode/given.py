"""Windows and mirrors of a batch that are columns of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.decode.specs.geometry import GivenCrop, GivenFlip
from recordmill.decode.specs.image import Image
from recordmill.errors import FeatureError
from recordmill.types import Ragged

Ints = NDArray[np.int64]
# Corners and sides of windows that reach beyond their images.
_FAR = 1 << 16


@dataclass(frozen=True, eq=False, slots=True)
class Given:
    """What features say about the geometry of n images.

    Parameters
    ----------
    windows : ndarray of int64, shape (n, 4), optional
        x, y, width and height.
    mirrors : ndarray of bool, shape (n,), optional
    """

    windows: Ints | None = None
    mirrors: NDArray[np.bool_] | None = None

    def __getitem__(self, rows: Any) -> Given:
        """Return what is said about some images."""
        windows = None if self.windows is None else self.windows[rows]
        return Given(windows, None if self.mirrors is None else self.mirrors[rows])

    def outside(self, sizes: Ints, *, reaches: bool = False) -> NDArray[np.bool_]:
        """Say which windows do not lie within their images."""
        if self.windows is None:
            return np.zeros(len(sizes), np.bool_)
        corner, sides = self.windows[:, :2], self.windows[:, 2:]
        if reaches:
            return np.asarray(((sides < 1) | (sides > _FAR) | (np.abs(corner) > _FAR)).any(axis=1))
        # Compared so that no sum can overflow.
        wrong = (corner < 0) | (sides < 1) | (sides > sizes) | (corner > sizes - sides)
        return np.asarray(wrong.any(axis=1))


def given_features(spec: Image) -> list[str]:
    """Features that say something about an image's geometry."""
    return [part.feature for part in (spec.crop, spec.flip) if isinstance(part, GivenCrop | GivenFlip)]


def given_of(columns: Any, spec: Image) -> Given:
    """What columns say about the geometry of a batch."""
    windows = mirrors = None
    if isinstance(spec.crop, GivenCrop):
        windows = _table(columns(spec.crop.feature), spec.crop.feature, 4, "iu").astype(np.int64)
    if isinstance(spec.flip, GivenFlip):
        mirrors = _table(columns(spec.flip.feature), spec.flip.feature, 1, "iufb")[:, 0] != 0
    return Given(windows, mirrors)


def _table(column: Any, feature: str, wanted: int, kinds: str) -> NDArray[Any]:
    """Rows of so many numbers each."""
    count = len(column)
    if isinstance(column, Ragged):
        numbers = column.data if (np.diff(column.row_splits) == wanted).all() else None
    else:
        try:
            numbers = np.asarray(column)
        except ValueError:
            numbers = None
    if count == 0:
        return np.zeros((0, wanted), np.int64)
    if not isinstance(numbers, np.ndarray) or numbers.dtype.kind not in kinds or numbers.size != count * wanted:
        found = (
            "rows of other lengths" if not isinstance(numbers, np.ndarray) else f"{numbers.dtype} of {numbers.shape}"
        )
        noun = "one number" if wanted == 1 else f"{wanted} whole numbers"
        raise FeatureError(
            f"feature '{feature}' is to hold {noun} for each of {count} samples",
            kind="feature_mismatch",
            expected=f"shape {(count, wanted)}",
            found=found,
        )
    return numbers.reshape(count, wanted)

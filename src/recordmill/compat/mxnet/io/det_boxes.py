"""Boxes in labels of records: rows (class, left, top, right, bottom, ...) of float32, in shares of the picture."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.mxnet.base import ParameterError
from recordmill.dataclass import dataclass

Rows = NDArray[np.float32]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Box:
    """A window, or several, in shares of a picture."""

    left: Any
    top: Any
    width: Any
    height: Any

    def one(self, place: int) -> Box:
        """One of several."""
        return Box(self.left[place], self.top[place], self.width[place], self.height[place])


def split_label(label: Rows) -> tuple[Rows, Rows] | None:
    """Header and boxes of a label, without those that have no area."""
    header, width = (int(one) if np.isfinite(one) else 0 for one in label[:2].tolist()) if len(label) > 1 else (0, 0)
    if not 2 <= header <= len(label) or width < 5 or (len(label) - header) % width:
        return None
    rows = label[header:].reshape(-1, width)
    return label[:header], rows[(rows[:, 3] > rows[:, 1]) & (rows[:, 4] > rows[:, 2])]


def moved_into(rows: Rows, box: Box) -> Rows:
    """Boxes in shares of a window."""
    made = rows.copy()
    for column, start, length in ((1, box.left, box.width), (2, box.top, box.height)):
        made[:, column] = np.maximum(np.float32(0), (rows[:, column] - start) / length)
        made[:, column + 2] = np.minimum(np.float32(1), (rows[:, column + 2] - start) / length)
    return made


@dataclass(frozen=True, slots=True)
class CropRule:
    """What a window must have to be taken, and which boxes stay in it."""

    overlaps: tuple[float, float]
    sample_coverages: tuple[float, float]
    object_coverages: tuple[float, float]
    by_centre: bool
    least: float

    def takes(self, rows: Rows, boxes: Box) -> Flags:
        """Which of several windows are taken; all, where there is no box."""
        if not len(rows):
            return np.ones(boxes.left.shape, bool)
        columns = rows.T[:, :, None]
        return np.asarray(self._allows(columns, boxes).any(axis=0) & self._stay(columns, boxes).any(axis=0))

    def cut(self, rows: Rows, box: Box) -> Rows:
        """Boxes that stay in a window, in shares of it."""
        return moved_into(rows[self._stay(rows.T, box)], box) if len(rows) else rows

    def _allows(self, columns: Rows, box: Box) -> Flags:
        common, window = _common(columns, box), box.width * box.height
        areas = (columns[3] - columns[1]) * (columns[4] - columns[2])
        ranges = self.overlaps, self.sample_coverages, self.object_coverages
        wholes = window + areas - common, window, areas
        found = np.ones(common.shape, bool)
        for (low, high), whole in zip(ranges, wholes, strict=True):
            if low > 0 or high < 1:
                shares = common / whole
                found &= (shares >= np.float32(low)) & (shares <= np.float32(high))
        return found

    def _stay(self, columns: Rows, box: Box) -> Flags:
        if not self.by_centre:
            areas = (columns[3] - columns[1]) * (columns[4] - columns[2])
            return np.asarray(_common(columns, box) / areas > np.float32(self.least))
        x, y = (columns[1] + columns[3]) * np.float32(0.5), (columns[2] + columns[4]) * np.float32(0.5)
        across = (box.left <= x) & (x < box.left + box.width)
        return np.asarray(across & (box.top <= y) & (y < box.top + box.height))


def _common(columns: Rows, box: Box) -> Rows:
    """Areas that boxes share with a window."""
    sides = []
    for column, start, length in ((1, box.left, box.width), (2, box.top, box.height)):
        first = np.maximum(columns[column], start)
        width = columns[column + 2] - columns[column]
        sides.append(np.minimum(columns[column] + width, start + length) - first)
    return np.where((sides[0] > 0) & (sides[1] > 0), sides[0] * sides[1], np.float32(0))


def refuse_no_boxes(label: Rows, place: dict[str, Any]) -> ParameterError:
    """Error for a label that is none of boxes."""
    message, expected = "labels that are no boxes cannot be moved", "a header of 2, boxes of 5, or more"
    widths = ", ".join(f"{one:g}" for one in label[:2].tolist())
    found = f"{len(label)} labels, widths {widths}"
    return ParameterError(message, kind="bad_label", expected=expected, found=found, **place)

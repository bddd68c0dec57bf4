"""Boxes and points carried through the geometry of their images."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def map_points(points: Floats, matrix: Floats) -> Floats:
    """Points through a map."""
    moved: Floats = points @ matrix[:2, :2].T + matrix[:2, 2]
    return moved


def map_boxes(
    boxes: Floats, matrix: Floats, size: tuple[int, int], min_visible: float
) -> tuple[Any, NDArray[np.bool_]]:
    """Boxes through a map, clipped to the output; those that remain."""
    corners = boxes[:, [0, 1, 2, 1, 2, 3, 0, 3]].reshape(-1, 2)
    moved = map_points(corners, matrix).reshape(-1, 4, 2)
    whole = np.concatenate([moved.min(axis=1), moved.max(axis=1)], axis=1)
    clipped = np.clip(whole, 0, [*size, *size])
    area, seen = _areas(whole), _areas(clipped)
    kept = np.logical_and(seen > 0, seen >= min_visible * area)
    return clipped[kept], kept


def _areas(boxes: Floats) -> Floats:
    areas: Floats = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    return areas


def edges_of(boxes: Floats, form: str, size: tuple[int, int] | None) -> Floats:
    """Left, top, right and bottom of boxes in any form."""
    if form == "yxyx":
        boxes = boxes[:, [1, 0, 3, 2]]
    elif form == "xywh":
        boxes = np.concatenate([boxes[:, :2], boxes[:, :2] + boxes[:, 2:]], axis=1)
    return boxes if size is None else boxes * np.array([*size, *size])

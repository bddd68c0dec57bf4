"""Boxes of pictures as rows (class, left, top, right, bottom, ...), in shares of width and height."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Boxes = NDArray[Any]
Window = tuple[int, int, int, int]


def areas_of(boxes: Boxes) -> Boxes:
    """Areas of boxes."""
    sides: Boxes = np.maximum(0, boxes[:, 2:4] - boxes[:, 0:2])
    found: Boxes = sides[:, 1] * sides[:, 0]
    return found


def mirrored(labels: Boxes) -> None:
    """Exchange left and right of boxes, in place."""
    left = labels[:, 1].copy()
    labels[:, 1] = 1.0 - labels[:, 3]
    labels[:, 3] = 1.0 - left


def covers(labels: Boxes, window: Window, width: int, height: int, least: float) -> bool:
    """Whether a window covers more than a share of every box that it touches, and touches one."""
    x, y, w, h = window
    if w * h < 2:
        return False
    sizes = areas_of(labels[:, 1:])
    seen = sizes * width * height > 2
    boxes, sizes = labels[seen, 1:5], sizes[seen]
    low = np.maximum(boxes[:, :2], (x / width, y / height))
    high = np.minimum(boxes[:, 2:], ((x + w) / width, (y + h) / height))
    shares = areas_of(np.concatenate([low, high], axis=1).astype(labels.dtype)) / sizes
    shares = shares[shares > 0]
    return bool(shares.size and shares.min() > least)


def cut(labels: Boxes, window: Window, width: int, height: int, least: float) -> Boxes | None:
    """Boxes inside a window, in shares of it."""
    # Numbers of Python's: they become of the labels' dtype before they are used.
    start = [window[0] / width, window[1] / height] * 2
    size = [window[2] / width, window[3] / height] * 2
    found = labels.copy()
    for column in range(4):  # one after the other, as each step is rounded
        found[:, 1 + column] -= start[column]
        found[:, 1 + column] /= size[column]
    found[:, 1:5] = np.clip(found[:, 1:5], 0, 1)
    left = areas_of(found[:, 1:]) * size[0] * size[1] / areas_of(labels[:, 1:])
    kept = (found[:, 3] > found[:, 1]) & (found[:, 4] > found[:, 2]) & (left > least)
    return found[kept] if kept.any() else None


def windows(width: int, height: int, ratios: Any, areas: Any, count: int) -> Iterator[Window]:
    """Random windows, drawn by Python's ``random``."""
    low, high = (share * height * width for share in areas)
    for _ in range(count):
        ratio = random.uniform(*ratios)
        h = _height(ratio, low, high, width, height)
        w = round(h * ratio)
        if w * h < low:
            h += 1
            w = round(h * ratio)
        if w * h > high:
            h -= 1
            w = round(h * ratio)
        if low <= w * h <= high and 0 <= w <= width and 0 <= h <= height:
            y, x = random.randint(0, height - h), random.randint(0, width - w)
            yield x, y, w, h


def frames(width: int, height: int, ratios: Any, areas: Any, count: int) -> Iterator[Window]:
    """Random windows around a picture, drawn by Python's ``random``."""
    low, high = (share * height * width for share in areas)
    for _ in range(count):
        ratio = random.uniform(*ratios)
        h, most = round(math.sqrt(low / ratio)), round(math.sqrt(high / ratio))
        if round(h * ratio) < width:
            h = int((width + 0.499999) / ratio)
        h = min(max(h, height), most)
        if h < most:
            h = random.randint(h, most)
        w = round(h * ratio)
        if h - height >= 2 and w - width >= 2:
            y, x = random.randint(0, h - height), random.randint(0, w - width)
            yield x, y, w, h


def framed(labels: Boxes, window: Window, width: int, height: int) -> Boxes:
    """Boxes in shares of a window around the picture."""
    x, y, w, h = window
    found = labels.copy()
    for first, length, start, whole in ((1, width, x, w), (2, height, y, h)):
        found[:, first:5:2] = (found[:, first:5:2] * length + start) / whole
    return found


def _height(ratio: float, low: float, high: float, width: int, height: int) -> int:
    least, most = round(math.sqrt(low / ratio)), round(math.sqrt(high / ratio))
    if round(most * ratio) > width:
        most = int((width + 0.4999999) / ratio)
    most = min(most, height)
    return random.randint(least, most) if least < most else min(least, most)

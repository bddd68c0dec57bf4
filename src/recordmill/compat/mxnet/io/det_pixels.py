"""Pictures with boxes to the levels of a batch: the steps that were drawn for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.mxnet.io.det_plan import Scaling, Steps
from recordmill.compat.mxnet.io.hues import shifted
from recordmill.compat.mxnet.io.methods import resized
from recordmill.compat.mxnet.io.singles import decoded, make_each

Pixels = NDArray[np.uint8]
# Columns whose colours OpenCV computes together.
_TOGETHER = 4


def decode_by_steps(
    images: Sequence[Any], steps: Sequence[Steps], shape: Sequence[int], fill: int, threads: int
) -> NDArray[np.uint8]:
    """Levels of pictures, each in the upper left corner; where it does not reach they are 0."""
    made = np.zeros((len(images), *shape), np.uint8)

    def put(row: int) -> None:
        pixels = _prepared(images[row], steps[row], shape[0], fill)
        made[row, :, : pixels.shape[0], : pixels.shape[1]] = pixels.transpose(2, 0, 1)

    make_each(put, range(len(images)), max(threads, 1))
    return made


def _prepared(data: Any, steps: Steps, channels: int, fill: int) -> Pixels:
    pixels = _scaled(decoded(data, channels), steps.first)
    return _scaled(_cut(pixels, steps, fill), steps.last)


def _scaled(pixels: Pixels, scaling: Scaling | None) -> Pixels:
    return pixels if scaling is None else resized(pixels, scaling.size, scaling.method)


def _cut(pixels: Pixels, steps: Steps, fill: int) -> Pixels:
    """Window of a picture, with one level where it reaches beyond; what is left out gets no colours and no mirror."""
    x, y, width, height = steps.window
    x = pixels.shape[1] - x - width if steps.is_mirrored else x
    top, bottom = max(y, 0), min(y + height, pixels.shape[0])
    left, right = max(x, 0), min(x + width, pixels.shape[1])
    if top >= bottom or left >= right:
        return np.full((height, width, pixels.shape[2]), fill, np.uint8)
    behind = right - pixels.shape[1] // _TOGETHER * _TOGETHER
    inside = _coloured(pixels[top:bottom, left:right], steps, max(min(behind, right - left), 0))
    inside = rm.flip(inside) if steps.is_mirrored else inside
    if inside.shape[:2] == (height, width):
        return inside
    made = np.full((height, width, pixels.shape[2]), fill, np.uint8)
    start = x + width - right if steps.is_mirrored else left - x
    made[top - y : bottom - y, start : start + right - left] = inside
    return made


def _coloured(pixels: Pixels, steps: Steps, behind: int) -> Pixels:
    if any(steps.shifts):
        pixels = shifted(pixels, steps.shifts, behind)
    if steps.contrast:
        levels = np.rint(np.arange(256, dtype=np.float32) * (steps.contrast + np.float32(1)))
        pixels = np.clip(levels, 0, 255).astype(np.uint8).take(pixels)
    return np.ascontiguousarray(pixels)

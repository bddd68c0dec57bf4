"""Boxes that overlap with better ones, left out in batches: results are filled up to one length."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor, wrap
from recordmill.compat.tensorflow.images.drawing import non_max_suppression

# What TensorFlow adds to areas before it divides by them.
_LEAST_AREA = np.float32(1e-8)


@op("image.non_max_suppression_padded")
def non_max_suppression_padded(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    pad_to_max_output_size: bool = False,
    sorted_input: bool = False,
    canonicalized_coordinates: bool = False,
    tile_size: int = 512,
) -> tuple[Tensor, Tensor]:
    """Numbers of the boxes with the highest scores that do not overlap with a better one, and how many they are."""
    places, values = np.asarray(array_of(boxes), np.float32), np.asarray(array_of(scores), np.float32)
    most = int(array_of(max_output_size))
    if places.ndim < 2 or places.shape[-1] != 4 or places.shape[:-1] != values.shape:
        raise InvalidArgumentError(
            f"boxes of shape {places.shape} and scores of shape {values.shape} do not go together: expected "
            "(..., n, 4) and (..., n)"
        )
    if places.ndim == 2 and not sorted_input and not canonicalized_coordinates:
        kept = non_max_suppression(boxes, scores, most, iou_threshold, score_threshold).values
        return _filled([kept], most if pad_to_max_output_size else len(kept), ())
    if places.ndim > 2 and not pad_to_max_output_size:
        raise ValueError("'pad_to_max_output_size' (value False) must be True for batched input")
    shape = values.shape[:-1]
    count = int(np.prod(shape))
    flat, rows = places.reshape(count, -1, 4), values.reshape(count, values.shape[-1])
    order = _order(rows, bool(sorted_input))
    flat = np.take_along_axis(flat, order[..., None], 1)
    corners = flat if canonicalized_coordinates else _turned(flat)
    good = np.take_along_axis(rows, order, 1) > array_of(score_threshold)
    found = [
        at[_kept(box, fine, most, array_of(iou_threshold))] for box, fine, at in zip(corners, good, order, strict=True)
    ]
    return _filled(found, most, shape)


def _order(scores: NDArray[Any], is_sorted: bool) -> NDArray[Any]:
    if is_sorted:
        return np.broadcast_to(np.arange(scores.shape[1]), scores.shape)
    return np.argsort(-scores, kind="stable")


def _turned(boxes: NDArray[Any]) -> NDArray[Any]:
    """Corners exchanged where the very first box names the larger one first."""
    if not boxes.size:
        return boxes
    first = boxes[0, 0]
    rows = [2, 0] if first[0] > first[2] else [0, 2]
    columns = [3, 1] if first[1] > first[3] else [1, 3]
    return boxes[..., [rows[0], columns[0], rows[1], columns[1]]]


def _kept(boxes: NDArray[Any], good: NDArray[Any], most: int, limit: Any) -> list[int]:
    """Places of boxes that do not overlap with one that is kept, in their order."""
    low, high = boxes[:, :2], boxes[:, 2:]
    areas = np.prod(high - low, axis=1)
    left = good.copy()
    kept: list[int] = []
    for place in range(len(boxes)):
        if len(kept) == most:
            break
        if left[place]:
            kept.append(place)
            sides = np.maximum(np.minimum(high, high[place]) - np.maximum(low, low[place]), 0)
            shared = sides[:, 0] * sides[:, 1]
            left &= shared / (areas + areas[place] - shared + _LEAST_AREA) < limit
    return kept


def _filled(found: list[NDArray[Any]], length: int, shape: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    out = np.zeros((len(found), length), np.int32)
    for row, kept in zip(out, found, strict=True):
        row[: len(kept)] = kept
    counts = np.array([len(kept) for kept in found], np.int32)
    return wrap(out.reshape(*shape, length)), wrap(counts.reshape(shape))

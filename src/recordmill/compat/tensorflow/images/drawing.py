"""``tf.image.draw_bounding_boxes`` and ``non_max_suppression``: boxes that were found."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor

# Boxes whose overlaps with all others are computed at once.
_TOGETHER = 32
# Yellow, blue, red, lime, purple, olive, maroon, navy, aqua, fuchsia.
_COLOURS = np.array(
    [
        *((1, 1, 0, 1), (0, 0, 1, 1), (1, 0, 0, 1), (0, 1, 0, 1), (0.5, 0, 0.5, 1)),
        *((0.5, 0.5, 0, 1), (0.5, 0, 0, 1), (0, 0, 0.5, 1), (0, 1, 1, 1), (1, 0, 1, 1)),
    ],
    np.float32,
)


@op("image.draw_bounding_boxes")
def draw_bounding_boxes(images: Any, boxes: Any, colors: Any = None) -> Tensor:
    """Images with the frames of boxes, a pixel wide."""
    canvas, places = array_of(images).copy(), np.asarray(array_of(boxes), np.float32)
    if canvas.ndim != 4 or places.ndim != 3 or places.shape[2] != 4 or len(canvas) != len(places):
        raise InvalidArgumentError(
            f"images of shape {canvas.shape} and boxes of shape {places.shape} do not go together: expected "
            "(batch, height, width, channels) and (batch, n, 4) [Op:DrawBoundingBoxesV2]"
        )
    if canvas.shape[3] not in (1, 3, 4):
        raise InvalidArgumentError("Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)")
    given = None if colors is None else np.asarray(array_of(colors))
    table = (np.ones_like(_COLOURS) if canvas.shape[3] == 1 else _COLOURS) if given is None or not given.size else given
    height, width = canvas.shape[1:3]
    corners = (places * np.array([height - 1, width - 1] * 2, np.float32)).tolist()
    for image, found in zip(canvas, corners, strict=True):
        for number, box in enumerate(found):
            _draw(image, [int(one) for one in box], table[number % len(table)][: canvas.shape[3]])
    return Tensor(canvas)


def _draw(image: NDArray[Any], box: list[int], colour: NDArray[Any]) -> None:
    height, width = image.shape[:2]
    top, left, bottom, right = box
    if top > bottom or left > right or top >= height or bottom < 0 or left >= width or right < 0:
        return
    rows, columns = slice(max(top, 0), min(bottom, height - 1) + 1), slice(max(left, 0), min(right, width - 1) + 1)
    for row in (top, bottom):
        if 0 <= row < height:
            image[row, columns] = colour
    for column in (left, right):
        if 0 <= column < width:
            image[rows, column] = colour


@op("image.non_max_suppression")
def non_max_suppression(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
) -> Tensor:
    """Numbers of the boxes with the highest scores that do not overlap with a better one."""
    places, values = np.asarray(array_of(boxes), np.float32), array_of(scores)
    if places.ndim != 2 or places.shape[1] != 4 or values.shape != places.shape[:1]:
        raise InvalidArgumentError(
            f"boxes of shape {places.shape} and scores of shape {values.shape} do not go together: expected (n, 4) and "
            "(n,) [Op:NonMaxSuppressionV3]"
        )
    most, limit = int(array_of(max_output_size)), array_of(iou_threshold)
    order = np.argsort(-values, kind="stable")
    places, good = places[order], (values[order] > array_of(score_threshold)).tolist()
    kept: list[int] = []
    covered = np.zeros(len(places), np.bool_)
    for first in range(0, len(places), _TOGETHER):
        rows = ~(shared_parts(places[first : first + _TOGETHER], places) <= limit)
        for number, row in enumerate(rows, first):
            if len(kept) == most or not good[number]:
                return Tensor(order[kept].astype(np.int32))
            if not covered[number]:
                kept.append(number)
                covered |= row
    return Tensor(order[kept].astype(np.int32))


def shared_parts(boxes: NDArray[np.float32], others: NDArray[np.float32]) -> NDArray[np.float32]:
    """Part of the union that each box shares with each of others; 0 of boxes without area."""
    (low, high, area), (lows, highs, areas) = (_corners(one) for one in (boxes, others))
    rows, columns = (
        np.maximum(np.minimum(high[:, None, side], highs[:, side]) - np.maximum(low[:, None, side], lows[:, side]), 0)
        for side in (0, 1)
    )
    shared = rows * columns
    union = area[:, None] + areas - shared
    sound = (area[:, None] > 0) & (areas > 0)
    return np.where(sound, shared / np.where(sound, union, 1), 0).astype(np.float32)


def _corners(boxes: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    low, high = np.minimum(boxes[:, :2], boxes[:, 2:]), np.maximum(boxes[:, :2], boxes[:, 2:])
    return low, high, np.prod(high - low, axis=1)

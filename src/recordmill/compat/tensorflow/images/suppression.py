"""Boxes that overlap with better ones, left out: for classes at once, with falling scores, or by given overlaps."""

from __future__ import annotations

import heapq
import math
from collections import namedtuple
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor, wrap
from recordmill.compat.tensorflow.images.drawing import non_max_suppression, shared_parts

CombinedNonMaxSuppression = namedtuple(  # noqa: PYI024 (TensorFlow's tuple)
    "CombinedNonMaxSuppression", ["nmsed_boxes", "nmsed_scores", "nmsed_classes", "valid_detections"]
)


@op("image.combined_non_max_suppression")
def combined_non_max_suppression(
    boxes: Any,
    scores: Any,
    max_output_size_per_class: Any,
    max_total_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    pad_per_class: bool = False,
    clip_boxes: bool = True,
) -> CombinedNonMaxSuppression:
    """Best boxes of each image that do not overlap with a better one of their class."""
    places, values = np.asarray(array_of(boxes), np.float32), np.asarray(array_of(scores), np.float32)
    fit = places.ndim == 4 and values.ndim == 3 and places.shape[:2] == values.shape[:2]
    if not (fit and places.shape[2] in (1, values.shape[2])):
        raise InvalidArgumentError(
            f"boxes of shape {places.shape} and scores of shape {values.shape} do not go together: expected "
            "(batch, n, 1 or classes, 4) and (batch, n, classes)"
        )
    most, total, classes = int(max_output_size_per_class), int(max_total_size), values.shape[2]
    room = min(total, most * classes) if pad_per_class else total
    out = np.zeros((len(places), room, 4), np.float32), np.zeros((len(places), room)), np.zeros((len(places), room))
    counts = np.zeros(len(places), np.int32)
    for image in range(len(places)):
        found = _of_image(places[image], values[image], most, iou_threshold, score_threshold)[:room]
        counts[image] = len(found)
        for at, (score, kind, box) in enumerate(found):
            out[0][image, at], out[1][image, at], out[2][image, at] = box, score, kind
    kept = np.clip(out[0], 0, 1) if clip_boxes else out[0]
    return CombinedNonMaxSuppression(Tensor(kept), wrap(out[1], np.float32), wrap(out[2], np.float32), Tensor(counts))


def _of_image(boxes: Any, scores: Any, most: int, overlap: Any, least: Any) -> list[tuple[float, int, Any]]:
    """Score, class and box of those that are kept, the best first."""
    found = []
    for kind in range(scores.shape[1]):
        own = boxes[:, min(kind, boxes.shape[1] - 1)]
        kept = non_max_suppression(own, scores[:, kind], most, overlap, least).values
        found += [(float(scores[one, kind]), kind, own[one]) for one in kept.tolist()]
    return sorted(found, key=lambda one: -one[0])


@op("image.non_max_suppression_with_scores")
def non_max_suppression_with_scores(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    soft_nms_sigma: Any = 0.0,
) -> tuple[Tensor, Tensor]:
    """Boxes as of `non_max_suppression`, and their scores, which fall with what a box shares with better ones."""
    places, values = np.asarray(array_of(boxes), np.float32), np.asarray(array_of(scores), np.float32)
    sigma, least = float(soft_nms_sigma), float(array_of(score_threshold))
    if not sigma:
        kept = non_max_suppression(places, values, max_output_size, iou_threshold, score_threshold)
        return kept, Tensor(values[kept.values])
    chosen = _softly(shared_parts(places, places), values, int(max_output_size), least, sigma)
    return wrap(np.array([one for one, _ in chosen], np.int32)), wrap(np.array([s for _, s in chosen], np.float32))


def _softly(
    shared: NDArray[Any], values: NDArray[Any], most: int, least: float, sigma: float
) -> list[tuple[int, float]]:
    waiting = [(-float(score), place, 0) for place, score in enumerate(values) if score > least]
    heapq.heapify(waiting)
    chosen: list[tuple[int, float]] = []
    while waiting and len(chosen) < most:
        negative, place, seen = heapq.heappop(waiting)
        score = -negative
        for other, _ in reversed(chosen[seen:]):
            overlap = float(shared[place, other])
            score *= math.exp(-0.5 / sigma * overlap * overlap)
            if score <= least:
                break
        if score == -negative:
            chosen.append((place, score))
        elif score > least:
            heapq.heappush(waiting, (-score, place, len(chosen)))
    return chosen


@op("image.non_max_suppression_overlaps")
def non_max_suppression_overlaps(
    overlaps: Any,
    scores: Any,
    max_output_size: Any,
    overlap_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
) -> Tensor:
    """Numbers of the items with the highest scores, by a table of what each two of them share."""
    table, values = array_of(overlaps), array_of(scores)
    kept: list[int] = []
    for place in np.argsort(-values, kind="stable").tolist():
        if len(kept) == int(max_output_size) or values[place] <= float(score_threshold):
            break
        if all(table[place, other] <= float(overlap_threshold) for other in kept):
            kept.append(place)
    return wrap(np.array(kept, np.int32))

"""Rows of places as rows of a vocabulary's length: which tokens occur, how often, and how rare they are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.dispatch import run
from recordmill.compat.tensorflow.core.dtypes import float32, int64
from recordmill.compat.tensorflow.core.ragged import RaggedTensor

MODES = ("int", "one_hot", "multi_hot", "count", "tf_idf")


def idf_of(documents: int, total: int) -> float:
    """Weight of a token that so many of all documents hold."""
    return math.log(1 + total / (1 + documents))


def encoded(places: Any, mode: str, width: int, weights: Any = None) -> Any:
    """Encode rows of places."""
    hot = run("array.one_hot", places, width, dtype=int64)
    if mode == "one_hot":
        return run("array.squeeze", hot, -2) if places.shape.rank and places.shape[-1] == 1 else hot
    axis = 1 if isinstance(places, RaggedTensor) else -2
    counts = run("math.reduce_sum", hot, axis)
    if mode == "multi_hot":
        return run("math.minimum", counts, np.int64(1))
    if mode == "count":
        return counts
    short = [0.0] * (width - len(weights))
    return run("math.multiply", run("array.cast", counts, float32), run("array.constant", [*weights, *short], float32))

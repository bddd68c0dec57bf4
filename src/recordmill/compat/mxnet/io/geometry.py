"""The sizes that images pass through on their way to the batch, and whether one native call does it all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.mxnet.kernels import methods_of
from recordmill.dataclass import dataclass

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False, slots=True)
class Route:
    """Which images go through the native engine, and how."""

    native: NDArray[np.bool_]
    methods: Ints


def route(sizes: Ints, values: Mapping[str, Any]) -> Route:
    """Tell which images one native call brings to the batch."""
    pad, goal = values["pad"], np.array(values["data_shape"][1:])
    shorter = shorter_to(sizes, values["resize"])
    padded = shorter + 2 * pad
    tall = grow_to(padded, goal, 0)
    wide = grow_to(tall, goal, 1)
    changes = [(one != other).any(axis=1) for one, other in ((sizes, shorter), (padded, tall), (tall, wide))]
    num_resizes = np.sum(changes, axis=0)
    native = num_resizes <= 1
    if pad:
        covered = (shorter >= goal).all(axis=1)
        native &= (wide == padded).all(axis=1) & (covered | values["rand_crop"])
    method = values["inter_method"]
    scaled = np.where(changes[0], methods_of(method, sizes, shorter), -1)
    enlarged = changes[1] | changes[2]
    methods = np.where(enlarged, methods_of(method, padded, np.broadcast_to(goal, padded.shape)), scaled)
    broken = (sizes == 0).any(axis=1)
    return Route(native | broken, np.where(broken, -1, methods))


def shorter_to(sizes: Ints, length: int) -> Ints:
    """Sizes when the shorter side has a length, the longer one cut to whole pixels; -1 leaves them."""
    return sizes if length == -1 else length * sizes // np.maximum(sizes.min(axis=1, keepdims=True), 1)


def grow_to(sizes: Ints, goal: Ints, side: int) -> Ints:
    """Sizes when one side has reached its goal, the other enlarged by the same float32 ratio and cut."""
    ratio = np.float32(goal[side]) / np.maximum(sizes[:, side], 1).astype(np.float32)
    other = (ratio * sizes[:, 1 - side].astype(np.float32)).astype(np.int64)
    grown = np.empty_like(sizes)
    grown[:, side], grown[:, 1 - side] = goal[side], other
    return np.where((sizes[:, side] < goal[side])[:, None], grown, sizes)

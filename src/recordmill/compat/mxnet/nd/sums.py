"""Sums of floats as MXNet adds them: value after value, with what each addition loses added to the next value."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from recordmill import _core

_ADDED = ("float32", "float64")


def is_added(values: np.ndarray[Any, Any]) -> bool:
    """Whether an array has sums of this kind: floats of 4 or 8 bytes."""
    return values.dtype.name in _ADDED


def added(values: np.ndarray[Any, Any], axes: tuple[int, ...] | None, *, keepdims: bool) -> np.ndarray[Any, Any]:
    """Add along axes."""
    places = range(values.ndim) if axes is None else sorted(axes)
    kept = [axis for axis in range(values.ndim) if axis not in places]
    left = [1 if axis in places else length for axis, length in enumerate(values.shape)]
    left = left if keepdims else [left[axis] for axis in kept]
    if not values.size:
        return np.zeros(left, values.dtype)
    if len(places) and places[-1] - places[0] + 1 == len(places):
        first, last = places[0], places[-1] + 1
    else:
        values, first, last = values.transpose([*kept, *places]), len(kept), values.ndim
    lengths = (math.prod(part) for part in (values.shape[:first], values.shape[first:last], values.shape[last:]))
    flat = np.ascontiguousarray(values).reshape(-1)
    sums: Any = _core.add_compensated(flat, values.dtype.name, *lengths)
    return np.frombuffer(sums, values.dtype).reshape(left)

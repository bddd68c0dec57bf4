"""Order of values: the largest, sorted ones, those that differ, counts."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.short_axes import has_short_rows, place
from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import as_dtype, int32, int64
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor, wrap
from recordmill.compat.tensorflow.ops.matching import BOOL, NUMBERS, matched, one_of
from recordmill.compat.tensorflow.ops.reducing import axes_of

TopK = namedtuple("TopK", ["values", "indices"])  # noqa: PYI024 (TensorFlow's tuples)
Unique = namedtuple("Unique", ["y", "idx"])  # noqa: PYI024
UniqueWithCounts = namedtuple("UniqueWithCounts", ["y", "idx", "count"])  # noqa: PYI024


@op("math.argmax")
def argmax(input: Any, axis: Any = None, output_type: Any = int64) -> Tensor:  # noqa: A002 (TensorFlow's name)
    """Index of the largest value along an axis, the first one of equal ones."""
    return _place(input, axis, output_type, True, "ArgMax")


@op("math.argmin")
def argmin(input: Any, axis: Any = None, output_type: Any = int64) -> Tensor:  # noqa: A002 (TensorFlow's name)
    """Index of the smallest value along an axis, the first one of equal ones."""
    return _place(input, axis, output_type, False, "ArgMin")


def _place(value: Any, axis: Any, output_type: Any, largest: bool, name: str) -> Tensor:
    array = one_of(value, NUMBERS + BOOL, name)
    at = 0 if axis is None else int(array_of(axis))
    if not -array.ndim <= at < array.ndim:
        raise InvalidArgumentError(
            f"Expected dimension in the range [{-array.ndim}, {array.ndim}), but got {at} [Op:{name}]"
        )
    if not array.shape[at]:
        raise InvalidArgumentError(f"Reduction axis {at} is empty in shape {list(array.shape)} [Op:{name}]")
    wanted = as_dtype(output_type).numpy_dtype
    if at % array.ndim == array.ndim - 1 and has_short_rows(array):
        return wrap(place(array, largest=largest), wanted)
    return wrap((np.argmax if largest else np.argmin)(array, at), wanted)


def _ordered(array: NDArray[Any], descending: bool) -> NDArray[Any]:
    """Indices that sort the last axis; equal values stay in order."""
    if not descending:
        return np.argsort(array, axis=-1, kind="stable")
    backwards = np.argsort(array[..., ::-1], axis=-1, kind="stable")[..., ::-1]
    return np.asarray(array.shape[-1] - 1 - backwards)


@op("math.top_k")
def top_k(input: Any, k: Any = 1, sorted: bool = True) -> TopK:  # noqa: A002, ARG001 (any order will do for False)
    """Largest values of the last axis and their indices, largest first."""
    array, count = one_of(input, NUMBERS, "TopKV2"), int(k)
    if not array.ndim or count > array.shape[-1]:
        raise InvalidArgumentError(f"input must have at least k columns. Had {array.shape[-1:]}, needed {count}")
    places = _ordered(array, descending=True)[..., :count]
    return TopK(wrap(np.take_along_axis(array, places, -1)), wrap(places, np.int32))


def _directed(axis: Any, direction: str, array: NDArray[Any]) -> tuple[int, bool]:
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(f"Argument `direction` should be one of 'ASCENDING' or 'DESCENDING'. Received: {direction}")
    return axes_of(axis, array.ndim, "TopKV2")[0], direction == "DESCENDING"


@op("array.argsort")
def argsort(values: Any, axis: Any = -1, direction: str = "ASCENDING", stable: bool = False) -> Tensor:  # noqa: ARG001
    """Indices that sort an axis; always stable."""
    array = one_of(values, NUMBERS, "TopKV2")
    at, descending = _directed(axis, direction, array)
    places = _ordered(np.moveaxis(array, at, -1), descending)
    return wrap(np.moveaxis(places, -1, at), np.int32)


@op("array.sort")
def sort(values: Any, axis: Any = -1, direction: str = "ASCENDING") -> Tensor:
    """Values in order along an axis."""
    array = one_of(values, NUMBERS, "TopKV2")
    at, descending = _directed(axis, direction, array)
    found = np.sort(array, axis=at, kind="stable")
    return wrap(np.flip(found, at) if descending else found)


def _unique(x: Any, out_idx: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    array = array_of(x)
    if array.ndim != 1:
        raise InvalidArgumentError("unique expects a 1D vector. [Op:Unique]")
    _, first, inverse, counts = np.unique(array, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    wanted = as_dtype(out_idx).numpy_dtype
    return array[first[order]], rank[inverse.reshape(-1)].astype(wanted), counts[order].astype(wanted)


@op("array.unique")
def unique(x: Any, out_idx: Any = int32) -> Unique:
    """Values that differ, in order of their first place, and the number of each place's value."""
    values, places, _ = _unique(x, out_idx)
    return Unique(Tensor(values), Tensor(places))


@op("array.unique_with_counts")
def unique_with_counts(x: Any, out_idx: Any = int32) -> UniqueWithCounts:
    """As `unique`, with how often each value occurs."""
    values, places, counts = _unique(x, out_idx)
    return UniqueWithCounts(Tensor(values), Tensor(places), Tensor(counts))


@op("array.searchsorted")
def searchsorted(sorted_sequence: Any, values: Any, side: str = "left", out_type: Any = int32) -> Tensor:
    """Places at which values would go into a sorted row; rows are the last axes."""
    rows, wanted = matched((sorted_sequence, values), "LowerBound")
    if side not in ("left", "right"):
        raise ValueError(f"Argument `side` must be either 'right' or 'left'. Received: `side` = '{side}'.")
    flat = rows.reshape(-1, rows.shape[-1])
    pieces = wanted.reshape(len(flat), -1)
    found = [np.searchsorted(row, piece, side) for row, piece in zip(flat, pieces, strict=True)]  # type: ignore[call-overload]
    return wrap(np.reshape(found, wanted.shape), as_dtype(out_type).numpy_dtype)


@op("math.count_nonzero")
def count_nonzero(input: Any, axis: Any = None, keepdims: bool = False, dtype: Any = int64) -> Tensor:  # noqa: A002
    """Number of values that are not 0."""
    array = array_of(input)
    held = array.astype(np.bool_)
    axes = axes_of(axis, array.ndim)
    return wrap(np.sum(held, axis=axes, keepdims=bool(keepdims)), as_dtype(dtype).numpy_dtype)

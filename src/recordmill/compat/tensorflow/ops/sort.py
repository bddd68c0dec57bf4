"""``tf.argmax``, ``argmin``, ``math.top_k``, ``argsort``, ``sort`` and ``unique``."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import as_dtype, int32, int64
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor, wrap
from recordmill.compat.tensorflow.ops.inputs import BOOL, NUMBERS, convert_input, normalize_axis

TopK = namedtuple("TopK", ["values", "indices"])  # noqa: PYI024 (TensorFlow's tuples)
Unique = namedtuple("Unique", ["y", "idx"])  # noqa: PYI024

# ruff: noqa: A002 (TensorFlow's names)


@op("math.argmax")
def argmax(input: Any, axis: Any = None, output_type: Any = int64) -> Tensor:
    """``tf.argmax``: return the index of the largest value along an axis."""
    array, position = _convert_input_and_axis(input, axis, "argmax")
    return wrap(np.argmax(array, position), as_dtype(output_type).numpy_dtype)


@op("math.argmin")
def argmin(input: Any, axis: Any = None, output_type: Any = int64) -> Tensor:
    """``tf.argmin``: return the index of the smallest value along an axis."""
    array, position = _convert_input_and_axis(input, axis, "argmin")
    return wrap(np.argmin(array, position), as_dtype(output_type).numpy_dtype)


def _convert_input_and_axis(value: Any, axis: Any, name: str) -> tuple[NDArray[Any], int]:
    array = convert_input(value, NUMBERS + BOOL, name)
    position = normalize_axis(0 if axis is None else axis, array.ndim, name)
    if not array.shape[position]:
        raise InvalidArgumentError(f"{name}: axis {position} of shape {list(array.shape)} is empty")
    return array, position


def _argsort_last_axis(array: NDArray[Any], descending: bool) -> NDArray[Any]:
    """Return the indices that sort the values along the last axis; equal values keep their order."""
    if not descending:
        return np.argsort(array, axis=-1, kind="stable")
    backwards = np.argsort(array[..., ::-1], axis=-1, kind="stable")[..., ::-1]
    return np.asarray(array.shape[-1] - 1 - backwards)


@op("math.top_k")
def top_k(input: Any, k: Any = 1, sorted: bool = True) -> TopK:  # noqa: ARG001 (always sorted)
    """``tf.math.top_k``: return the `k` largest values of the last axis and their indices, in descending order."""
    array, count = convert_input(input, NUMBERS, "top_k"), int(k)
    if not array.ndim or count > array.shape[-1]:
        found = list(array.shape)
        raise InvalidArgumentError(f"top_k: the last axis must have at least k={count} values, got shape {found}")
    indices = _argsort_last_axis(array, descending=True)[..., :count]
    return TopK(wrap(np.take_along_axis(array, indices, -1)), wrap(indices, np.int32))


def _is_descending(direction: str) -> bool:
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(f"direction must be 'ASCENDING' or 'DESCENDING', got {direction!r}")
    return direction == "DESCENDING"


@op("array.argsort")
def argsort(values: Any, axis: Any = -1, direction: str = "ASCENDING", stable: bool = False) -> Tensor:  # noqa: ARG001
    """``tf.argsort``: return the indices that sort an axis; the sort is always stable."""
    array = convert_input(values, NUMBERS, "argsort")
    position, descending = normalize_axis(axis, array.ndim, "argsort"), _is_descending(direction)
    indices = _argsort_last_axis(np.moveaxis(array, position, -1), descending)
    return wrap(np.moveaxis(indices, -1, position), np.int32)


@op("array.sort")
def sort(values: Any, axis: Any = -1, direction: str = "ASCENDING") -> Tensor:
    """``tf.sort``: sort the values along an axis."""
    array = convert_input(values, NUMBERS, "sort")
    position, descending = normalize_axis(axis, array.ndim, "sort"), _is_descending(direction)
    ordered = np.sort(array, axis=position, kind="stable")
    return wrap(np.flip(ordered, position) if descending else ordered)


@op("array.unique")
def unique(x: Any, out_idx: Any = int32) -> Unique:
    """``tf.unique``: return the unique values in order of first occurrence, and each input value's index among them."""
    array = array_of(x)
    if array.ndim != 1:
        raise InvalidArgumentError(f"unique: x must have one axis, got shape {list(array.shape)}")
    _, first, inverse = np.unique(array, return_index=True, return_inverse=True)
    order = np.argsort(first)
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(order))
    indices = ranks[inverse.reshape(-1)].astype(as_dtype(out_idx).numpy_dtype)
    return Unique(Tensor(array[first[order]]), Tensor(indices))

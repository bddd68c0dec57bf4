"""Check and convert the inputs of operations: dtypes, shapes, axes and lists of integers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dtypes import DType, as_dtype
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.operators import TensorOperators
from recordmill.compat.tensorflow.core.tensor import Tensor

# Groups of dtypes, written as strings of NumPy's type characters.
FLOATS = "efd"
SIGNED = FLOATS + "bhilq"
INTEGERS = "bhilqBHILQ"
NUMBERS = FLOATS + INTEGERS
COMPLEX = "FD"
STRINGS = "O"
BOOL = "?"


def check_dtype(array: NDArray[Any], allowed: str, op: str) -> None:
    """Raise InvalidArgumentError if the dtype of `array` is not in `allowed`; the message names the operation `op`."""
    if array.dtype.char not in allowed:
        raise InvalidArgumentError(f"{op} does not support values of dtype {as_dtype(array.dtype).name}")


def convert_to_common_dtype(values: Sequence[Any], op: str, *, start: int = 0) -> list[NDArray[Any]]:
    """Convert inputs to the dtype of the first tensor; if no input is a tensor, use the dtype of the first input."""
    first = next((value for value in values if isinstance(value, TensorOperators)), values[0])
    dtype = as_dtype(array_of(first).dtype)
    return [_convert_to_dtype(value, dtype, position, op) for position, value in enumerate(values, start)]


def _convert_to_dtype(value: Any, dtype: DType, position: int, op: str) -> NDArray[Any]:
    if not isinstance(value, TensorOperators):
        return array_of(value, dtype)
    array = array_of(value)
    if array.dtype != dtype.numpy_dtype:
        found = as_dtype(array.dtype).name
        raise InvalidArgumentError(f"{op}: input {position} must be a {dtype.name} tensor, got {found}")
    return array


def convert_input(value: Any, allowed: str, op: str) -> NDArray[Any]:
    """Convert a single input to an array and check its dtype."""
    array = array_of(value)
    check_dtype(array, allowed, op)
    return array


def convert_pair(x: Any, y: Any, allowed: str, op: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Convert two inputs to arrays of one dtype; raise InvalidArgumentError if their shapes do not broadcast."""
    a, b = convert_to_common_dtype((x, y), op)
    check_dtype(a, allowed, op)
    if not can_broadcast(a.shape, b.shape):
        raise InvalidArgumentError(f"{op}: shapes {list(a.shape)} and {list(b.shape)} cannot be broadcast")
    return a, b


def convert_bools(value: Any, op: str) -> NDArray[np.bool_]:
    """Convert an input to an array; raise InvalidArgumentError for a tensor that is not boolean."""
    if not isinstance(value, Tensor):
        return array_of(value, "bool")
    check_dtype(value.values, BOOL, op)
    return value.values


def convert_strings(value: Any, op: str) -> NDArray[Any]:
    """Convert an input to an array; raise InvalidArgumentError for a tensor that does not contain strings."""
    if not isinstance(value, Tensor):
        return array_of(value, "string")
    check_dtype(value.values, STRINGS, op)
    return value.values


def can_broadcast(a: Sequence[int], b: Sequence[int]) -> bool:
    """Return whether two shapes can be broadcast to one shape."""
    return all(m in (n, 1) or n == 1 for m, n in zip(reversed(a), reversed(b), strict=False))


def convert_ints(value: Any, op: str) -> list[int]:
    """Convert sizes or axes to a list of ints, from a list, a tensor, a shape or a single integer."""
    if isinstance(value, list | tuple) and all(type(one) is int for one in value):
        return list(value)
    array = array_of(value)
    if array.size and array.dtype.kind not in "iu":
        raise InvalidArgumentError(f"{op}: sizes and axes must be integers, got {as_dtype(array.dtype).name}")
    return [int(one) for one in np.atleast_1d(array)]


def convert_shape(value: Any, op: str) -> tuple[int, ...]:
    """Convert a shape to a tuple of ints; raise InvalidArgumentError if a length is negative."""
    lengths = tuple(convert_ints(value, op))
    if any(length < 0 for length in lengths):
        raise InvalidArgumentError(f"{op}: lengths must be non-negative, got {min(lengths)}")
    return lengths


def normalize_axis(axis: Any, ndim: int, op: str, error: type[Exception] = InvalidArgumentError) -> int:
    """Return an axis as a non-negative int; raise `error` if it is out of range."""
    position = int(array_of(axis))
    if not -ndim <= position < ndim:
        raise error(f"{op}: axis must be in [{-ndim}, {ndim}), got {position}")
    return position % ndim


def normalize_axes(axis: Any, ndim: int, op: str) -> tuple[int, ...]:
    """Return the axes of a reduction as non-negative ints; None means all axes."""
    if axis is None:
        return tuple(range(ndim))
    axes = tuple(normalize_axis(one, ndim, op) for one in convert_ints(axis, op))
    if len(set(axes)) < len(axes):
        raise InvalidArgumentError(f"{op}: axes must differ, got {list(axes)}")
    return axes

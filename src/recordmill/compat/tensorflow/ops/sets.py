"""The last axis of tensors as sets: what is in one, in both or in either, for all rows at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import as_dtype
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.sparse import SparseTensor
from recordmill.compat.tensorflow.core.tensor import Tensor

_ALLOWED = "bhilqBHO"


@op("sets.difference")
def difference(a: Any, b: Any, aminusb: bool = True, validate_indices: bool = True) -> SparseTensor:  # noqa: ARG001
    """Values of each row of one tensor that the other's has not."""
    return _combined(*((a, b) if aminusb else (b, a)), np.setdiff1d)


@op("sets.intersection")
def intersection(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:  # noqa: ARG001
    """Values that both rows have; arguments and result as of `difference`."""
    return _combined(a, b, np.intersect1d)


@op("sets.union")
def union(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:  # noqa: ARG001
    """Values that either row has; arguments and result as of `difference`."""
    return _combined(a, b, np.union1d)


@op("sets.size")
def size(a: Any, validate_indices: bool = True) -> Tensor:  # noqa: ARG001
    """Count the different values of each row of a sparse tensor; int32."""
    if not isinstance(a, SparseTensor):
        raise TypeError(f"Expected `SparseTensor`, got {a!r}.")
    rows, values, shape = _rows_of(a)
    _, places = np.unique(values, return_inverse=True)
    found = np.unique(np.stack([rows, places.astype(np.int64)], axis=1), axis=0)[:, 0]
    return Tensor(np.bincount(found, minlength=int(np.prod(shape))).reshape(shape).astype(np.int32))


def _combined(a: Any, b: Any, choose: Callable[[Any, Any], NDArray[Any]]) -> SparseTensor:
    """Numbers that stand for a row and a value are chosen from, and taken apart again."""
    (rows, values, shape), (others, more, other_shape) = _rows_of(a), _rows_of(b)
    if values.dtype != more.dtype:
        raise TypeError(f"Types mismatch: {as_dtype(values.dtype)!r} and {as_dtype(more.dtype)!r}.")
    if shape != other_shape:
        raise InvalidArgumentError(f"Mismatched group shapes {list(shape)} and {list(other_shape)}")
    known, places = np.unique(np.concatenate([values, more]), return_inverse=True)
    keys = np.concatenate([rows, others]) * max(len(known), 1) + places
    found, at = np.divmod(choose(keys[: len(rows)], keys[len(rows) :]), max(len(known), 1))
    counts = np.bincount(found, minlength=int(np.prod(shape)))
    column = np.arange(len(found)) - np.repeat(np.cumsum(counts) - counts, counts)
    indices = np.stack([*np.unravel_index(found, shape), column], axis=1) if shape else column[:, None]
    whole = np.array([*shape, counts.max(initial=0)], np.int64)
    return SparseTensor(Tensor(indices.astype(np.int64)), Tensor(known[at]), Tensor(whole))


def _rows_of(given: Any) -> tuple[NDArray[np.int64], NDArray[Any], tuple[int, ...]]:
    """Number of each value's row, the values, and the shape of the rows."""
    if isinstance(given, SparseTensor):
        shape = tuple(given.dense_shape.values.tolist()[:-1])
        indices, values = given.indices.values[:, :-1], given.values.values
        rows = np.ravel_multi_index(tuple(indices.T), shape) if shape else np.zeros(len(values), np.int64)
    else:
        array = array_of(given)
        shape, values = array.shape[:-1], array.ravel()
        rows = np.repeat(np.arange(int(np.prod(shape))), array.shape[-1] if array.ndim else 1)
    if values.dtype.char not in _ALLOWED:
        raise TypeError(f"Invalid dtype {as_dtype(values.dtype)!r}: sets are of whole numbers or strings")
    return np.asarray(rows, np.int64), values, shape

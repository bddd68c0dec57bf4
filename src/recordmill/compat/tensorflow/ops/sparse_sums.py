"""Sparse tensors added, compared, normalized, counted and crossed: ``tf.sparse``."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op, run
from recordmill.compat.tensorflow.core.dtypes import as_dtype, float32
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.sparse import SparseTensor, from_dense, reorder, to_dense
from recordmill.compat.tensorflow.core.tensor import Tensor, as_tensor, wrap
from recordmill.compat.tensorflow.ops.matching import FLOATS, NUMBERS, as_ints, matched, one_of
from recordmill.compat.tensorflow.ops.segments import gathered
from recordmill.compat.tensorflow.ops.sparse_parts import made_of, parts_of


@op("sparse.add")
def add(a: Any, b: Any, threshold: Any = 0) -> Any:
    """Sum of two tensors."""
    if not (isinstance(a, SparseTensor) or isinstance(b, SparseTensor)):
        raise TypeError("At least one input should be SparseTensor; do you mean to use tf.add()?")
    if not (isinstance(a, SparseTensor) and isinstance(b, SparseTensor)):
        return run("math.add", *(to_dense(reorder(one)) if isinstance(one, SparseTensor) else one for one in (a, b)))
    places, (first, second), shape = _side_by_side(a, b, "SparseAdd")
    sums = first + second
    limit = array_of(threshold)
    kept = np.abs(sums) >= limit if limit else np.ones(len(sums), np.bool_)
    return made_of(places[kept], sums[kept], shape)


@op("sparse.maximum")
def maximum(sp_a: SparseTensor, sp_b: SparseTensor) -> SparseTensor:
    """Larger one of two values, where either tensor has one."""
    return _chosen(np.maximum, sp_a, sp_b, "SparseSparseMaximum")


@op("sparse.minimum")
def minimum(sp_a: SparseTensor, sp_b: SparseTensor) -> SparseTensor:
    """Smaller one of two values, where either tensor has one."""
    return _chosen(np.minimum, sp_a, sp_b, "SparseSparseMinimum")


def _chosen(compute: Callable[..., NDArray[Any]], a: SparseTensor, b: SparseTensor, name: str) -> SparseTensor:
    places, pair, shape = _side_by_side(a, b, name)
    return made_of(places, compute(*pair), shape)


def _side_by_side(
    a: SparseTensor, b: SparseTensor, name: str
) -> tuple[NDArray[Any], tuple[NDArray[Any], NDArray[Any]], list[int]]:
    """Places at which either has a value, and the values of both, 0 where there is none."""
    (mine, _, shape), (theirs, _, other) = parts_of(a), parts_of(b)
    if len(shape) != len(other):
        raise InvalidArgumentError(f"Operands do not have the same ranks; got shapes {shape} and {other} [Op:{name}]")
    for axis, (one, two) in enumerate(zip(shape, other, strict=True)):
        if one != two:
            raise InvalidArgumentError(
                f"Operands' shapes do not match: got {one} and {two} for dimension {axis} [Op:{name}]"
            )
    values = matched([a.values, b.values], name)
    places, at = np.unique(np.concatenate([mine, theirs]), axis=0, return_inverse=True)
    pair = np.zeros(len(places), values[0].dtype), np.zeros(len(places), values[0].dtype)
    pair[0][at.ravel()[: len(mine)]] = values[0]
    pair[1][at.ravel()[len(mine) :]] = values[1]
    return places, pair, shape


@op("sparse.softmax")
def softmax(sp_input: SparseTensor) -> SparseTensor:
    """Shares of the values of each row that are there, by their exponentials."""
    indices, values, shape = parts_of(sp_input)
    one_of(Tensor(values), FLOATS, "SparseSoftmax")
    if len(shape) < 2:
        raise InvalidArgumentError(
            f"Input should have rank >= 2, but received shape: {' '.join(map(str, shape))} [Op:SparseSoftmax]"
        )
    rows = np.ravel_multi_index(tuple(indices[:, :-1].T), shape[:-1])
    count = int(np.prod(shape[:-1]))
    powers = np.exp(values - gathered(values, rows, count, "max", 0)[rows])
    shares = powers / gathered(powers, rows, count, "sum")[rows]
    return made_of(indices, shares.astype(values.dtype), shape)


@op("sparse.reduce_max")
def reduce_max(sp_input: SparseTensor, axis: Any = None, keepdims: Any = None, output_is_sparse: bool = False) -> Any:
    """Largest value that is there, over axes; 0 where there is none."""
    indices, values, shape = parts_of(sp_input)
    over = range(len(shape)) if axis is None else [one % len(shape) for one in as_ints(axis, "T", "SparseReduceMax")]
    left = [one for one in range(len(shape)) if one not in over]
    lengths = [shape[one] for one in left]
    rows = np.ravel_multi_index(tuple(indices[:, left].T), lengths) if left else np.zeros(len(indices), np.int64)
    found = gathered(values, rows, int(np.prod(lengths)), "max", 0)
    kept = [1 if one in over else length for one, length in enumerate(shape)] if keepdims else lengths
    dense = wrap(found.reshape(kept))
    return from_dense(dense) if output_is_sparse else dense


@op("sparse.eye")
def eye(num_rows: Any, num_columns: Any = None, dtype: Any = float32) -> SparseTensor:
    """Ones on the diagonal of a matrix."""
    rows = int(array_of(num_rows))
    columns = rows if num_columns is None else int(array_of(num_columns))
    places = np.arange(min(rows, columns))
    ones = np.ones(len(places), as_dtype(dtype).numpy_dtype)
    return made_of(np.stack([places, places], axis=1), ones, [rows, columns])


def map_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> SparseTensor:
    """Do something to the values of sparse tensors, which have them at the same places."""
    given = [one for one in (*args, *kwargs.values()) if isinstance(one, SparseTensor)]
    if not given:
        raise ValueError("No SparseTensor in argument list of map_values")
    if any(not np.array_equal(one.indices.values, given[0].indices.values) for one in given):
        raise InvalidArgumentError("the sparse tensors of map_values must have their values at the same places")
    values = [one.values if isinstance(one, SparseTensor) else one for one in args]
    named = {key: one.values if isinstance(one, SparseTensor) else one for key, one in kwargs.items()}
    return given[0].with_values(as_tensor(op(*values, **named)))


@op("sparse.cross")
def cross(inputs: Any, name: Any = None, separator: Any = None) -> SparseTensor:
    """Strings of the rows of several matrices, each put together with each."""
    del name
    for one in inputs:
        if not isinstance(one, SparseTensor | Tensor):
            raise TypeError("All inputs must be Tensor or SparseTensor.")
    between = b"_X_" if separator is None else bytes(array_of(separator)[()])
    columns = [_texts(one) for one in inputs]
    rows = [list(map(between.join, itertools.product(*row))) for row in zip(*columns, strict=True)]
    indices = [(place, at) for place, row in enumerate(rows) for at in range(len(row))]
    values = np.empty(len(indices), object)
    values[:] = [text for row in rows for text in row]
    width = max(map(len, rows), default=0)
    return made_of(np.array(indices, np.int64).reshape(-1, 2), values, [len(rows), width])


def _texts(given: Any) -> list[list[bytes]]:
    """Values of each row as they are spelled."""
    if isinstance(given, Tensor):
        rows = given.values.tolist()
    else:
        indices, values, shape = parts_of(given)
        rows = [[] for _ in range(shape[0])]
        for row, value in zip(indices[:, 0].tolist(), values.tolist(), strict=True):
            rows[row].append(value)
    return [[one if isinstance(one, bytes) else str(one).encode() for one in row] for row in rows]


@op("sparse.segment_sum")
def segment_sum(data: Any, indices: Any, segment_ids: Any, num_segments: Any = None) -> Tensor:
    """Sums of those rows whose numbers are given, for segments whose numbers rise; 0 for segments without rows."""
    return wrap(_picked(data, indices, segment_ids, num_segments)[0])


@op("sparse.segment_mean")
def segment_mean(data: Any, indices: Any, segment_ids: Any, num_segments: Any = None) -> Tensor:
    """Means, as `segment_sum`."""
    total, counts = _picked(data, indices, segment_ids, num_segments)
    return wrap(total / counts, total.dtype)


@op("sparse.segment_sqrt_n")
def segment_sqrt_n(data: Any, indices: Any, segment_ids: Any, num_segments: Any = None) -> Tensor:
    """Sums divided by the square roots of how many rows they are of, as `segment_sum`."""
    total, counts = _picked(data, indices, segment_ids, num_segments)
    return wrap(total / np.sqrt(counts), total.dtype)


def _picked(data: Any, indices: Any, segment_ids: Any, num_segments: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Sums, and how many rows each is of, at least 1."""
    array, ids = one_of(data, NUMBERS, "SparseSegmentSum"), array_of(segment_ids)
    count = (int(ids[-1]) + 1 if ids.size else 0) if num_segments is None else int(array_of(num_segments))
    total = gathered(array[array_of(indices)], ids, count, "sum", 0)
    rows = np.maximum(np.bincount(ids, minlength=count)[:count], 1).astype(
        total.dtype if total.dtype.kind == "f" else np.float64
    )
    return total, rows.reshape(-1, *(1,) * (array.ndim - 1))

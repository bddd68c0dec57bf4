"""Sparse tensors joined, cut, reshaped, chosen from and summed: ``tf.sparse``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.sparse import SparseTensor, reorder, to_dense
from recordmill.compat.tensorflow.core.tensor import Tensor, wrap
from recordmill.compat.tensorflow.ops.matching import as_ints, bracketed, matched


def parts_of(sparse: Any) -> tuple[NDArray[Any], NDArray[Any], list[int]]:
    """Take a sparse tensor apart; TypeError for anything else."""
    if not isinstance(sparse, SparseTensor):
        raise TypeError(f"Input must be a SparseTensor, not {type(sparse).__name__}.")
    return sparse.indices.values, sparse.values.values, sparse.dense_shape.values.tolist()


def made_of(indices: NDArray[Any], values: NDArray[Any], shape: Any) -> SparseTensor:
    """Make a sparse tensor of its parts."""
    return SparseTensor(Tensor(indices.astype(np.int64)), Tensor(values), Tensor(np.array(shape, np.int64)))


@op("sparse.concat")
def concat(axis: int, sp_inputs: Any, expand_nonconcat_dims: bool = False) -> SparseTensor:
    """Join sparse tensors along an axis."""
    given = [parts_of(one) for one in sp_inputs]
    if len(given) == 1:
        return sp_inputs[0]  # type: ignore[no-any-return]
    shapes = np.array([shape for _, _, shape in given])
    at = axis % shapes.shape[1]
    others = np.delete(shapes, at, axis=1)
    if not expand_nonconcat_dims and (others != others[0]).any():
        where = int(np.flatnonzero((others != others[0]).any(axis=1))[0])
        raise InvalidArgumentError(
            f"Input shapes must match: expected {shapes[0].tolist()} outside axis {at} but got "
            f"{shapes[where].tolist()} [Op:SparseConcat]"
        )
    starts = np.cumsum(shapes[:, at]) - shapes[:, at]
    moved = [
        one[0] + np.eye(shapes.shape[1], dtype=np.int64)[at] * start for one, start in zip(given, starts, strict=True)
    ]
    whole = shapes.max(axis=0)
    whole[at] = shapes[:, at].sum()
    values = matched([Tensor(one[1]) for one in given], "SparseConcat")
    joined: SparseTensor = reorder(made_of(np.concatenate(moved), np.concatenate(values), whole))
    return joined


@op("sparse.slice")
def slice_(sp_input: SparseTensor, start: Any, size: Any) -> SparseTensor:
    """Part of a sparse tensor: so many values of each axis from a place on, as far as there are."""
    indices, values, shape = parts_of(sp_input)
    begin, length = np.array(as_ints(start, "T", "SparseSlice")), np.array(as_ints(size, "T", "SparseSlice"))
    inside = ((indices >= begin) & (indices < begin + length)).all(axis=1)
    return made_of(indices[inside] - begin, values[inside], np.clip(np.array(shape) - begin, 0, length))


@op("sparse.reshape")
def reshape(sp_input: SparseTensor, shape: Any) -> SparseTensor:
    """The same values in another shape; -1 is whatever is left."""
    indices, values, old = parts_of(sp_input)
    wanted, total = as_ints(shape, "T", "SparseReshape"), int(np.prod(old))
    known = int(np.prod([one for one in wanted if one != -1]))
    new = [total // max(known, 1) if one == -1 else one for one in wanted]
    if int(np.prod(new)) != total:
        raise InvalidArgumentError(
            f"Input to reshape is a tensor with {total} dense values, but the requested shape has {int(np.prod(new))}. "
            f"input_shape={bracketed(old)} output_shape={bracketed(new)} [Op:SparseReshape]"
        )
    flat = np.ravel_multi_index(tuple(indices.T), tuple(old)) if old else np.zeros(len(indices), np.int64)
    return made_of(np.stack(np.unravel_index(flat, new), axis=1), values, new)


@op("sparse.retain")
def retain(sp_input: SparseTensor, to_retain: Any) -> SparseTensor:
    """Those values for which a mask holds."""
    indices, values, shape = parts_of(sp_input)
    kept = array_of(to_retain, "bool")
    return made_of(indices[kept], values[kept], shape)


@op("sparse.transpose")
def transpose(sp_input: SparseTensor, perm: Any = None) -> SparseTensor:
    """Axes in another order; the other way round unless it is given."""
    indices, values, shape = parts_of(sp_input)
    order = list(range(len(shape)))[::-1] if perm is None else as_ints(perm, "T", "Transpose")
    turned: SparseTensor = reorder(made_of(indices[:, order], values, [shape[one] for one in order]))
    return turned


@op("sparse.expand_dims")
def expand_dims(sp_input: SparseTensor, axis: Any = None) -> SparseTensor:
    """One more axis of length 1, the last one unless it is given."""
    indices, values, shape = parts_of(sp_input)
    at = int(-1 if axis is None else axis) % (len(shape) + 1)
    return made_of(np.insert(indices, at, 0, axis=1), values, [*shape[:at], 1, *shape[at:]])


@op("sparse.split")
def split(sp_input: SparseTensor, num_split: int, axis: int) -> list[SparseTensor]:
    """Parts of nearly one length along an axis, the first ones longer by 1."""
    shape = parts_of(sp_input)[2]
    at = int(axis) % len(shape)
    lengths = [shape[at] // num_split + (one < shape[at] % num_split) for one in range(num_split)]
    starts, sizes = np.zeros((num_split, len(shape)), np.int64), np.tile(shape, (num_split, 1))
    starts[:, at], sizes[:, at] = np.cumsum(lengths) - lengths, lengths
    return [slice_(sp_input, start, size) for start, size in zip(starts, sizes, strict=True)]


@op("sparse.reset_shape")
def reset_shape(sp_input: SparseTensor, new_shape: Any = None) -> SparseTensor:
    """The same values in a larger shape, or in the smallest one that holds them."""
    indices, values, shape = parts_of(sp_input)
    if new_shape is None:
        return made_of(indices, values, indices.max(axis=0) + 1 if len(indices) else [0] * len(shape))
    wanted = as_ints(new_shape, "T", "SparseResetShape")
    if len(wanted) != len(shape) or (np.array(wanted) < shape).any():
        raise InvalidArgumentError(f"a shape of {bracketed(shape)} is not held by {bracketed(wanted)}")
    return made_of(indices, values, wanted)


@op("sparse.fill_empty_rows")
def fill_empty_rows(sp_input: SparseTensor, default_value: Any) -> tuple[SparseTensor, Tensor]:
    """A value at the beginning of each row that has none; and which rows those are."""
    indices, values, shape = parts_of(sp_input)
    is_empty = ~np.isin(np.arange(shape[0]), indices[:, 0])
    rows = np.flatnonzero(is_empty)
    more = np.zeros((len(rows), len(shape)), np.int64)
    more[:, 0] = rows
    fill = np.empty(len(rows), values.dtype)
    fill[:] = array_of(default_value, sp_input.dtype)[()]
    filled: SparseTensor = reorder(made_of(np.concatenate([indices, more]), np.concatenate([values, fill]), shape))
    return filled, Tensor(is_empty)


@op("sparse.reduce_sum")
def reduce_sum(sp_input: SparseTensor, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Sum over axes, as a dense tensor."""
    dense = to_dense(reorder(sp_input)).values
    axes = None if axis is None else tuple(as_ints(axis, "Tidx", "SparseReduceSum"))
    return wrap(np.sum(dense, axis=axes, keepdims=bool(keepdims), dtype=dense.dtype), dense.dtype)


@op("sparse.to_indicator")
def to_indicator(sp_input: SparseTensor, vocab_size: int) -> Tensor:
    """Which numbers occur in each row, as truth values."""
    indices, values, shape = parts_of(sp_input)
    out = np.zeros((*shape[:-1], int(vocab_size)), np.bool_)
    out[(*indices[:, :-1].T, values)] = True
    return Tensor(out)


@op("sparse.sparse_dense_matmul")
def sparse_dense_matmul(sp_a: Any, b: Any, adjoint_a: bool = False, adjoint_b: bool = False) -> Tensor:
    """Product of a sparse and a dense matrix, in either order."""
    if isinstance(b, SparseTensor):
        return transposed(sparse_dense_matmul(b, sp_a, not adjoint_b, not adjoint_a))
    indices, values, shape = parts_of(sp_a)
    rows, columns = indices.T[::-1] if adjoint_a else indices.T
    right = array_of(b, sp_a.dtype)
    right = right.T if adjoint_b else right
    out = np.zeros((shape[1] if adjoint_a else shape[0], right.shape[1]), values.dtype)
    np.add.at(out, rows, values[:, None] * right[columns])
    return Tensor(out)


def transposed(matrix: Tensor) -> Tensor:
    """Matrix with rows and columns exchanged."""
    return wrap(np.ascontiguousarray(matrix.values.T))

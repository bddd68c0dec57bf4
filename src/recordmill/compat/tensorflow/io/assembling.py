"""Columns of many records as tensors: dense, padded, sparse and ragged."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.tensorflow.core.ragged import RaggedTensor
from recordmill.compat.tensorflow.core.rows import Rows, strings_of
from recordmill.compat.tensorflow.core.sparse import FullVector, SparseTensor
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.io.specs import Column

Array = NDArray[Any]


def tensor_of(column: Column, found: Any, num_rows: int, single: bool) -> Any:
    """Tensor of one feature of records."""
    if isinstance(found, np.ndarray):
        return Tensor(found.reshape(column.shape) if single else found)
    if column.form == "fixed" and not column.shape and not single:
        return Rows(found)
    values = flat_values(found)
    if column.form == "fixed":
        return Tensor(values.reshape(column.shape if single else (num_rows, *column.shape)))
    if column.form == "padded":
        return _padded(column, values, found.row_splits, single)
    if column.form == "sparse":
        return FullVector(Tensor(values)) if single else _sparse(values, [found.row_splits], single)
    if single:
        return Tensor(values)
    return RaggedTensor(Tensor(values), found.row_splits.astype(column.splits_dtype.numpy_dtype))


def list_tensor_of(column: Column, found: Any, single: bool) -> Any:
    """Tensor of one feature list of records."""
    values = flat_values(found)
    if column.form == "padded":
        return _padded(column, values, found.row_splits * column.count, single)
    if column.form == "sparse":
        return _sparse(values, [found.row_splits, found.data.row_splits], single)
    dtype = column.splits_dtype.numpy_dtype
    frames = RaggedTensor(Tensor(values), found.data.row_splits.astype(dtype))
    return frames if single else RaggedTensor(frames, found.row_splits.astype(dtype))


def flat_values(found: Any) -> Array:
    """All values of a column in one row; byte strings as objects."""
    while isinstance(found, rm.Ragged):
        if isinstance(found.data, np.ndarray) and found.data.dtype == np.uint8:
            return strings_of(found)
        found = found.data
    flat: Array = found.reshape(-1)
    return flat


def _padded(column: Column, values: Array, splits: NDArray[np.int64], single: bool) -> Tensor:
    if single:
        return Tensor(values.reshape(len(values) // max(column.count, 1), *column.shape))
    fill: Any = None if column.default is None else column.default[()]
    if values.dtype != object:
        blocks = values.reshape(len(values) // max(column.count, 1), *column.shape)
        return Tensor(rm.Ragged(blocks, splits // max(column.count, 1)).to_padded(fill))
    counts = np.diff(splits)
    out: Array = np.empty((len(counts), int(counts.max(initial=0))), object)
    out[...] = fill
    out[np.arange(out.shape[1]) < counts[:, None]] = values
    return Tensor(out.reshape(len(counts), out.shape[1] // max(column.count, 1), *column.shape))


def _sparse(values: Array, nested: list[NDArray[np.int64]], single: bool) -> SparseTensor:
    """Indices of values in rows, and in rows of rows; without the first axis if there is one record only."""
    axes = [np.arange(len(nested[0]) - 1)]
    lengths = [len(nested[0]) - 1]
    for splits in nested:
        counts = np.diff(splits)
        axes = [np.repeat(axis, counts) for axis in axes]
        axes.append(np.arange(int(splits[-1])) - np.repeat(splits[:-1], counts))
        lengths.append(int(counts.max(initial=0)))
    indices = np.stack(axes[single:], axis=1)
    return SparseTensor(Tensor(indices), Tensor(values), Tensor(np.array(lengths[single:], np.int64)))

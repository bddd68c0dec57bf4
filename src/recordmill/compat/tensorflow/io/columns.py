"""Conversion of parsed columns to tensors: dense, padded, sparse and ragged."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.ragged import RaggedTensor
from recordmill.compat.tensorflow.core.rows import StringVector, to_bytes_array
from recordmill.compat.tensorflow.core.sparse import FullSparseVector, SparseTensor
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.io.features import RaggedFeature, SparseFeature
from recordmill.compat.tensorflow.io.partitions import apply_partitions
from recordmill.compat.tensorflow.io.specs import FeatureColumn, ParsingSpec

_Array = NDArray[Any]


def to_feature_tensor(column: FeatureColumn, found: Any, num_rows: int, single: bool) -> Any:
    """Convert a feature's values to the tensor that `column.form` selects; `single` omits the batch axis."""
    if isinstance(found, np.ndarray):
        return Tensor(found.reshape(column.shape) if single else found)
    if column.form == "fixed" and not column.shape and not single:
        return StringVector(found)
    values = _flatten_values(found)
    if column.form == "fixed":
        return Tensor(values.reshape(column.shape if single else (num_rows, *column.shape)))
    if column.form == "padded":
        return _to_padded(column, values, found.row_splits, single)
    if column.form == "sparse":
        return FullSparseVector(Tensor(values)) if single else _to_sparse(values, [found.row_splits], single)
    if single:
        return Tensor(values)
    return RaggedTensor(Tensor(values), found.row_splits.astype(column.splits_dtype.numpy_dtype))


def to_feature_list_tensor(column: FeatureColumn, found: Any, single: bool) -> Any:
    """Convert a feature list to the kind of tensor in `column.form`. If `single`, omit the batch axis."""
    values = _flatten_values(found)
    if column.form == "padded":
        return _to_padded(column, values, found.row_splits * column.num_values, single)
    if column.form == "sparse":
        return _to_sparse(values, [found.row_splits, found.data.row_splits], single)
    dtype = column.splits_dtype.numpy_dtype
    frames = RaggedTensor(Tensor(values), found.data.row_splits.astype(dtype))
    return frames if single else RaggedTensor(frames, found.row_splits.astype(dtype))


def combine_columns(spec: ParsingSpec, tensors: dict[str, Any]) -> dict[str, Any]:
    """Return a tensor per requested feature; sparse and ragged features combine the tensors of several columns."""
    combined = {}
    for name, feature in spec.features.items():
        if isinstance(feature, SparseFeature):
            combined[name] = _combine_sparse_feature(feature, tensors)
        elif isinstance(feature, RaggedFeature):
            combined[name] = apply_partitions(name, feature, tensors)
    return {name: tensor for name, tensor in (tensors | combined).items() if name in spec.features}


def _flatten_values(found: Any) -> _Array:
    """Return the values of a column as a one-dimensional array; byte strings become bytes objects."""
    while isinstance(found, rm.Ragged):
        if isinstance(found.data, np.ndarray) and found.data.dtype == np.uint8:
            return to_bytes_array(found)
        found = found.data
    flat: _Array = found.reshape(-1)
    return flat


def _to_padded(column: FeatureColumn, values: _Array, splits: NDArray[np.int64], single: bool) -> Tensor:
    block_size = max(column.num_values, 1)
    blocks = values.reshape(len(values) // block_size, *column.shape)
    if single:
        return Tensor(blocks)
    fill: Any = None if column.default is None else column.default[()]
    if values.dtype != object:
        return Tensor(rm.Ragged(blocks, splits // block_size).to_padded(fill))
    counts = np.diff(splits)
    out: _Array = np.empty((len(counts), int(counts.max(initial=0))), object)
    out[...] = fill
    out[np.arange(out.shape[1]) < counts[:, None]] = values
    return Tensor(out.reshape(len(counts), out.shape[1] // block_size, *column.shape))


def _to_sparse(values: _Array, nested: list[NDArray[np.int64]], single: bool) -> SparseTensor:
    """Create a sparse tensor from values and nested row splits; `single` omits the batch axis."""
    axes = [np.arange(len(nested[0]) - 1)]
    lengths = [len(nested[0]) - 1]
    for splits in nested:
        counts = np.diff(splits)
        axes = [np.repeat(axis, counts) for axis in axes]
        axes.append(np.arange(int(splits[-1])) - np.repeat(splits[:-1], counts))
        lengths.append(int(counts.max(initial=0)))
    indices = np.stack(axes[single:], axis=1)
    return SparseTensor(Tensor(indices), Tensor(values), Tensor(np.array(lengths[single:], np.int64)))


def _combine_sparse_feature(feature: SparseFeature, tensors: dict[str, Any]) -> SparseTensor:
    has_one_axis = isinstance(feature.index_key, str)
    keys = [feature.index_key] if has_one_axis else list(feature.index_key)
    sizes = [feature.size] if has_one_axis else list(feature.size)
    column = tensors[feature.value_key]
    values, outer = column.values.values, column.indices.values[:, :-1]
    axes = [tensors[key].values.values for key in keys]
    for key, axis in zip(keys, axes, strict=True):
        if len(axis) != len(values):
            message = f"feature {key!r} must have one index per value, got {len(axis)} indices and {len(values)} values"
            raise InvalidArgumentError(message) if len(axes) > 1 else ValueError(message)
        _check_index_counts(feature.value_key, outer, key, tensors[key].indices.values[:, :-1])
    indices: NDArray[np.int64] = np.concatenate([outer, *(axis[:, None] for axis in axes)], axis=1)
    if not feature.already_sorted:
        order = np.lexsort(indices.T[::-1])
        indices, values = indices[order], values[order]
    shape = np.array([*column.dense_shape.values[:-1].tolist(), *sizes], np.int64)
    return SparseTensor(Tensor(indices), Tensor(values), Tensor(shape))


def _check_index_counts(value_key: str, values: _Array, index_key: str, indices: _Array) -> None:
    """Raise InvalidArgumentError unless each record has one index per value."""
    if np.array_equal(values, indices):
        return
    first, second = values[:, 0], indices[:, 0]
    record = int(np.minimum(first, second)[first != second][0])
    raise InvalidArgumentError(
        f"feature {index_key!r} must have one index per value of feature {value_key!r}, got "
        f"{(second == record).sum()} indices and {(first == record).sum()} values",
        record=record,
    )

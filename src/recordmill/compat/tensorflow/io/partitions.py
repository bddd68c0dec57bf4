"""Partitions of ``tf.io.RaggedFeature``, which divide the values of a feature into rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core import row_splits
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.ragged import RaggedTensor
from recordmill.compat.tensorflow.core.row_splits import Splits
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.io.features import (
    RaggedFeature,
    RowLengths,
    RowSplits,
    RowStarts,
    UniformRowLength,
    ValueRowIds,
)

# Largest number of empty rows. Without this limit, a record of a few bytes could request any amount of memory.
_MAX_EMPTY_ROWS = 2**24


def apply_partitions(name: str, feature: RaggedFeature, tensors: dict[str, Any]) -> Any:
    """Divide a feature's values into nested rows, one level per partition. The last partition is innermost."""
    found = tensors[feature.value_key or name]
    is_single = isinstance(found, Tensor)
    if is_single:
        # Convert a single record to a batch of one record, because the code below expects a batch.
        dtype = feature.row_splits_dtype.numpy_dtype
        tensors = {
            key: RaggedTensor(tensor, np.array([0, len(tensor)], dtype))
            for key, tensor in tensors.items()
            if isinstance(tensor, Tensor) and tensor.ndim
        }
        found = tensors[feature.value_key or name]
    frames = found.row_splits if found.ragged_rank > 1 else None
    rows = found if frames is None else found.values
    for partition in reversed(feature.partitions):
        rows = _apply_partition(rows, partition, tensors, feature, frames is not None)
    if is_single:
        return rows.values
    return rows if frames is None else RaggedTensor(rows, frames.values)


def _check_rowids(key: str, largest: int, num_values: int) -> None:
    if largest > num_values + _MAX_EMPTY_ROWS:
        raise InvalidArgumentError(
            f"Feature {key}: {largest + 1} rows for {num_values} values exceed the limit of {_MAX_EMPTY_ROWS} empty "
            "rows"
        )


def _divide_uniformly(values: Any, length: int, feature: RaggedFeature) -> Any:
    if length < 1 or len(values) % length:
        raise InvalidArgumentError(f"the number of values must be a multiple of {length}, got {len(values)}")
    if isinstance(values, RaggedTensor):
        dtype = feature.row_splits_dtype.numpy_dtype
        return RaggedTensor(values, np.arange(0, len(values) + 1, length).astype(dtype), length)
    array = values.values
    return Tensor(array.reshape(len(array) // length, length, *array.shape[1:]))


def _create_ragged_tensor(values: Any, splits: Splits, feature: RaggedFeature) -> RaggedTensor:
    row_splits.check_rows_cover_values(splits, len(values) if feature.validate else min(int(splits[-1]), len(values)))
    return RaggedTensor(values, splits)


def _apply_partition(
    rows: RaggedTensor, partition: Any, tensors: dict[str, Any], feature: RaggedFeature, in_frames: bool
) -> RaggedTensor:
    """Divide the values of each record into rows or, if `in_frames`, the values of each element of a feature list."""
    splits, dtype = rows.row_splits.values, feature.row_splits_dtype.numpy_dtype
    if isinstance(partition, UniformRowLength):
        inner = _divide_uniformly(rows.values, partition.length, feature)
        if (splits % partition.length).any():
            raise InvalidArgumentError(f"the number of values in each record must be a multiple of {partition.length}")
        return RaggedTensor(inner, splits // partition.length)
    column = tensors[partition.key].values if in_frames else tensors[partition.key]
    if len(column) != len(rows):
        raise InvalidArgumentError(f"Feature {partition.key}: values and partitions are not aligned")
    numbers, bounds = column.values.values.astype(dtype), column.row_splits.values
    if isinstance(partition, ValueRowIds):
        return _divide_by_rowids(partition.key, rows, numbers, bounds, feature)
    if isinstance(partition, RowLengths):
        return RaggedTensor(_create_ragged_tensor(rows.values, row_splits.from_lengths(numbers), feature), bounds)
    if isinstance(partition, RowSplits):
        # Drop the first entry of each record's row splits; the other entries are row limits.
        picked, bounds = row_splits.slice_rows(bounds, slice(1, None))
        numbers = numbers[picked]
    numbers = numbers + np.repeat(splits[:-1], np.diff(bounds))
    if isinstance(partition, RowStarts):
        found = row_splits.from_starts(numbers, len(rows.values))
    else:
        found = row_splits.from_limits(numbers)
    return RaggedTensor(_create_ragged_tensor(rows.values, found, feature), bounds)


def _divide_by_rowids(
    key: str, rows: RaggedTensor, numbers: NDArray[Any], bounds: Splits, feature: RaggedFeature
) -> RaggedTensor:
    per_record = zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)
    counts = [max(int(numbers[start:stop].max()) + 1, 0) if stop > start else 0 for start, stop in per_record]
    _check_rowids(key, sum(counts) - 1, len(rows.values))
    outer = row_splits.from_lengths(np.array(counts, bounds.dtype))
    shifted = numbers + np.repeat(outer[:-1], np.diff(bounds))
    inner = _create_ragged_tensor(rows.values, row_splits.from_rowids(shifted, int(outer[-1])), feature)
    return RaggedTensor(inner, outer)

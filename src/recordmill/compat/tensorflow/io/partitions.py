"""Rows within the values of a feature, as other features tell them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core import row_splits as parts
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.ragged import RaggedTensor
from recordmill.compat.tensorflow.core.row_splits import Splits
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.io.features import (
    RaggedFeature,
    RowLengths,
    RowLimits,
    RowSplits,
    RowStarts,
    UniformRowLength,
)

_MOST_EMPTY_ROWS = 2**24


def partitioned(name: str, feature: RaggedFeature, tensors: dict[str, Any]) -> Any:
    """Divide the values of a feature into rows, from the innermost partition to the outermost."""
    found = tensors[feature.value_key or name]
    if isinstance(found, Tensor):
        for partition in reversed(feature.partitions):
            found = _divided(found, partition, tensors, feature)
        return found
    outer = found.row_splits if found.ragged_rank > 1 else None
    if outer is not None:
        found = found.values
    for partition in reversed(feature.partitions):
        found = _divided_each(found, partition, tensors, feature, outer is not None)
    return found if outer is None else RaggedTensor(found, outer.values)


def _divided(values: Any, partition: Any, tensors: dict[str, Any], feature: RaggedFeature) -> Any:
    """Rows of the values of one record."""
    if isinstance(partition, UniformRowLength):
        return _uniform(values, partition.length, feature)
    numbers = tensors[partition.key].values.astype(feature.row_splits_dtype.numpy_dtype)
    return _rows(values, _splits(partition, numbers, len(values)), feature)


def _splits(partition: Any, numbers: NDArray[Any], num_values: int) -> Splits:
    if isinstance(partition, RowSplits):
        return parts.from_splits(numbers)
    if isinstance(partition, RowLengths):
        return parts.from_lengths(numbers)
    if isinstance(partition, RowStarts):
        return parts.from_starts(numbers, num_values)
    if isinstance(partition, RowLimits):
        return parts.from_limits(numbers)
    _check_rowids(partition.key, int(numbers.max(initial=0)), num_values)
    return parts.from_rowids(numbers, None)


def _check_rowids(key: str, largest: int, num_values: int) -> None:
    """Refuse row numbers whose empty rows would fill the memory: a record may hold any."""
    if largest > num_values + _MOST_EMPTY_ROWS:
        raise InvalidArgumentError(
            f"Feature {key}: found row number {largest}, expected at most {_MOST_EMPTY_ROWS} empty rows beside "
            f"{num_values} values"
        )


def _uniform(values: Any, length: int, feature: RaggedFeature) -> Any:
    if length < 1 or len(values) % length:
        wanted = f"requires a multiple of {length}" if length > 0 else "has 0"
        raise InvalidArgumentError(
            f"Input to reshape is a tensor with {len(values)} values, but the requested shape {wanted}"
        )
    if isinstance(values, RaggedTensor):
        dtype = feature.row_splits_dtype.numpy_dtype
        return RaggedTensor(values, np.arange(0, len(values) + 1, length).astype(dtype), length)
    array = values.values
    return Tensor(array.reshape(len(array) // length, length, *array.shape[1:]))


def _rows(values: Any, splits: Splits, feature: RaggedFeature) -> RaggedTensor:
    parts.check(splits, len(values) if feature.validate else min(int(splits[-1]), len(values)))
    return RaggedTensor(values, splits)


def _divided_each(
    rows: RaggedTensor, partition: Any, tensors: dict[str, Any], feature: RaggedFeature, framed: bool
) -> RaggedTensor:
    """Rows within the rows of each record (of each frame, in feature lists)."""
    splits, dtype = rows.row_splits.values, feature.row_splits_dtype.numpy_dtype
    if isinstance(partition, UniformRowLength):
        inner = _uniform(rows.values, partition.length, feature)
        if (splits % partition.length).any():
            raise InvalidArgumentError(f"a record holds rows that are not a multiple of {partition.length}")
        return RaggedTensor(inner, splits // partition.length)
    told = tensors[partition.key].values if framed else tensors[partition.key]
    if len(told) != len(rows):
        raise InvalidArgumentError(f"Feature {partition.key}: values and partitions are not aligned")
    numbers, bounds = told.values.values.astype(dtype), told.row_splits.values
    if isinstance(partition, RowSplits):
        numbers, bounds = _without_first(numbers, bounds)
    lengths = np.diff(bounds)
    shifts = np.repeat(splits[:-1], lengths)
    if isinstance(partition, RowSplits | RowLimits):
        inner = _rows(rows.values, parts.from_limits(numbers + shifts), feature)
    elif isinstance(partition, RowStarts):
        inner = _rows(rows.values, parts.from_starts(numbers + shifts, len(rows.values)), feature)
    elif isinstance(partition, RowLengths):
        inner = _rows(rows.values, parts.from_lengths(numbers), feature)
    else:
        return _by_rowids(partition.key, rows, numbers, bounds, feature)
    return RaggedTensor(inner, bounds)


def _without_first(numbers: NDArray[Any], bounds: Splits) -> tuple[NDArray[Any], Splits]:
    picked, splits = parts.slice_rows(bounds, slice(1, None))
    return numbers[picked], splits


def _by_rowids(
    key: str, rows: RaggedTensor, numbers: NDArray[Any], bounds: Splits, feature: RaggedFeature
) -> RaggedTensor:
    per_record = zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)
    counts = [max(int(numbers[start:stop].max()) + 1, 0) if stop > start else 0 for start, stop in per_record]
    _check_rowids(key, sum(counts) - 1, len(rows.values))
    outer = parts.from_lengths(np.array(counts, bounds.dtype))
    shifted = numbers + np.repeat(outer[:-1], np.diff(bounds))
    inner = _rows(rows.values, parts.from_rowids(shifted, int(outer[-1])), feature)
    return RaggedTensor(inner, outer)

"""Row splits of ragged tensors: create, check, slice and gather them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.errors import InvalidArgumentError

Splits = NDArray[np.integer[Any]]


def to_splits_vector(numbers: NDArray[Any], name: str) -> Splits:
    """Check a vector of integers and convert it to int64; a vector of int32 is returned unchanged."""
    if numbers.dtype.kind not in "iu" and numbers.size:
        raise ValueError(f"{name} must have dtype int32 or int64, got {numbers.dtype}")
    if numbers.ndim != 1:
        raise ValueError(f"{name} must have one axis, got shape {numbers.shape}")
    return numbers if numbers.dtype in (np.int32, np.int64) else numbers.astype(np.int64)


def check_row_splits(row_splits: NDArray[Any]) -> Splits:
    """Check row splits from the user and return them as int32 or int64."""
    splits = to_splits_vector(row_splits, "row_splits")
    if not len(splits):
        raise ValueError("row_splits must not be empty")
    return splits


def from_lengths(row_lengths: NDArray[Any]) -> Splits:
    """Convert row lengths to row splits."""
    lengths = to_splits_vector(row_lengths, "row_lengths")
    splits = np.zeros(len(lengths) + 1, lengths.dtype)
    np.cumsum(lengths, out=splits[1:])
    return splits


def from_starts(row_starts: NDArray[Any], num_values: int) -> Splits:
    """Convert the start positions of rows to row splits."""
    starts = to_splits_vector(row_starts, "row_starts")
    return np.concatenate((starts, np.array([num_values], starts.dtype)))


def from_limits(row_limits: NDArray[Any]) -> Splits:
    """Convert the end positions (exclusive) of rows to row splits."""
    limits = to_splits_vector(row_limits, "row_limits")
    return np.concatenate((np.zeros(1, limits.dtype), limits))


def from_rowids(value_rowids: NDArray[Any], num_rows: int | None) -> Splits:
    """Convert the row number of each value to row splits."""
    rowids = to_splits_vector(value_rowids, "value_rowids")
    if len(rowids) and (int(rowids.min()) < 0 or (np.diff(rowids) < 0).any()):
        raise InvalidArgumentError(f"value_rowids must be non-negative and sorted, got {rowids.tolist()}")
    rows = (int(rowids[-1]) + 1 if len(rowids) else 0) if num_rows is None else num_rows
    if len(rowids) and int(rowids[-1]) >= rows:
        raise InvalidArgumentError(f"value_rowids must be less than {rows} (the number of rows), got {int(rowids[-1])}")
    return from_lengths(np.bincount(rowids, minlength=rows).astype(rowids.dtype))


def check_rows_cover_values(splits: Splits, num_values: int) -> None:
    """Raise InvalidArgumentError unless the splits start with 0, are sorted and end with the number of values."""
    problem = None
    if int(splits[0]) != 0:
        problem = f"row splits must start with 0, got {splits[0]}"
    elif (np.diff(splits) < 0).any():
        problem = f"row splits must be sorted, got {splits.tolist()}"
    elif int(splits[-1]) != num_values:
        problem = f"row splits must end with {num_values} (the number of values), got {splits[-1]}"
    if problem is not None:
        raise InvalidArgumentError(f"Arguments do not form a valid RaggedTensor: {problem}")


def bounding_shape(nested: list[Splits], inner: tuple[int, ...]) -> list[int]:
    """Return the shape of the smallest dense array into which all rows fit."""
    return [len(nested[0]) - 1, *(int(np.diff(splits).max(initial=0)) for splits in nested), *inner]


def locate_innermost_values(nested: list[Splits]) -> list[NDArray[np.int64]]:
    """Return the indices of all innermost values, as one array per axis."""
    found = [np.arange(len(nested[0]) - 1)]
    for splits in nested:
        lengths = np.diff(splits)
        found = [np.repeat(axis, lengths) for axis in found]
        found.append(np.arange(int(splits[-1])) - np.repeat(splits[:-1], lengths))
    return found


def slice_rows(splits: Splits, part: slice) -> tuple[NDArray[np.int64], Splits]:
    """Apply a slice to every row; return the positions of the selected values and the new row splits."""
    starts, lengths = splits[:-1].tolist(), np.diff(splits).tolist()
    ranges = [range(start, start + length)[part] for start, length in zip(starts, lengths, strict=True)]
    counts = np.array([len(one) for one in ranges], splits.dtype)
    picked = np.fromiter((position for one in ranges for position in one), np.int64)
    return picked, from_lengths(counts)


def gather_rows(splits: Splits, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], Splits]:
    """Select rows by number; return the positions of their values and the new row splits."""
    lengths = np.diff(splits)[rows]
    gathered = from_lengths(lengths)
    starts = np.repeat(splits[:-1][rows].astype(np.int64) - gathered[:-1], lengths)
    return starts + np.arange(int(gathered[-1])), gathered

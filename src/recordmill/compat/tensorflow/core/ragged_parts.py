"""Arithmetic of row splits: the ways to say where rows begin, and what follows from it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.errors import InvalidArgumentError

Splits = NDArray[np.integer[Any]]


def as_splits(given: NDArray[Any], what: str) -> Splits:
    """Whole numbers in one row, of 32 bits only if they came so."""
    if given.dtype.kind not in "iu" and given.size:
        raise ValueError(f"{what} must have dtype int32 or int64; got {given.dtype}")
    if given.ndim != 1:
        raise ValueError(f"{what} must have one axis; its shape is {given.shape}")
    return given if given.dtype in (np.int32, np.int64) else given.astype(np.int64)


def from_splits(row_splits: NDArray[Any]) -> Splits:
    """Row splits as they are; numbers of Python's become int64."""
    splits = as_splits(row_splits, "row_splits")
    if not len(splits):
        raise ValueError("row_splits may not be empty: []")
    return splits


def from_lengths(row_lengths: NDArray[Any]) -> Splits:
    """Row splits of rows of these lengths."""
    lengths = as_splits(row_lengths, "row_lengths")
    splits = np.zeros(len(lengths) + 1, lengths.dtype)
    np.cumsum(lengths, out=splits[1:])
    return splits


def from_starts(row_starts: NDArray[Any], num_values: int) -> Splits:
    """Row splits of rows that begin at these places, the last of which goes on to the end."""
    starts = as_splits(row_starts, "row_starts")
    return np.concatenate((starts, np.array([num_values], starts.dtype)))


def from_limits(row_limits: NDArray[Any]) -> Splits:
    """Row splits of rows that end in front of these places."""
    limits = as_splits(row_limits, "row_limits")
    return np.concatenate((np.zeros(1, limits.dtype), limits))


def from_rowids(value_rowids: NDArray[Any], num_rows: int | None) -> Splits:
    """Row splits of rows by the number of the row of each value."""
    rowids = as_splits(value_rowids, "value_rowids")
    if len(rowids) and (int(rowids.min()) < 0 or (np.diff(rowids) < 0).any()):
        raise InvalidArgumentError(f"value_rowids must be nonnegative and must not fall: {rowids.tolist()}")
    rows = (int(rowids[-1]) + 1 if len(rowids) else 0) if num_rows is None else num_rows
    if len(rowids) and int(rowids[-1]) >= rows:
        raise InvalidArgumentError(f"value_rowids holds {int(rowids[-1])}, but there are {rows} rows")
    return from_lengths(np.bincount(rowids, minlength=rows).astype(rowids.dtype))


def check(splits: Splits, num_values: int) -> None:
    """Refuse row splits that do not cover so many values from front to end."""
    if int(splits[0]) != 0:
        raise InvalidArgumentError(
            f"Arguments to _from_row_partition do not form a valid RaggedTensor: they begin with {splits[0]}"
        )
    if (np.diff(splits) < 0).any():
        raise InvalidArgumentError(
            f"Arguments to _from_row_partition do not form a valid RaggedTensor: row splits fall: {splits.tolist()}"
        )
    if int(splits[-1]) != num_values:
        raise InvalidArgumentError(
            f"Arguments to _from_row_partition do not form a valid RaggedTensor: {splits[-1]} != {num_values}"
        )


def bounding(nested: list[Splits], inner: tuple[int, ...]) -> list[int]:
    """Lengths of the smallest array that holds all rows."""
    return [len(nested[0]) - 1, *(int(np.diff(splits).max(initial=0)) for splits in nested), *inner]


def places(nested: list[Splits]) -> list[NDArray[np.int64]]:
    """Where each innermost value lies: its place on every ragged axis."""
    found = [np.arange(len(nested[0]) - 1)]
    for splits in nested:
        lengths = np.diff(splits)
        found = [np.repeat(axis, lengths) for axis in found]
        found.append(np.arange(int(splits[-1])) - np.repeat(splits[:-1], lengths))
    return found


def slice_rows(splits: Splits, part: slice) -> tuple[NDArray[np.int64], Splits]:
    """Values in the same part of every row, and the splits of what is taken."""
    starts, lengths = splits[:-1].tolist(), np.diff(splits).tolist()
    ranges = [range(start, start + length)[part] for start, length in zip(starts, lengths, strict=True)]
    counts = np.array([len(one) for one in ranges], splits.dtype)
    picked = np.fromiter((place for one in ranges for place in one), np.int64)
    return picked, from_lengths(counts)


def gather_rows(splits: Splits, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], Splits]:
    """Values of chosen rows, and the splits of these rows."""
    lengths = np.diff(splits)[rows]
    chosen = from_lengths(lengths)
    starts = np.repeat(splits[:-1][rows].astype(np.int64) - chosen[:-1], lengths)
    return starts + np.arange(int(chosen[-1])), chosen


def spelled(value: Any) -> str:
    """Write arrays in arrays with commas, as NumPy breaks and shortens them."""
    if not isinstance(value, np.ndarray):
        return str(value)
    return np.array2string(value, separator=", ") if value.size else repr(value.tolist())

"""Convert the input of a batch to columns, and read the rows of a column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from recordmill.errors import FeatureError
from recordmill.types import Ragged

# If rows have at least this many values on average, they are copied one by one. Shorter rows are copied together, by
# indexing with an array of positions. For long rows, indexing would be slower, and the array would need 8 bytes for
# each copied value.
_MIN_LONG_ROW = 192

Columns = dict[str, Any]


def parse_columns(data: Any, features: Sequence[str]) -> Columns:
    """Convert the input of a batch to a dict of columns.

    If the input has no feature names, it is one column, and `features` must contain exactly one name.
    """
    if isinstance(data, Mapping):
        columns = dict(data)
    elif isinstance(data, Sequence) and data and all(isinstance(example, Mapping) for example in data):
        columns = _examples_to_columns(data)
    else:
        if len(features) != 1:
            raise FeatureError(
                "data must have feature names if the specs read several features",
                expected="one feature",
                found=f"{len(features)} features",
            )
        columns = {features[0]: data}
    if len(columns) > 1 and len({len(column) for column in columns.values()}) > 1:
        lengths = {name: len(column) for name, column in columns.items()}
        raise FeatureError("columns of a batch must have the same length", found=str(lengths))
    return columns


def _examples_to_columns(examples: Sequence[Mapping[str, Any]]) -> Columns:
    names = examples[0].keys()
    for position, example in enumerate(examples):
        if example.keys() != names:
            raise FeatureError(
                f"example {position} must have the same features as example 0",
                expected=str([*names]),
                found=str([*example]),
            )
    return {name: _build_column([example[name] for example in examples]) for name in names}


def _build_column(values: list[Any]) -> Any:
    if any(isinstance(value, bytes | str | list) for value in values):
        return values
    shapes = {np.shape(value) for value in values}
    return np.stack([np.asarray(value) for value in values]) if len(shapes) == 1 else values


def take_column_rows(column: Any, rows: Sequence[int] | NDArray[np.int64]) -> Any:
    """Return the given rows of a column."""
    chosen = np.asarray(rows, np.int64)
    if isinstance(column, np.ndarray):
        return column[chosen]
    if not isinstance(column, Ragged):
        return [column[row] for row in rows]
    starts, counts = column.row_splits[:-1][chosen], np.diff(column.row_splits)[chosen]
    splits = np.concatenate([[0], np.cumsum(counts)])
    if isinstance(column.data, np.ndarray) and splits[-1] >= _MIN_LONG_ROW * max(len(chosen), 1):
        ends = zip(starts.tolist(), (starts + counts).tolist(), strict=True)
        return Ragged(np.concatenate([column.data[start:end] for start, end in ends]), splits)
    positions = np.repeat(starts - splits[:-1], counts) + np.arange(splits[-1])
    return Ragged(take_column_rows(column.data, positions), splits)


class ByteRows(Sequence[memoryview]):
    """Sequence of byte strings in one buffer. The view of a row is created when the row is accessed.

    Parameters
    ----------
    column : Ragged of uint8

    Attributes
    ----------
    data : ndarray of uint8, shape (n,)
    splits : ndarray of int64, shape (count + 1,)
    """

    __slots__ = ("data", "splits")

    def __init__(self, column: Ragged) -> None:
        self.data: NDArray[np.uint8] = np.ascontiguousarray(column.data)
        self.splits: NDArray[np.int64] = np.ascontiguousarray(column.row_splits, np.int64)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.splits) - 1

    @overload
    def __getitem__(self, row: int) -> memoryview: ...
    @overload
    def __getitem__(self, row: slice) -> list[memoryview]: ...

    def __getitem__(self, row: Any) -> Any:
        """Return a view of one row, or a list of views for a slice."""
        if isinstance(row, slice):
            return list(self)[row]
        ordinal = range(len(self))[row]
        return self.data.data[self.splits[ordinal] : self.splits[ordinal + 1]]

    def __iter__(self) -> Iterator[memoryview]:
        """Iterate over views of the rows."""
        data = self.data.data
        return (data[start:stop] for start, stop in pairwise(self.splits.tolist()))


def convert_to_byte_rows(column: Any, name: str) -> Sequence[Any]:
    """Convert a column to a sequence with one byte string per sample.

    Raise FeatureError if a sample is not exactly one byte string.
    """
    if isinstance(column, np.ndarray) and column.dtype.kind == "S":
        raise FeatureError(
            f"feature '{name}' must be a list of bytes, got an array of dtype {column.dtype}: "
            "NumPy drops trailing zero bytes from arrays of this dtype"
        )
    if (
        isinstance(column, Ragged)
        and isinstance(column.data, np.ndarray)
        and column.data.dtype == np.uint8
        and column.data.ndim == 1
    ):
        return ByteRows(column)
    rows = list(column)
    if set(map(type, rows)) == {bytes}:
        return rows
    for position, row in enumerate(rows):
        value = row
        if isinstance(row, Ragged | list) or (isinstance(row, np.ndarray) and row.dtype == object):
            if len(row) != 1:
                raise FeatureError(
                    f"sample {position} of feature '{name}' must hold 1 byte string, got {len(row)} byte strings"
                )
            value = row[0]
        if isinstance(value, np.ndarray) and (value.dtype != np.uint8 or value.ndim != 1):
            raise FeatureError(f"feature '{name}' must hold byte strings, got {value.dtype} of shape {value.shape}")
        if not isinstance(value, bytes | bytearray | memoryview | np.ndarray):
            raise FeatureError(f"feature '{name}' must hold byte strings, got {type(value).__name__}")
        rows[position] = value
    return rows


def convert_for_native_call(payloads: Sequence[Any]) -> Any:
    """Convert byte strings to a form that native functions accept: (data, row splits), or a list of buffers."""
    return (payloads.data, payloads.splits) if isinstance(payloads, ByteRows) else list(payloads)


def take_payloads(payloads: Any, rows: NDArray[np.int64]) -> list[Any]:
    """Return the given rows of a result of `convert_for_native_call`, as a list."""
    if not isinstance(payloads, tuple):
        return [payloads[row] for row in rows.tolist()]
    data, splits = payloads
    return [data.data[splits[row] : splits[row + 1]] for row in rows.tolist()]


def read_lengths(column: Any, name: str) -> list[int]:
    """Read a feature that stores the length of an array axis for each sample.

    Raise FeatureError if a value is not a whole number of at least 0.
    """
    lengths = []
    for position, row in enumerate(column):
        value = np.asarray(row).ravel()
        if value.size != 1 or value.dtype.kind not in "iuf" or not float(value[0]).is_integer() or value[0] < 0:
            found = repr(np.asarray(row))
            raise FeatureError(
                f"sample {position} of feature '{name}' must hold the length of an array axis (0 or more), got {found}"
            )
        lengths.append(int(value[0]))
    return lengths

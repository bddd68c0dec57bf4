"""The forms in which callers hold the features of a batch, brought to one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.decode.rows import ByteRows
from recordmill.errors import FeatureError
from recordmill.types import Ragged

# Values per row from which rows are copied one by one: places of all their values would take longer, and eight times
# the memory of bytes.
_LONG = 192

Columns = dict[str, Any]


def columns_of(data: Any, names: Sequence[str]) -> Columns:
    """Columns by name."""
    if isinstance(data, Mapping):
        columns = dict(data)
    elif isinstance(data, Sequence) and data and all(isinstance(example, Mapping) for example in data):
        columns = _transposed(data)
    else:
        if len(set(names)) != 1:
            raise FeatureError(
                "byte strings without names are one feature", expected="specs of one feature", found=f"{len(names)}"
            )
        columns = {names[0]: data}
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise FeatureError("columns of one batch have one length", found=str(lengths))
    return columns


def _transposed(examples: Sequence[Mapping[str, Any]]) -> Columns:
    names = examples[0].keys()
    for position, example in enumerate(examples):
        if example.keys() != names:
            raise FeatureError(
                f"example {position} has other features than example 0", expected=str([*names]), found=str([*example])
            )
    return {name: _column([example[name] for example in examples]) for name in names}


def _column(values: list[Any]) -> Any:
    if any(isinstance(value, bytes | str | list) for value in values):
        return values
    shapes = {np.shape(value) for value in values}
    return np.stack([np.asarray(value) for value in values]) if len(shapes) == 1 else values


def take(column: Any, rows: Sequence[int] | NDArray[np.int64]) -> Any:
    """Some rows of a column."""
    chosen = np.asarray(rows, np.int64)
    if isinstance(column, np.ndarray):
        return column[chosen]
    if not isinstance(column, Ragged):
        return [column[row] for row in rows]
    starts, counts = column.row_splits[:-1][chosen], np.diff(column.row_splits)[chosen]
    splits = np.concatenate([[0], np.cumsum(counts)])
    if isinstance(column.data, np.ndarray) and splits[-1] >= _LONG * max(len(chosen), 1):
        ends = zip(starts.tolist(), (starts + counts).tolist(), strict=True)
        return Ragged(np.concatenate([column.data[start:end] for start, end in ends]), splits)
    inside = np.repeat(starts - splits[:-1], counts) + np.arange(splits[-1])
    return Ragged(take(column.data, inside), splits)


def byte_rows(column: Any, name: str) -> Sequence[Any]:
    """Byte strings of a column, one for each sample."""
    if isinstance(column, np.ndarray) and column.dtype.kind == "S":
        raise FeatureError(f"feature '{name}' is an array of {column.dtype}, which has lost zeros at the ends")
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
                raise FeatureError(f"feature '{name}' of sample {position} holds {len(row)} byte strings, not one")
            value = row[0]
        if isinstance(value, np.ndarray) and (value.dtype != np.uint8 or value.ndim != 1):
            raise FeatureError(f"feature '{name}' holds {value.dtype} of shape {value.shape}, not byte strings")
        if not isinstance(value, bytes | bytearray | memoryview | np.ndarray):
            raise FeatureError(f"feature '{name}' holds {type(value).__name__}, not byte strings")
        rows[position] = value
    return rows


def whole_numbers(column: Any, name: str) -> list[int]:
    """Lengths that a feature holds, one for each sample."""
    numbers = []
    for position, row in enumerate(column):
        value = np.asarray(row).ravel()
        if value.size != 1 or value.dtype.kind not in "iuf" or not float(value[0]).is_integer() or value[0] < 0:
            raise FeatureError(f"feature '{name}' of sample {position} is no length: {np.asarray(row)!r}")
        numbers.append(int(value[0]))
    return numbers

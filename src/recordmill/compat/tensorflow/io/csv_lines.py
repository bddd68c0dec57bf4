"""``tf.io.decode_csv``: parse CSV lines into columns."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import call_operation, op
from recordmill.compat.tensorflow.core.dtypes import DType, as_dtype, float32, string
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor

_ALLOWED = ("float32", "float64", "int32", "int64", "string")
_QUOTE = b'"'


@op("io.decode_csv")
def decode_csv(
    records: Any,
    record_defaults: Sequence[Any],
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    select_cols: Sequence[int] | None = None,
) -> list[Tensor]:
    """``tf.io.decode_csv``: parse CSV lines into one tensor per column."""
    lines, selected = array_of(records, string), None if select_cols is None else list(map(int, select_cols))
    _check_selected_columns(selected, len(record_defaults))
    delimiter = str(field_delim).encode()
    if len(delimiter) != 1:
        raise InvalidArgumentError(f"field_delim must be a single character, got {field_delim!r}")
    columns = [_Column(number, default) for number, default in enumerate(record_defaults)]
    rows = []
    for number, line in enumerate(lines.reshape(-1).tolist()):
        row = _split_fields(line, delimiter, use_quote_delim)
        if selected is not None:
            row = [row[index] for index in selected if index < len(row)]
        if len(row) != len(columns):
            raise InvalidArgumentError(f"expected {len(columns)} fields in record {number}, got {len(row)}")
        rows.append(row)
    missing = (b"", na_value.encode())
    return [
        column.parse_fields([row[number] for row in rows], missing, lines.shape)
        for number, column in enumerate(columns)
    ]


def column_dtype(default: Any) -> DType:
    """Return the dtype of a column: the dtype of its default value or, if it has none, float32."""
    return float32 if isinstance(default, list) and not default else as_dtype(array_of(default).dtype)


def _check_selected_columns(selected: list[int] | None, count: int) -> None:
    if selected is None:
        return
    if len(selected) != count:
        raise ValueError(f"select_cols and record_defaults must have the same length, got {len(selected)} and {count}")
    if any(index < 0 for index in selected) or any(a >= b for a, b in itertools.pairwise(selected)):
        raise ValueError(f"select_cols must be non-negative and strictly increasing, got {selected}")


class _Column:
    def __init__(self, number: int, default: Any) -> None:
        self._number, self._dtype = number, column_dtype(default)
        self._default = np.atleast_1d(array_of(default))
        if self._dtype.name not in _ALLOWED:
            raise InvalidArgumentError(
                f"dtypes in record_defaults must be one of {', '.join(_ALLOWED)}, got {self._dtype.name}"
            )
        if self._default.size > 1:
            raise InvalidArgumentError(f"field {number} must have at most 1 default value, got {self._default.size}")

    def parse_fields(self, fields: list[bytes], missing: tuple[bytes, ...], shape: tuple[int, ...]) -> Tensor:
        """Convert this column's fields, one per record; missing fields get the column's default value."""
        absent = [number for number, field in enumerate(fields) if field in missing]
        if absent and not self._default.size:
            raise InvalidArgumentError(f"field {self._number} is required but missing in record {absent[0]}")
        values = np.empty(len(fields), object)
        values[:] = fields
        if self._dtype != string:
            values[absent] = b"0"
            values = call_operation("strings.to_number", Tensor(values), self._dtype).values
        if absent:
            values[absent] = self._default[0]
        return Tensor(values.reshape(shape))


def _split_fields(line: bytes, delimiter: bytes, quoted: bool) -> list[bytes]:
    """Split a CSV line into fields; with `quoted`, fields may be quoted, and the quotes are removed."""
    if not line:
        return []
    if not quoted or _QUOTE not in line:
        if quoted and (b"\n" in line or b"\r" in line):
            raise InvalidArgumentError("unquoted fields cannot contain quotes or line ends")
        return line.split(delimiter)
    fields, start = [], 0
    while start <= len(line):
        read = _read_quoted_field if line[start : start + 1] == _QUOTE else _read_unquoted_field
        field, start = read(line, start, delimiter)
        fields.append(field)
    return fields


def _read_unquoted_field(line: bytes, start: int, delimiter: bytes) -> tuple[bytes, int]:
    """Return the unquoted field at `start` and the start of the next field."""
    end = line.find(delimiter, start)
    end = len(line) if end < 0 else end
    field = line[start:end]
    if any(byte in field for byte in (_QUOTE, b"\n", b"\r")):
        raise InvalidArgumentError("unquoted fields cannot contain quotes or line ends")
    return field, end + 1


def _read_quoted_field(line: bytes, start: int, delimiter: bytes) -> tuple[bytes, int]:
    """Return the quoted field at `start`, with doubled quotes replaced, and the start of the next field."""
    parts, position = [], start + 1
    while True:
        end = line.find(_QUOTE, position)
        if end < 0:
            raise InvalidArgumentError("a quoted field must end with a quote")
        parts.append(line[position:end])
        following = line[end + 1 : end + 2]
        if following in (b"", delimiter):
            return _QUOTE.join(parts), end + 2
        if following != _QUOTE:
            raise InvalidArgumentError("a quote in a quoted field must be doubled")
        position = end + 2

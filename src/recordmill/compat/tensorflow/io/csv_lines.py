"""``tf.io.decode_csv``: lines of separated values as columns."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import DType, as_dtype, float32, string
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.ops.numerals import parse_number, parse_numbers

_ALLOWED = ("float32", "float64", "int32", "int64", "string")
_CALLED = {"float32": "float", "float64": "double"}
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
    """Columns of lines of separated values."""
    lines, chosen = array_of(records, string), None if select_cols is None else list(map(int, select_cols))
    _check_chosen(chosen, len(record_defaults))
    mark = str(field_delim).encode()
    if len(mark) != 1:
        raise InvalidArgumentError("field_delim should be only 1 char [Op:DecodeCSV]")
    columns = [_Column(place, default) for place, default in enumerate(record_defaults)]
    missing = (b"", na_value.encode())
    strings = lines.reshape(-1).tolist()
    if chosen is None and (found := _together(strings, mark, use_quote_delim, columns, missing)) is not None:
        return [Tensor(values.reshape(lines.shape)) for values in found]
    for number, line in enumerate(strings):
        fields = _fields(line, mark, use_quote_delim)
        if chosen is not None:
            fields = [fields[place] for place in chosen if place < len(fields)]
        if len(fields) != len(columns):
            raise InvalidArgumentError(
                f"Expect {len(columns)} fields but have {len(fields)} in record {number} [Op:DecodeCSV]"
            )
        for column, field in zip(columns, fields, strict=True):
            column.take(None if field in missing else field, number)
    return [column.tensor(lines.shape) for column in columns]


def _together(
    lines: list[bytes], mark: bytes, quoted: bool, columns: list[_Column], missing: tuple[bytes, ...]
) -> list[NDArray[Any]] | None:
    """Columns of lines that hold nothing but fields of the usual kinds; None of others."""
    everything = b"".join(lines)
    if quoted and any(sign in everything for sign in (_QUOTE, b"\n", b"\r")):
        return None
    rows = [line.split(mark) for line in lines if line]
    if len(rows) != len(lines) or any(len(row) != len(columns) for row in rows):
        return None
    found = []
    for column, fields in zip(columns, zip(*rows, strict=True), strict=False):
        values = column.read(fields, missing)
        if values is None:
            return None
        found.append(values)
    return found if len(found) == len(columns) else None


def column_dtype(default: Any) -> DType:
    """Dtype that a default tells of its column."""
    return float32 if isinstance(default, list) and not default else as_dtype(array_of(default).dtype)


def _check_chosen(chosen: list[int] | None, count: int) -> None:
    if chosen is None:
        return
    if len(chosen) != count:
        raise ValueError("Length of select_cols and record_defaults do not match.")
    if any(one < 0 for one in chosen) or any(a >= b for a, b in itertools.pairwise(chosen)):
        raise ValueError("select_cols is not strictly increasing.")


class _Column:
    """Values of one column as they are found."""

    def __init__(self, place: int, default: Any) -> None:
        given = np.atleast_1d(array_of(default))
        self._dtype = float32 if isinstance(default, list) and not default else as_dtype(given.dtype)
        if self._dtype.name not in _ALLOWED:
            raise InvalidArgumentError(
                f"Value for attr 'OUT_TYPE' of {self._dtype.name} is not in the list of allowed values: float, double, "
                "int32, int64, string"
            )
        if given.size > 1:
            raise InvalidArgumentError(
                f"There should only be 1 default per field but field {place} has {given.size} [Op:DecodeCSV]"
            )
        self._place, self._default, self._values = place, given, []  # type: tuple[int, Any, list[Any]]

    def take(self, field: bytes | None, record: int) -> None:
        if field is None:
            if not self._default.size:
                raise InvalidArgumentError(
                    f"Field {self._place} is required but missing in record {record}! [Op:DecodeCSV]"
                )
            self._values.append(self._default[0])
            return
        self._values.append(field if self._dtype == string else self._number(field, record))

    def read(self, fields: Sequence[bytes], missing: tuple[bytes, ...]) -> NDArray[Any] | None:
        """Values of fields, all of which are there; None if one of them has to be looked at alone."""
        if not set(missing).isdisjoint(fields):
            return None
        if self._dtype != string:
            try:
                return parse_numbers(list(fields), self._dtype)
            except InvalidArgumentError:
                return None
        values = np.empty(len(fields), object)
        values[:] = fields
        return values

    def _number(self, field: bytes, record: int) -> Any:
        try:
            return parse_number(field, self._dtype)
        except InvalidArgumentError:
            name, told = self._dtype.name, field.decode("utf-8", "replace")
            raise InvalidArgumentError(
                f"Field {self._place} in record {record} is not a valid {_CALLED.get(name, name)}: {told} "
                "[Op:DecodeCSV]"
            ) from None

    def tensor(self, shape: tuple[int, ...]) -> Tensor:
        values = np.empty(len(self._values), self._dtype.numpy_dtype)
        values[:] = self._values
        return Tensor(values.reshape(shape))


def _fields(line: bytes, mark: bytes, quoted: bool) -> list[bytes]:
    if not line:
        return []
    if not quoted or _QUOTE not in line:
        if quoted and (b"\n" in line or b"\r" in line):
            raise InvalidArgumentError("Unquoted fields cannot have quotes/CRLFs inside [Op:DecodeCSV]")
        return line.split(mark)
    found, at = [], 0
    while at <= len(line):
        field, at = (_held if line[at : at + 1] == _QUOTE else _plain)(line, at, mark)
        found.append(field)
    return found


def _plain(line: bytes, start: int, mark: bytes) -> tuple[bytes, int]:
    """Field without quotation marks, and where the next one begins."""
    end = line.find(mark, start)
    end = len(line) if end < 0 else end
    field = line[start:end]
    if any(one in field for one in (_QUOTE, b"\n", b"\r")):
        raise InvalidArgumentError("Unquoted fields cannot have quotes/CRLFs inside [Op:DecodeCSV]")
    return field, end + 1


def _held(line: bytes, start: int, mark: bytes) -> tuple[bytes, int]:
    """Field between quotation marks, of which two stand for one, and where the next one begins."""
    parts, at = [], start + 1
    while True:
        end = line.find(_QUOTE, at)
        if end < 0:
            raise InvalidArgumentError("Quoted field has to end with quote followed by delim or end [Op:DecodeCSV]")
        parts.append(line[at:end])
        behind = line[end + 1 : end + 2]
        if behind in (b"", mark):
            return _QUOTE.join(parts), end + 2
        if behind != _QUOTE:
            raise InvalidArgumentError("Quote inside a string has to be escaped by another quote [Op:DecodeCSV]")
        at = end + 2

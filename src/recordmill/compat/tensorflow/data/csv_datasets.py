"""``tf.data.experimental.CsvDataset`` and ``make_csv_dataset``."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.dtypes import DType, float32, float64, int32, int64, string
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.data.dataset import Dataset
from recordmill.compat.tensorflow.data.elements import Element, Node
from recordmill.compat.tensorflow.data.files import (
    TextLineDataset,
    TextLines,
    parse_compression,
    strip_line_end,
    to_file_names_node,
    to_scalar_string_tensor,
)
from recordmill.compat.tensorflow.files.gfile import glob
from recordmill.compat.tensorflow.io.csv_lines import decode_csv
from recordmill.types import RecordRef

# Dtypes that are tried for a column without a declared dtype, from the narrowest to the widest.
_DTYPES = (int32, int64, float32, float64, string)


class CsvDataset(Dataset):
    """``tf.data.experimental.CsvDataset``: a tuple of fields per record; quoted fields may contain line ends."""

    def __init__(
        self,
        filenames: Any,
        record_defaults: Sequence[Any],
        compression_type: Any = None,
        buffer_size: int | None = None,
        header: bool = False,
        field_delim: str = ",",
        use_quote_delim: bool = True,
        na_value: str = "",
        select_cols: Sequence[int] | None = None,
        exclude_cols: Sequence[int] | None = None,
    ) -> None:
        del buffer_size
        if select_cols is not None and exclude_cols is not None:
            raise InvalidArgumentError("Either select_cols or exclude_cols should be empty")
        if exclude_cols is not None:
            count = len(record_defaults) + len(set(exclude_cols))
            select_cols = [column for column in range(count) if column not in exclude_cols]
        defaults = [np.empty(0, one.numpy_dtype) if isinstance(one, DType) else one for one in record_defaults]
        delimiter = field_delim.encode() if use_quote_delim else b""
        lines = CsvRecords(to_file_names_node(filenames), parse_compression(compression_type), delimiter, header)

        def parse_record(record: Any) -> tuple[Any, ...]:
            return tuple(decode_csv(record, defaults, field_delim, use_quote_delim, na_value, select_cols))

        super().__init__(Dataset(lines).map(parse_record).node)


class CsvRecords(TextLines):
    """Records of CSV files. A record spans several lines if a quoted field contains a line end."""

    def __init__(self, paths: Node, compression: str, delimiter: bytes, header: bool) -> None:
        super().__init__(paths, compression)
        self._delimiter, self._header = delimiter, header

    def read(self, path: str) -> Iterator[Element]:
        """Yield the records of a file, without the header line."""
        return itertools.islice(self._read_all(path), int(self._header), None)

    def _read_all(self, path: str) -> Iterator[Element]:
        record, start, offset = 0, 0, 0
        parts: list[bytes] = []
        with self._open(path) as file:
            for line in file:
                offset += len(line)
                parts.append(line)
                if self._continues_on_next_line(line, was_open=len(parts) > 1):
                    continue
                yield _make_element(parts, RecordRef(path, record, start))
                record, start, parts = record + 1, offset, []
        if parts:
            yield _make_element(parts, RecordRef(path, record, start))

    def _continues_on_next_line(self, line: bytes, was_open: bool) -> bool:
        may_change = line.count(b'"') % 2 == 1
        return (
            bool(self._delimiter) and (was_open or may_change) and _ends_inside_quotes(line, self._delimiter, was_open)
        )


def _make_element(parts: list[bytes], record: RecordRef) -> Element:
    return Element(to_scalar_string_tensor(strip_line_end(b"".join(parts))), record)


def _ends_inside_quotes(line: bytes, delimiter: bytes, was_open: bool) -> bool:
    """Return whether a line ends inside a quoted field; a quoted field begins with a quote."""
    position, is_open = 0, was_open
    while True:
        if is_open:
            position = line.find(b'"', position)
            if position < 0:
                return True
            is_escaped = line[position + 1 : position + 2] == b'"'
            is_open, position = is_escaped, position + 1 + is_escaped
        elif line[position : position + 1] == b'"' and (not position or line[position - 1 : position] == delimiter):
            is_open, position = True, position + 1
        else:
            position = line.find(delimiter, position) + 1
            if not position:
                return False


def make_csv_dataset(
    file_pattern: Any,
    batch_size: int,
    column_names: Sequence[str] | None = None,
    column_defaults: Sequence[Any] | None = None,
    label_name: str | None = None,
    select_columns: Sequence[Any] | None = None,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    header: bool = True,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: int | None = None,
    prefetch_buffer_size: int | None = None,
    num_parallel_reads: int | None = None,
    sloppy: bool = False,
    num_rows_for_inference: int | None = 100,
    compression_type: Any = None,
    ignore_errors: bool = False,
    encoding: str = "utf-8",
) -> Any:
    """``tf.data.experimental.make_csv_dataset``: create a dataset of batches, each a dict of CSV columns."""
    del sloppy
    files = sorted(glob(file_pattern))
    if not files:
        raise ValueError(f"No files match `file_pattern` {file_pattern}.")
    if column_names is None and not header:
        raise ValueError("Expected `column_names` or `header` arguments. Neither is provided.")
    quoting = csv.QUOTE_MINIMAL if use_quote_delim else csv.QUOTE_NONE

    def read_rows(name: str) -> Iterator[list[str]]:
        lines = (line.numpy().decode(encoding) for line in TextLineDataset(name, compression_type))
        return csv.reader(lines, delimiter=field_delim, quoting=quoting)  # type: ignore[arg-type]

    names = next(read_rows(files[0]), []) if column_names is None else list(column_names)
    if len(set(names)) != len(names):
        raise ValueError(f"Either `column_names` argument or CSV header row contains duplicate column names: {names}.")
    columns = None if select_columns is None else sorted(_find_column(one, names) for one in select_columns)
    chosen = names if columns is None else [names[column] for column in columns]
    if label_name is not None and label_name not in chosen:
        raise ValueError(f"`label_name` provided must be one of the columns: {chosen}. Received: {label_name}.")
    if column_defaults is None:
        rows = (row for name in files for row in itertools.islice(read_rows(name), int(header), None))
        dtypes = _infer_dtypes(itertools.islice(rows, num_rows_for_inference), len(names), na_value)
        selected = dtypes if columns is None else [dtypes[column] for column in columns]
        column_defaults = ["" if dtype == string else np.zeros((), dtype.numpy_dtype) for dtype in selected]
    options = (compression_type, None, header, field_delim, use_quote_delim, na_value, columns)

    def name_columns(*values: Any) -> Any:
        row = dict(zip(chosen, values, strict=True))
        return row if label_name is None else (row, row.pop(label_name))

    data = Dataset.from_tensor_slices(files)
    data = data.shuffle(len(files), shuffle_seed) if shuffle else data
    data = data.interleave(lambda name: CsvDataset(name, column_defaults, *options), num_parallel_reads or 1, 1)
    data = data.ignore_errors() if ignore_errors else data
    data = data.shuffle(shuffle_buffer_size, shuffle_seed) if shuffle else data
    data = data.repeat(num_epochs).batch(batch_size, num_epochs is None).map(name_columns)
    return data.prefetch(1 if prefetch_buffer_size is None else prefetch_buffer_size)


def _find_column(column: Any, names: list[str]) -> int:
    """Return the position of a column that is given by name or by position."""
    if isinstance(column, str) and column in names:
        return names.index(column)
    if isinstance(column, str) or not 0 <= int(column) < len(names):
        raise ValueError(f"select_columns must be names or positions of the columns {names}, got {column!r}")
    return int(column)


def _infer_dtypes(rows: Iterator[list[str]], count: int, na_value: str) -> list[DType]:
    """Return, for each column, the narrowest dtype that can represent all values in the rows."""
    ranks = [-1] * count
    for row in rows:
        if len(row) != count:
            raise ValueError(f"Problem inferring types: CSV row has {len(row)} number of fields. Expected: {count}.")
        for column, text in enumerate(row):
            if text not in ("", na_value):
                ranks[column] = max(ranks[column], _DTYPES.index(_infer_dtype(text)))
    return [_DTYPES[rank] if rank >= 0 else string for rank in ranks]


def _infer_dtype(text: str) -> DType:
    try:
        number = int(text)
        if -(2**63) <= number < 2**63:
            return int32 if -(2**31) <= number < 2**31 else int64
    except ValueError:
        pass
    try:
        size = abs(float(text))
    except ValueError:
        return string
    if size <= float(np.finfo(np.float32).max):
        return float32
    return float64 if size <= float(np.finfo(np.float64).max) else string

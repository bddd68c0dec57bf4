"""``tf.data.experimental.make_csv_dataset``: batches of named columns of files of separated values."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.dtypes import DType, float32, float64, int32, int64, string
from recordmill.compat.tensorflow.data.csv_files import CsvDataset
from recordmill.compat.tensorflow.data.dataset import Dataset
from recordmill.compat.tensorflow.data.readers import TextLineDataset
from recordmill.compat.tensorflow.files.gfile import glob

_KINDS = (int32, int64, float32, float64, string)


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
    """Batches of the lines of files, as a dict of columns."""
    del sloppy
    files = sorted(glob(file_pattern))
    if not files:
        raise ValueError(f"No files match `file_pattern` {file_pattern}.")
    if column_names is None and not header:
        raise ValueError("Expected `column_names` or `header` arguments. Neither is provided.")
    table = _Table(files, compression_type, encoding, field_delim, use_quote_delim)
    names = _checked(next(table.rows(files[0]), []) if column_names is None else list(column_names))
    places = _selected(select_columns, names)
    chosen = names if places is None else [names[place] for place in places]
    if label_name is not None and label_name not in chosen:
        raise ValueError(f"`label_name` provided must be one of the columns: {chosen}. Received: {label_name}.")
    if column_defaults is None:
        rows = itertools.islice(table.all_rows(int(header)), num_rows_for_inference)
        column_defaults = _defaults(rows, len(names), places, na_value)
    options = (compression_type, None, header, field_delim, use_quote_delim, na_value, places)
    sources = Dataset.from_tensor_slices(files)
    sources = sources.shuffle(len(files), shuffle_seed) if shuffle else sources
    found = sources.interleave(lambda name: CsvDataset(name, column_defaults, *options), num_parallel_reads or 1, 1)
    found = found.ignore_errors() if ignore_errors else found
    found = found.shuffle(shuffle_buffer_size, shuffle_seed) if shuffle else found
    batches = found.repeat(num_epochs).batch(batch_size, num_epochs is None)
    named = batches.map(lambda *columns: _named(chosen, columns, label_name))
    return named.prefetch(1 if prefetch_buffer_size is None else prefetch_buffer_size)


class _Table:
    """The files as rows of texts, to look at."""

    def __init__(self, files: list[str], compression: Any, encoding: str, delimiter: str, quoted: bool) -> None:
        self._files, self._compression, self._encoding = files, compression, encoding
        self._delimiter, self._quoting = delimiter, csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE

    def rows(self, name: str) -> Iterator[list[str]]:
        lines = (line.numpy().decode(self._encoding) for line in TextLineDataset(name, self._compression))
        return csv.reader(lines, delimiter=self._delimiter, quoting=self._quoting)  # type: ignore[arg-type]

    def all_rows(self, skipped: int) -> Iterator[list[str]]:
        for name in self._files:
            yield from itertools.islice(self.rows(name), skipped, None)


def _checked(names: list[str]) -> list[str]:
    if len(set(names)) != len(names):
        twice = {name for name in names if names.count(name) > 1}
        raise ValueError(f"Either `column_names` argument or CSV header row contains duplicate column names: {twice}.")
    return names


def _selected(select_columns: Sequence[Any] | None, names: list[str]) -> list[int] | None:
    """Places of the columns that are read, in the files' order."""
    if select_columns is None:
        return None
    for one in select_columns:
        if isinstance(one, str) and one not in names:
            raise ValueError(
                f"Column {one} specified in `select_columns` must be of one of the columns: dict_keys({names})."
            )
        if not isinstance(one, str) and not 0 <= int(one) < len(names):
            raise ValueError(f"Column number {one} in `select_columns` is not one of the {len(names)} columns.")
    return sorted(names.index(one) if isinstance(one, str) else int(one) for one in select_columns)


def _defaults(rows: Iterable[list[str]], count: int, places: list[int] | None, na_value: str) -> list[Any]:
    """What stands for empty fields of each column: zeros of the dtype that holds what was seen."""
    kinds = [-1] * count
    for row in rows:
        if len(row) != count:
            raise ValueError(f"Problem inferring types: CSV row has {len(row)} number of fields. Expected: {count}.")
        for place, text in enumerate(row):
            if text not in ("", na_value):
                kinds[place] = max(kinds[place], _kind(text))
    wanted = range(count) if places is None else places
    return [_zero(_KINDS[kinds[place]] if kinds[place] >= 0 else string) for place in wanted]


def _zero(dtype: DType) -> Any:
    return "" if dtype == string else np.zeros((), dtype.numpy_dtype)


def _kind(text: str) -> int:
    """Place in the table of the first dtype that holds a text."""
    try:
        number = int(text)
        if abs(number + 0.5) < 2**63:
            return 0 if -(2**31) <= number < 2**31 else 1
    except ValueError:
        pass
    try:
        size = abs(float(text))
    except ValueError:
        return _KINDS.index(string)
    return 2 if size <= float(np.finfo(np.float32).max) else 3 if size <= float(np.finfo(np.float64).max) else 4


def _named(names: list[str], columns: tuple[Any, ...], label: str | None) -> Any:
    found = dict(zip(names, columns, strict=True))
    return found if label is None else (found, found.pop(label))

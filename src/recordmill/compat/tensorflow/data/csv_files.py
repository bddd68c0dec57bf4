"""``tf.data.experimental.CsvDataset``: the columns of files of separated values, a record at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dtypes import DType
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.data.dataset import Dataset, names_of
from recordmill.compat.tensorflow.data.quoted_lines import QuotedLines
from recordmill.compat.tensorflow.io.csv_lines import decode_csv


class CsvDataset(Dataset):
    """Tuples of the fields of each line; in quotation marks, a field may hold line ends."""

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
        if select_cols is not None and exclude_cols is not None:
            raise InvalidArgumentError("Either select_cols or exclude_cols should be empty")
        if exclude_cols is not None:
            count = len(record_defaults) + len(set(exclude_cols))
            select_cols = [place for place in range(count) if place not in exclude_cols]
        defaults = [np.empty(0, one.numpy_dtype) if isinstance(one, DType) else one for one in record_defaults]

        del buffer_size
        kind = "" if compression_type is None else str(array_of(compression_type).item(), "utf-8")
        lines = QuotedLines(names_of(filenames), kind, field_delim.encode() if use_quote_delim else b"", header)

        def parsed(line: Any) -> tuple[Any, ...]:
            return tuple(decode_csv(line, defaults, field_delim, use_quote_delim, na_value, select_cols))

        super().__init__(Dataset(lines).map(parsed).node)

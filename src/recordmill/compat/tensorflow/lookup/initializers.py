"""What tables are filled with: keys and values that are given, or lines of a file."""

from __future__ import annotations

from typing import Any

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dtypes import DType, as_dtype, string
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.files.contents import read_file
from recordmill.compat.tensorflow.ops.numerals import number_of


class KeyValueTensorInitializer:
    """Keys and what stands for them."""

    def __init__(
        self, keys: Any, values: Any, key_dtype: Any = None, value_dtype: Any = None, name: Any = None
    ) -> None:
        del name
        self.keys, self.values = array_of(keys, key_dtype).ravel(), array_of(values, value_dtype).ravel()
        if len(self.keys) != len(self.values):
            raise ValueError(f"there are {len(self.keys)} keys and {len(self.values)} values")

    @property
    def key_dtype(self) -> DType:
        """Dtype of the keys."""
        return as_dtype(self.keys.dtype)

    @property
    def value_dtype(self) -> DType:
        """Dtype of the values."""
        return as_dtype(self.values.dtype)


class TextFileIndex:
    """Which part of a line is meant, where it is no column."""

    WHOLE_LINE = -2
    LINE_NUMBER = -1


class TextFileInitializer(KeyValueTensorInitializer):
    """Keys and values that stand in the lines of a file."""

    def __init__(
        self,
        filename: Any,
        key_dtype: Any,
        key_index: int,
        value_dtype: Any,
        value_index: int,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: Any = None,
        value_index_offset: int = 0,
    ) -> None:
        lines = read_file(filename).numpy().splitlines()
        if vocab_size is not None and len(lines) < vocab_size:
            raise InvalidArgumentError(f"Invalid vocab_size in {filename}: expected {vocab_size} but got {len(lines)}")
        self._lines, self._delimiter = lines[:vocab_size], delimiter.encode()
        values = self._parts(value_index, value_dtype)
        if value_index == TextFileIndex.LINE_NUMBER:
            values = [one + value_index_offset for one in values]
        super().__init__(self._parts(key_index, key_dtype), values, key_dtype, value_dtype, name)

    def _parts(self, index: int, dtype: Any) -> list[Any]:
        if index == TextFileIndex.LINE_NUMBER:
            return [*range(len(self._lines))]
        kind, whole = as_dtype(dtype), index == TextFileIndex.WHOLE_LINE
        found = [line if whole else self._column(line, index) for line in self._lines]
        return found if kind == string else [number_of(one, kind) for one in found]

    def _column(self, line: bytes, index: int) -> bytes:
        columns = line.split(self._delimiter)
        if not 0 <= index < len(columns):
            raise InvalidArgumentError(
                f"Invalid number of columns in {line!r}: expected at least {index + 1}, found {len(columns)}"
            )
        return columns[index]

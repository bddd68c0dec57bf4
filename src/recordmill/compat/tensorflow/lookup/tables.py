"""``tf.lookup.StaticHashTable``, ``StaticVocabularyTable`` and their initializers."""

from __future__ import annotations

from typing import Any

import numpy as np

from recordmill.compat.hashing import farm
from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import DType, as_dtype, int64, string
from recordmill.compat.tensorflow.core.errors import FailedPreconditionError, InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor, as_tensor
from recordmill.compat.tensorflow.files.contents import read_file
from recordmill.compat.tensorflow.ops.composites import apply_to_values
from recordmill.compat.tensorflow.ops.numerals import parse_number


class KeyValueTensorInitializer:
    """``tf.lookup.KeyValueTensorInitializer``: keys and values of a table, given as tensors."""

    def __init__(
        self, keys: Any, values: Any, key_dtype: Any = None, value_dtype: Any = None, name: Any = None
    ) -> None:
        del name
        self.keys, self.values = array_of(keys, key_dtype).ravel(), array_of(values, value_dtype).ravel()
        if len(self.keys) != len(self.values):
            raise ValueError(f"keys and values must have the same length, got {len(self.keys)} and {len(self.values)}")

    @property
    def key_dtype(self) -> DType:
        """Dtype of the keys."""
        return as_dtype(self.keys.dtype)

    @property
    def value_dtype(self) -> DType:
        """Dtype of the values."""
        return as_dtype(self.values.dtype)


class TextFileIndex:
    """``tf.lookup.TextFileIndex``: special column indices for the whole line and for the line number."""

    WHOLE_LINE = -2
    LINE_NUMBER = -1


class TextFileInitializer(KeyValueTensorInitializer):
    """``tf.lookup.TextFileInitializer``: keys and values of a table, read from the columns of a text file."""

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
            raise InvalidArgumentError(
                f"vocab_size must be at most {len(lines)} (the number of lines in {filename}), got {vocab_size}"
            )
        self._lines, self._delimiter = lines[:vocab_size], delimiter.encode()
        values = self._read_column(value_index, value_dtype)
        if value_index == TextFileIndex.LINE_NUMBER:
            values = [one + value_index_offset for one in values]
        super().__init__(self._read_column(key_index, key_dtype), values, key_dtype, value_dtype, name)

    def _read_column(self, index: int, dtype: Any) -> list[Any]:
        if index == TextFileIndex.LINE_NUMBER:
            return list(range(len(self._lines)))
        kind = as_dtype(dtype)
        texts = self._lines
        if index != TextFileIndex.WHOLE_LINE:
            texts = [self._extract_field(line, index) for line in self._lines]
        return texts if kind == string else [parse_number(text, kind) for text in texts]

    def _extract_field(self, line: bytes, index: int) -> bytes:
        columns = line.split(self._delimiter)
        if not 0 <= index < len(columns):
            raise InvalidArgumentError(f"expected at least {index + 1} columns in {line!r}, got {len(columns)}")
        return columns[index]


class StaticHashTable:
    """``tf.lookup.StaticHashTable``: immutable table from keys to values."""

    def __init__(
        self, initializer: Any, default_value: Any, name: Any = None, experimental_is_anonymous: bool = False
    ) -> None:
        del name, experimental_is_anonymous
        if not isinstance(initializer, KeyValueTensorInitializer):
            raise NotImplementedError(
                "initializer must be a KeyValueTensorInitializer or TextFileInitializer, got "
                f"{type(initializer).__name__}"
            )
        self.key_dtype, self.value_dtype = initializer.key_dtype, initializer.value_dtype
        self._default = array_of(default_value, self.value_dtype)[()]
        self._values: dict[Any, Any] = {}
        for key, value in zip(initializer.keys.tolist(), initializer.values.tolist(), strict=True):
            if self._values.setdefault(key, value) != value:
                raise FailedPreconditionError(f"key {key!r} has two values: {self._values[key]!r} and {value!r}")

    def lookup(self, keys: Any, name: Any = None) -> Tensor:
        """Look up each key of the tensor `keys`; return a tensor of values. Unknown keys get the default value."""
        del name
        return look_up_in_table(self, keys)

    def size(self, name: Any = None) -> Tensor:
        """Return the number of keys."""
        del name
        return as_tensor(len(self._values), int64)

    def __getitem__(self, keys: Any) -> Tensor:
        return self.lookup(keys)

    def export(self, name: Any = None) -> tuple[Tensor, Tensor]:
        """Return all keys, and all values in the same order."""
        del name
        keys, values = (np.empty(len(self._values), one.numpy_dtype) for one in (self.key_dtype, self.value_dtype))
        keys[:], values[:] = list(self._values), list(self._values.values())
        return Tensor(keys), Tensor(values)

    @property
    def default_value(self) -> Tensor:
        """Value of unknown keys."""
        return as_tensor(self._default, self.value_dtype)

    def find_values(self, keys: list[Any]) -> list[Any]:
        """Return the list of values for a list of keys. Unknown keys get the default value."""
        return [self._values.get(key, self._default) for key in keys]


class StaticVocabularyTable(StaticHashTable):
    """``tf.lookup.StaticVocabularyTable``: table of word ids; unknown words are hashed to additional ids."""

    def __init__(
        self,
        initializer: Any,
        num_oov_buckets: int,
        lookup_key_dtype: Any = None,
        name: Any = None,
        experimental_is_anonymous: bool = False,
    ) -> None:
        del name, experimental_is_anonymous
        if num_oov_buckets <= 0:
            raise ValueError(
                f"num_oov_buckets must be positive, got {num_oov_buckets}: use StaticHashTable if no buckets are needed"
            )
        if initializer is None:
            initializer = KeyValueTensorInitializer([], [], lookup_key_dtype or string, int64)
        super().__init__(initializer, -1)
        if self.value_dtype != int64:
            raise TypeError(f"values must be of dtype int64, got {self.value_dtype.name}")
        if lookup_key_dtype is not None:
            self.key_dtype = as_dtype(lookup_key_dtype)
        if self.key_dtype != string and not self.key_dtype.is_integer:
            raise TypeError(f"keys must be strings or integers, got {self.key_dtype.name}")
        self._buckets = num_oov_buckets

    def size(self, name: Any = None) -> Tensor:
        """Return the number of keys plus the number of hash buckets."""
        return as_tensor(int(super().size(name)) + self._buckets, int64)

    def find_values(self, keys: list[Any]) -> list[Any]:
        """Return the ids of words; each unknown word gets the id of its hash bucket."""
        unknown = [key for key in dict.fromkeys(keys) if key not in self._values]
        texts = [key if isinstance(key, bytes) else str(key).encode() for key in unknown]
        buckets = (farm.fingerprints(texts) % np.uint64(self._buckets)).tolist()
        numbers = {key: len(self._values) + bucket for key, bucket in zip(unknown, buckets, strict=True)}
        return [self._values[key] if key in self._values else numbers[key] for key in keys]


@op("lookup.find", composite=apply_to_values)
def look_up_in_table(table: StaticHashTable, keys: Any) -> Tensor:
    """Look up each key of the tensor `keys` in `table`; return a tensor of values."""
    array = array_of(keys)
    if as_dtype(array.dtype) != table.key_dtype:
        raise TypeError(f"keys must be of dtype {table.key_dtype.name}, got {as_dtype(array.dtype).name}")
    values = np.empty(array.size, table.value_dtype.numpy_dtype)
    values[:] = table.find_values(array.reshape(-1).tolist())
    return Tensor(values.reshape(array.shape))

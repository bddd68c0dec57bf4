"""``tf.contrib.lookup``: tables of words and numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.absent import missing
from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dtypes import DType, int64, string
from recordmill.compat.tensorflow.lookup.tables import (
    KeyValueTensorInitializer,
    StaticHashTable,
    StaticVocabularyTable,
    TextFileIndex,
    TextFileInitializer,
)

__all__ = [
    "HashTable",
    "KeyValueTensorInitializer",
    "TextFileIndex",
    "TextFileInitializer",
    "index_table_from_file",
    "index_table_from_tensor",
    "index_to_string_table_from_file",
    "index_to_string_table_from_tensor",
]
__getattr__ = missing(__name__)
HashTable = StaticHashTable


def index_table_from_tensor(
    mapping: Any,
    num_oov_buckets: int = 0,
    default_value: int = -1,
    hasher_spec: Any = None,
    dtype: DType = string,
    name: Any = None,
) -> StaticHashTable:
    """Table from words to their places."""
    del hasher_spec, dtype, name
    words = array_of(mapping)
    return _table(KeyValueTensorInitializer(words, np.arange(len(words))), num_oov_buckets, default_value)


def index_table_from_file(
    vocabulary_file: Any = None,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    hasher_spec: Any = None,
    key_dtype: DType = string,
    name: Any = None,
    key_column_index: int = TextFileIndex.WHOLE_LINE,
    value_column_index: int = TextFileIndex.LINE_NUMBER,
    delimiter: str = "\t",
) -> StaticHashTable:
    """Table from the lines of a file to their numbers; otherwise as `index_table_from_tensor`."""
    del hasher_spec, name
    columns = (key_dtype, key_column_index, int64, value_column_index, vocab_size, delimiter)
    return _table(TextFileInitializer(vocabulary_file, *columns), num_oov_buckets, default_value)


def index_to_string_table_from_tensor(mapping: Any, default_value: str = "UNK", name: Any = None) -> StaticHashTable:
    """Table from places to words."""
    del name
    words = array_of(mapping)
    return StaticHashTable(KeyValueTensorInitializer(np.arange(len(words)), words), default_value)


def index_to_string_table_from_file(
    vocabulary_file: Any,
    vocab_size: int | None = None,
    default_value: str = "UNK",
    name: Any = None,
    key_column_index: int = TextFileIndex.LINE_NUMBER,
    value_column_index: int = TextFileIndex.WHOLE_LINE,
    delimiter: str = "\t",
) -> StaticHashTable:
    """Table from numbers of lines to the lines of a file; as `index_table_from_file`."""
    del name
    columns = (int64, key_column_index, string, value_column_index, vocab_size, delimiter)
    return StaticHashTable(TextFileInitializer(vocabulary_file, *columns), default_value)


def _table(words: Any, num_oov_buckets: int, default_value: int) -> StaticHashTable:
    if num_oov_buckets:
        return StaticVocabularyTable(words, num_oov_buckets)
    return StaticHashTable(words, default_value)

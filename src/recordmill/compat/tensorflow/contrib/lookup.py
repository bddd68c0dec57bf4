"""``tf.contrib.lookup``: two classes of ``tf.lookup`` under an older path, and ``index_table_from_tensor``."""

from __future__ import annotations

from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.absent import make_absent_getattr
from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.lookup.tables import KeyValueTensorInitializer, StaticHashTable, StaticVocabularyTable

__all__ = ["HashTable", "KeyValueTensorInitializer", "index_table_from_tensor"]
__getattr__ = make_absent_getattr(__name__)
HashTable = StaticHashTable


def index_table_from_tensor(
    mapping: Any, num_oov_buckets: int = 0, default_value: int = -1, *unused: Any, **others: Any
) -> StaticHashTable:
    """``tf.contrib.lookup.index_table_from_tensor``: map strings to their positions in `mapping`."""
    del unused, others
    keys = array_of(mapping)
    initializer = KeyValueTensorInitializer(keys, np.arange(len(keys)))
    if num_oov_buckets:
        return StaticVocabularyTable(initializer, num_oov_buckets)
    return StaticHashTable(initializer, default_value)

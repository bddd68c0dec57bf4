"""Lookup tables and string hashes, at once and in map functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import recordmill.compat.tensorflow as tf

D = tf.data.Dataset
WORDS = ["a", "b", "zebra", "", "user_12345678901234567890", "a"]


def listed(data: Any) -> list[Any]:
    return [one.tolist() for one in data.as_numpy_iterator()]


def test_hashes_in_map_equal_eager_hashes() -> None:
    table = tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(["a"], [0], value_dtype=tf.int64), 5)

    def numbers(word: Any) -> Any:
        return tf.stack([tf.strings.to_hash_bucket_fast(word, 1000), table.lookup(word)])

    data = D.from_tensor_slices(WORDS).map(numbers).batch(6)
    expected = [tf.strings.to_hash_bucket_fast(WORDS, 1000).numpy(), table.lookup(tf.constant(WORDS)).numpy()]
    assert listed(data) == [np.stack(expected, 1).tolist()]
    assert "as Python" not in data.explain()


def test_lookup_keeps_structure_of_ragged_and_sparse_keys() -> None:
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)
    assert table.lookup(tf.ragged.constant([["a"], ["q", "b"]])).to_list() == [[1], [-1, 2]]
    sparse = table.lookup(tf.sparse.from_dense([["", "b"]]))
    assert sparse.values.numpy().tolist() == [2] and sparse.indices.numpy().tolist() == [[0, 1]]
    keys, values = table.export()
    assert keys.numpy().tolist() == [b"a", b"b"] and values.numpy().tolist() == [1, 2]
    assert int(table.default_value) == -1


def test_vocabulary_table_accepts_lookup_key_dtype() -> None:
    numbers = tf.lookup.KeyValueTensorInitializer(tf.constant([5, 7], tf.int64), tf.constant([0, 1], tf.int64))
    table = tf.lookup.StaticVocabularyTable(numbers, 3, lookup_key_dtype=tf.int32)
    assert table.lookup(tf.constant([5, 7, 8, 9])).numpy().tolist() == [0, 1, 3, 4] and int(table.size()) == 5
    with pytest.raises(TypeError, match="values must be of dtype int64"):
        tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(["a"], [0]), 1)


def test_table_rejects_invalid_arguments() -> None:
    words = tf.lookup.KeyValueTensorInitializer(["a"], [0], value_dtype=tf.int64)
    with pytest.raises(ValueError, match="num_oov_buckets"):
        tf.lookup.StaticVocabularyTable(words, 0)
    with pytest.raises(NotImplementedError, match=r"initializer must be .* got list"):
        tf.lookup.StaticHashTable(["a"], 0)
    with pytest.raises(tf.errors.FailedPreconditionError, match="two values"):
        tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "a"], [1, 2]), 0)

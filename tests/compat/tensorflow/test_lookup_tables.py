"""Tables and hashes of words in pipelines: the same noted as at once, and tables that change while they are used."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import recordmill.compat.tensorflow as tf

D = tf.data.Dataset
WORDS = ["a", "b", "zebra", "", "user_12345678901234567890", "a"]


def listed(data: Any) -> list[Any]:
    return [one.tolist() for one in data.as_numpy_iterator()]


def test_hashes_when_in_a_map_then_are_those_outside() -> None:
    table = tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(["a"], [0], value_dtype=tf.int64), 5)

    def numbers(word: Any) -> Any:
        return tf.stack([tf.strings.to_hash_bucket_fast(word, 1000), table.lookup(word)])

    data = D.from_tensor_slices(WORDS).map(numbers).batch(6)
    expected = [tf.strings.to_hash_bucket_fast(WORDS, 1000).numpy(), table.lookup(tf.constant(WORDS)).numpy()]
    assert listed(data) == [np.stack(expected, 1).tolist()]
    assert "as Python" not in data.explain()


def test_words_when_they_are_ragged_or_sparse_then_are_found_in_their_places() -> None:
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)
    assert table.lookup(tf.ragged.constant([["a"], ["q", "b"]])).to_list() == [[1], [-1, 2]]
    sparse = table.lookup(tf.sparse.from_dense([["", "b"]]))
    assert sparse.values.numpy().tolist() == [2] and sparse.indices.numpy().tolist() == [[0, 1]]
    keys, values = table.export()
    assert keys.numpy().tolist() == [b"a", b"b"] and values.numpy().tolist() == [1, 2]
    assert int(table.default_value) == -1


def test_vocabulary_when_its_keys_are_numbers_then_takes_those_of_the_dtype_that_is_asked_for() -> None:
    numbers = tf.lookup.KeyValueTensorInitializer(tf.constant([5, 7], tf.int64), tf.constant([0, 1], tf.int64))
    table = tf.lookup.StaticVocabularyTable(numbers, 3, lookup_key_dtype=tf.int32)
    assert table.lookup(tf.constant([5, 7, 8, 9])).numpy().tolist() == [0, 1, 3, 4] and int(table.size()) == 5
    with pytest.raises(TypeError, match="Invalid `value_dtype`"):
        tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(["a"], [0]), 1)


def test_changing_table_when_filled_then_finds_what_it_holds() -> None:
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    table.insert(tf.constant(["a", "b"]), tf.constant([1, 2], tf.int64))
    table.insert("b", 3)
    assert table.lookup(tf.constant([["a"], ["c"]])).numpy().tolist() == [[1], [-1]] and int(table["b"]) == 3
    assert table.lookup(["c", "a"], dynamic_default_values=[7, 8]).numpy().tolist() == [7, 1]
    table.remove(tf.constant(["a", "nobody"]))
    assert int(table.size()) == 1 and [one.numpy().tolist() for one in table.export()] == [[b"b"], [3]]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Expected shape \[2\] for value, got \[1\]"):
        table.insert(["a", "b"], [1])
    with pytest.raises(ValueError, match="requested dtype string"):
        table.lookup(tf.constant([1]))
    rows = tf.lookup.experimental.MutableHashTable(tf.string, tf.float32, [0.0, 1.0])
    rows.insert(["a"], [[1.0, 2.0]])
    assert rows.lookup(["a", "z"]).numpy().tolist() == [[1, 2], [0, 1]]


def test_dense_table_when_given_the_keys_that_cannot_be_then_refuses_them() -> None:
    made = tf.lookup.experimental.DenseHashTable
    table = made(tf.string, tf.int64, -1, empty_key="", deleted_key="$")
    table.insert_or_assign(["a"], [3])
    table.erase(["a"])
    assert int(table.size()) == 0
    for act in (lambda: table.insert([""], [1]), lambda: table.lookup(["$"])):
        with pytest.raises(tf.errors.InvalidArgumentError, match="as a table key is not allowed"):
            act()
    with pytest.raises(tf.errors.InvalidArgumentError, match="cannot be equal"):
        made(tf.int64, tf.int64, 0, empty_key=1, deleted_key=1)


def test_changing_table_when_a_map_uses_it_then_runs_as_python() -> None:
    table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, 0)

    def counted(key: Any) -> Any:
        table.insert(key, table.lookup(key) + 1)
        return table.lookup(key)

    data = D.from_tensor_slices(tf.constant([3, 4, 3, 3], tf.int64)).map(counted)
    assert listed(data) == [1, 1, 2, 3] and "table that may change" in data.explain()

"""``Dataset.cache(filename)``: when the file appears, what it holds, and what happens if it is damaged."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordmill.compat.tensorflow as tf
from tests.compat.tensorflow.program_helpers import list_elements

D = tf.data.Dataset


def test_cache_file_appears_only_after_a_complete_pass_without_errors(tmp_path: Path) -> None:
    failing = D.range(4).map(lambda x: tf.debugging.check_numerics(1 / tf.cast(x, tf.float32), "no"))
    good, path = D.range(4), str(tmp_path / "kept")
    assert list_elements(good.cache(path).take(2)) == [0, 1] and tf.io.gfile.listdir(tmp_path) == []
    with pytest.raises(tf.errors.InvalidArgumentError):
        list_elements(failing.cache(path))
    assert len(list_elements(failing.cache(path).ignore_errors())) == 3 and tf.io.gfile.listdir(tmp_path) == []
    assert list_elements(good.cache(path)) == [0, 1, 2, 3] and tf.io.gfile.listdir(tmp_path) == ["kept.cache.tfrecord"]
    assert list_elements(failing.cache(path)) == [0, 1, 2, 3]  # as in TensorFlow, an existing file replaces the input


def test_cache_file_keeps_structures_and_kinds_of_tensors(tmp_path: Path) -> None:
    def make() -> Any:
        pairs = D.range(3).map(lambda x: {"b": tf.fill([x], x), "a": (tf.sparse.from_dense([x]), tf.as_string(x))})
        ragged = D.from_tensor_slices(tf.ragged.constant([[1], [], [2, 3]]))
        nested = D.from_tensor_slices(tf.ragged.constant([[[1], [2, 3]], [], [[4]]]))
        return D.zip((pairs, ragged, nested)).cache(str(tmp_path / "kept"))

    found = [list(make()) for _ in range(2)]
    for pairs, row, nested in found[1]:
        assert list(pairs) == ["b", "a"] and isinstance(pairs["a"][0], tf.SparseTensor)
        assert isinstance(nested, tf.RaggedTensor) and isinstance(row, tf.Tensor)
    for first, again in zip(*found, strict=True):
        assert np.array_equal(first[0]["b"], again[0]["b"]) and first[0]["a"][1] == again[0]["a"][1]
        assert np.array_equal(first[0]["a"][0].values, again[0]["a"][0].values)
        assert np.array_equal(first[1], again[1]) and first[2].to_list() == again[2].to_list()
    ((_, rows, _),) = make().map(lambda pairs, row, nested: (pairs["b"][:0], row, 0)).take(1).batch(1)
    assert rows.shape.as_list() == [1, 1]
    assert next(iter(make().map(lambda pairs, row, nested: nested).batch(3))).shape.as_list() == [3, None, None]


@pytest.mark.parametrize(
    "record",
    [
        b"something",
        b"",
        b"{}\n",
        b'{"leaf": ["Tensor", ["int64", [2]]]}\n12345678',
        b'{"leaf": ["Tensor", ["nothing", [2]]]}\n',
        b'{"leaf": ["Tensor", ["string", [2], [1]]]}\nab',
    ],
)
def test_cache_file_that_holds_something_else_raises_data_loss(tmp_path: Path, record: bytes) -> None:
    with tf.io.TFRecordWriter(str(tmp_path / "kept.cache.tfrecord")) as writer:
        writer.write(record)
    with pytest.raises(tf.errors.DataLossError, match="not a cached element") as caught:
        list_elements(D.range(2).cache(str(tmp_path / "kept")))
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_cache_file_refuses_elements_that_are_datasets(tmp_path: Path) -> None:
    with pytest.raises(tf.errors.UnimplementedError, match="supports tensors, tuples, and dicts with str keys"):
        list(D.range(2).window(1).cache(str(tmp_path / "other")))
    assert not list(tmp_path.iterdir())

"""Graph mode of TensorFlow 1: sessions, iterators, readers, `tf.contrib`, and unsupported uses."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordmill.compat.tensorflow as tf
from recordmill.compat.tensorflow.graphs.modes import ExecutionMode


@pytest.fixture(autouse=True)
def reset_mode() -> Iterator[None]:
    yield
    ExecutionMode.eager = None


@pytest.fixture
def path(tmp_path: Path) -> str:
    name = str(tmp_path / "a.tfrecord")
    with tf.python_io.TFRecordWriter(name) as writer:
        for number in range(5):
            kinds = {"label": tf.train.Feature(int64_list=tf.train.Int64List(value=[number]))}
            writer.write(tf.train.Example(features=tf.train.Features(feature=kinds)).SerializeToString())
    return name


def parse_label(serialized: Any) -> Any:
    return tf.parse_single_example(serialized, {"label": tf.FixedLenFeature([], tf.int64)})["label"]


def fetch_all(fetches: Any, session: Any = None) -> list[Any]:
    found, session = [], session or tf.Session()
    while True:
        try:
            found.append(session.run(fetches).tolist())
        except tf.errors.OutOfRangeError:
            return found


def test_one_shot_iterator_returns_symbolic_element_by_default(path: str) -> None:
    data = tf.data.TFRecordDataset(path).map(parse_label).batch(2)
    assert data.output_types == tf.int64 and data.output_shapes.as_list() == [None]
    element = data.make_one_shot_iterator().get_next()
    assert not hasattr(element, "numpy") and "shape=(None,), dtype=int64" in repr(element)
    assert fetch_all(element) == [[0, 1], [2, 3], [4]]


def test_iterators_created_in_a_graph_are_fetched_by_sessions(path: str) -> None:
    data = tf.data.TFRecordDataset(path).map(parse_label).batch(2)
    with tf.Graph().as_default(), tf.Graph().as_default():
        assert not tf.executing_eagerly()
        one_shot = tf.compat.v1.data.make_one_shot_iterator(data).get_next()
        later = tf.compat.v1.data.make_initializable_iterator(data)
        with tf.compat.v1.Session() as session:
            assert fetch_all(one_shot, session) == [[0, 1], [2, 3], [4]]
            element = later.get_next()
            session.run(later.initializer)
            assert fetch_all(element, session) == [[0, 1], [2, 3], [4]]
    assert tf.executing_eagerly()
    assert tf.compat.v1.data.make_one_shot_iterator(data).get_next().numpy().tolist() == [0, 1]
    tf.enable_eager_execution()
    with tf.Graph().as_default():
        assert fetch_all(data.make_one_shot_iterator().get_next()) == [[0, 1], [2, 3], [4]]


def test_session_rejects_eager_elements_of_iterators(path: str) -> None:
    data = tf.data.TFRecordDataset(path).map(parse_label).map(lambda x: {"x": x, "y": x + 1}).batch(2)
    element = tf.compat.v1.data.make_one_shot_iterator(data).get_next()
    assert element["x"].numpy().tolist() == [0, 1]
    with tf.compat.v1.Session() as session:
        for fetches in (element, [element["y"]], element["x"]):
            with pytest.raises(RuntimeError, match=r"The Session graph is empty.*disable_eager_execution"):
                session.run(fetches)
        assert session.run(tf.constant(3)) == 3


def test_one_shot_iterator_returns_values_in_eager_mode(path: str) -> None:
    tf.enable_eager_execution()
    assert tf.executing_eagerly()
    iterator = tf.data.TFRecordDataset(path).map(parse_label).make_one_shot_iterator()
    assert [int(iterator.get_next()), int(next(iterator))] == [0, 1]
    with pytest.raises(RuntimeError, match="not supported when eager execution is enabled"):
        tf.data.Dataset.range(3).make_initializable_iterator()
    tf.disable_eager_execution()
    assert not tf.executing_eagerly()


def test_one_shot_iterator_of_compat_v1_is_eager_by_default() -> None:
    assert int(tf.compat.v1.data.make_one_shot_iterator(tf.data.Dataset.range(3)).get_next()) == 0


def test_control_dependencies_change_nothing() -> None:
    for module in (tf, tf.compat.v1):
        with module.control_dependencies([tf.constant(1), tf.placeholder(tf.int32)]):
            assert module.identity(3).numpy() == 3


def test_compat_v2_has_the_names_of_tf() -> None:
    assert tf.compat.v2.data.Dataset is tf.data.Dataset and tf.compat.v2.io is tf.io
    assert tf.compat.v1.__version__ == tf.__version__
    with pytest.raises(AttributeError):
        _ = tf.compat.v2.nothing


def test_threads_of_one_session_fetch_each_element_once() -> None:
    element, session = tf.data.Dataset.range(200).map(lambda x: x + 1).make_one_shot_iterator().get_next(), tf.Session()
    with ThreadPoolExecutor(4) as pool:
        found = [pool.submit(session.run, element) for _ in range(200)]
    assert sorted(int(one.result()) for one in found) == [*range(1, 201)]


def test_threads_end_after_session_is_closed_or_deleted(path: str) -> None:
    element = tf.data.TFRecordDataset(path).repeat().map(parse_label, 2).prefetch(2).make_one_shot_iterator().get_next()

    def list_threads() -> list[str]:
        return [thread.name for thread in threading.enumerate() if thread.name.startswith("recordmill-data")]

    before = list_threads()
    with tf.Session() as session:
        assert [int(session.run(element)) for _ in range(3)] == [0, 1, 2] and list_threads() != before
    assert list_threads() == before
    session = tf.Session()
    assert int(session.run(element)) == 0
    del session
    gc.collect()
    for thread in threading.enumerate():
        if thread.name.startswith("recordmill-data") and thread.name not in before:
            thread.join(5)
    assert list_threads() == before


def test_session_fetches_eager_values() -> None:
    with tf.Session() as session:
        assert session.run([tf.constant(3) + 1, tf.Variable(2.0)]) == [4, 2.0]
        assert tf.constant([1]).eval().tolist() == [1] and tf.get_default_session() is session
        sparse = session.run(tf.SparseTensor([[1]], [5], [3]))
        assert sparse.values.tolist() == [5]
    assert tf.get_default_session() is None


def test_batched_queues_return_records_in_order(path: str) -> None:
    queue = tf.train.string_input_producer([path], num_epochs=1, shuffle=False)
    label = parse_label(tf.TFRecordReader().read(queue)[1])
    several = tf.train.batch([tf.stack([label, label + 10])], 4, enqueue_many=True)
    padded = tf.train.batch([tf.range(label)], 5, dynamic_pad=True)
    assert fetch_all(several) == [[0, 10, 1, 11], [2, 12, 3, 13]]
    assert fetch_all(padded) == [[[0] * 4, [0] * 4, [0, 1, 0, 0], [0, 1, 2, 0], [0, 1, 2, 3]]]


def test_contrib_data_has_functions_of_tf_data(path: str) -> None:
    contrib = tf.contrib.data
    data = contrib.TFRecordDataset(path).apply(contrib.shuffle_and_repeat(1, 1))
    data = data.apply(contrib.map_and_batch(parse_label, 2)).apply(contrib.unbatch())
    assert [one.tolist() for one in data.apply(contrib.batch_and_drop_remainder(2)).as_numpy_iterator()] == [
        [0, 1],
        [2, 3],
    ]
    interleaved = tf.data.Dataset.range(2).apply(contrib.parallel_interleave(tf.data.Dataset.from_tensors, 2))
    assert list(interleaved.as_numpy_iterator()) == [0, 1]
    rows = tf.data.Dataset.range(3).map(tf.range).apply(contrib.padded_batch_and_drop_remainder(2, [None]))
    assert [one.tolist() for one in rows.as_numpy_iterator()] == [[[0], [0]]]


def test_contrib_lookup_tables_find_words() -> None:
    lookup, words = tf.contrib.lookup, tf.constant(["b", "no"])
    assert lookup.index_table_from_tensor(["a", "b"]).lookup(words).numpy().tolist() == [1, -1]
    assert lookup.index_table_from_tensor(["a", "b"], 1).lookup(words).numpy().tolist() == [1, 2]
    initializer = lookup.KeyValueTensorInitializer(["a", "b"], [5, 6])
    assert lookup.HashTable(initializer, -1).lookup(words).numpy().tolist() == [6, -1]


def test_app_run_calls_main_and_exits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["script", "--size=3"])
    monkeypatch.delitem(sys.modules, "absl.flags", raising=False)
    with pytest.raises(SystemExit) as caught:
        tf.app.run(len)
    assert caught.value.code == 2
    monkeypatch.setitem(sys.modules, "absl", None)
    monkeypatch.delitem(vars(tf), "flags", raising=False)
    for module in (tf.app, tf, tf.compat.v1):
        with pytest.raises(AttributeError, match="requires absl; run `pip install absl-py`, or use argparse"):
            _ = module.flags


def test_symbolic_tensor_error_suggests_session_run(path: str) -> None:
    value = tf.placeholder(tf.int32, [2])
    for wrong in (lambda: np.asarray(value), lambda: tf.data.Dataset.range(3).batch(value[0])):
        with pytest.raises(NotImplementedError, match=r"compute it with tf\.Session\(\)\.run"):
            wrong()
    for wrong in (lambda: [*value], lambda: len(value), lambda: int(value)):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(NotImplementedError, match=r"tf\.cond does not support symbolic tensors"):
        tf.cond(value[0] > 0, lambda: value, lambda: value)
    with pytest.raises(NotImplementedError, match="a symbolic tensor has no value"):
        list(tf.data.Dataset.range(2).map(lambda x: x + tf.cast(value[0], tf.int64)))
    with pytest.raises(NotImplementedError, match="unknown dtype"):
        tf.data.Dataset.from_tensors(value + value[0]).make_initializable_iterator()
    with pytest.raises(ValueError, match="No default session is registered"):
        value.eval()


def test_unsupported_use_of_reader_raises(path: str) -> None:
    queue = tf.train.string_input_producer([path])
    key, value = tf.TFRecordReader().read(queue)
    with pytest.raises(NotImplementedError, match=r"the keys of tf\.TFRecordReader are not supported"):
        tf.Session().run([key, value])
    other = tf.TFRecordReader().read(tf.train.string_input_producer([path]))[1]
    with pytest.raises(NotImplementedError, match="must depend on exactly one reader"):
        tf.train.batch([value, other], 2)
    with pytest.raises(TypeError, match=r"tf\.train\.string_input_producer"):
        tf.TFRecordReader().read([path])
    with pytest.raises(ValueError, match="non-null input tensor"):
        tf.train.string_input_producer([])


def test_shape_assertions_raise_value_error() -> None:
    shape = tf.TensorShape([None, 3])
    shape.assert_has_rank(2)
    assert shape.merge_with([2, None]).as_list() == [2, 3] and tf.TensorShape(None).with_rank(1).as_list() == [None]
    for wrong in (lambda: shape.with_rank(1), lambda: shape.merge_with([1, 2]), shape.assert_is_fully_defined):
        with pytest.raises(ValueError, match=r"Shape"):
            wrong()


def test_iterators_of_compat_v1_return_elements_in_eager_mode() -> None:
    iterator = tf.compat.v1.data.make_one_shot_iterator(tf.data.Dataset.range(2))
    assert [int(iterator.get_next()), int(iterator.get_next())] == [0, 1]
    with pytest.raises(tf.errors.OutOfRangeError):
        iterator.get_next()
    with pytest.raises(RuntimeError, match="not supported when eager execution"):
        tf.compat.v1.data.make_initializable_iterator(tf.data.Dataset.range(2))
    assert tf.compat.v1.data.Dataset is tf.data.Dataset and tf.data.Dataset.range(3).as_numpy_iterator().next() == 0

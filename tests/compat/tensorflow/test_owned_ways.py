"""What programs try on the way to their data: devices, loggers, old names, caches, and what is refused by name."""

from __future__ import annotations

import logging
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordmill as rm
import recordmill.compat.tensorflow as tf
from recordmill.compat.tensorflow.data import combine
from tests.compat.tensorflow.data_programs import listed, plain

D = tf.data.Dataset


def test_logger_when_set_then_is_pythons() -> None:
    logger, before = logging.getLogger("tensorflow"), logging.getLogger("tensorflow").level
    try:
        tf.get_logger().setLevel("ERROR")
        assert logger.level == tf.compat.v1.logging.ERROR == tf.logging.get_verbosity()
        tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.INFO)
        assert logger.level == logging.INFO
    finally:
        logger.setLevel(before)


@pytest.mark.parametrize("num_cpus, default, autotuned", [(1, 1, 1), (2, 2, 1), (8, 8, 3), (16, 16, 6)])
def test_interleave_opens_as_many_datasets_as_tensorflow_on_the_same_machine(
    num_cpus: int, default: int, autotuned: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(combine, "num_cpus", lambda: num_cpus)

    def tens(n: Any) -> Any:
        return D.range(10 * n, 10 * n + 2)

    data = D.range(20)
    assert listed(data.interleave(tens)) == listed(data.interleave(tens, cycle_length=default))
    given = data.interleave(tens, num_parallel_calls=tf.data.AUTOTUNE)
    assert listed(given) == listed(data.interleave(tens, cycle_length=autotuned))


def test_spec_when_a_file_has_a_header_then_is_that_of_the_lines_behind(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("age,name\n7,x\n8,y\n")
    lines = tf.data.TextLineDataset(str(tmp_path / "a.csv")).skip(1)
    rows = lines.map(lambda line: tf.py_function(lambda one: int(one.numpy().split(b",")[0]), [line], tf.int64))
    assert rows.element_spec == tf.TensorSpec([], tf.int64) and listed(rows) == [7, 8]


def test_iterators_when_made_the_old_way_then_give_elements() -> None:
    iterator = tf.compat.v1.data.make_one_shot_iterator(D.range(2))
    assert [int(iterator.get_next()), int(iterator.get_next())] == [0, 1]
    with pytest.raises(tf.errors.OutOfRangeError):
        iterator.get_next()
    with pytest.raises(RuntimeError, match="not supported when eager execution"):
        tf.compat.v1.data.make_initializable_iterator(D.range(2))
    assert tf.compat.v1.data.Dataset is D and D.range(3).as_numpy_iterator().next() == 0


def test_v1_image_rejects_area_with_align_corners_and_shares_other_names() -> None:
    with pytest.raises(NotImplementedError, match="align_corners"):
        tf.compat.v1.image.resize(tf.zeros([1, 4, 4, 1]), (2, 2), 3, align_corners=True)
    assert tf.compat.v1.image.flip_up_down is tf.image.flip_up_down


@pytest.mark.parametrize(
    "name",
    ["sparse_batch", "save", "load", "scan", "snapshot", "rejection_resample", "rebatch", "take_while", "unique"],
)
def test_dataset_names_replacements_of_removed_methods(name: str) -> None:
    for one in (D, D.range(2)):
        with pytest.raises(AttributeError, match=rf"Dataset\.{name} is not supported: (use|write) "):
            getattr(one, name)
        assert not hasattr(one, name)


@pytest.mark.parametrize("mode, found, left", [("r+", "old", "newold"), ("w+", "", "new"), ("a+", "old", "oldnew")])
def test_file_when_read_and_written_then_is_as_pythons(tmp_path: Path, mode: str, found: str, left: str) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    with tf.io.gfile.GFile(path, mode) as file:
        file.seek(0)
        assert file.read() == found
        if mode == "r+":
            file.seek(0)
        file.write("new")
        assert file.size() == len("new" if mode == "r+" else left)
        if mode == "r+":
            file.write("old")
        file.seek(0)
        assert file.read() == left
    assert path.read_text() == left


def test_variable_when_a_map_uses_it_then_runs_as_python() -> None:
    counter: Any = tf.Variable(np.float32(2))
    scaled = D.range(3).map(lambda x: tf.cast(x, tf.float32) * counter).batch(3)
    assert "tf.Variable" in scaled.explain() and listed(scaled) == [[0, 2, 4]]
    with pytest.raises(NotImplementedError, match="synchronization"):
        tf.Variable(1, synchronization=1)
    again = pickle.loads(pickle.dumps(counter))
    assert isinstance(again, tf.Variable) and repr(again) == repr(counter)


@pytest.mark.parametrize("act", [lambda x: x + 1, lambda x: 2 * x, lambda x: x < 1, abs])
def test_sparse_tensor_has_no_arithmetic(act: Any) -> None:
    with pytest.raises(TypeError, match="SparseTensor"):
        act(tf.sparse.from_dense([0, 1]))


def test_elements_when_one_fails_then_those_behind_it_still_come() -> None:
    def tried(data: Any) -> list[Any]:
        found: list[Any] = []
        iterator = iter(data)
        while True:
            try:
                found.append(plain(next(iterator).numpy()))
            except StopIteration:
                return found
            except tf.errors.InvalidArgumentError:
                found.append("bad")

    checked = D.from_tensor_slices([1.0, 0.0, 4.0]).map(lambda x: tf.debugging.check_numerics(1 / x, "no"), 2)
    assert tried(checked) == tried(checked.prefetch(1)) == [1.0, "bad", 0.25]
    assert tried(checked.batch(2)) == ["bad", [0.25]] and tried(checked.enumerate().map(lambda n, x: n)) == [
        0,
        "bad",
        2,
    ]


@pytest.mark.parametrize("error", [ValueError("no"), TypeError("no"), MemoryError("no"), NotImplementedError("no")])
def test_errors_of_python_functions_when_caught_then_are_tensorflows_and_their_own(error: Exception) -> None:
    def fails(x: Any) -> Any:
        raise error

    found = {ValueError: "InvalidArgument", TypeError: "InvalidArgument", MemoryError: "ResourceExhausted"}
    family = getattr(tf.errors, found.get(type(error), "Unimplemented") + "Error")
    with pytest.raises(family, match="no") as caught:
        list(D.range(1).map(lambda x: tf.py_function(fails, [x], tf.int64)))
    assert isinstance(caught.value, type(error)) and type(pickle.loads(pickle.dumps(caught.value))) is family


def test_errors_when_programs_raise_them_then_take_tensorflows_arguments() -> None:
    for one in (
        tf.errors.NotFoundError(None, None, "why"),
        tf.errors.NotFoundError(node_def=None, op=None, message="why"),
    ):
        assert one.message == str(one) == str(pickle.loads(pickle.dumps(one))) == "why"
        assert one.error_code == tf.errors.NOT_FOUND == 5 and one.op is one.node_def is None


def test_index_files_when_a_program_lists_a_folder_then_hold_no_records(tmp_path: Path) -> None:
    with tf.io.TFRecordWriter(str(tmp_path / "a.tfrecord")) as writer:
        writer.write(b"one")
    assert [one.name for one in tmp_path.iterdir()] == ["a.tfrecord"]
    rm.open(tmp_path / "a.tfrecord")
    names = [str(one) for one in tmp_path.iterdir()]
    assert len(names) == 2 and listed(tf.data.TFRecordDataset(names).batch(2)) == listed(D.from_tensors([b"one"]))
    (tmp_path / "a.tfrecord").unlink()
    with pytest.raises(tf.errors.NotFoundError):
        list(tf.data.TFRecordDataset(str(tmp_path / "a.tfrecord")))

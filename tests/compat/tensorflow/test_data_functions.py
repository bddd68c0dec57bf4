"""tf.data: map functions, generators, interleaved and sampled datasets, and file names behave as in TensorFlow."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordmill.compat.tensorflow as tf
from recordmill.compat.tensorflow.data import combine
from tests.compat.tensorflow.program_helpers import list_elements

ROWS = np.arange(12, dtype=np.float32).reshape(3, 4)


def values(dataset: Any) -> list[Any]:
    return [one.numpy().tolist() for one in dataset]


def mapped(function: Any) -> Any:
    return tf.data.Dataset.from_tensor_slices(ROWS).map(function)


@pytest.mark.parametrize(
    "function, expected",
    [
        (lambda x: tf.split(x, [1, 3])[1], ROWS[:, 1:]),
        (lambda x: tf.split(x, [1, 3])[-1][0], ROWS[:, 1]),
        (lambda x: tf.unique(x)[0], ROWS),
        (lambda x: tf.math.top_k(x, 2)[0], ROWS[:, :1:-1]),
        (lambda x: tf.concat(tf.split(x, [1, 3])[1:], 0), ROWS[:, 1:]),
    ],
)
def test_map_selects_one_of_several_results_of_an_operation(function: Any, expected: Any) -> None:
    assert values(mapped(function)) == expected.tolist()


def test_map_returns_list_of_results_as_tuple() -> None:
    parts = list(mapped(lambda x: tf.split(x, [1, 3])))
    assert [type(one) for one in parts] == [tuple] * 3
    assert [[part.shape[0] for part in one] for one in parts] == [[1, 3]] * 3
    sums = mapped(lambda x: tf.numpy_function(lambda v: (v.sum(), str(int(v[0]))), [x], (tf.float32, tf.string)))
    assert [(total.numpy(), text.numpy()) for total, text in sums] == [(6, b"0"), (22, b"4"), (38, b"8")]


def test_map_receives_context_of_sequence_example_as_dict(tmp_path: Path) -> None:
    example = tf.train.SequenceExample()
    example.context.feature["id"].int64_list.value.append(7)
    with tf.io.TFRecordWriter(tmp_path / "one") as writer:
        writer.write(example.SerializeToString())
    features = {"id": tf.io.FixedLenFeature([], tf.int64)}
    records = tf.data.TFRecordDataset(str(tmp_path / "one"))
    assert values(records.map(lambda one: tf.io.parse_single_sequence_example(one, features)[0]["id"])) == [7]


def test_map_function_sees_its_argument_as_tensor() -> None:
    def function(x: Any) -> Any:
        return x + 1 if tf.is_tensor(x) and isinstance(x, tf.Tensor) else x

    assert values(mapped(function)) == (ROWS + 1).tolist()
    assert isinstance(tf.constant(1), tf.Tensor)
    assert issubclass(type(tf.constant(1)), tf.Tensor)
    assert not isinstance(np.zeros(2), tf.Tensor)


def test_from_generator_converts_text_to_bytes_in_padded_batches() -> None:
    data = tf.data.Dataset.from_generator(
        lambda: ((np.full(n, n), f"n{n}") for n in range(1, 3)), (tf.int64, tf.string), ((None,), ())
    )
    ((numbers, names),) = data.padded_batch(2)
    assert numbers.numpy().tolist() == [[1, 0], [2, 2]]
    assert [type(one) for one in names.numpy()] == [bytes, bytes]


@pytest.mark.parametrize("value", [1.7, [1, 2.5]])
def test_from_generator_rejects_fractions_for_integers(value: Any) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="int32"):
        list(tf.data.Dataset.from_generator(lambda: [value], tf.int32))


def test_from_generator_keeps_low_bits_of_too_large_integers() -> None:
    assert values(tf.data.Dataset.from_generator(lambda: [300], tf.uint8)) == [44]


def test_from_generator_rejects_list_in_signature() -> None:
    with pytest.raises(TypeError, match=r"subclass of `tf\.TypeSpec`"):
        tf.data.Dataset.from_generator(list, output_signature=[tf.TensorSpec([], tf.int32)])


@pytest.mark.parametrize("error, kind", [(TypeError, "InvalidArgumentError"), (KeyError, "UnknownError")])
def test_from_generator_raises_error_of_matching_class(error: Any, kind: str) -> None:
    def boom() -> Any:
        yield 1
        raise error("boom")

    with pytest.raises(getattr(tf.errors, kind), match=f"{error.__name__}: .*boom"):
        list(tf.data.Dataset.from_generator(boom, tf.int32))


def test_sample_from_datasets_ends_with_datasets_of_positive_weight() -> None:
    first, never = tf.data.Dataset.range(3), tf.data.Dataset.range(10, 13)
    assert values(tf.data.Dataset.sample_from_datasets([first, never], [1.0, 0.0])) == [0, 1, 2]
    both = tf.data.Dataset.sample_from_datasets([first, never], [0.5, 0.5], seed=1)
    assert sorted(values(both)) == [0, 1, 2, 10, 11, 12]


@pytest.mark.parametrize("names", [tf.data.Dataset.range(3), tf.data.Dataset.from_tensors(["a", "b"])])
def test_file_datasets_reject_filenames_that_are_not_strings(names: Any) -> None:
    with pytest.raises(TypeError, match=r"`filenames` argument must contain `tf\.string` elements"):
        tf.data.TFRecordDataset(names)


def test_file_datasets_reject_zero_parallel_reads() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="num_parallel_reads"):
        tf.data.TFRecordDataset("a", num_parallel_reads=0)


def test_record_writer_rejects_values_that_are_not_bytes(tmp_path: Path) -> None:
    with tf.io.gfile.GFile(tmp_path / "one", "w") as file, pytest.raises(TypeError, match="str or bytes"):
        file.write(3)
    assert (tmp_path / "one").read_bytes() == b""


def test_from_generator_converts_tuple_to_one_tensor() -> None:
    def rows(count):
        for number in range(count):
            yield (number, -number)

    signature = tf.TensorSpec([2], tf.int64)
    data = tf.data.Dataset.from_generator(rows, output_signature=signature, args=(2,))
    assert [one.numpy().tolist() for one in data] == [[0, 0], [1, -1]]
    short = tf.data.Dataset.from_generator(lambda: iter([(1,)]), output_signature=signature)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"shape \(1,\)"):
        list(short)


def test_element_spec_has_unknown_batch_size_after_function_of_batches() -> None:
    data = tf.data.Dataset.from_tensor_slices(np.zeros((7, 5, 3), np.float32)).batch(4)
    windows = data.map(lambda x: (x[:, :3, :], tf.stack([x[:, 3:, 1]], -1)))
    assert [one.shape.as_list() for one in windows.element_spec] == [[None, 3, 3], [None, 2, 1]]
    assert data.map(lambda x: x[0][:2]).element_spec.shape.as_list() == [2, 3]
    only = data.map(lambda x: tf.reshape(x[:4, 0, 0], (tf.constant([2, 2]))))
    assert only.take(1).element_spec.shape.as_list() == [2, 2]
    whole = tf.data.Dataset.range(4).batch(4).map(lambda x: tf.reshape(x * 1, tf.constant([2, 2])))
    assert whole.element_spec.shape.as_list() == [2, 2]  # The only batch has four elements.


def test_record_dataset_of_folder_fails_as_in_tensorflow(tmp_path) -> None:
    with pytest.raises(tf.errors.FailedPreconditionError, match="Is a directory"):
        list(tf.data.TFRecordDataset(str(tmp_path)))


@pytest.mark.parametrize("num_cpus, default, autotuned", [(1, 1, 1), (2, 2, 1), (8, 8, 3), (16, 16, 6)])
def test_interleave_opens_as_many_datasets_as_tensorflow_on_the_same_machine(
    num_cpus: int, default: int, autotuned: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(combine, "num_cpus", lambda: num_cpus)

    def make_inner(n: Any) -> Any:
        return tf.data.Dataset.range(10 * n, 10 * n + 2)

    data = tf.data.Dataset.range(20)
    assert list_elements(data.interleave(make_inner)) == list_elements(
        data.interleave(make_inner, cycle_length=default)
    )
    autotuned_data = data.interleave(make_inner, num_parallel_calls=tf.data.AUTOTUNE)
    assert list_elements(autotuned_data) == list_elements(data.interleave(make_inner, cycle_length=autotuned))


def test_element_spec_of_text_lines_ignores_skipped_header(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("age,name\n7,x\n8,y\n")
    lines = tf.data.TextLineDataset(str(tmp_path / "a.csv")).skip(1)
    rows = lines.map(lambda line: tf.py_function(lambda one: int(one.numpy().split(b",")[0]), [line], tf.int64))
    assert rows.element_spec == tf.TensorSpec([], tf.int64) and list_elements(rows) == [7, 8]


def test_map_that_uses_variable_runs_per_element() -> None:
    counter: Any = tf.Variable(np.float32(2))
    scaled = tf.data.Dataset.range(3).map(lambda x: tf.cast(x, tf.float32) * counter).batch(3)
    assert "tf.Variable" in scaled.explain() and list_elements(scaled) == [[0, 2, 4]]
    with pytest.raises(NotImplementedError, match="synchronization"):
        tf.Variable(1, synchronization=1)
    copy = pickle.loads(pickle.dumps(counter))
    assert isinstance(copy, tf.Variable) and repr(copy) == repr(counter)

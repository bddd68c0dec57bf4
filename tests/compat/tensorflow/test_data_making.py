"""tf.data: what map functions see and give, generators, drawn data sets and names of files, as in TensorFlow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordmill.compat.tensorflow as tf

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
def test_map_when_one_of_several_results_is_taken_then_it_is_that_one(function: Any, expected: Any) -> None:
    assert values(mapped(function)) == expected.tolist()


def test_map_when_the_results_of_an_operation_are_returned_then_they_are_a_tuple() -> None:
    parts = list(mapped(lambda x: tf.split(x, [1, 3])))
    assert [type(one) for one in parts] == [tuple] * 3
    assert [[part.shape[0] for part in one] for one in parts] == [[1, 3]] * 3
    told = mapped(lambda x: tf.numpy_function(lambda v: (v.sum(), str(int(v[0]))), [x], (tf.float32, tf.string)))
    assert [(total.numpy(), text.numpy()) for total, text in told] == [(6, b"0"), (22, b"4"), (38, b"8")]


def test_map_when_the_context_of_a_sequence_example_is_taken_then_it_is_a_dict(tmp_path: Path) -> None:
    example = tf.train.SequenceExample()
    example.context.feature["id"].int64_list.value.append(7)
    with tf.io.TFRecordWriter(tmp_path / "one") as writer:
        writer.write(example.SerializeToString())
    features = {"id": tf.io.FixedLenFeature([], tf.int64)}
    records = tf.data.TFRecordDataset(str(tmp_path / "one"))
    assert values(records.map(lambda one: tf.io.parse_single_sequence_example(one, features)[0]["id"])) == [7]


def test_map_when_it_asks_whether_a_value_is_a_tensor_then_it_is() -> None:
    def function(x: Any) -> Any:
        return x + 1 if tf.is_tensor(x) and isinstance(x, tf.Tensor) else x

    assert values(mapped(function)) == (ROWS + 1).tolist()
    assert isinstance(tf.constant(1), tf.Tensor)
    assert issubclass(type(tf.constant(1)), tf.Tensor)
    assert not isinstance(np.zeros(2), tf.Tensor)


def test_from_generator_when_texts_are_padded_with_others_then_they_are_bytes() -> None:
    made = tf.data.Dataset.from_generator(
        lambda: ((np.full(n, n), f"n{n}") for n in range(1, 3)), (tf.int64, tf.string), ((None,), ())
    )
    ((numbers, names),) = made.padded_batch(2)
    assert numbers.numpy().tolist() == [[1, 0], [2, 2]]
    assert [type(one) for one in names.numpy()] == [bytes, bytes]


@pytest.mark.parametrize("value", [1.7, [1, 2.5]])
def test_from_generator_when_a_fraction_is_no_whole_number_then_it_is_refused(value: Any) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="int32"):
        list(tf.data.Dataset.from_generator(lambda: [value], tf.int32))


def test_from_generator_when_a_number_is_too_large_then_its_low_bits_stay() -> None:
    assert values(tf.data.Dataset.from_generator(lambda: [300], tf.uint8)) == [44]


def test_from_generator_when_the_signature_holds_a_list_then_it_is_refused_at_once() -> None:
    with pytest.raises(TypeError, match=r"subclass of `tf\.TypeSpec`"):
        tf.data.Dataset.from_generator(list, output_signature=[tf.TensorSpec([], tf.int32)])


@pytest.mark.parametrize("error, kind", [(TypeError, "InvalidArgumentError"), (KeyError, "UnknownError")])
def test_from_generator_when_it_raises_then_the_kind_is_that_of_the_error(error: Any, kind: str) -> None:
    def boom() -> Any:
        yield 1
        raise error("boom")

    with pytest.raises(getattr(tf.errors, kind), match=f"{error.__name__}: .*boom"):
        list(tf.data.Dataset.from_generator(boom, tf.int32))


def test_sampling_when_a_weight_is_zero_then_the_others_end_it() -> None:
    first, never = tf.data.Dataset.range(3), tf.data.Dataset.range(10, 13)
    assert values(tf.data.Dataset.sample_from_datasets([first, never], [1.0, 0.0])) == [0, 1, 2]
    both = tf.data.Dataset.sample_from_datasets([first, never], [0.5, 0.5], seed=1)
    assert sorted(values(both)) == [0, 1, 2, 10, 11, 12]


@pytest.mark.parametrize("names", [tf.data.Dataset.range(3), tf.data.Dataset.from_tensors(["a", "b"])])
def test_files_when_their_names_are_something_else_then_they_are_refused_at_once(names: Any) -> None:
    with pytest.raises(TypeError, match=r"`filenames` argument must contain `tf\.string` elements"):
        tf.data.TFRecordDataset(names)


def test_files_when_read_by_none_at_a_time_then_it_is_an_invalid_argument() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="num_parallel_reads"):
        tf.data.TFRecordDataset("a", num_parallel_reads=0)


def test_files_when_something_else_than_text_and_bytes_is_written_then_it_is_refused(tmp_path: Path) -> None:
    with tf.io.gfile.GFile(tmp_path / "one", "w") as file, pytest.raises(TypeError, match="str or bytes"):
        file.write(3)
    assert (tmp_path / "one").read_bytes() == b""


def test_generator_when_it_yields_tuples_for_one_tensor_then_they_are_rows() -> None:
    def rows(count):
        for number in range(count):
            yield (number, -number)

    signature = tf.TensorSpec([2], tf.int64)
    data = tf.data.Dataset.from_generator(rows, output_signature=signature, args=(2,))
    assert [one.numpy().tolist() for one in data] == [[0, 0], [1, -1]]
    short = tf.data.Dataset.from_generator(lambda: iter([(1,)]), output_signature=signature)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"shape \(1,\)"):
        list(short)


def test_element_spec_when_a_function_cuts_batches_then_knows_no_number_of_rows() -> None:
    data = tf.data.Dataset.from_tensor_slices(np.zeros((7, 5, 3), np.float32)).batch(4)
    windows = data.map(lambda x: (x[:, :3, :], tf.stack([x[:, 3:, 1]], -1)))
    assert [one.shape.as_list() for one in windows.element_spec] == [[None, 3, 3], [None, 2, 1]]
    assert data.map(lambda x: x[0][:2]).element_spec.shape.as_list() == [2, 3]
    only = data.map(lambda x: tf.reshape(x[:4, 0, 0], (tf.constant([2, 2]))))
    assert only.take(1).element_spec.shape.as_list() == [2, 2]
    whole = tf.data.Dataset.range(4).batch(4).map(lambda x: tf.reshape(x * 1, tf.constant([2, 2])))
    assert whole.element_spec.shape.as_list() == [2, 2]  # for batches of four alone


def test_folders_when_read_as_records_then_fail_as_in_tensorflow(tmp_path) -> None:
    with pytest.raises(tf.errors.FailedPreconditionError, match="Is a directory"):
        list(tf.data.TFRecordDataset(str(tmp_path)))

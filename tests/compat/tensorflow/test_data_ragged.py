"""tf.data: batches of ragged elements and of rows of ragged tensors, and cardinalities, as in TensorFlow."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordmill.compat.tensorflow as tf
from tests.compat.tensorflow.pipelines import run

D = tf.data.Dataset
ROWS = [[1], [2, 3], [], [4, 5]]


def lists(dataset: Any) -> list[Any]:
    return [one.to_list() if isinstance(one, tf.RaggedTensor) else one.numpy().tolist() for one in dataset]


@pytest.mark.parametrize(
    "step",
    [lambda d: d, lambda d: d.cache().skip(0), lambda d: d.filter(lambda row: True), lambda d: d.batch(3).unbatch()],
)
def test_batch_of_rows_of_ragged_tensor_is_ragged(step: Any) -> None:
    dataset = step(D.from_tensor_slices(tf.ragged.constant(ROWS, dtype=tf.int64)))
    assert dataset.element_spec == tf.RaggedTensorSpec([None], tf.int64, 0)
    assert dataset.batch(2).element_spec == tf.RaggedTensorSpec([None, None], tf.int64, 1)
    assert lists(dataset) == ROWS and lists(dataset.batch(3)) == [ROWS[:3], ROWS[3:]]
    assert lists(dataset.window(2).flat_map(lambda w: w.batch(2))) == [ROWS[:2], ROWS[2:]]


def test_batch_of_ragged_elements_has_one_more_axis() -> None:
    nested = [[[1, 2], [3]], [], [[4]]]
    dataset = D.from_tensor_slices(tf.ragged.constant(nested))
    assert lists(dataset.batch(2)) == [nested[:2], nested[2:]] and lists(dataset.batch(2).batch(2)) == [
        [nested[:2], nested[2:]]
    ]
    pairs = next(iter(D.zip((dataset, D.range(3))).batch(3)))
    assert pairs[0].to_list() == nested and pairs[1].numpy().tolist() == [0, 1, 2]
    assert dataset.ragged_batch(2).unbatch().element_spec.ragged_rank == 1


def test_batch_of_dense_results_rejects_different_lengths() -> None:
    dataset = D.from_tensor_slices(tf.ragged.constant(ROWS)).map(lambda row: row)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot batch tensors with different shapes"):
        list(dataset.batch(2))


def test_ragged_row_survives_pickling() -> None:
    row = next(iter(D.from_tensor_slices(tf.ragged.constant(ROWS, row_splits_dtype=tf.int32))))
    again = pickle.loads(pickle.dumps(row))
    assert (
        again.numpy().tolist() == [1] and again.row_spec == row.row_spec and row.row_spec.row_splits_dtype == tf.int32
    )


def test_ragged_batch_accepts_lengths_that_differ_after_the_first_elements() -> None:
    dataset = D.from_tensor_slices(np.array([2, 2, 0, 3])).map(lambda n: np.arange(int(n)))
    assert lists(dataset.ragged_batch(4)) == [[[0, 1], [0, 1], [], [0, 1, 2]]]


def test_ragged_batch_of_parsed_records_is_equal_natively_and_per_element(tmp_path: Path) -> None:
    with tf.io.TFRecordWriter(tmp_path / "x") as writer:
        for number in range(7):
            example = tf.train.Example()
            example.features.feature["ids"].int64_list.value.extend(range(number % 3))
            example.features.feature["label"].int64_list.value.append(number)
            writer.write(example.SerializeToString())
    features = {
        "ids": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
        "label": tf.io.FixedLenFeature([], tf.int64),
    }
    records = tf.data.TFRecordDataset(str(tmp_path / "x"))
    dataset = records.map(lambda record: tf.io.parse_single_example(record, features)).ragged_batch(3)
    assert dataset.explain().startswith("native: ")
    batches = [[step.value for step in run(dataset, native=native)] for native in (True, False)]
    for native, single in zip(*batches, strict=True):
        assert native["ids"].to_list() == single["ids"].to_list()
        assert native["label"].numpy().tolist() == single["label"].numpy().tolist()
    assert [batch["ids"].to_list() for batch in batches[0]] == [[[], [0], [0, 1]]] * 2 + [[[]]]


@pytest.mark.parametrize(
    "dataset, expected",
    [
        (D.range(3).repeat().skip(-1), -1),
        (D.range(3).filter(lambda x: True).skip(-1), -2),
        (D.range(3).skip(-1), 0),
        (D.range(3).repeat().group_by_window(lambda x: x, lambda key, w: w, 2), -1),
        (D.range(3).repeat().ignore_errors(), -2),
        (D.choose_from_datasets([D.range(3).repeat(), D.range(2)], D.range(2)), -1),
    ],
)
def test_cardinality_equals_that_of_tensorflow(dataset: Any, expected: int) -> None:
    assert dataset.cardinality().numpy() == expected


def test_interleave_rejects_more_parallel_calls_than_cycle_length() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="num_parallel_calls"):
        D.range(3).interleave(D.from_tensors, cycle_length=1, num_parallel_calls=2)
    assert lists(D.range(2).interleave(D.from_tensors, cycle_length=2, num_parallel_calls=2)) == [0, 1]


@pytest.mark.parametrize("shapes", [[], ([],), {"a": []}, tf.TensorShape([])])
def test_padded_batch_rejects_shapes_of_another_structure(shapes: Any) -> None:
    with pytest.raises(TypeError, match=r"padded_shapes"):
        D.range(3).enumerate().padded_batch(2, padded_shapes=shapes)


def test_padded_batch_accepts_dataset_without_elements() -> None:
    empty = D.range(0).flat_map(lambda x: D.from_tensors([x]).map(np.array))
    assert lists(empty.padded_batch(2, padded_shapes=[None], padding_values=np.int64(0))) == []
    with pytest.raises(ValueError, match="is empty"):
        print(empty.element_spec)


def test_unbatch_cardinality_is_unknown_if_batch_size_is_only_observed() -> None:
    records = [tf.train.Example().SerializeToString()] * 7
    features = {
        "a": tf.io.VarLenFeature(tf.int64),
        "b": tf.io.FixedLenSequenceFeature([2], tf.int64, allow_missing=True),
    }
    parsed = D.from_tensor_slices(records).batch(3).map(lambda batch: tf.io.parse_example(batch, features))
    assert parsed.cardinality().numpy() == 3 and len(list(parsed.unbatch())) == 7
    assert parsed.unbatch().cardinality().numpy() == tf.data.UNKNOWN_CARDINALITY
    assert parsed.element_spec["b"] == tf.TensorSpec([None, None, 2], tf.int64)
    assert D.range(6).batch(2, drop_remainder=True).unbatch().cardinality().numpy() == 6


@pytest.mark.parametrize(
    "function, expected",
    [
        (lambda x: tf.cast(x, tf.int32) * 2, 12),
        (lambda x: tf.stack([x, x]), -2),
        (lambda x: tf.boolean_mask(x, tf.reduce_sum(x, [1, 2]) > 0), -2),
        (lambda x: tf.range(tf.cast(tf.reduce_sum(x), tf.int32)), -2),
        (lambda x: x[tf.cast(x[0, 0, 0], tf.int32) :], -2),
    ],
)
def test_unbatch_cardinality_is_known_if_the_shape_follows_from_the_trace(function: Any, expected: int) -> None:
    dataset = D.from_tensor_slices(np.ones((3, 4, 4, 1), np.float32)).map(function)
    assert dataset.unbatch().cardinality().numpy() == expected


def test_from_generator_continues_after_value_that_does_not_match() -> None:
    def numbers() -> Any:
        yield from (0, "x", 2, [3], 4)
        raise ValueError("at the end")

    dataset = D.from_generator(numbers, output_signature=tf.TensorSpec([], tf.int64))
    assert lists(dataset.ignore_errors()) == [0, 2, 4]
    found = iter(dataset)
    assert next(found).numpy() == 0
    with pytest.raises(tf.errors.InvalidArgumentError, match="could not be converted"):
        next(found)
    assert next(found).numpy() == 2

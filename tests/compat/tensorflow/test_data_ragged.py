"""tf.data: rows of ragged tensors and ragged elements in batches, and what cardinality says, as in TensorFlow."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import recordmill.compat.tensorflow as tf

D = tf.data.Dataset
ROWS = [[1], [2, 3], [], [4, 5]]


def lists(dataset: Any) -> list[Any]:
    return [one.to_list() if isinstance(one, tf.RaggedTensor) else one.numpy().tolist() for one in dataset]


@pytest.mark.parametrize(
    "step",
    [lambda d: d, lambda d: d.cache().skip(0), lambda d: d.filter(lambda row: True), lambda d: d.batch(3).unbatch()],
)
def test_batch_when_elements_are_rows_of_a_ragged_tensor_then_it_is_ragged(step: Any) -> None:
    dataset = step(D.from_tensor_slices(tf.ragged.constant(ROWS, dtype=tf.int64)))
    assert dataset.element_spec == tf.RaggedTensorSpec([None], tf.int64, 0)
    assert dataset.batch(2).element_spec == tf.RaggedTensorSpec([None, None], tf.int64, 1)
    assert lists(dataset) == ROWS and lists(dataset.batch(3)) == [ROWS[:3], ROWS[3:]]
    assert lists(dataset.window(2).flat_map(lambda w: w.batch(2))) == [ROWS[:2], ROWS[2:]]


def test_batch_when_elements_are_ragged_then_they_get_an_axis_more() -> None:
    nested = [[[1, 2], [3]], [], [[4]]]
    dataset = D.from_tensor_slices(tf.ragged.constant(nested))
    assert lists(dataset.batch(2)) == [nested[:2], nested[2:]] and lists(dataset.batch(2).batch(2)) == [
        [nested[:2], nested[2:]]
    ]
    pairs = next(iter(D.zip((dataset, D.range(3))).batch(3)))
    assert pairs[0].to_list() == nested and pairs[1].numpy().tolist() == [0, 1, 2]
    assert dataset.ragged_batch(2).unbatch().element_spec.ragged_rank == 1


def test_batch_when_a_function_made_dense_rows_of_a_ragged_tensor_then_lengths_must_agree() -> None:
    dataset = D.from_tensor_slices(tf.ragged.constant(ROWS)).map(lambda row: row)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot batch tensors with different shapes"):
        list(dataset.batch(2))


def test_row_of_a_ragged_tensor_when_pickled_then_is_the_same() -> None:
    row = next(iter(D.from_tensor_slices(tf.ragged.constant(ROWS, row_splits_dtype=tf.int32))))
    again = pickle.loads(pickle.dumps(row))
    assert (
        again.numpy().tolist() == [1] and again.row_spec == row.row_spec and row.row_spec.row_splits_dtype == tf.int32
    )


def test_ragged_batch_when_the_first_elements_have_one_length_then_others_may_differ() -> None:
    dataset = D.from_tensor_slices(np.array([2, 2, 0, 3])).map(lambda n: np.arange(int(n)))
    assert lists(dataset.ragged_batch(4)) == [[[0, 1], [0, 1], [], [0, 1, 2]]]


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
def test_cardinality_when_asked_then_is_tensorflows(dataset: Any, expected: int) -> None:
    assert dataset.cardinality().numpy() == expected


def test_interleave_when_more_calls_than_data_sets_are_asked_for_then_is_refused() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="num_parallel_calls"):
        D.range(3).interleave(D.from_tensors, cycle_length=1, num_parallel_calls=2)
    assert lists(D.range(2).interleave(D.from_tensors, cycle_length=2, num_parallel_calls=2)) == [0, 1]


@pytest.mark.parametrize("shapes", [[], ([],), {"a": []}, tf.TensorShape([])])
def test_padded_batch_when_shapes_nest_otherwise_then_the_message_says_so(shapes: Any) -> None:
    with pytest.raises(TypeError, match=r"padded_shapes"):
        D.range(3).enumerate().padded_batch(2, padded_shapes=shapes)


def test_data_set_when_it_has_no_elements_then_steps_that_ask_for_their_shapes_are_made() -> None:
    empty = D.range(0).flat_map(lambda x: D.from_tensors([x]).map(np.array))
    assert lists(empty.padded_batch(2, padded_shapes=[None], padding_values=np.int64(0))) == []
    with pytest.raises(ValueError, match="there is none"):
        print(empty.element_spec)


def test_cardinality_when_only_the_first_batches_showed_their_size_then_is_unknown() -> None:
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


def test_generator_when_a_value_is_not_as_declared_then_those_behind_it_come() -> None:
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

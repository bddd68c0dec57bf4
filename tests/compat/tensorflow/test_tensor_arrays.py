"""tf.TensorArray, as loops of map functions write and read it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import recordmill.compat.tensorflow as tf


def listed(dataset: Any) -> list[Any]:
    return [one.numpy().tolist() for one in dataset]


def test_tensor_array_reads_stacks_and_joins() -> None:
    grown = tf.TensorArray(tf.float32, size=0, dynamic_size=True, clear_after_read=False)
    for number in range(3):
        grown = grown.write(number, number * 0.5)
    assert grown.stack().numpy().tolist() == [0, 0.5, 1] and grown.stack().dtype == tf.float32
    assert grown.read(2).numpy() == grown.read(2).numpy() == 1 and grown.size().numpy() == 3
    assert grown.gather([2, 0]).numpy().tolist() == [1, 0] and grown.element_shape == []
    rows = tf.TensorArray(tf.int32, 2, infer_shape=False).split([1, 2, 3], [2, 1])
    assert rows.concat().numpy().tolist() == [1, 2, 3] and rows.read(1).numpy().tolist() == [3]
    assert tf.TensorArray(tf.int32, 3).scatter([2, 0, 1], [7, 8, 9]).identity().stack().numpy().tolist() == [8, 9, 7]
    assert tf.TensorArray(tf.int32, 2).unstack([[1, 2], [3, 4]]).read(1).numpy().tolist() == [3, 4]
    assert tf.TensorArray(tf.int32, 0).stack().shape == [0]
    assert tf.TensorArray(tf.int32, 2, element_shape=[2]).write(1, [1, 2]).stack().numpy().tolist() == [[0, 0], [1, 2]]


@pytest.mark.parametrize(
    "misuse, error",
    [
        (lambda array: array.write(5, 1.0), tf.errors.OutOfRangeError),
        (lambda array: array.write(-1, 1.0), tf.errors.OutOfRangeError),
        (lambda array: array.write(0, tf.constant(1)), tf.errors.InvalidArgumentError),
        (lambda array: array.read(1), tf.errors.InvalidArgumentError),
        (lambda array: array.write(0, [1.0, 2.0]).write(1, [1.0]), ValueError),
        (lambda array: array.write(0, 1.0).read(0) + array.read(0), tf.errors.InvalidArgumentError),
        (lambda array: array.read(9), tf.errors.OutOfRangeError),
        (lambda array: array.unstack([1.0, 2.0, 3.0]), ValueError),
    ],
)
def test_misused_tensor_array_raises(misuse: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        misuse(tf.TensorArray(tf.float32, 2))


def test_closed_tensor_array_is_empty() -> None:
    array = tf.TensorArray(tf.float32, 2)
    array.close()
    assert array.size().numpy() == 0


def test_tensor_array_in_map_is_traced() -> None:
    def pieces(image):
        found = tf.TensorArray(tf.uint8, size=0, dynamic_size=True)
        for number in range(2):
            found = found.write(number, image[number * 2 : number * 2 + 2])
        return found.stack()

    images = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    data = tf.data.Dataset.from_tensor_slices(images).map(pieces)
    assert listed(data) == images.reshape(2, 2, 2, 3).tolist()
    assert "recorded once" in data.explain() or "native" in data.explain()


def test_tensor_array_in_loop_collects_results() -> None:
    def doubled(row):
        count = tf.shape(row)[0]
        found = tf.TensorArray(tf.int32, size=count)
        for place in tf.range(count):
            found = found.write(place, row[place] * 2)
        return found.stack()

    def counted(start):
        def step(number, found):
            return number + 1, found.write(number, start + number)

        return tf.while_loop(lambda number, _: number < 3, step, [0, tf.TensorArray(tf.int32, 3)])[1].stack()

    assert listed(tf.data.Dataset.from_tensor_slices([[1, 2], [3, 4]]).map(doubled)) == [[2, 4], [6, 8]]
    assert listed(tf.data.Dataset.from_tensor_slices([1, 5]).map(counted)) == [[1, 2, 3], [5, 6, 7]]
    ragged = tf.ragged.constant([[1, 2], [3]])
    _, found = tf.while_loop(lambda number, _: number < 2, lambda number, one: (number + 1, one * 2), [0, ragged])
    assert found.to_list() == [[4, 8], [12]]

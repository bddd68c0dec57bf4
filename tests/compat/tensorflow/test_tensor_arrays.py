"""tf.TensorArray, as loops of map functions write and read it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import recordmill.compat.tensorflow as tf


def listed(dataset: Any) -> list[Any]:
    return [one.numpy().tolist() for one in dataset]


def test_tensors_when_written_by_number_then_are_read_stacked_and_joined() -> None:
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


def test_tensors_when_misused_then_are_refused_as_in_tensorflow() -> None:
    array = tf.TensorArray(tf.float32, 2)
    with pytest.raises(tf.errors.OutOfRangeError, match="index 5 but array is not resizeable and size is: 2"):
        array.write(5, 1.0)
    with pytest.raises(tf.errors.OutOfRangeError, match=r"negative indices \(index -1\)"):
        array.write(-1, 1.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="dtype is float32 but Op is trying to write dtype int32"):
        array.write(0, tf.constant(1))
    with pytest.raises(tf.errors.InvalidArgumentError, match="nothing was written there"):
        array.read(1)
    with pytest.raises(ValueError, match=r"Incompatible shape for value \(\(1,\)\), expected \(\(2,\)\)"):
        array.write(0, [1.0, 2.0]).write(1, [1.0])
    array.read(0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Could not read index 0 twice"):
        array.read(0)
    with pytest.raises(tf.errors.OutOfRangeError, match="Tried to read from index 9 but array size is: 2"):
        array.read(9)
    with pytest.raises(ValueError, match="Cannot unstack 3 values into a TensorArray of static size 2"):
        array.unstack([1.0, 2.0, 3.0])
    array.close()
    assert array.size().numpy() == 0


def test_map_functions_when_they_collect_pieces_then_are_noted_as_those_with_stack() -> None:
    def pieces(image):
        found = tf.TensorArray(tf.uint8, size=0, dynamic_size=True)
        for number in range(2):
            found = found.write(number, image[number * 2 : number * 2 + 2])
        return found.stack()

    images = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    data = tf.data.Dataset.from_tensor_slices(images).map(pieces)
    assert listed(data) == images.reshape(2, 2, 2, 3).tolist()
    assert "recorded once" in data.explain() or "native" in data.explain()


def test_loops_when_they_go_as_far_as_a_value_says_then_collect() -> None:
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

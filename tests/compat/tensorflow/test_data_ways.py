"""tf.data: functions that choose: with tf.cond, with Python's if, and by boxes that are drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import recordmill.compat.tensorflow as tf
from recordmill.compat.tensorflow.data.base import steps
from recordmill.compat.tensorflow.data.structures import leaves
from tests.compat.tensorflow.test_data_bands import encoded, told
from tests.compat.tensorflow.test_data_native import check_equal


def test_branches_when_recorded_then_each_takes_what_it_needs() -> None:
    def function(number: Any) -> Any:
        double = number * 2
        inner = tf.cond(
            number > 6, lambda: {"a": double + 1, "b": (number, 7)}, lambda: {"a": -number, "b": (double, 8)}
        )
        chosen = tf.switch_case(
            tf.cast(number % 4, tf.int32), {1: lambda: double, 0: lambda: number}, default=lambda: number - 100
        )
        return tf.cond(number % 2 == 0, lambda: tf.cond(number > 4, lambda: number, lambda: double), lambda: number), (
            inner,
            chosen,
        )

    dataset = tf.data.Dataset.range(10).map(function)
    assert "recorded once" in dataset.explain() or "native" in dataset.explain()
    for number, (found, (inner, chosen)) in enumerate(dataset.as_numpy_iterator()):
        assert found == (number * 2 if number % 2 == 0 and number <= 4 else number)
        assert inner == (
            {"a": number * 2 + 1, "b": (number, 7)} if number > 6 else {"a": -number, "b": (number * 2, 8)}
        )
        assert chosen == {0: number, 1: number * 2}.get(number % 4, number - 100)


def test_branches_when_results_are_not_alike_then_the_function_is_called() -> None:
    dataset = tf.data.Dataset.range(3).map(lambda x: tf.cond(x > 0, lambda: (x, x), lambda: x))
    assert "not alike" in dataset.explain()


def test_box_when_taken_apart_then_the_function_is_recorded() -> None:
    files = [encoded((40, 50, 3), "JPEG", number) for number in range(6)]

    def function(data: Any) -> Any:
        shape = tf.io.extract_jpeg_shape(data)
        begin, size, _ = tf.image.sample_distorted_bounding_box(
            shape, tf.constant([[[0.1, 0.1, 0.9, 0.9]]]), min_object_covered=0.3, seed=3
        )
        y, x, _ = tf.unstack(begin)
        height, width, _ = tf.unstack(size)
        return tf.image.resize(tf.image.decode_and_crop_jpeg(data, tf.stack([y, x, height, width]), channels=3), [8, 8])

    def make() -> Any:
        return tf.data.Dataset.from_tensor_slices(files).map(function).batch(4)

    assert "sample_distorted_bounding_box" in make().explain() and "python" not in make().explain()
    check_equal(make)


def with_flips(data: Any, mask: Any) -> Any:
    image = tf.image.resize(tf.io.decode_jpeg(data, channels=3), [8, 9])
    if tf.random.uniform(()) > 0.5:
        image, mask = tf.image.flip_left_right(image), tf.image.flip_left_right(mask)
    if tf.random.uniform(()) > 0.5:
        image, mask = tf.image.flip_up_down(image), tf.image.flip_up_down(mask)
    return tf.cast(image, tf.float32) / 255.0, mask


def test_function_when_it_asks_for_truths_then_both_ways_are_noted() -> None:
    files = [encoded((20, 30, 3), "JPEG", number) for number in range(24)]
    masks = np.arange(24 * 72, dtype=np.int32).reshape(24, 8, 9, 1)

    def make() -> Any:
        return tf.data.Dataset.from_tensor_slices((files, masks)).map(with_flips).batch(6)

    assert "images decoded and resized together; sample by sample: branch.taken" in make().explain()
    check_equal(make)
    found = np.concatenate([mask for _, mask in make().as_numpy_iterator()])
    ways = {(bool(one[0, 0] > one[0, -1]), bool(one[0, 0] > one[-1, 0])) for one in found}
    assert len(ways) == 4


WAYS: dict[str, Callable[[Any], Any]] = {
    "if": lambda x: x * 2 if x > 3 else x - 1,
    "and": lambda x: x + 1 if x > 2 and x < 6 else x,
    "or": lambda x: x + 1 if x < 2 or x > 6 else x,
    "not": lambda x: x + 1 if not x < 2 else x,
    "one of three": lambda x: x if x < 3 else (x * 2 if x < 6 else x * 3),
    "largest": lambda x: (max(x, tf.constant(4, tf.int64)), min(x, tf.constant(2, tf.int64))),
    "constants": lambda x: tf.constant(1) if x > 3 else tf.constant(0),
    "after": lambda x: (x + 1 if x > 3 else x) + (x * 10 if x > 5 else x),
    "in a list": lambda x: x in [tf.constant(2, tf.int64), tf.constant(5, tf.int64)],
}


@pytest.mark.parametrize("name", WAYS)
def test_function_when_it_depends_on_values_then_gives_what_it_gives_for_each(name: str) -> None:
    dataset = tf.data.Dataset.range(9).map(WAYS[name])
    assert "called" not in dataset.explain()
    found = [told(step) for step in steps(dataset)]
    expected = [WAYS[name](tf.constant(number, tf.int64)) for number in range(9)]
    assert found == [[np.asarray(leaf).tolist() for leaf in leaves(one)] for one in expected]


def test_function_when_it_goes_too_many_ways_then_is_called() -> None:
    calls = []

    def function(x: Any) -> Any:
        calls.append(1)
        while x > 3:
            x = x - 1
        return x

    dataset = tf.data.Dataset.range(50).map(function)
    assert "too often" in dataset.explain() and len(calls) < 40
    assert [int(x) for x in dataset] == [min(x, 3) for x in range(50)]


def test_function_when_one_way_raises_then_is_called_and_raises_where_it_goes_that_way() -> None:
    def function(x: Any) -> Any:
        if x > 3:
            raise ValueError("more than three")
        return x

    dataset = tf.data.Dataset.range(9).map(function)
    assert "called" in dataset.explain()
    rows = iter(dataset)
    assert [int(next(rows)) for _ in range(4)] == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="more than three"):
        next(rows)


PICTURES: dict[str, Callable[[Any], Any]] = {
    "brighter": lambda image: tf.image.adjust_brightness(image, 0.2),
    "middle": lambda image: tf.image.central_crop(image, 0.7),
    "cut": lambda image: tf.image.crop_to_bounding_box(image, 1, 2, 4, 5),
    "framed": lambda image: tf.image.pad_to_bounding_box(image, 1, 2, 14, 15),
    "cut or filled": lambda image: tf.image.resize_with_crop_or_pad(image, 8, 16),
    "grey": tf.image.rgb_to_grayscale,
    "colours": lambda image: tf.image.grayscale_to_rgb(image[..., :1]),
    "turned": lambda image: tf.image.rot90(image, 1),
    "other way": tf.image.transpose,
}


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize("name", PICTURES)
def test_pictures_when_changed_together_then_are_those_changed_one_by_one(name: str, dtype: str) -> None:
    rows = np.random.default_rng(3).integers(0, 256, (21, 9, 13, 3)).astype(dtype)
    dataset = tf.data.Dataset.from_tensor_slices(rows).map(PICTURES[name])
    assert [told(step) for step in steps(dataset)] == [told(step) for step in steps(dataset, whole_batches=False)]

"""Calls that a function makes several times: noted once where they give the same, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import recordmill.compat.tensorflow as tf
from recordmill.compat.tensorflow.data.planning import steps_of
from recordmill.compat.tensorflow.data.recording import Replay
from recordmill.compat.tensorflow.data.tracing import record
from tests.compat.tensorflow.test_data_bands import encoded
from tests.compat.tensorflow.test_data_native import check_equal

SPEC = tf.TensorSpec((4, 5, 3), tf.uint8)
PICTURE = np.random.default_rng(1).integers(0, 256, (4, 5, 3), np.uint8)


def floats(image: Any) -> Any:
    return tf.cast(image, tf.float32)


FUNCTIONS: dict[str, tuple[Callable[[Any], Any], int]] = {
    "twice": (lambda image: (floats(image), floats(image)), 1),
    "chains": (lambda image: (floats(image) / 255.0, floats(image) / 255.0 + 1), 3),
    "other numbers": (lambda image: (floats(image) * 1.0, floats(image) * 2.0), 3),
    "other zeros": (lambda image: (floats(image) * 0.0, floats(image) * -0.0), 3),
    "other types": (lambda image: (floats(image) + 1, floats(image) + 1.0), 3),
    "other order": (lambda image: (1.0 - floats(image), floats(image) - 1.0), 3),
    "by name": (lambda image: (tf.cast(image, dtype="float32"), tf.cast(image, dtype="float32")), 1),
    "arrays": (lambda image: (image + np.uint8([1, 2, 3]), image + np.uint8([1, 2, 3])), 2),
    "drawn": (lambda image: (tf.image.random_crop(image, [2, 2, 3]), tf.image.random_crop(image, [2, 2, 3])), 2),
    "lists": (lambda image: (tf.image.resize(image, [2, 3]), tf.image.resize(image, (2, 3))), 1),
    "sizes": (lambda image: (tf.image.resize(image, [2, 3]), tf.image.resize(image, [3, 2])), 2),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_calls_when_made_several_times_then_are_noted_once_where_they_give_the_same(name: str) -> None:
    function, count = FUNCTIONS[name]
    program = record(function, SPEC)
    assert len(program.calls) == count
    if name != "drawn":
        for found, expected in zip(Replay(program)(tf.constant(PICTURE)), function(tf.constant(PICTURE)), strict=True):
            assert found.numpy().tobytes() == expected.numpy().tobytes()


def test_call_when_made_in_one_way_of_a_function_then_the_other_way_makes_it_too() -> None:
    def function(image: Any) -> Any:
        bright = tf.reduce_max(image) > 100
        first = tf.cond(bright, lambda: floats(image) + 1.0, lambda: floats(image) - 1.0)
        if tf.reduce_min(image) < 3:
            return first + floats(image)
        return first - floats(image) * 2.0

    program = record(function, SPEC)
    for low, high in ((0, 50), (0, 200), (20, 50), (20, 200)):
        image = tf.constant(np.linspace(low, high, 60).reshape(4, 5, 3).astype(np.uint8))
        np.testing.assert_array_equal(Replay(program)(image).numpy(), function(image).numpy())


def test_call_when_more_is_known_of_its_argument_by_then_is_noted_again() -> None:
    def function(data: Any) -> Any:
        image = tf.io.decode_jpeg(data, channels=3)
        first = floats(image)
        image.set_shape([4, 5, 3])
        second = floats(image)
        return first, tf.reshape(second, [second.shape[0] * 15])

    assert len(record(function, tf.TensorSpec([], tf.string)).calls) == 4


def test_views_when_of_one_resized_picture_then_it_is_decoded_and_resized_together() -> None:
    def view(image: Any) -> Any:
        return tf.image.random_flip_left_right(tf.image.resize(image, [6, 5])) / 255.0

    def function(data: Any) -> Any:
        image = tf.io.decode_png(data, channels=3)
        return view(image), view(image)

    files = [encoded((9, 10, 3), "PNG", number) for number in range(12)]
    first, *_ = steps_of(record(function, tf.TensorSpec([], tf.string)))
    assert [call.name for call in first.calls] == ["io.decode_png", "image.resize"]
    check_equal(lambda: tf.data.Dataset.from_tensor_slices(files).map(function).batch(12))

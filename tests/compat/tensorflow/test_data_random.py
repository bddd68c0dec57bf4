"""Random operations: each sample has its own random numbers, whether it is processed alone or in a batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import recordmill.compat.tensorflow as tf
from recordmill.compat.tensorflow.core.random_state import create_generator
from tests.compat.tensorflow.pipelines import check_equal

IMAGES = np.arange(30 * 6 * 7 * 3, dtype=np.uint16).reshape(30, 6, 7, 3)
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "crop": lambda image: tf.image.random_crop(image, [4, 7, 2]),
    "crop to an array": lambda image: tf.image.random_crop(image, np.array([6, 1, 3]), 5),
    "crop with keywords": lambda image: tf.image.random_crop(value=image, size=(2, 2, 3), seed=9, name="cut"),
    "flip left right": tf.image.random_flip_left_right,
    "flip up down": lambda image: tf.image.random_flip_up_down(image, seed=3),
    "crop and flip": lambda image: tf.image.random_flip_left_right(tf.image.random_crop(image, [5, 5, 3])) + 1,
    "crop twice": lambda image: tf.image.random_crop(tf.image.random_crop(image, [5, 5, 3]), [3, 3, 3]),
    "crop to a computed size": lambda image: tf.image.random_crop(image, tf.shape(image) - [2, 3, 0]),
    "brightness and crop": lambda image: (
        tf.image.random_flip_left_right(tf.image.random_brightness(tf.cast(image, tf.float32), 9.0)),
        tf.image.random_crop(image, [1, 1, 1]),
    ),
    "uniform": lambda image: tf.random.uniform([2], seed=3) + tf.cast(image[0, 0, 0], tf.float32),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_random_function_is_equal_natively_and_per_element(name: str) -> None:
    check_equal(lambda: tf.data.Dataset.from_tensor_slices(IMAGES).map(FUNCTIONS[name]).batch(8))
    check_equal(lambda: tf.data.Dataset.from_tensor_slices(IMAGES).map(FUNCTIONS[name]).repeat(2))


def test_random_function_gives_other_values_in_the_next_pass() -> None:
    dataset = tf.data.Dataset.from_tensor_slices(IMAGES).map(FUNCTIONS["crop"]).batch(30)
    first, second = (next(dataset.as_numpy_iterator()) for _ in range(2))
    assert not np.array_equal(first, second)


def test_random_crop_rejects_size_larger_than_images() -> None:
    crop = tf.data.Dataset.from_tensor_slices(IMAGES).map(lambda image: tf.image.random_crop(image, [7, 7, 3]))
    with pytest.raises(tf.errors.InvalidArgumentError):
        list(crop.batch(30))


PLACES = st.lists(st.integers(0, 2**70), min_size=1, max_size=4).map(tuple)
KEYS = st.tuples(st.integers(0, 2**130), st.none() | st.integers(-(2**70), 2**70), PLACES)


@given(st.lists(KEYS, unique=True, min_size=2, max_size=6))
def test_create_generator_differs_between_positions(keys: list[Any]) -> None:
    first = [create_generator(*key).integers(1 << 62, size=2).tolist() for key in keys]
    assert len({tuple(one) for one in first}) == len(keys)
    assert first == [create_generator(*key).integers(1 << 62, size=2).tolist() for key in keys]


def test_create_generator_is_independent_for_consecutive_positions() -> None:
    units = np.array([create_generator(7, None, (0, row)).random(3) for row in range(4000)])
    counts = np.apply_along_axis(lambda column: np.histogram(column, 10, (0, 1))[0], 0, units)
    assert (((counts - 400) ** 2 / 400).sum(0) < 35).all()  # chi-square, nine degrees of freedom: p > 0.0001
    assert np.abs(np.corrcoef(units[1:].T, units[:-1].T)[:3, 3:]).max() < 0.07


def test_create_generator_accepts_numpy_integers() -> None:
    assert create_generator(1, 2, (np.int64(3), np.uint8(4))).random() == create_generator(1, 2, (3, 4)).random()  # type: ignore[arg-type]

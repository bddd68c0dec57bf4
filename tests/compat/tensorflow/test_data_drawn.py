"""Moves by chance of whole batches: what the operations give for each sample alone, from the same random numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import recordmill.compat.tensorflow as tf
from recordmill.compat.tensorflow.core import draws
from recordmill.compat.tensorflow.core.draws import seeded
from recordmill.compat.tensorflow.data.drawn import DRAWN
from recordmill.compat.tensorflow.data.recording import Replay
from recordmill.compat.tensorflow.data.rules import Whole
from recordmill.compat.tensorflow.data.tracing import record
from recordmill.compat.tensorflow.data.whole import WholeProgram, whole_of

PICTURES = np.arange(30 * 6 * 7 * 3, dtype=np.uint16).reshape(30, 6, 7, 3)
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "cut": lambda image: tf.image.random_crop(image, [4, 7, 2]),
    "cut by an array": lambda image: tf.image.random_crop(image, np.array([6, 1, 3]), 5),
    "cut by names": lambda image: tf.image.random_crop(value=image, size=(2, 2, 3), seed=9, name="cut"),
    "mirrored": tf.image.random_flip_left_right,
    "upside down": lambda image: tf.image.random_flip_up_down(image, seed=3),
    "all": lambda image: tf.image.random_flip_left_right(tf.image.random_crop(image, [5, 5, 3])) + 1,
    "again": lambda image: tf.image.random_crop(tf.image.random_crop(image, [5, 5, 3]), [3, 3, 3]),
    "by itself": lambda image: tf.image.random_crop(image, tf.shape(image) - [2, 3, 0]),
    "with others": lambda image: (
        tf.image.random_flip_left_right(tf.image.random_brightness(tf.cast(image, tf.float32), 9.0)),
        tf.image.random_crop(image, [1, 1, 1]),
    ),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_batch_when_moved_by_chance_then_equals_its_samples_alone(name: str) -> None:
    program = record(FUNCTIONS[name], tf.TensorSpec((6, 7, 3), tf.uint16))
    expected = []
    for row, picture in enumerate(PICTURES):
        with draws.element(4, row):
            expected.append(Replay(program)(tf.constant(picture)))
    for column in (Whole(PICTURES), list(map(tf.constant, PICTURES))):
        found = WholeProgram(program).run([column], [(4, row) for row in range(len(PICTURES))])
        for number, made in enumerate(found):
            rows = [(one[number] if isinstance(one, tuple) else one).numpy() for one in expected]
            assert whole_of(made).dtype == rows[0].dtype
            np.testing.assert_array_equal(whole_of(made), np.stack(rows))


def test_moves_when_pictures_are_alike_then_are_done_to_all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    called = []
    for name, (num_axes, made) in DRAWN.items():
        monkeypatch.setitem(DRAWN, name, (num_axes, lambda *args, of=made: called.append(len(args[1])) or of(*args)))
    program = record(FUNCTIONS["all"], tf.TensorSpec((6, 7, 3), tf.uint16))
    WholeProgram(program).run([Whole(PICTURES)], [(0, row) for row in range(len(PICTURES))])
    assert called == [26, 26]  # both, behind the first four


def test_crop_when_larger_than_the_pictures_then_is_refused_as_for_one() -> None:
    cut = tf.data.Dataset.from_tensor_slices(PICTURES).map(lambda image: tf.image.random_crop(image, [7, 7, 3]))
    with pytest.raises(tf.errors.InvalidArgumentError):
        list(cut.batch(30))


PLACES = st.lists(st.integers(0, 2**70), min_size=1, max_size=4).map(tuple)
KEYS = st.tuples(st.integers(0, 2**130), st.none() | st.integers(-(2**70), 2**70), PLACES)


@given(st.lists(KEYS, unique=True, min_size=2, max_size=6))
def test_generator_when_begun_for_different_places_then_draws_other_numbers(keys: list[Any]) -> None:
    first = [seeded(*key).integers(1 << 62, size=2).tolist() for key in keys]
    assert len({tuple(one) for one in first}) == len(keys)
    assert first == [seeded(*key).integers(1 << 62, size=2).tolist() for key in keys]


def test_numbers_when_places_follow_one_another_then_are_spread_evenly() -> None:
    units = np.array([seeded(7, None, (0, row)).random(3) for row in range(4000)])
    counts = np.apply_along_axis(lambda column: np.histogram(column, 10, (0, 1))[0], 0, units)
    assert (((counts - 400) ** 2 / 400).sum(0) < 35).all()  # chi-square, nine degrees of freedom: p > 0.0001
    assert np.abs(np.corrcoef(units[1:].T, units[:-1].T)[:3, 3:]).max() < 0.07


def test_place_when_its_numbers_are_those_of_numpy_then_is_the_same() -> None:
    assert seeded(1, 2, (np.int64(3), np.uint8(4))).random() == seeded(1, 2, (3, 4)).random()  # type: ignore[arg-type]

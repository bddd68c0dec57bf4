"""tf.data: functions whose control flow depends on values: tf.cond, tf.switch_case and Python's if."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import recordmill.compat.tensorflow as tf
from recordmill.compat.tensorflow.data.structures import leaves
from tests.compat.tensorflow.pipelines import encode

pytest.importorskip("PIL.Image")


def test_cond_and_switch_case_choose_per_element() -> None:
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
    assert "control.cond calls Python functions" in dataset.explain()
    for number, (found, (inner, chosen)) in enumerate(dataset.as_numpy_iterator()):
        assert found == (number * 2 if number % 2 == 0 and number <= 4 else number)
        assert inner == (
            {"a": number * 2 + 1, "b": (number, 7)} if number > 6 else {"a": -number, "b": (number * 2, 8)}
        )
        assert chosen == {0: number, 1: number * 2}.get(number % 4, number - 100)


def test_python_if_is_evaluated_per_element() -> None:
    files = [encode((20, 30, 3), "JPEG", number) for number in range(24)]
    masks = np.arange(24 * 72, dtype=np.int32).reshape(24, 8, 9, 1)

    def function(data: Any, mask: Any) -> Any:
        image = tf.image.resize(tf.io.decode_jpeg(data, channels=3), [8, 9])
        if tf.random.uniform(()) > 0.5:
            image, mask = tf.image.flip_left_right(image), tf.image.flip_left_right(mask)
        if tf.random.uniform(()) > 0.5:
            image, mask = tf.image.flip_up_down(image), tf.image.flip_up_down(mask)
        return tf.cast(image, tf.float32) / 255.0, mask

    found = []
    for threads in (None, 3):
        tf.random.set_seed(7)
        dataset = tf.data.Dataset.from_tensor_slices((files, masks)).map(function, num_parallel_calls=threads).batch(6)
        assert "depends on a value" in dataset.explain()
        found.append([np.concatenate(part) for part in zip(*dataset.as_numpy_iterator(), strict=True)])
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)
    corners = {(bool(one[0, 0] > one[0, -1]), bool(one[0, 0] > one[-1, 0])) for one in found[0][1]}
    assert len(corners) == 4


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "if": lambda x: x * 2 if x > 3 else x - 1,
    "and": lambda x: x + 1 if x > 2 and x < 6 else x,
    "or": lambda x: x + 1 if x < 2 or x > 6 else x,
    "not": lambda x: x + 1 if not x < 2 else x,
    "one of three": lambda x: x if x < 3 else (x * 2 if x < 6 else x * 3),
    "largest": lambda x: (max(x, tf.constant(4, tf.int64)), min(x, tf.constant(2, tf.int64))),
    "constants": lambda x: tf.constant(1) if x > 3 else tf.constant(0),
    "in a list": lambda x: x in [tf.constant(2, tf.int64), tf.constant(5, tf.int64)],
    "different structures": lambda x: tf.cond(x > 0, lambda: (x, x), lambda: x),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_that_depends_on_values_gives_the_result_for_each(name: str) -> None:
    found = list(tf.data.Dataset.range(9).map(FUNCTIONS[name]))
    expected = [FUNCTIONS[name](tf.constant(number, tf.int64)) for number in range(9)]
    assert [[leaf.numpy() for leaf in leaves(one)] for one in found] == [
        [np.asarray(leaf) for leaf in leaves(one)] for one in expected
    ]


def test_function_that_raises_for_some_values_fails_only_these_elements() -> None:
    def function(x: Any) -> Any:
        if x > 3:
            raise ValueError("more than three")
        return x

    rows = iter(tf.data.Dataset.range(9).map(function))
    assert [int(next(rows)) for _ in range(4)] == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="more than three"):
        next(rows)

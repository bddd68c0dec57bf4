"""Hue and saturation in floats: against branches in NumPy, and values that TensorFlow 2.21 gave."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as arrays

import recordmill as rm
import recordmill.compat.tensorflow as tf
from tests.decode import circle

nan, inf = np.nan, np.inf
# Levels of images, and what no image should hold; few of them, so that parts are equal.
PARTS = st.one_of(
    st.floats(0, 1, width=32),
    st.sampled_from(
        np.array([0, -0.0, 0.25, 0.5, 0.50000006, 1, -1, 2, 1e-45, 3e-45, 1e-39, 1e20, 3e38, inf, -inf, nan], "f")
    ),
    st.floats(width=32),
)
COLORS = arrays.arrays(np.float32, st.tuples(st.integers(1, 70), st.just(3)), elements=PARTS)
PICTURES = st.tuples(st.integers(1, 8), st.integers(1, 8), st.just(3))


def each(change: Callable[..., np.ndarray], colors: np.ndarray, amount: float) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.stack([change(color, amount) for color in colors])


@given(COLORS, st.floats(-1, 1, width=32))
def test_hue_in_floats_when_turned_then_is_that_of_the_branches(colors: np.ndarray, turn: float) -> None:
    np.testing.assert_array_equal(rm.adjust_hue(colors, turn, like="tensorflow"), each(circle.turned, colors, turn))


@given(COLORS, st.floats(width=32))
def test_saturation_in_floats_when_multiplied_then_is_that_of_the_branches(colors: np.ndarray, factor: float) -> None:
    found = rm.adjust_saturation(colors, factor, like="tensorflow")
    np.testing.assert_array_equal(found, each(circle.saturated, colors, factor))


@given(COLORS)
def test_spaces_of_color_when_native_then_are_numpys(colors: np.ndarray) -> None:
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(rm.rgb_to_hsv(colors), circle.rgb_to_hsv(colors))
        np.testing.assert_array_equal(rm.hsv_to_rgb(colors), circle.hsv_to_rgb(colors))


@given(arrays.arrays(np.uint8, PICTURES), st.floats(0, 4, width=32), st.floats(-1, 1, width=32))
def test_colors_of_bytes_when_changed_then_go_through_floats(pixels: np.ndarray, factor: float, turn: float) -> None:
    floats = tf.image.convert_image_dtype(pixels, tf.float32)
    for change in (lambda it: tf.image.adjust_saturation(it, factor), lambda it: tf.image.adjust_hue(it, turn)):
        expected = tf.image.convert_image_dtype(change(floats), tf.uint8)
        np.testing.assert_array_equal(change(pixels).numpy(), expected.numpy())


def test_saturation_when_multiplied_then_is_tensorflows() -> None:
    # A third is added in double precision there: one level more or less than in float32.
    pixels = np.array([[[3, 219, 255], [6, 225, 108], [15, 150, 204], [15, 219, 225]]], np.uint8)
    expected = [[[0, 219, 255], [0, 225, 104], [0, 146, 204], [0, 219, 225]]]
    np.testing.assert_array_equal(tf.image.adjust_saturation(pixels, 1.2).numpy(), expected)
    # A hue of a whole turn, by rounding, is gray there.
    colors = np.array([[[1, 0.5, 0.50000006], [nan, 0.5, 0.25], [0.5, nan, 0.25], [0.5, 0.25, nan]]], np.float32)
    expected = np.array([[[0.5] * 3, [nan] * 3, [0.5] * 3, [0.25] * 3]], np.float32)
    np.testing.assert_array_equal(tf.image.adjust_saturation(colors, 1.0).numpy(), expected)
    np.testing.assert_array_equal(tf.image.adjust_saturation(colors[:, :1], nan).numpy(), [[[1, 1, 1]]])


def test_hue_when_no_numbers_are_turned_then_is_tensorflows() -> None:
    colors = np.array([[nan, 0.5, 0.25], [0.5, nan, 0.25], [0.5, 0.25, nan], [inf, 0.5, 0.25], [0.5, 0.25, -inf]], "f")
    expected = [[nan, 0.25, nan], [0.5, nan, nan], [0.5, 0.25, nan], [inf, inf, 0.25], [0.5, -inf, nan]]
    np.testing.assert_array_equal(tf.image.adjust_hue(colors[None], 0.1).numpy()[0], np.array(expected, np.float32))


@pytest.mark.parametrize("shape", [(3,), (0, 3), (2, 0, 3), (5, 4, 3, 3), (64, 3), (65, 3)])
def test_colors_when_of_any_axes_then_keep_them(shape: tuple[int, ...]) -> None:
    colors = np.linspace(0, 1, int(np.prod(shape)), dtype=np.float32).reshape(shape)
    assert rm.rgb_to_hsv(colors).shape == rm.adjust_hue(colors, 0.5, like="tensorflow").shape == shape
    turned = np.asfortranarray(colors)
    np.testing.assert_array_equal(rm.rgb_to_hsv(turned), rm.rgb_to_hsv(colors))


def test_colors_when_there_are_none_then_says_what_is_needed() -> None:
    with pytest.raises(TypeError, match="array must be of float32, got float64"):
        rm.rgb_to_hsv(np.zeros((2, 3)))
    with pytest.raises(TypeError, match="array must be of uint8 or float32, got uint16"):
        rm.adjust_hue(np.zeros((2, 2, 3), np.uint16), 0.1, like="tensorflow")
    with pytest.raises(ValueError, match=r"array must have shape \(..., 3\), got \(2, 4\)"):
        rm.hsv_to_rgb(np.zeros((2, 4), np.float32))
    with pytest.raises(ValueError, match=r"turn must be a finite number from -1 to 1, got 1\.5"):
        rm.adjust_hue(np.zeros((2, 2, 3), np.float32), 1.5, like="tensorflow")
    with pytest.raises(ValueError, match="like must be one of 'pillow', 'tensorflow', got 'opencv'"):
        rm.adjust_saturation(np.zeros((2, 2, 3), np.uint8), 1.5, like="opencv")  # type: ignore[arg-type]

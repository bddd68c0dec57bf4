"""Compare color conversions with references in NumPy, and with values of TensorFlow 2.21 and OpenCV."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as arrays

import recordmill as rm
import recordmill.compat.tensorflow as tf
from tests.decode import opencv_reference, tensorflow_color

nan, inf = np.nan, np.inf
# Levels of images, and values that no image should have. There are few, so that channels are often equal.
CHANNEL_VALUES = st.one_of(
    st.floats(0, 1, width=32),
    st.sampled_from(
        np.array([0, -0.0, 0.25, 0.5, 0.50000006, 1, -1, 2, 1e-45, 3e-45, 1e-39, 1e20, 3e38, inf, -inf, nan], "f")
    ),
    st.floats(width=32),
)
COLORS = arrays.arrays(np.float32, st.tuples(st.integers(1, 70), st.just(3)), elements=CHANNEL_VALUES)
IMAGE_SHAPES = st.tuples(st.integers(1, 8), st.integers(1, 8), st.just(3))


def map_colors(function: Callable[..., np.ndarray], colors: np.ndarray, amount: float) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.stack([function(color, amount) for color in colors])


@given(COLORS, st.floats(-1, 1, width=32))
def test_adjust_hue_tensorflow_equals_reference(colors: np.ndarray, turn: float) -> None:
    np.testing.assert_array_equal(
        rm.adjust_hue(colors, turn, like="tensorflow"), map_colors(tensorflow_color.adjust_hue, colors, turn)
    )


@given(COLORS, st.floats(width=32))
def test_adjust_saturation_tensorflow_equals_reference(colors: np.ndarray, factor: float) -> None:
    found = rm.adjust_saturation(colors, factor, like="tensorflow")
    np.testing.assert_array_equal(found, map_colors(tensorflow_color.adjust_saturation, colors, factor))


@given(COLORS)
def test_hsv_conversions_equal_reference(colors: np.ndarray) -> None:
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(rm.rgb_to_hsv(colors), tensorflow_color.rgb_to_hsv(colors))
        np.testing.assert_array_equal(rm.hsv_to_rgb(colors), tensorflow_color.hsv_to_rgb(colors))


@given(arrays.arrays(np.uint8, IMAGE_SHAPES), st.floats(0, 4, width=32), st.floats(-1, 1, width=32))
def test_adjust_tensorflow_converts_uint8_through_float32(pixels: np.ndarray, factor: float, turn: float) -> None:
    floats = tf.image.convert_image_dtype(pixels, tf.float32)
    for change in (lambda it: tf.image.adjust_saturation(it, factor), lambda it: tf.image.adjust_hue(it, turn)):
        expected = tf.image.convert_image_dtype(change(floats), tf.uint8)
        np.testing.assert_array_equal(change(pixels).numpy(), expected.numpy())


def test_adjust_saturation_equals_tensorflow_values() -> None:
    # TensorFlow adds a third in double precision, which differs from float32 by up to one level.
    pixels = np.array([[[3, 219, 255], [6, 225, 108], [15, 150, 204], [15, 219, 225]]], np.uint8)
    expected = [[[0, 219, 255], [0, 225, 104], [0, 146, 204], [0, 219, 225]]]
    np.testing.assert_array_equal(tf.image.adjust_saturation(pixels, 1.2).numpy(), expected)
    # TensorFlow returns gray if the hue is rounded up to 1.
    colors = np.array([[[1, 0.5, 0.50000006], [nan, 0.5, 0.25], [0.5, nan, 0.25], [0.5, 0.25, nan]]], np.float32)
    expected = np.array([[[0.5] * 3, [nan] * 3, [0.5] * 3, [0.25] * 3]], np.float32)
    np.testing.assert_array_equal(tf.image.adjust_saturation(colors, 1.0).numpy(), expected)
    np.testing.assert_array_equal(tf.image.adjust_saturation(colors[:, :1], nan).numpy(), [[[1, 1, 1]]])


def test_adjust_hue_of_nan_and_inf_equals_tensorflow_values() -> None:
    colors = np.array([[nan, 0.5, 0.25], [0.5, nan, 0.25], [0.5, 0.25, nan], [inf, 0.5, 0.25], [0.5, 0.25, -inf]], "f")
    expected = [[nan, 0.25, nan], [0.5, nan, nan], [0.5, 0.25, nan], [inf, inf, 0.25], [0.5, -inf, nan]]
    np.testing.assert_array_equal(tf.image.adjust_hue(colors[None], 0.1).numpy()[0], np.array(expected, np.float32))


@pytest.mark.parametrize("shape", [(3,), (0, 3), (2, 0, 3), (5, 4, 3, 3), (64, 3), (65, 3)])
def test_color_conversions_keep_any_shape(shape: tuple[int, ...]) -> None:
    colors = np.linspace(0, 1, int(np.prod(shape)), dtype=np.float32).reshape(shape)
    assert rm.rgb_to_hsv(colors).shape == rm.adjust_hue(colors, 0.5, like="tensorflow").shape == shape
    fortran = np.asfortranarray(colors)
    np.testing.assert_array_equal(rm.rgb_to_hsv(fortran), rm.rgb_to_hsv(colors))


def test_color_functions_reject_invalid_arguments() -> None:
    with pytest.raises(TypeError, match="array must have dtype float32, got float64"):
        rm.rgb_to_hsv(np.zeros((2, 3)))
    with pytest.raises(TypeError, match="array must have dtype uint8 or float32, got uint16"):
        rm.adjust_hue(np.zeros((2, 2, 3), np.uint16), 0.1, like="tensorflow")
    with pytest.raises(ValueError, match=r"array must have shape \(..., 3\), got \(2, 4\)"):
        rm.hsv_to_rgb(np.zeros((2, 4), np.float32))
    with pytest.raises(ValueError, match=r"turn must be a finite number from -1 to 1, got 1\.5"):
        rm.adjust_hue(np.zeros((2, 2, 3), np.float32), 1.5, like="tensorflow")
    with pytest.raises(ValueError, match="like must be one of 'pillow', 'tensorflow', got 'opencv'"):
        rm.adjust_saturation(np.zeros((2, 2, 3), np.uint8), 1.5, like="opencv")  # type: ignore[arg-type]


BYTE_COLORS = st.lists(st.tuples(*[st.integers(0, 255)] * 3), min_size=1, max_size=80)


@given(BYTE_COLORS)
def test_hls_conversions_equal_reference(colors) -> None:
    pixels = np.array(colors, np.uint8)
    np.testing.assert_array_equal(rm.rgb_to_hls(pixels), [opencv_reference.rgb_to_hls(color) for color in colors])
    np.testing.assert_array_equal(rm.hls_to_rgb(pixels), [opencv_reference.hls_to_rgb(color) for color in colors])


def test_rgb_to_hls_equals_known_values() -> None:
    colors = np.array([[255, 0, 0], [0, 255, 0], [0, 0, 255], [255] * 3, [0] * 3], np.uint8)
    parts = [[0, 128, 255], [60, 128, 255], [120, 128, 255], [0, 255, 0], [0, 0, 0]]
    assert rm.rgb_to_hls(colors).tolist() == parts
    # Colors that MXNet's OpenCV 3.4 rounds in another way than OpenCV 4.
    odd = np.array([[150, 148, 158], [156, 137, 134], [177, 188, 118]], np.uint8)
    together, alone = [[126, 153, 12], [4, 145, 26], [35, 153, 88]], [[126, 153, 13], [4, 145, 25], [35, 153, 87]]
    assert rm.rgb_to_hls(odd).tolist() == rm.rgb_to_hls(odd[None], behind=0)[0].tolist() == together
    assert rm.rgb_to_hls(odd[None]).tolist() == [alone]
    assert rm.rgb_to_hls(np.concatenate([odd, odd])[None]).tolist() == [[*together, together[0], *alone[1:]]]
    with pytest.raises(ValueError, match="behind"):
        rm.rgb_to_hls(odd[None], behind=4)


@pytest.mark.parametrize("change", [rm.rgb_to_hls, rm.hls_to_rgb])
def test_hls_conversions_reject_other_dtypes_and_shapes(change) -> None:
    with pytest.raises(TypeError, match="uint8"):
        change(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="array must have shape"):
        change(np.zeros((2, 4), np.uint8))

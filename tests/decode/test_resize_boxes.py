"""resize_boxes against a loop over boxes in NumPy, and against values of TensorFlow 2.21."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as arrays

import recordmill as rm
import recordmill.compat.tensorflow as tf

SIDES = st.integers(1, 9)
PLACES = st.one_of(st.floats(-0.5, 1.5, width=32), st.sampled_from([0.0, 0.25, 0.5, 1.0, -1.0, 2.0]))


@st.composite
def cuts(draw: Any) -> tuple[Any, ...]:
    dtype = draw(st.sampled_from(["uint8", "uint16", "float32"]))
    shape = (draw(st.integers(1, 3)), draw(SIDES), draw(SIDES), draw(st.sampled_from([1, 2, 3, 4, 5, 17])))
    floats = {"elements": st.floats(-100, 100, width=32)} if dtype == "float32" else {}
    count = draw(st.integers(0, 4))
    boxes = draw(arrays.arrays(np.float32, (count, 4), elements=PLACES))
    images = draw(arrays.arrays(np.int64, count, elements=st.integers(0, shape[0] - 1)))
    return draw(arrays.arrays(dtype, shape, **floats)), boxes, images, (draw(SIDES), draw(SIDES))


def coordinates(low: np.float32, high: np.float32, length: int, count: int) -> np.ndarray:
    last = np.float32(length - 1)
    if count == 1:
        return np.array([np.float32(0.5) * (low + high) * last], np.float32)
    step = (high - low) * last / np.float32(count - 1)
    return np.asarray(low * last + np.arange(count, dtype=np.float32) * step, np.float32)


def mixed(image: np.ndarray, y: np.ndarray, x: np.ndarray) -> np.ndarray:
    top, left, bottom, right = (ends.astype(int) for ends in (np.floor(y), np.floor(x), np.ceil(y), np.ceil(x)))
    across, down = (x - left).astype(np.float32)[None, :, None], (y - top).astype(np.float32)[:, None, None]
    upper = image[top][:, left] + (image[top][:, right] - image[top][:, left]) * across
    lower = image[bottom][:, left] + (image[bottom][:, right] - image[bottom][:, left]) * across
    return upper + (lower - upper) * down


def cut(image: np.ndarray, box: np.ndarray, size: tuple[int, int], kernel: str, fill: float) -> np.ndarray:
    rows = coordinates(box[0], box[2], image.shape[0], size[0])
    columns = coordinates(box[1], box[3], image.shape[1], size[1])
    inside = [(ends >= 0) & (ends <= side - 1) for ends, side in zip((rows, columns), image.shape, strict=False)]
    y, x = np.where(inside[0], rows, 0), np.where(inside[1], columns, 0)
    if kernel == "nearest":
        halves = [np.trunc(places.astype(np.float64) + 0.5).astype(int) for places in (y, x)]
        found = image[halves[0]][:, halves[1]]
    else:
        found = mixed(image, y, x)
    return np.where((inside[0][:, None] & inside[1][None])[..., None], found, np.float32(fill))


@given(cuts(), st.sampled_from(["bilinear", "nearest"]), st.sampled_from([0.0, -7.5]))
def test_resize_boxes_equals_reference(what: tuple[Any, ...], kernel: Any, fill: float) -> None:
    pixels, boxes, images, size = what
    found = rm.resize_boxes(pixels, boxes, images, size, kernel=kernel, fill=fill)
    assert found.shape == (len(boxes), *size, pixels.shape[3])
    for image, box, one in zip(images, boxes, found, strict=True):
        np.testing.assert_array_equal(one, cut(pixels[image].astype(np.float32), box, size, kernel, fill))


def test_resize_boxes_fills_outside_and_flips_reversed_boxes() -> None:
    pixels = np.arange(12, dtype=np.float32).reshape(1, 3, 4, 1)
    whole = rm.resize_boxes(pixels, [[0, 0, 1, 1]], [0], (3, 4))
    np.testing.assert_array_equal(whole, pixels)
    turned = rm.resize_boxes(pixels, [[1, 1, 0, 0]], [0], (3, 4))
    np.testing.assert_array_equal(turned, pixels[:, ::-1, ::-1])
    beyond = rm.resize_boxes(pixels, [[0, -1 / 3, 1, 2 / 3]], [0], (3, 4), fill=9)
    np.testing.assert_array_equal(beyond[0, :, :, 0], [[9, 0, 1, 2], [9, 4, 5, 6], [9, 8, 9, 10]])


def test_resize_boxes_nearest_rounds_just_below_half_down() -> None:
    pixels = np.arange(2, dtype=np.float32).reshape(1, 1, 2, 1)
    place = float(np.nextafter(np.float32(0.5), np.float32(0)))
    found = tf.image.crop_and_resize(pixels, [[0, place, 0, place], [0, 0.5, 0, 0.5]], [0, 0], [1, 1], method="nearest")
    np.testing.assert_array_equal(found.numpy().ravel(), [0, 1])


@pytest.mark.parametrize("places", [[0, 0, np.nan, 1], [0, -np.inf, 1, 1]])
def test_resize_boxes_rejects_non_finite_boxes(places: list[float]) -> None:
    pixels = np.zeros((1, 3, 3, 1), np.float32)
    with pytest.raises(ValueError, match="boxes must contain only finite numbers"):
        rm.resize_boxes(pixels, [places], [0], 2)
    with pytest.raises(tf.errors.InvalidArgumentError, match="finite"):
        tf.image.crop_and_resize(pixels, [places], [0], [2, 2])


def test_resize_boxes_rejects_mismatched_arguments() -> None:
    pixels, box = np.zeros((2, 3, 3, 1), np.uint8), [[0, 0, 1, 1]]
    with pytest.raises(ValueError, match="each image index in `images` must be from 0 to 1, got -1"):
        rm.resize_boxes(pixels, box, [-1], 2)
    with pytest.raises(ValueError, match="each image index in `images` must be from 0 to 1, got 2"):
        rm.resize_boxes(pixels, box, [2], 2)
    with pytest.raises(
        ValueError, match=r"boxes and images must have shapes \(n, 4\) and \(n,\), got \(1, 4\) and \(2,\)"
    ):
        rm.resize_boxes(pixels, box, [0, 0], 2)
    with pytest.raises(ValueError, match=r"array must have shape \(images, height, width, channels\), got \(3, 3, 1\)"):
        rm.resize_boxes(pixels[0], box, [0], 2)
    with pytest.raises(TypeError, match="array must have dtype uint8 or uint16 or float32, got float64"):
        rm.resize_boxes(pixels.astype(float), box, [0], 2)
    with pytest.raises(rm.ImageError):
        rm.resize_boxes(pixels, box * 9, [0] * 9, 65535)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.image.crop_and_resize(pixels[:, :0], box, [0], [2, 2])
    with pytest.raises(tf.errors.InvalidArgumentError, match="crop_size"):
        tf.image.crop_and_resize(pixels, box, [0], [2])

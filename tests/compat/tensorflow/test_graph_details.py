"""What operations give in map functions otherwise than beside them, as in TensorFlow's graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import recordmill.compat.tensorflow as tf

IMAGE = np.zeros((40, 25, 3), np.uint8)


def shapes(dataset: Any) -> list[list[int]]:
    return [one.shape.as_list() for one in dataset]


@pytest.mark.parametrize("direct", [False, True], ids=["recorded", "as Python"])
def test_central_crop_when_the_size_is_unknown_to_a_graph_then_its_fraction_has_32_bits(direct: bool) -> None:
    files = tf.data.Dataset.from_tensor_slices([tf.io.encode_png(IMAGE).numpy()])

    def middle(contents: Any) -> Any:
        if direct:
            bool(contents == b"")
        return tf.image.central_crop(tf.io.decode_png(contents, channels=3), 0.8)

    assert shapes(files.map(middle)) == [[34, 21, 3]]
    assert shapes(files.map(middle).batch(1)) == [[1, 34, 21, 3]]


def test_central_crop_when_nothing_says_that_sizes_differ_then_its_fraction_has_64_bits() -> None:
    images = tf.data.Dataset.from_tensor_slices(IMAGE[None])

    def plain(image: Any) -> Any:
        bool(tf.reduce_sum(image) == 0)
        return tf.image.central_crop(image, 0.8)

    assert shapes(images.map(plain)) == [[32, 21, 3]]
    assert shapes(images.map(lambda image: tf.image.central_crop(tf.transpose(image, [1, 0, 2]), 0.8))) == [[21, 32, 3]]
    raw = tf.data.Dataset.from_tensor_slices([IMAGE.tobytes()])
    reshaped = raw.map(
        lambda data: tf.image.central_crop(tf.reshape(tf.io.decode_raw(data, tf.uint8), [40, 25, 3]), 0.8)
    )
    assert shapes(reshaped) == [[32, 21, 3]]


def test_pad_when_values_are_truth_values_then_adds_false() -> None:
    assert tf.pad([True], [[1, 0]]).numpy().tolist() == [False, True]
    assert tf.pad([True], [[1, 0]], constant_values=True).numpy().tolist() == [True, True]
    assert tf.pad(["a"], [[1, 0]]).numpy().tolist() == [b"", b"a"]


def test_central_crop_when_the_size_is_known_then_its_fraction_has_64_bits() -> None:
    assert tf.image.central_crop(IMAGE, 0.8).shape == [32, 21, 3]
    images = tf.data.Dataset.from_tensor_slices(IMAGE[None])
    assert shapes(images.map(lambda image: tf.image.central_crop(image, 0.8))) == [[32, 21, 3]]
    assert shapes(images.map(lambda image: tf.image.central_crop(image, central_fraction=0.8))) == [[32, 21, 3]]
    assert shapes(images.map(lambda image: tf.image.central_crop(image, 1.0))) == [[40, 25, 3]]

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


def test_central_crop_when_the_size_is_known_then_its_fraction_has_64_bits() -> None:
    assert tf.image.central_crop(IMAGE, 0.8).shape == [32, 21, 3]
    images = tf.data.Dataset.from_tensor_slices(IMAGE[None])
    assert shapes(images.map(lambda image: tf.image.central_crop(image, 0.8))) == [[32, 21, 3]]
    assert shapes(images.map(lambda image: tf.image.central_crop(image, central_fraction=0.8))) == [[32, 21, 3]]
    assert shapes(images.map(lambda image: tf.image.central_crop(image, 1.0))) == [[40, 25, 3]]

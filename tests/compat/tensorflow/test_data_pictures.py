"""tf.data: pictures of one size, and of several, decoded together as each of them is by itself."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import recordmill.compat.tensorflow as tf
from tests.compat.tensorflow.test_data_bands import encoded
from tests.compat.tensorflow.test_data_native import check_equal

Image = pytest.importorskip("PIL.Image")
PngInfo = pytest.importorskip("PIL.PngImagePlugin").PngInfo

DECODERS: dict[str, Callable[[Any], Any]] = {
    "png": lambda data: tf.io.decode_png(data, channels=1),
    "colours": lambda data: tf.io.decode_png(data, channels=3),
    "jpeg": lambda data: tf.io.decode_jpeg(data, channels=3),
    "image": lambda data: tf.io.decode_image(data, channels=1, expand_animations=False),
    "as it is": tf.io.decode_png,
    "jpeg as it is": tf.io.decode_jpeg,
}


@pytest.mark.parametrize("decoder", sorted(DECODERS))
@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
@pytest.mark.parametrize("shape", [(28, 28), (9, 14, 3)])
def test_pictures_when_of_one_size_then_are_decoded_together(decoder: str, kind: str, shape: tuple[int, ...]) -> None:
    files = [encoded(shape, kind, number) for number in range(11)]

    def make() -> Any:
        dataset = tf.data.Dataset.from_tensor_slices((files, np.arange(11)))
        return dataset.map(lambda data, label: (tf.cast(DECODERS[decoder](data), tf.float32) / 255.0, label)).batch(4)

    assert make().explain() == "native: map(<lambda>).batch(4) for whole batches: images of one size decoded together"
    check_equal(make)


@pytest.mark.parametrize("transparent", [None, 3, (1, 2, 3)])
@pytest.mark.parametrize("shape", [(12, 9), (12, 9, 2), (12, 9, 3), (12, 9, 4)])
def test_pictures_when_channels_are_not_named_then_are_those_of_the_file(shape: Any, transparent: Any) -> None:
    pixels = np.random.default_rng(3).integers(0, 256, shape, np.uint8)
    options = {} if transparent is None or shape[2:] in ((2,), (4,)) else {"transparency": transparent}
    if options and (len(shape) == 2) != isinstance(transparent, int):
        return
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG", **options)
    for resized in (lambda image: image, lambda image: tf.image.resize(image, [5, 6])):
        dataset = tf.data.Dataset.from_tensor_slices([file.getvalue()] * 4)
        check_equal(lambda d=dataset, r=resized: d.map(lambda data: r(tf.io.decode_png(data))).batch(4))


def test_picture_when_it_tells_late_what_is_transparent_then_is_decoded_as_by_itself() -> None:
    told, file = PngInfo(), io.BytesIO()
    told.add_text("comment", "x" * 5000)
    Image.fromarray(np.arange(120, dtype=np.uint8).reshape(10, 12)).save(file, "PNG", pnginfo=told, transparency=3)
    dataset = tf.data.Dataset.from_tensor_slices([file.getvalue()] * 4).map(tf.io.decode_png)
    check_equal(lambda: dataset.batch(4))
    assert next(iter(dataset.batch(4))).shape == (4, 10, 12, 1)


def test_cast_when_used_besides_a_resize_then_stays() -> None:
    def function(data: Any) -> Any:
        floats = tf.cast(tf.io.decode_png(data, channels=3), tf.float32)
        return tf.image.resize(floats, [4, 4]), floats * 2.0

    files = [encoded((9, 10, 3), "PNG", number) for number in range(6)]
    check_equal(lambda: tf.data.Dataset.from_tensor_slices(files).map(function).batch(6))


def test_pictures_when_of_several_sizes_then_are_decoded_one_by_one() -> None:
    files = [encoded((20 + number % 3, 25), "PNG", number) for number in range(9)]

    def make() -> Any:
        dataset = tf.data.Dataset.from_tensor_slices(files)
        return dataset.map(lambda data: tf.image.central_crop(tf.io.decode_png(data, channels=1), 0.5)[:8, :8]).batch(3)

    check_equal(make)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot batch tensors with different shapes"):
        list(tf.data.Dataset.from_tensor_slices(files).map(DECODERS["png"]).batch(3))


def test_pictures_when_one_is_damaged_then_the_error_is_the_same_as_one_by_one() -> None:
    files = [encoded((12, 12), "PNG", number) for number in range(6)]
    files[4] = files[4][:40]
    dataset = tf.data.Dataset.from_tensor_slices(files).map(DECODERS["png"])
    for batches in (dataset.batch(3), dataset):
        with pytest.raises(tf.errors.InvalidArgumentError):
            list(batches)

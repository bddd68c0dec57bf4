"""tf.data: images decoded and cropped in native batches equal single images."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import recordmill.compat.tensorflow as tf
from tests.compat.tensorflow.pipelines import check_equal, encode

Image = pytest.importorskip("PIL.Image")
PngInfo = pytest.importorskip("PIL.PngImagePlugin").PngInfo

DECODERS: dict[str, Callable[[Any], Any]] = {
    "png": lambda data: tf.io.decode_png(data, channels=1),
    "color png": lambda data: tf.io.decode_png(data, channels=3),
    "jpeg": lambda data: tf.io.decode_jpeg(data, channels=3),
    "image": lambda data: tf.io.decode_image(data, channels=1, expand_animations=False),
    "channels of the png": tf.io.decode_png,
    "channels of the jpeg": tf.io.decode_jpeg,
}


@pytest.mark.parametrize("decoder", sorted(DECODERS))
@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
@pytest.mark.parametrize("shape", [(28, 28), (9, 14, 3)])
def test_images_of_one_size_are_decoded_in_native_batches(decoder: str, kind: str, shape: tuple[int, ...]) -> None:
    files = [encode(shape, kind, number) for number in range(11)]

    def make() -> Any:
        dataset = tf.data.Dataset.from_tensor_slices((files, np.arange(11)))
        return dataset.map(lambda data, label: (tf.cast(DECODERS[decoder](data), tf.float32) / 255.0, label)).batch(4)

    assert make().explain() == "native: map(<lambda>), batches of 4: images of one size decoded together"
    check_equal(make)


@pytest.mark.parametrize("transparent", [None, 3, (1, 2, 3)])
@pytest.mark.parametrize("shape", [(12, 9), (12, 9, 2), (12, 9, 3), (12, 9, 4)])
def test_png_without_given_channels_has_those_of_the_file(shape: Any, transparent: Any) -> None:
    pixels = np.random.default_rng(3).integers(0, 256, shape, np.uint8)
    options = {} if transparent is None or shape[2:] in ((2,), (4,)) else {"transparency": transparent}
    if options and (len(shape) == 2) != isinstance(transparent, int):
        return
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG", **options)
    for resized in (lambda image: image, lambda image: tf.image.resize(image, [5, 6])):
        dataset = tf.data.Dataset.from_tensor_slices([file.getvalue()] * 4)
        check_equal(lambda d=dataset, r=resized: d.map(lambda data: r(tf.io.decode_png(data))).batch(4))


def test_png_with_late_transparency_chunk_equals_per_element() -> None:
    info, file = PngInfo(), io.BytesIO()
    info.add_text("comment", "x" * 5000)
    Image.fromarray(np.arange(120, dtype=np.uint8).reshape(10, 12)).save(file, "PNG", pnginfo=info, transparency=3)
    dataset = tf.data.Dataset.from_tensor_slices([file.getvalue()] * 4).map(tf.io.decode_png)
    check_equal(lambda: dataset.batch(4))
    assert next(iter(dataset.batch(4))).shape == (4, 10, 12, 1)


def test_images_of_several_sizes_run_per_element() -> None:
    files = [encode((20 + number % 3, 25), "PNG", number) for number in range(9)]

    def make() -> Any:
        dataset = tf.data.Dataset.from_tensor_slices(files)
        return dataset.map(lambda data: tf.image.central_crop(tf.io.decode_png(data, channels=1), 0.5)[:8, :8]).batch(3)

    check_equal(make)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot batch tensors with different shapes"):
        list(tf.data.Dataset.from_tensor_slices(files).map(DECODERS["png"]).batch(3))


def test_damaged_image_raises_the_same_error_natively_and_per_element() -> None:
    files = [encode((12, 12), "PNG", number) for number in range(6)]
    files[4] = files[4][:40]
    dataset = tf.data.Dataset.from_tensor_slices(files).map(DECODERS["png"])
    for batches in (dataset.batch(3), dataset):
        with pytest.raises(tf.errors.InvalidArgumentError):
            list(batches)


IMAGE_OPS: dict[str, Callable[[Any], Any]] = {
    "brightness": lambda image: tf.image.adjust_brightness(image, 0.2),
    "central crop": lambda image: tf.image.central_crop(image, 0.7),
    "crop": lambda image: tf.image.crop_to_bounding_box(image, 1, 2, 4, 5),
    "pad": lambda image: tf.image.pad_to_bounding_box(image, 1, 2, 14, 15),
    "crop or pad": lambda image: tf.image.resize_with_crop_or_pad(image, 8, 16),
    "grayscale": tf.image.rgb_to_grayscale,
    "rgb": lambda image: tf.image.grayscale_to_rgb(image[..., :1]),
    "rotate": lambda image: tf.image.rot90(image, 1),
    "transpose": tf.image.transpose,
    "random crop": lambda image: tf.image.random_crop(image, [4, 4, 2], seed=3),
    "random flip": lambda image: tf.image.random_flip_up_down(image, seed=2),
    "resize": lambda image: tf.image.resize(image, [6, 5]),
    "nearest": lambda image: tf.image.resize(image, [5, 16], method="nearest"),
    "area": lambda image: tf.image.resize(image, [5, 16], method="area"),
    "bicubic": lambda image: tf.image.resize(image, [5, 16], method="bicubic"),
    "lanczos": lambda image: tf.image.resize(image, [5, 16], method="lanczos3"),
    "antialiased": lambda image: tf.image.resize(image, [5, 16], antialias=True),
    "aspect ratio": lambda image: tf.image.resize(image, [5, 16], preserve_aspect_ratio=True),
}


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize("name", IMAGE_OPS)
def test_image_operation_on_chunks_equals_per_element(name: str, dtype: str) -> None:
    rows = np.random.default_rng(3).integers(0, 256, (21, 9, 13, 3)).astype(dtype)

    def make() -> Any:
        return tf.data.Dataset.from_tensor_slices(rows).map(IMAGE_OPS[name])

    assert make().explain().startswith("native")
    check_equal(make)


IMAGE = np.zeros((40, 25, 3), np.uint8)


def shapes(dataset: Any) -> list[list[int]]:
    return [image.shape.as_list() for image in dataset]


@pytest.mark.parametrize("per_element", [False, True], ids=["native", "per element"])
def test_central_crop_of_unknown_size_rounds_fraction_to_float32(per_element: bool) -> None:
    files = tf.data.Dataset.from_tensor_slices([tf.io.encode_png(IMAGE).numpy()])

    def decode_and_crop(contents: Any) -> Any:
        if per_element:
            bool(contents == b"")
        return tf.image.central_crop(tf.io.decode_png(contents, channels=3), 0.8)

    assert shapes(files.map(decode_and_crop)) == [[34, 21, 3]]
    assert shapes(files.map(decode_and_crop).batch(1)) == [[1, 34, 21, 3]]


def test_central_crop_of_equal_sizes_uses_float64_fraction() -> None:
    images = tf.data.Dataset.from_tensor_slices(IMAGE[None])

    def crop_per_element(image: Any) -> Any:
        bool(tf.reduce_sum(image) == 0)
        return tf.image.central_crop(image, 0.8)

    assert shapes(images.map(crop_per_element)) == [[32, 21, 3]]
    assert shapes(images.map(lambda image: tf.image.central_crop(tf.transpose(image, [1, 0, 2]), 0.8))) == [[21, 32, 3]]
    raw = tf.data.Dataset.from_tensor_slices([IMAGE.tobytes()])
    reshaped = raw.map(
        lambda data: tf.image.central_crop(tf.reshape(tf.io.decode_raw(data, tf.uint8), [40, 25, 3]), 0.8)
    )
    assert shapes(reshaped) == [[32, 21, 3]]


def test_central_crop_of_known_size_uses_float64_fraction() -> None:
    assert tf.image.central_crop(IMAGE, 0.8).shape == [32, 21, 3]
    images = tf.data.Dataset.from_tensor_slices(IMAGE[None])
    assert shapes(images.map(lambda image: tf.image.central_crop(image, 0.8))) == [[32, 21, 3]]
    assert shapes(images.map(lambda image: tf.image.central_crop(image, central_fraction=0.8))) == [[32, 21, 3]]
    assert shapes(images.map(lambda image: tf.image.central_crop(image, 1.0))) == [[40, 25, 3]]

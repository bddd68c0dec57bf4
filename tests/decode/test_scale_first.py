"""Levels that become floats before they are resized."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import recordmill as rm
import recordmill.compat.tensorflow as tf
from tests.images import encode_gray16_png, encode_jpeg, encode_png

FILES = [encode_jpeg(1, 41, 30), encode_png(2, 41, 30), encode_png(3, 30, 20)]


def batch(files: list[bytes], **options: Any) -> np.ndarray:
    spec = rm.Image(like="tensorflow", layout="hwc", dtype="float32", scale_first=True, **options)
    return rm.decode_batch(files, {"image": spec})["image"]


@pytest.mark.parametrize("method", ["bilinear", "area", "bicubic"])
def test_scale_first_equals_conversion_before_resize(method: str) -> None:
    for size in [(17, 23), (30, 41), (64, 50)]:
        found = batch(FILES, resize=size, kernel=method)
        for file, one in zip(FILES, found, strict=True):
            image = tf.image.convert_image_dtype(tf.io.decode_image(file, channels=3), tf.float32)
            np.testing.assert_array_equal(one, tf.image.resize(image, size, method=method).numpy())


@pytest.mark.parametrize("decoder", ["native", "pillow"])
def test_scale_first_normalizes_after_scaling(decoder: Any) -> None:
    options: dict[str, Any] = {"resize": (12, 20), "flip": 1.0, "white": 255.0}
    plain = batch(FILES[1:], decoder=decoder, **options)
    found = batch(FILES[1:], decoder=decoder, mean=(10, 20, 30), std=(3, 5, 7), **options)
    expected = (plain - np.float32([10, 20, 30])) * (np.float32(1) / np.float32([3, 5, 7]))
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(batch(FILES[1:], decoder="pillow", **options), plain)


def test_scale_first_maps_white_of_16_bits_like_8_bits() -> None:
    file, levels = encode_gray16_png()
    found = batch([file], resize=(9, 11), channels="gray")
    scaled = levels.astype(np.float32) * np.float32(1 / 65535)
    np.testing.assert_array_equal(found[0, :, :, 0], rm.resize(scaled, (9, 11), like="tensorflow"))


@pytest.mark.parametrize("decoder", ["native", "pillow"])
def test_scale_first_with_given_crop_equals_crop_of_floats(decoder: Any) -> None:
    files = FILES[1:] if decoder == "pillow" else FILES
    windows = np.array([[3, 2, 20, 15], [0, 5, 30, 25], [1, 1, 12, 9]])[-len(files) :]
    spec = rm.Image(
        like="tensorflow",
        layout="hwc",
        dtype="float32",
        scale_first=True,
        crop=rm.GivenCrop("window", (7, 12)),
        decoder=decoder,
    )
    found = rm.decode_batch({"image": files, "window": windows}, {"image": spec})["image"]
    for file, (x, y, width, height), one in zip(files, windows.tolist(), found, strict=True):
        image = tf.image.convert_image_dtype(tf.io.decode_image(file, channels=3), tf.float32)
        cropped = tf.image.crop_to_bounding_box(image, y, x, height, width)
        np.testing.assert_array_equal(one, tf.image.resize(cropped, (7, 12)).numpy())


@pytest.mark.parametrize(
    "options,text",
    [
        ({"crop": rm.CenterCrop(4), "dtype": "float32"}, "can only be combined with resize"),
        ({"color": [rm.ColorJitter(brightness=0.2)], "dtype": "float32"}, "can only be combined with resize"),
        ({"dtype": "float32", "kernel": "nearest"}, "requires a kernel that returns floats"),
        ({"dtype": "float32", "like": "pillow"}, "requires a kernel that returns floats"),
        ({"resize": 4}, "requires a float dtype"),
        ({"dtype": "uint8"}, "requires a float dtype"),
    ],
)
def test_scale_first_rejects_unsupported_options(options: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        rm.Image(**({"like": "tensorflow", "scale_first": True} | options))

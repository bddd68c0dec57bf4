"""What recordings cannot hold of ``tf.image``: chance, refusals, whole photographs' ways, and who decodes what."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import numpy as np
import pytest

import recordmill as rm
import recordmill.compat.tensorflow as tf
from recordmill.compat.tensorflow.core.dispatch import FAMILIES
from recordmill.compat.tensorflow.core.draws import set_seed
from tests.decode.pictures import jpeg, png

TESTS = Path(__file__).parents[2]
IMAGE = np.random.default_rng(0).integers(0, 256, (12, 15, 3)).astype(np.uint8)


def draws(function):
    """Results of twenty calls after one seed."""
    set_seed(3)
    return [function().numpy() for _ in range(20)]


CHANGES = {
    "flip": lambda: tf.image.random_flip_left_right(IMAGE),
    "turn": lambda: tf.image.random_flip_up_down(IMAGE),
    "crop": lambda: tf.image.random_crop(IMAGE, [7, 8, 3]),
    "brightness": lambda: tf.image.random_brightness(IMAGE, 0.3),
    "contrast": lambda: tf.image.random_contrast(IMAGE, 0.5, 1.5),
    "saturation": lambda: tf.image.random_saturation(IMAGE, 0.5, 1.5),
    "hue": lambda: tf.image.random_hue(IMAGE, 0.2),
    "quality": lambda: tf.image.random_jpeg_quality(IMAGE, 20, 90),
    "window": lambda: tf.image.sample_distorted_bounding_box([40, 50, 3], [[[0.1, 0.1, 0.9, 0.9]]])[1],
}


@pytest.mark.parametrize("name", CHANGES)
def test_random_change_when_the_seed_is_set_again_then_repeats_and_varies(name) -> None:
    first, again = draws(CHANGES[name]), draws(CHANGES[name])
    assert all(np.array_equal(one, other) for one, other in zip(first, again, strict=True))
    assert len({one.tobytes() for one in first}) > 1
    assert all(one.dtype == first[0].dtype and one.shape == first[0].shape for one in first)


def test_random_flip_when_given_a_batch_then_decides_for_each_image() -> None:
    batch = np.stack([IMAGE] * 40)
    flipped = tf.image.random_flip_left_right(batch, seed=1).numpy()
    turned = (flipped == IMAGE[:, ::-1]).all(axis=(1, 2, 3))
    kept = (flipped == IMAGE).all(axis=(1, 2, 3))
    assert (turned ^ kept).all()
    assert 8 < turned.sum() < 32


def test_random_crop_when_drawn_then_is_a_part_of_the_image() -> None:
    places = {(y, x): IMAGE[y : y + 11, x : x + 13].tobytes() for y in range(2) for x in range(3)}
    found = {tf.image.random_crop(IMAGE, [11, 13, 3]).numpy().tobytes() for _ in range(200)}
    assert found == set(places.values())


@pytest.mark.parametrize(
    "call,text",
    [
        (lambda: tf.image.random_brightness(IMAGE, -0.1), "max_delta must be non-negative"),
        (lambda: tf.image.random_hue(IMAGE, 0.6), "max_delta must be <= 0.5"),
        (lambda: tf.image.random_contrast(IMAGE, 1, 1), "upper must be > lower"),
        (lambda: tf.image.random_saturation(IMAGE, -1, 1), "lower must be non-negative"),
        (lambda: tf.image.random_jpeg_quality(IMAGE, 50, 20), "must be less than"),
        (lambda: tf.image.random_jpeg_quality(IMAGE, 50, 120), "between 0 and 100"),
        (lambda: tf.image.random_crop(IMAGE, [13, 2, 3]), "Need value.shape >= size"),
        (lambda: tf.image.random_flip_left_right(IMAGE[0]), "at least three-dimensional"),
        (lambda: tf.image.sample_distorted_bounding_box([4, 4, 3], np.zeros((1, 0, 4))), "No bounding boxes provided"),
        (lambda: tf.image.sample_distorted_bounding_box([4, 4, 3], [[[0, 0, 2.0, 1]]]), "must be in"),
    ],
)
def test_random_change_when_its_range_is_none_then_says_so(call, text) -> None:
    with pytest.raises(ValueError, match=text):
        call()


def test_decode_jpeg_when_given_a_photograph_then_equals_the_library_in_each_mode() -> None:
    data = jpeg(5, 75, 51, subsampling=2)
    for method, mode in (("", "fast"), ("INTEGER_FAST", "fast"), ("INTEGER_ACCURATE", "accurate")):
        assert np.array_equal(tf.io.decode_jpeg(data, dct_method=method).numpy(), rm.decode_jpeg(data, mode=mode))
    window = tf.io.decode_and_crop_jpeg(data, [3, 17, 20, 31]).numpy()
    assert np.array_equal(window, tf.io.decode_jpeg(data).numpy()[3:23, 17:48])


def test_decode_jpeg_when_only_pillow_knows_the_kind_then_the_fast_transform_is_refused_by_name() -> None:
    data = jpeg(1).replace(b"\xff\xdb", b"ab\xff\xdb", 1)
    assert tf.io.decode_jpeg(data).shape == (14, 20, 3)
    with pytest.raises(NotImplementedError, match="fast") as caught:
        tf.io.decode_jpeg(data, dct_method="INTEGER_FAST")
    assert isinstance(caught.value, tf.errors.UnimplementedError)


def test_decode_jpeg_when_cut_then_is_refused_as_tensorflow_refuses_it() -> None:
    data = jpeg(1, 64, 64)[:-200]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid JPEG data or crop window") as caught:
        tf.io.decode_jpeg(data)
    assert pickle.loads(pickle.dumps(caught.value)).message == caught.value.message


def test_decode_bmp_when_cut_or_lying_then_is_refused() -> None:
    with np.load(TESTS / "decode" / "recordings" / "pictures.npz") as saved:
        data = saved["bmp"].tobytes()
    for length in range(2, len(data)):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.io.decode_bmp(data[:length])
    huge = data[:18] + (2**31 - 1).to_bytes(4, "little") * 2 + data[26:]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"2\^29"):
        tf.io.decode_bmp(huge)


@pytest.mark.parametrize("decoder", ["decode_png", "decode_gif", "decode_webp", "decode_image"])
def test_decoder_when_bytes_are_changed_then_gives_pixels_or_a_named_error(decoder) -> None:
    with np.load(TESTS / "recordings" / "compat" / "tensorflow" / "images" / "files.npz") as saved:
        files = [saved[name] for name in ("gif_frames", "webp_clear", "png_clear")]
    rng = np.random.default_rng(2)
    for data in files:
        for _ in range(40):
            changed = data.copy()
            changed[rng.integers(0, len(data), 3)] = rng.integers(0, 256, 3)
            try:
                found = getattr(tf.io, decoder)(changed[: rng.integers(20, len(data) + 1)].tobytes())
            except (tf.errors.InvalidArgumentError, tf.errors.UnimplementedError):
                continue
            assert found.dtype == tf.uint8


@pytest.mark.parametrize("shape", [(3, 4, 1), (40, 50, 3), (1, 9, 2), (7, 1, 4), (200, 150, 3)])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_encode_png_when_decoded_again_then_nothing_is_lost(shape, dtype) -> None:
    pixels = np.random.default_rng(1).integers(0, np.iinfo(dtype).max + 1, shape).astype(dtype)
    for level in (-1, 0, 9):
        encoded = tf.io.encode_png(pixels, level)
        assert np.array_equal(tf.io.decode_png(encoded, dtype=dtype).numpy(), pixels)


def test_resize_when_there_are_many_channels_then_each_is_resized_alone() -> None:
    wide = np.random.default_rng(4).random((9, 11, 10), dtype=np.float32)
    found = tf.image.resize(wide, [5, 20]).numpy()
    for channel in range(10):
        assert np.array_equal(
            found[:, :, channel], rm.resize(wide[:, :, channel], (5, 20), kernel="tensorflow:bilinear")
        )


def test_operations_when_called_by_name_alone_then_are_found() -> None:
    folder = Path(tf.__file__).parent / "images"
    for path in folder.glob("*.py"):
        for family in re.findall(r'^@op\("(\w+)\.', path.read_text("utf-8"), re.MULTILINE):
            assert f"images.{path.stem}" in FAMILIES[family], path.name


def test_names_when_listed_then_are_all_there() -> None:
    for module in (tf.image, tf.io):
        for name in module.MEMBERS:
            assert callable(getattr(module, name)), name
    assert np.array_equal(tf.image.decode_png(png(1)).numpy(), tf.io.decode_png(png(1)).numpy())

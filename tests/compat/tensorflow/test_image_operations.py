"""Image operations beyond the recordings: random changes, validation, formulas and damaged files."""

from __future__ import annotations

import io
import pickle
import re
from pathlib import Path

import numpy as np
import pytest

import recordmill as rm
import recordmill.compat.tensorflow as tf
from recordmill.compat.tensorflow.core.dispatch import FAMILIES
from recordmill.compat.tensorflow.core.random_state import set_seed
from tests.images import encode_jpeg, encode_png

TESTS = Path(__file__).parents[2]
RNG = np.random.default_rng(5)
IMAGE = np.random.default_rng(0).integers(0, 256, (12, 15, 3)).astype(np.uint8)
SHAPES = [(1, 1, 3), (33, 7, 4), (41, 50, 3), (3, 20, 30, 3), (2, 2, 20, 31, 2), (60, 60, 1)]


def random_image(shape, dtype="u1") -> np.ndarray:
    if np.dtype(dtype).kind == "f":
        return RNG.standard_normal(shape).astype(dtype)
    return RNG.integers(0, np.iinfo(dtype).max, shape, dtype, endpoint=True)


def draws(function):
    """Return the results of twenty calls after one seed."""
    set_seed(3)
    return [function().numpy() for _ in range(20)]


CHANGES = {
    "flip_left_right": lambda: tf.image.random_flip_left_right(IMAGE),
    "flip_up_down": lambda: tf.image.random_flip_up_down(IMAGE),
    "crop": lambda: tf.image.random_crop(IMAGE, [7, 8, 3]),
    "brightness": lambda: tf.image.random_brightness(IMAGE, 0.3),
    "contrast": lambda: tf.image.random_contrast(IMAGE, 0.5, 1.5),
    "saturation": lambda: tf.image.random_saturation(IMAGE, 0.5, 1.5),
    "hue": lambda: tf.image.random_hue(IMAGE, 0.2),
    "box": lambda: tf.image.sample_distorted_bounding_box([40, 50, 3], [[[0.1, 0.1, 0.9, 0.9]]])[1],
}


@pytest.mark.parametrize("name", CHANGES)
def test_random_change_repeats_after_same_seed_and_varies(name) -> None:
    first, again = draws(CHANGES[name]), draws(CHANGES[name])
    assert all(np.array_equal(one, other) for one, other in zip(first, again, strict=True))
    assert len({one.tobytes() for one in first}) > 1
    assert all(one.dtype == first[0].dtype and one.shape == first[0].shape for one in first)


def test_random_flip_decides_for_each_image_of_batch() -> None:
    batch = np.stack([IMAGE] * 40)
    flipped = tf.image.random_flip_left_right(batch, seed=1).numpy()
    is_flipped = (flipped == IMAGE[:, ::-1]).all(axis=(1, 2, 3))
    is_kept = (flipped == IMAGE).all(axis=(1, 2, 3))
    assert (is_flipped ^ is_kept).all()
    assert 8 < is_flipped.sum() < 32


def test_random_crop_returns_every_window() -> None:
    windows = {IMAGE[y : y + 11, x : x + 13].tobytes() for y in range(2) for x in range(3)}
    assert {tf.image.random_crop(IMAGE, [11, 13, 3]).numpy().tobytes() for _ in range(200)} == windows


@pytest.mark.parametrize(
    "call,text",
    [
        (lambda: tf.image.random_brightness(IMAGE, -0.1), "max_delta"),
        (lambda: tf.image.random_hue(IMAGE, 0.6), "max_delta"),
        (lambda: tf.image.random_contrast(IMAGE, 1, 1), "lower and upper"),
        (lambda: tf.image.random_saturation(IMAGE, -1, 1), "lower and upper"),
        (lambda: tf.image.random_crop(IMAGE, [13, 2, 3]), "size"),
        (lambda: tf.image.random_flip_left_right(IMAGE[0]), "3 or 4 dimensions"),
        (lambda: tf.image.sample_distorted_bounding_box([4, 4, 3], np.zeros((1, 0, 4))), "bounding_boxes is empty"),
        (lambda: tf.image.sample_distorted_bounding_box([4, 4, 3], [[[0, 0, 2.0, 1]]]), "bounding_boxes"),
    ],
)
def test_random_change_rejects_invalid_range(call, text) -> None:
    with pytest.raises(ValueError, match=text):
        call()


def test_decode_jpeg_equals_library_in_each_mode() -> None:
    data = encode_jpeg(5, 75, 51, subsampling=2)
    for method, mode in (("", "fast"), ("INTEGER_FAST", "fast"), ("INTEGER_ACCURATE", "accurate")):
        assert np.array_equal(tf.io.decode_jpeg(data, dct_method=method).numpy(), rm.decode_jpeg(data, mode=mode))
    window = tf.io.decode_and_crop_jpeg(data, [3, 17, 20, 31]).numpy()
    assert np.array_equal(window, tf.io.decode_jpeg(data).numpy()[3:23, 17:48])


def test_decode_jpeg_rejects_fast_transform_of_kind_that_only_pillow_decodes() -> None:
    data = encode_jpeg(1).replace(b"\xff\xdb", b"ab\xff\xdb", 1)
    assert tf.io.decode_jpeg(data).shape == (14, 20, 3)
    with pytest.raises(tf.errors.UnimplementedError):
        tf.io.decode_jpeg(data, dct_method="INTEGER_FAST")


def test_decode_jpeg_rejects_truncated_file() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid JPEG data or crop window") as caught:
        tf.io.decode_jpeg(encode_jpeg(1, 64, 64)[:-200])
    assert pickle.loads(pickle.dumps(caught.value)).message == caught.value.message


def test_decode_image_rejects_truncated_bmp() -> None:
    with np.load(TESTS / "decode" / "recordings" / "pictures.npz") as saved:
        data = saved["bmp"].tobytes()
    huge = data[:18] + (2**31 - 1).to_bytes(4, "little") * 2 + data[26:]
    for damaged in (*(data[:length] for length in range(2, len(data))), huge):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.io.decode_image(damaged)


@pytest.mark.parametrize("decoder", ["decode_png", "decode_image"])
def test_decoder_returns_pixels_or_raises_documented_error_for_damaged_file(decoder) -> None:
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


@pytest.mark.parametrize("mode, stored, transparent", [("L", 1, 7), ("RGB", 3, (7, 7, 7))])
def test_decode_png_does_not_count_transparent_color_as_channel(mode, stored, transparent) -> None:
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(np.full((2, 3), 7, np.uint8)).convert(mode).save(file, "PNG", transparency=transparent)
    assert tf.io.decode_png(file.getvalue()).shape == [2, 3, stored]
    assert tf.io.decode_png(file.getvalue(), channels=4).numpy()[0, 0].tolist() == [7, 7, 7, 0]
    assert tf.io.decode_image(file.getvalue(), dtype=tf.uint16).shape == [2, 3, stored]


@pytest.mark.parametrize("options", [{}, {"progressive": True}])
def test_extract_jpeg_shape_reads_header_of_file_with_damaged_scan(options) -> None:
    data = encode_jpeg(2, 40, 30, **options)
    scan = data.index(b"\xff\xda")
    for damaged in (data, data[: scan + 14], data[: scan + 20] + b"\xff\xc0" * 8 + data[scan + 36 :]):
        assert tf.io.extract_jpeg_shape(damaged).numpy().tolist() == [30, 40, 3]


def test_extract_jpeg_shape_skips_fill_bytes_and_exif() -> None:
    from PIL import Image

    out, exif = io.BytesIO(), Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(random_image((20, 30, 3))).save(out, "JPEG", exif=exif)
    data = out.getvalue()
    frame = data.index(b"\xff\xc0")
    for one in (data, data[:frame] + b"\xff" + data[frame:]):
        assert tf.io.extract_jpeg_shape(one).numpy().tolist() == [20, 30, 3]


def test_extract_jpeg_shape_rejects_file_without_frame_header() -> None:
    data = encode_jpeg(2, 40, 30)
    for damaged in (data[: data.index(b"\xff\xc0") + 6], encode_png(1), b"\xff\xd8\xff"):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.io.extract_jpeg_shape(damaged)


@pytest.mark.parametrize("shape", [(3, 4, 1), (5, 6, 2), (40, 50, 3), (7, 1, 4), (200, 150, 3)])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_encode_png_is_lossless(shape, dtype) -> None:
    pixels = random_image(shape, dtype)
    for level in (-1, 0, 9):
        encoded = tf.io.encode_png(pixels, level)
        channels = 4 if shape[-1] == 2 else 0
        found = tf.io.decode_png(encoded, channels=channels, dtype=dtype).numpy()
        assert np.array_equal(found[..., [0, 3]] if channels else found, pixels)


def test_resize_resizes_many_channels_independently() -> None:
    wide = np.random.default_rng(4).random((9, 11, 10), dtype=np.float32)
    found = tf.image.resize(wide, [5, 20]).numpy()
    for channel in range(10):
        alone = rm.resize(wide[:, :, channel], (5, 20), kernel="tensorflow:bilinear")
        assert np.array_equal(found[:, :, channel], alone)


def interpolate_cubic(values: np.ndarray, position: float) -> float:
    """Interpolate in one dimension with the cubic kernel of A = -0.75."""
    a, total, first = -0.75, 0.0, int(np.floor(position))
    for index in range(first - 1, first + 3):
        x = abs(position - index)
        near, far = (a + 2) * x**3 - (a + 3) * x**2 + 1, a * (x**3 - 5 * x**2 + 8 * x - 4)
        total += values[min(max(index, 0), len(values) - 1)] * (near if x <= 1 else far)
    return total


@pytest.mark.parametrize("align_corners", [False, True])
def test_resize_bicubic_equals_cubic_interpolation(align_corners) -> None:
    row = RNG.integers(0, 256, 9).astype(np.uint8)
    image = np.broadcast_to(row[None, :, None], (4, 9, 1))
    found = tf.image.resize_bicubic(image, [4, 16], align_corners=align_corners).numpy()
    scale = 8 / 15 if align_corners else 9 / 16
    # TensorFlow rounds positions to 1/1024 of a pixel.
    expected = [interpolate_cubic(row.astype(float), round(n * scale * 1024) / 1024) for n in range(16)]
    assert found.dtype == np.float32
    np.testing.assert_allclose(found[:, :, 0], np.broadcast_to(expected, (4, 16)), atol=1e-3)
    rotated = tf.image.resize_bicubic(image.swapaxes(0, 1), [16, 4], align_corners=align_corners).numpy()
    np.testing.assert_allclose(rotated[:, :, 0], found[:, :, 0].T, atol=1e-3)


def test_resize_bicubic_with_half_pixel_centers_equals_resize() -> None:
    expected = tf.image.resize(IMAGE, [7, 20], "bicubic").numpy()
    assert np.array_equal(tf.image.resize_bicubic(IMAGE, [7, 20], half_pixel_centers=True).numpy(), expected)
    v1 = tf.compat.v1.image
    assert np.array_equal(
        v1.resize(IMAGE, [7, 20], v1.ResizeMethod.BICUBIC).numpy(), tf.image.resize_bicubic(IMAGE, [7, 20]).numpy()
    )


def channel_means(image: np.ndarray) -> np.ndarray:
    """Return means of channels, added in halves as TensorFlow does."""
    sums = image.reshape(-1, image.shape[-1])
    while len(sums) > 1:
        right = len(sums) // 2
        left = len(sums) - right
        sums = np.concatenate([sums[:right] + sums[left:], sums[right:left]])
    return sums * np.float32(1 / (image.shape[0] * image.shape[1]))


@pytest.mark.parametrize("dtype", ["u1", "f4", "f2", "i4"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_adjust_contrast_equals_formula(shape, dtype) -> None:
    images = random_image(shape, dtype)
    floats = images if dtype == "f2" else tf.image.convert_image_dtype(images, tf.float32).numpy()
    wide = floats.astype(np.float32)
    means = np.stack([channel_means(wide[place]) for place in np.ndindex(shape[:-3])])
    means = means.reshape(*shape[:-3], 1, 1, shape[-1])
    expected = ((wide - means) * np.float32(1.3) + means).astype(floats.dtype)
    found = tf.image.adjust_contrast(images, 1.3)
    assert np.array_equal(found.numpy(), tf.image.convert_image_dtype(expected, images.dtype, saturate=True).numpy())


@pytest.mark.parametrize("dtype", ["u1", "f4", "f8", "i4"])
@pytest.mark.parametrize("shape", [*SHAPES, (150, 160, 3)], ids=str)
def test_per_image_standardization_equals_formula(shape, dtype) -> None:
    values = random_image(shape, dtype)
    pixels, axes = values.astype(np.float64), (-3, -2, -1)
    least = 1 / np.sqrt(np.prod(shape[-3:]))
    expected = (pixels - pixels.mean(axes, keepdims=True)) / np.maximum(pixels.std(axes, keepdims=True), least)
    found = tf.image.per_image_standardization(values).numpy()
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("shape", [(5, 7, 3), (3, 21, 25, 3), (31, 33, 1), (30, 40, 5)])
@pytest.mark.parametrize("dtype", ["u1", "f4", "u2"])
def test_flip_and_rotation_equal_numpy(shape, dtype) -> None:
    images = random_image(shape, dtype)
    assert np.array_equal(tf.image.flip_left_right(images), images[..., ::-1, :])
    assert np.array_equal(tf.image.flip_up_down(images), images[..., ::-1, :, :])
    assert np.array_equal(tf.image.transpose(images), images.swapaxes(-3, -2))
    for quarters in range(4):
        assert np.array_equal(tf.image.rot90(images, quarters), np.rot90(images, quarters, axes=(-3, -2)))


def test_rgb_to_hsv_keeps_dtype_of_floats() -> None:
    colors = RNG.random((4, 5, 3))
    for dtype in (np.float16, np.float32, np.float64):
        hsv = tf.image.rgb_to_hsv(tf.constant(colors.astype(dtype)))
        assert hsv.dtype == dtype
        np.testing.assert_allclose(tf.image.hsv_to_rgb(hsv).numpy(), colors, atol=1e-2)


def test_operations_are_registered_in_their_family() -> None:
    folder = Path(tf.__file__).parent / "images"
    for path in folder.glob("*.py"):
        for family in re.findall(r'^@op\("(\w+)\.', path.read_text("utf-8"), re.MULTILINE):
            assert f"images.{path.stem}" in FAMILIES[family], path.name


def test_names_of_image_and_io_resolve() -> None:
    for module in (tf.image, tf.io):
        for name in module.MEMBERS:
            assert callable(getattr(module, name)), name
    assert np.array_equal(tf.image.decode_png(encode_png(1)).numpy(), tf.io.decode_png(encode_png(1)).numpy())


def test_v1_image_rejects_area_with_align_corners_and_shares_other_names() -> None:
    with pytest.raises(NotImplementedError, match="align_corners"):
        tf.compat.v1.image.resize(tf.zeros([1, 4, 4, 1]), (2, 2), 3, align_corners=True)
    assert tf.compat.v1.image.flip_up_down is tf.image.flip_up_down

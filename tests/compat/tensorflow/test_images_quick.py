"""Pictures changed in tables, in runs and in parts are what the straightforward way makes of them."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np
import pytest

import recordmill.compat.tensorflow as tf
from recordmill.compat.tensorflow.images.contrast import channel_means
from recordmill.compat.tensorflow.images.level_tables import LEVELS, by_table
from recordmill.compat.tensorflow.images.png_filters import filtered
from recordmill.compat.tensorflow.images.standardization import per_image_standardization
from tests.decode.pictures import jpeg, png

RNG = np.random.default_rng(5)
SHAPES = [(1, 1, 3), (33, 7, 4), (41, 50, 3), (3, 20, 30, 3), (2, 2, 20, 31, 2), (60, 60, 1)]


def picture(shape, dtype="u1") -> np.ndarray:
    """Levels of any dtype."""
    if np.dtype(dtype).kind == "f":
        return RNG.standard_normal(shape).astype(dtype)
    return RNG.integers(0, np.iinfo(dtype).max, shape, dtype, endpoint=True)


def halves(image: np.ndarray) -> np.ndarray:
    """Means of channels, added as TensorFlow adds them, in new arrays."""
    sums = image.reshape(-1, image.shape[-1])
    while len(sums) > 1:
        right = len(sums) // 2
        left = len(sums) - right
        sums = np.concatenate([sums[:right] + sums[left:], sums[right:left]])
    return sums * np.float32(1 / (image.shape[0] * image.shape[1]))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_channel_means_when_added_in_place_then_keep_their_bits_and_the_image(shape) -> None:
    images = picture(shape, "f4")
    before = images.copy()
    found = channel_means(images)
    for place in np.ndindex(shape[:-3]):
        assert np.array_equal(found[place][0], halves(images[place]))
    assert np.array_equal(images, before)


@pytest.mark.parametrize("dtype", ["u1", "f4", "f2", "i4"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_adjust_contrast_when_levels_have_a_dtype_then_equals_the_formula(shape, dtype) -> None:
    images = picture(shape, dtype)
    floats = images if dtype == "f2" else tf.image.convert_image_dtype(images, tf.float32).numpy()
    wide = floats.astype(np.float32)
    means = np.stack([halves(wide[place]) for place in np.ndindex(shape[:-3])]).reshape(*shape[:-3], 1, 1, shape[-1])
    expected = ((wide - means) * np.float32(1.3) + means).astype(floats.dtype)
    found = tf.image.adjust_contrast(images, 1.3)
    assert np.array_equal(found.numpy(), tf.image.convert_image_dtype(expected, images.dtype, saturate=True).numpy())


@pytest.mark.parametrize(
    "change",
    [
        lambda image: tf.image.adjust_brightness(image, -0.3),
        lambda image: tf.image.adjust_brightness(image, 0.2),
        lambda image: tf.image.adjust_gamma(image, 1.7, 1.2),
        lambda image: tf.image.adjust_gamma(image, 2),
        lambda image: tf.image.adjust_gamma(image, 0),
    ],
)
def test_change_when_bytes_go_through_a_table_then_equals_that_of_few_bytes(change) -> None:
    levels = np.resize(LEVELS, (64, 64, 1))
    few = np.concatenate([change(levels[:4]).numpy() for _ in range(16)])
    for view, expected in ((levels, few), (levels[::-1, ::2], few[::-1, ::2]), (np.asfortranarray(levels), few)):
        found = change(view).numpy()
        assert found.flags.writeable
        assert np.array_equal(found, expected)


def test_by_table_when_there_are_no_pixels_then_gives_none() -> None:
    assert by_table(np.empty((0, 3, 3), np.uint8), lambda levels: levels + 1).shape == (0, 3, 3)


@pytest.mark.parametrize("dtype", ["u1", "f4", "f8", "i4"])
@pytest.mark.parametrize("shape", [*SHAPES, (150, 160, 3)], ids=str)
def test_standardization_when_computed_in_parts_then_equals_the_formula(shape, dtype) -> None:
    images = picture(shape, dtype)
    for values in (images, images[..., ::-1], np.asfortranarray(images)):
        pixels, axes = values.astype(np.float32), (-3, -2, -1)
        centred = pixels - pixels.mean(axes, np.float64, keepdims=True).astype(np.float32)
        deviation = np.sqrt(np.square(centred, dtype=np.float64).mean(axes, keepdims=True)).astype(np.float32)
        least = np.float32(1) / np.sqrt(np.float32(np.prod(shape[-3:])))
        before = values.copy()
        assert np.array_equal(per_image_standardization(values).numpy(), centred / np.maximum(deviation, least))
        assert np.array_equal(values, before)


def paeth(a: int, b: int, c: int) -> int:
    """Filter as the specification words it."""
    distances = [(abs(a + b - c - one), number, one) for number, one in enumerate((a, b, c))]
    return min(distances)[2]


def plain_filters(rows: np.ndarray, step: int) -> list[bytes]:
    """Rows behind the filter with the least sum, byte by byte."""
    out, height, width = [], len(rows), rows.shape[1] // step
    for number, row in enumerate(rows):
        above = rows[number - 1] if number else np.zeros_like(row)
        near = [
            (int(row[at - step]) if at >= step else 0, int(above[at]), int(above[at - step]) if at >= step else 0)
            for at in range(len(row))
        ]
        guesses = [[0, a, b, (a + b) // 2, paeth(a, b, c)] for a, b, c in near]
        tried = [[(int(one) - guess[kind]) % 256 for one, guess in zip(row, guesses, strict=True)] for kind in range(5)]
        sums = [sum(min(one, 256 - one) for one in line) for line in tried]
        allowed = [k for k in range(5) if not ((height == 1 and k in (2, 3, 4)) or (width == 1 and k in (1, 3, 4)))]
        best = min(allowed, key=lambda kind: sums[kind])
        out.append(bytes([best, *tried[best]]))
    return out


@pytest.mark.parametrize("shape", [(1, 9), (9, 1), (1, 1), (7, 12), (40, 24)])
@pytest.mark.parametrize("step", [1, 3])
def test_png_filters_when_computed_together_then_equal_those_byte_by_byte(shape, step, monkeypatch) -> None:
    monkeypatch.setattr("recordmill.compat.tensorflow.images.png_filters._BAND", 200)
    rows = RNG.integers(0, 256, (shape[0], shape[1] * step)).astype(np.uint8)
    smooth = (np.cumsum(np.cumsum(rows % 5, 0), 1) % 256).astype(np.uint8)
    for some in (rows, smooth, np.zeros_like(rows), rows[::-1]):
        assert [row.tobytes() for row in filtered(some, step)] == plain_filters(some, step)


def chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


@pytest.mark.parametrize("channels", [0, 1, 3, 4])
@pytest.mark.parametrize("dtype", [tf.uint8, tf.uint16])
@pytest.mark.parametrize("mode", ["L", "RGB", "RGBA", "LA", "P"])
def test_decode_png_when_levels_are_stored_as_asked_then_equals_the_general_way(
    mode, channels, dtype, monkeypatch
) -> None:
    plain = png(3, mode=mode)
    clear = plain[:33] + chunk(b"tRNS", b"\0\1" * (1 if mode == "L" else 3)) + plain[33:]
    for data in (plain, clear if mode in ("L", "RGB") else plain):
        quick = tf.io.decode_png(data, channels=channels, dtype=dtype).numpy()
        with monkeypatch.context() as patch:
            patch.setattr("recordmill.compat.tensorflow.images.png._holds", lambda *_: False)
            general = tf.io.decode_png(data, channels=channels, dtype=dtype).numpy()
        assert quick.flags.c_contiguous
        assert (quick.dtype, quick.shape) == (general.dtype, general.shape)
        assert np.array_equal(quick, general)


def test_extract_jpeg_shape_when_the_scan_is_damaged_then_the_header_is_enough() -> None:
    for options in ({}, {"progressive": True}):
        data = jpeg(2, 40, 30, **options)
        scan = data.index(b"\xff\xda")
        for damaged in (data[: scan + 14], data[: scan + 40], data[: scan + 20] + b"\xff\xc0" * 8 + data[scan + 36 :]):
            assert tf.io.extract_jpeg_shape(damaged).numpy().tolist() == tf.io.extract_jpeg_shape(data).numpy().tolist()


def test_extract_jpeg_shape_when_the_header_is_broken_then_is_refused() -> None:
    data = jpeg(2, 40, 30)
    frame, tables, scan = (data.index(marker) for marker in (b"\xff\xc0", b"\xff\xc4", b"\xff\xda"))
    broken = {
        "no height": data[: frame + 5] + b"\0\0" + data[frame + 7 :],
        "no sampling": data[: frame + 11] + b"\0" + data[frame + 12 :],
        "components": data[: frame + 9] + b"\2" + data[frame + 10 :],
        "tables": data[: tables + 5] + b"\xff" * 5 + data[tables + 10 :],
        "two frames": data[:scan] + data[frame : frame + 19] + data[scan:],
        "cut": data[: frame + 12],
        "no scan": data[:scan],
    }
    for name, one in broken.items():
        with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid JPEG data"):
            pytest.fail(f"{name}: {tf.io.extract_jpeg_shape(one)}")


def test_extract_jpeg_shape_when_fill_bytes_or_exif_are_before_the_frame_then_tells_the_stored_size() -> None:
    from PIL import Image

    out, turned = io.BytesIO(), Image.Exif()
    turned[0x0112] = 6
    Image.fromarray(picture((20, 30, 3))).save(out, "JPEG", exif=turned)
    data = out.getvalue()
    frame = data.index(b"\xff\xc0")
    for one in (data, data[:frame] + b"\xff" + data[frame:]):
        assert tf.io.extract_jpeg_shape(one).numpy().tolist() == [20, 30, 3]


@pytest.mark.parametrize("shape", [(5, 7, 3), (3, 21, 25, 3), (31, 33, 1), (30, 40, 5)])
@pytest.mark.parametrize("dtype", ["u1", "f4", "u2"])
def test_flips_when_pixels_move_as_items_then_equal_numpys(shape, dtype) -> None:
    images = picture(shape, dtype)
    assert np.array_equal(tf.image.flip_left_right(images), images[..., ::-1, :])
    assert np.array_equal(tf.image.flip_up_down(images), images[..., ::-1, :, :])
    assert np.array_equal(tf.image.transpose(images), images.swapaxes(-3, -2))
    for quarters in range(4):
        assert np.array_equal(tf.image.rot90(images, quarters), np.rot90(images, quarters, axes=(-3, -2)))

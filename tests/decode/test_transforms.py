"""Image functions in memory against Pillow and NumPy."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as arrays
from PIL import Image, ImageEnhance, ImageOps

import recordmill as rm
from recordmill.decode.pixels import apply_orientation, crop_pixels
from recordmill.decode.presets import KERNELS
from tests.images import encode_jpeg, encode_oriented_jpeg, make_pixels

ENHANCE = {
    rm.adjust_brightness: ImageEnhance.Brightness,
    rm.adjust_contrast: ImageEnhance.Contrast,
    rm.adjust_saturation: ImageEnhance.Color,
}
DTYPES = ("uint8", "uint16", "float32")
NAMES = [f"{library}:{kernel}" for library in KERNELS for kernel in KERNELS[library]]


@st.composite
def images(draw, dtypes=DTYPES, channels=(None, 1, 2, 3, 4)) -> np.ndarray:
    shape = [draw(st.integers(1, 12)), draw(st.integers(1, 12))]
    depth = draw(st.sampled_from(channels))
    dtype = draw(st.sampled_from(dtypes))
    shape += [] if depth is None else [depth]
    if dtype == "float32":
        return draw(arrays.arrays(np.float32, shape, elements=st.floats(0, 255, width=32)))
    return draw(arrays.arrays(dtype, shape))


@given(images(dtypes=("uint8",), channels=(3,)), st.integers(1, 20), st.integers(1, 20))
@pytest.mark.parametrize("kernel", KERNELS["pillow"])
def test_resize_equals_pillow(kernel: str, pixels: np.ndarray, height: int, width: int) -> None:
    expected = Image.fromarray(pixels).resize((width, height), getattr(Image.Resampling, kernel.upper()))
    np.testing.assert_array_equal(rm.resize(pixels, (height, width), kernel=kernel), np.asarray(expected))


@given(
    st.sampled_from(NAMES),
    images(channels=(1, 2, 3, 4)),
    st.integers(0, 3),
    st.tuples(st.integers(1, 20), st.integers(1, 20)),
)
def test_resize_of_several_images_equals_each_alone(
    kernel: str, pixels: np.ndarray, count: int, size: tuple[int, int]
) -> None:
    many = np.stack([np.roll(pixels, number) for number in range(4)])[:count]
    scaled = rm.resize(many, size, kernel=kernel)
    assert scaled.shape == (count, *size, pixels.shape[2])
    for image, found in zip(many, scaled, strict=True):
        np.testing.assert_array_equal(found, rm.resize(image, size, kernel=kernel))


def test_resize_rejects_invalid_batches() -> None:
    with pytest.raises(
        ValueError, match=r"array must have shape \(images, height, width, 1 to 4 channels\), got \(2, 3, 4, 5\)"
    ):
        rm.resize(np.zeros((2, 3, 4, 5), np.uint8), 2)
    with pytest.raises(TypeError, match="array must have dtype uint8 or uint16 or float32, got float64"):
        rm.resize(np.zeros((2, 3, 4, 3)), 2)
    with pytest.raises(rm.LimitError, match="the image is too large"):
        rm.resize(np.zeros((2, 3, 3), np.uint8), 65535, kernel="area", like="tensorflow")


def test_resize_spreads_infinity_to_neighbors_only() -> None:
    pixels = np.zeros((4, 4, 1), np.float32)
    pixels[1, 1] = np.inf
    for kernel in ("bilinear", "area"):
        scaled = rm.resize(pixels, 2, kernel=kernel, like="tensorflow")
        np.testing.assert_array_equal(scaled[:, :, 0], [[np.inf, 0], [0, 0]])


@given(st.sampled_from(NAMES), images(), st.integers(1, 20), st.integers(1, 20))
def test_resize_does_not_mix_channels(kernel: str, pixels: np.ndarray, height: int, width: int) -> None:
    scaled = rm.resize(pixels, (height, width), kernel=kernel)
    assert scaled.shape == (height, width, *pixels.shape[2:])
    gives_fractions = kernel.startswith("tensorflow:") and kernel != "tensorflow:nearest"
    assert scaled.dtype == (np.float32 if gives_fractions else pixels.dtype)
    for channel in range(pixels.shape[2] if pixels.ndim == 3 else 0):
        alone = rm.resize(pixels[:, :, channel], (height, width), kernel=kernel)
        if kernel.startswith("opencv:"):  # sums of whole blocks are rounded in another order than those of the rest
            np.testing.assert_allclose(
                scaled[:, :, channel], alone, rtol=1e-5, atol=1 if alone.dtype.kind == "u" else 1e-3
            )
        else:
            np.testing.assert_array_equal(scaled[:, :, channel], alone)


@given(images(), st.integers(1, 20))
@pytest.mark.parametrize("kernel", [f"{library}:nearest" for library in KERNELS])
def test_resize_nearest_creates_no_new_values(kernel: str, pixels: np.ndarray, side: int) -> None:
    assert set(rm.resize(pixels, side, kernel=kernel).ravel().tolist()) <= set(pixels.ravel().tolist())


@pytest.mark.parametrize("kernel", NAMES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_resize_keeps_uniform_images(kernel: str, dtype: str) -> None:
    pixels = np.full((7, 5, 3), 200, dtype)
    scaled = rm.resize(pixels, (11, 3), kernel=kernel)
    assert (scaled == 200).all() if scaled.dtype.kind == "u" else np.allclose(scaled, 200, rtol=1e-6)


def test_resize_keeps_16_bit_precision() -> None:
    pixels = make_pixels(3).astype(np.uint16) * 256 + 77
    fine = rm.resize(pixels, (5, 9), kernel="pillow:bilinear").astype(int)
    assert abs(fine - rm.resize(pixels.astype(np.float32), (5, 9), kernel="pillow:bilinear")).max() <= 0.5
    assert len(np.unique(fine % 256)) > 20


@given(images(dtypes=("uint8",), channels=(1, 3)), st.floats(0, 3))
@pytest.mark.parametrize("adjust", ENHANCE, ids=lambda adjust: adjust.__name__)
def test_adjust_equals_pillow_enhance(adjust, pixels: np.ndarray, factor: float) -> None:
    image = Image.fromarray(pixels[:, :, 0] if pixels.shape[2] == 1 else pixels)
    expected = np.asarray(ENHANCE[adjust](image).enhance(factor)).reshape(pixels.shape)
    np.testing.assert_array_equal(adjust(pixels, factor), expected)


@given(images(dtypes=("uint8",), channels=(None, 1, 3)))
def test_adjust_with_factor_1_is_identity(pixels: np.ndarray) -> None:
    for adjust in ENHANCE:
        np.testing.assert_array_equal(adjust(pixels, 1.0), pixels)


@given(images(dtypes=("uint8",), channels=(3,)), st.floats(-0.5, 0.5))
def test_adjust_hue_shifts_pillow_hsv(pixels: np.ndarray, turn: float) -> None:
    hue, saturation, value = Image.fromarray(pixels).convert("HSV").split()
    moved = hue.point([(level + int(turn * 255)) % 256 for level in range(256)])
    expected = np.asarray(Image.merge("HSV", (moved, saturation, value)).convert("RGB"))
    np.testing.assert_array_equal(rm.adjust_hue(pixels, turn), expected)


@given(images(dtypes=("uint8",), channels=(3,)))
def test_grayscale_equals_pillow(pixels: np.ndarray) -> None:
    expected = np.asarray(Image.fromarray(pixels).convert("L"))
    np.testing.assert_array_equal(rm.grayscale(pixels), np.repeat(expected[:, :, None], 3, axis=2))


def test_saturation_and_hue_keep_gray_images() -> None:
    pixels = make_pixels(1)[:, :, :1]
    for changed in (rm.adjust_saturation(pixels, 0.2), rm.adjust_hue(pixels, 0.3), rm.grayscale(pixels)):
        np.testing.assert_array_equal(changed, pixels)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_orient_equals_pillow_exif_transpose(orientation: int) -> None:
    data = encode_oriented_jpeg(orientation)
    with Image.open(io.BytesIO(data)) as image:
        expected = np.asarray(ImageOps.exif_transpose(image))
        stored = np.asarray(image)
    np.testing.assert_array_equal(apply_orientation(stored, orientation), expected)
    np.testing.assert_array_equal(rm.decode_jpeg(data, orientation="apply"), expected)
    np.testing.assert_array_equal(rm.decode_jpeg(data), stored)


PAD = {"constant": {"constant_values": 9}, "edge": {}, "reflect": {}}


@given(images(dtypes=("uint8",)), st.integers(-15, 15), st.integers(-15, 15), st.integers(1, 30), st.integers(1, 30))
@pytest.mark.parametrize("mode", PAD)
def test_crop_beyond_image_equals_crop_of_padded_image(mode, pixels, x, y, width, height) -> None:
    around = 50
    sides = [(around, around)] * 2 + [(0, 0)] * (pixels.ndim - 2)
    padded = np.pad(pixels, sides, mode=mode, **PAD[mode])
    expected = padded[around + y :, around + x :][:height, :width]
    np.testing.assert_array_equal(rm.crop(pixels, (x, y, width, height), mode=mode, fill=9), expected)


def test_crop_pixels_inside_image_returns_view() -> None:
    pixels = make_pixels(0)
    assert np.shares_memory(crop_pixels(pixels, (2, 3, 4, 5)), pixels)
    assert rm.crop(pixels, (2, 3, 4, 5)).flags.c_contiguous


@given(images(), st.booleans(), st.booleans())
def test_flip_twice_is_identity(pixels, horizontal, vertical) -> None:
    once = rm.flip(pixels, horizontal=horizontal, vertical=vertical)
    np.testing.assert_array_equal(rm.flip(once, horizontal=horizontal, vertical=vertical), pixels)
    assert once.flags.c_contiguous and (not horizontal or (once[:, 0] == pixels[:: -1 if vertical else 1, -1]).all())


@given(images(), st.integers(-4, 4), st.integers(-4, 4))
@pytest.mark.parametrize("kernel", ["nearest", "bilinear"])
def test_affine_by_whole_pixels_equals_crop(kernel, pixels, x, y) -> None:
    moved = rm.affine(pixels, [[1, 0, x], [0, 1, y]], kernel=kernel, fill=7)
    expected = rm.crop(pixels, (x, y, pixels.shape[1], pixels.shape[0]), fill=7)
    np.testing.assert_array_equal(moved, expected)


def test_affine_quarter_turn_equals_transposition() -> None:
    pixels = make_pixels(2, 12, 12)
    quarter = [[0, 1, 0], [-1, 0, 12]]
    np.testing.assert_array_equal(rm.affine(pixels, quarter), np.rot90(pixels, -1))


@given(images(dtypes=("uint8", "uint16")), st.floats(0, 1), st.floats(0.1, 2), st.sampled_from([1.0, 255.0]))
def test_normalize_equals_float64_up_to_rounding(pixels, mean, std, white) -> None:
    brightest = np.iinfo(pixels.dtype).max
    expected = (pixels.astype(np.float64) * (white / brightest) - mean * white) / (std * white)
    found = rm.normalize(pixels, mean * white, std * white, white=white)
    assert found.dtype == np.float32 and found.shape == pixels.shape
    np.testing.assert_allclose(found, expected, rtol=3e-6, atol=3e-6)


def test_normalize_with_white_255_equals_mxnet_formula() -> None:
    pixels, mean, std = make_pixels(5), (123.68, 116.28, 103.53), (58.395, 57.12, 57.375)
    expected = (pixels.astype(np.float32) - np.float32(mean)) * (np.float32(1) / np.float32(std))
    np.testing.assert_array_equal(rm.normalize(pixels, mean, std, white=255.0), expected)
    half = rm.normalize(pixels, mean, std, white=255.0, dtype="float16", layout="chw")
    np.testing.assert_array_equal(half, expected.transpose(2, 0, 1).astype(np.float16))


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda: rm.resize(np.zeros((3, 3), np.int32), 2), TypeError),
        (lambda: rm.resize(np.zeros((3, 3, 5), np.uint8), 2), ValueError),
        (lambda: rm.resize(np.zeros((0, 3), np.uint8), 2), ValueError),
        (lambda: rm.resize(np.zeros(3, np.uint8), 2), ValueError),
        (lambda: rm.resize(np.zeros((3, 3), np.uint8), 0), ValueError),
        (lambda: rm.crop(np.zeros((3, 3), np.uint8), (0, 0, 0, 2)), ValueError),
        (lambda: rm.crop(np.zeros((3, 3), np.uint8), (0, 0, 2, 2), mode="wrap"), ValueError),
        (lambda: rm.crop(np.zeros((3, 3, 3), np.uint8), (0, 0, 9, 2), fill=(1, 2)), ValueError),
        (lambda: rm.affine(np.zeros((3, 3), np.uint8), np.eye(3)), ValueError),
        (lambda: rm.affine(np.zeros((3, 3), np.uint8), [[1, 0, np.nan], [0, 1, 0]]), ValueError),
        (lambda: rm.normalize(np.zeros((3, 3, 3), np.uint8), (1, 2)), ValueError),
        (lambda: rm.normalize(np.zeros((3, 3), np.uint8), std=0), ValueError),
        (lambda: rm.adjust_hue(np.zeros((3, 3, 3), np.uint8), 0.6), ValueError),
        (lambda: rm.adjust_brightness(np.zeros((3, 3, 3), np.uint8), -1), ValueError),
        (lambda: rm.adjust_contrast(np.zeros((3, 3, 3), np.float32), 1), TypeError),
        (lambda: rm.grayscale(np.zeros((3, 3, 4), np.uint8)), ValueError),
    ],
)
def test_image_functions_reject_invalid_arguments(call, error: type[Exception]) -> None:
    with pytest.raises(error):
        call()


def test_decode_image_window_equals_part_of_whole() -> None:
    data = encode_jpeg(3, 33, 21)
    whole = rm.decode_jpeg(data)
    np.testing.assert_array_equal(rm.decode_jpeg(data, window=(5, 4, 20, 10)), whole[4:14, 5:25])

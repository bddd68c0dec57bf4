"""Thumbnails of encoded images: modes, sizes, orientation, limits, damage, with and without Pillow."""

from __future__ import annotations

import io
import sys

import numpy as np
import pytest
from PIL import Image

import recordmill as rm
from recordmill.decode.thumbnails import create_thumbnail, encode_pixels
from tests.images import (
    encode_gray16_png,
    encode_image,
    encode_jpeg,
    encode_oriented_jpeg,
    encode_palette_mask,
    encode_png,
    make_pixels,
)

WIDTH, HEIGHT = 640, 480
NATIVE = {
    "gray JPEG": encode_jpeg(0, WIDTH, HEIGHT, mode="L"),
    "RGB JPEG": encode_jpeg(1, WIDTH, HEIGHT),
    "CMYK JPEG": encode_jpeg(2, WIDTH, HEIGHT, mode="CMYK"),
    "progressive JPEG": encode_jpeg(3, WIDTH, HEIGHT, progressive=True),
    "gray PNG": encode_png(0, WIDTH, HEIGHT, "L"),
    "gray PNG with alpha": encode_png(0, WIDTH, HEIGHT, "LA"),
    "RGB PNG": encode_png(0, WIDTH, HEIGHT),
    "RGBA PNG": encode_png(0, WIDTH, HEIGHT, "RGBA"),
    "1-bit PNG": encode_png(0, WIDTH, HEIGHT, "1"),
    "palette PNG": encode_palette_mask(0, WIDTH, HEIGHT)[0],
    "16-bit PNG": encode_gray16_png(0, WIDTH, HEIGHT)[0],
}
SMALL, LONG = encode_png(0, 20, 14), encode_png(0, 3000, 2)
TRANSPARENT = encode_image(Image.fromarray(np.zeros((20, 20, 4), np.uint8)))
ORIENTED = {orientation: encode_oriented_jpeg(orientation, 0, WIDTH, HEIGHT) for orientation in range(1, 9)}
OTHER = {
    name: encode_image(Image.fromarray(make_pixels(0, WIDTH, HEIGHT)), name) for name in ("GIF", "BMP", "WEBP", "TIFF")
}


@pytest.fixture(params=["pillow", "native"])
def decoder(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run a test with Pillow, and without it, as in an installation with NumPy only."""
    if request.param == "native":
        monkeypatch.setitem(sys.modules, "PIL", None)
    return request.param


def decode(thumbnail: bytes) -> np.ndarray:
    return rm.decode_image(thumbnail, channels="rgb")


@pytest.mark.parametrize("name", NATIVE)
def test_thumbnail_fits_size_and_keeps_aspect_ratio(name: str, decoder: str) -> None:
    thumbnail = create_thumbnail(NATIVE[name])
    assert thumbnail.startswith(b"\xff\xd8" if decoder == "pillow" else b"\x89PNG")
    assert len(thumbnail) <= 20_000
    height, width, _ = decode(thumbnail).shape
    assert max(height, width) <= 160
    assert width / height == pytest.approx(WIDTH / HEIGHT, rel=0.02)


@pytest.mark.parametrize("name", OTHER)
def test_thumbnail_of_other_format_needs_pillow(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert decode(create_thumbnail(OTHER[name])).shape == (120, 160, 3)
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(rm.MissingExtraError, match="image"):
        create_thumbnail(OTHER[name])


def test_thumbnail_resembles_image() -> None:
    pixels = make_pixels(0, 64, 48) // 64 * 64
    pixels[:, :32] = (200, 30, 60)
    data = encode_image(Image.fromarray(np.kron(pixels, np.ones((10, 10, 1), np.uint8))))
    left = decode(create_thumbnail(data))[:, 4:70]
    assert np.abs(left.astype(int) - (200, 30, 60)).max() < 12


def test_thumbnail_does_not_enlarge(decoder: str) -> None:
    assert decode(create_thumbnail(SMALL)).shape == (14, 20, 3)


@pytest.mark.parametrize("orientation", ORIENTED)
def test_thumbnail_applies_orientation(orientation: int, decoder: str) -> None:
    thumbnail = decode(create_thumbnail(ORIENTED[orientation]))
    assert thumbnail.shape[0] > thumbnail.shape[1] if orientation >= 5 else thumbnail.shape[0] < thumbnail.shape[1]


def test_thumbnail_of_very_long_image_has_at_least_one_row(decoder: str) -> None:
    assert decode(create_thumbnail(LONG)).shape == (1, 160, 3)


def test_thumbnail_shows_transparent_pixels_as_white(decoder: str) -> None:
    assert decode(create_thumbnail(TRANSPARENT)).min() == 255


@pytest.mark.parametrize("max_bytes", [1000, 5000, 20_000])
@pytest.mark.parametrize("channels", [1, 3])
def test_thumbnail_of_noise_fits_max_bytes(max_bytes: int, channels: int, decoder: str) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (400, 300, channels), dtype=np.uint8)
    thumbnail = create_thumbnail(encode_pixels(noise), max_bytes=max_bytes)
    assert len(thumbnail) <= max_bytes
    assert min(decode(thumbnail).shape[:2]) > 4


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no image",
        b"x" * 100,
        NATIVE["RGB JPEG"][:-5000],
        NATIVE["RGB PNG"][:5000],
        NATIVE["RGB JPEG"][:30],
        bytes(1000),
    ],
    ids=range(7),
)
def test_thumbnail_of_damaged_image_raises_image_error(data: bytes, decoder: str) -> None:
    with pytest.raises(rm.ImageError):
        create_thumbnail(data)


def test_thumbnail_of_too_large_image_raises_image_error(decoder: str) -> None:
    with pytest.raises(rm.ImageError, match="too large"):
        create_thumbnail(NATIVE["RGB PNG"], max_pixels=1000)


def test_encode_pixels_round_trips() -> None:
    for channels in (1, 3):
        pixels = np.random.default_rng(0).integers(0, 256, (9, 7, channels), dtype=np.uint8)
        np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(encode_pixels(pixels)))), pixels.squeeze())

"""decode_image, decode_jpeg and decode_png: channels, depths, palettes, windows, scales and invalid files."""

from __future__ import annotations

import io
import pickle
import sys

import numpy as np
import pytest
from hypothesis import given, strategies as st
from PIL import Image

import recordmill as rm
from tests.images import (
    encode_gray16_png,
    encode_image,
    encode_jpeg,
    encode_oriented_jpeg,
    encode_palette_mask,
    encode_png,
    make_pixels,
)


def opened(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data))


def test_decode_jpeg_equals_pillow() -> None:
    data = encode_jpeg(1)
    np.testing.assert_array_equal(rm.decode_jpeg(data), np.asarray(opened(data)))
    np.testing.assert_array_equal(rm.decode_jpeg(data, channels="bgr"), np.asarray(opened(data))[:, :, ::-1])
    np.testing.assert_array_equal(rm.decode_jpeg(bytearray(data)), rm.decode_jpeg(memoryview(data)))


def test_gray_jpeg_decodes_to_requested_channels() -> None:
    data = encode_jpeg(1, mode="L")
    gray = np.asarray(opened(data))
    np.testing.assert_array_equal(rm.decode_jpeg(data, channels="stored"), gray)
    np.testing.assert_array_equal(rm.decode_jpeg(data, channels="gray"), gray)
    np.testing.assert_array_equal(rm.decode_jpeg(data), np.repeat(gray[:, :, None], 3, axis=2))


def test_channels_accept_british_spelling_of_gray() -> None:
    for call in (rm.decode_jpeg, rm.decode_image):
        np.testing.assert_array_equal(call(encode_jpeg(0), channels="grey"), call(encode_jpeg(0), channels="gray"))


def test_cmyk_jpeg_follows_preset() -> None:
    data = encode_jpeg(1, mode="CMYK")
    assert rm.decode_jpeg(data, channels="stored").shape == (14, 20, 4)
    np.testing.assert_array_equal(rm.decode_image(data), np.asarray(opened(data).convert("RGB")))
    other = rm.decode_image(data, like="mxnet")
    assert other.shape == (14, 20, 3) and (other != rm.decode_image(data)).any()


@pytest.mark.parametrize("scale", [2, 4, 8])
def test_decode_jpeg_scale_rounds_sides_up(scale: int) -> None:
    y, x = np.mgrid[:75, :113]
    smooth = np.stack([x * 2, y * 3, x + y], axis=2).astype(np.uint8)
    data = encode_image(Image.fromarray(smooth), "JPEG", quality=95)
    small = rm.decode_jpeg(data, scale=scale)
    assert small.shape == (-(-75 // scale), -(-113 // scale), 3)
    blocks = rm.resize(rm.decode_jpeg(data)[:72, :112], (72 // scale, 112 // scale), kernel="pillow:box").astype(int)
    assert abs(small[: 72 // scale, : 112 // scale] - blocks).mean() < 1.5
    assert (
        rm.decode_jpeg(encode_oriented_jpeg(6, 2, 113, 75), scale=scale, orientation="apply").shape[:2]
        == small.shape[1::-1]
    )


def test_scale_rejects_other_formats_than_jpeg() -> None:
    with pytest.raises(rm.ImageError, match="only JPEG"):
        rm.decode_image(encode_png(0), scale=2)
    assert rm.decode_jpeg(encode_jpeg(0, 1, 1), scale=8).shape == (1, 1, 3)


@given(st.integers(0, 40), st.integers(0, 30), st.integers(1, 41), st.integers(1, 31), st.sampled_from([1, 2, 6]))
def test_window_equals_part_of_upright_image(x, y, width, height, orientation) -> None:
    data = encode_oriented_jpeg(orientation, 5, 41, 31)
    whole = rm.decode_image(data, orientation="apply")
    call = {"window": (x, y, width, height), "orientation": "apply"}
    if y + height <= whole.shape[0] and x + width <= whole.shape[1]:
        np.testing.assert_array_equal(rm.decode_image(data, **call), whole[y : y + height, x : x + width])
    else:
        with pytest.raises(rm.ImageError) as caught:
            rm.decode_image(data, **call)
        assert caught.value.kind == "bad_window"


@pytest.mark.parametrize("window", [(-1, 0, 5, 5), (0, 0, 0, 5), (0, 0, 5, 1 << 70), (1 << 40, 0, 1, 1), (18, 2, 3, 4)])
@pytest.mark.parametrize("orientation", ["ignore", "apply"])
def test_every_function_rejects_invalid_windows(window: tuple, orientation: str) -> None:
    with pytest.raises(rm.ImageError) as jpeg_window:
        rm.decode_jpeg(encode_jpeg(0), window=window, orientation=orientation)
    with pytest.raises(rm.ImageError) as image_window:
        rm.decode_image(encode_jpeg(0), window=window, orientation=orientation)
    with pytest.raises(rm.ImageError) as png_window:
        rm.decode_png(encode_png(0), window=window)
    assert {caught.value.kind for caught in (jpeg_window, image_window, png_window)} == {"bad_window"}


@pytest.mark.parametrize("form", [list, np.array])
def test_window_accepts_any_sequence_of_integers(form) -> None:
    for call, data in (
        (rm.decode_jpeg, encode_jpeg(0)),
        (rm.decode_png, encode_png(0)),
        (rm.decode_image, encode_png(0)),
    ):
        np.testing.assert_array_equal(call(data, window=form([3, 4, 5, 6])), call(data)[4:10, 3:8])
        with pytest.raises(ValueError, match=r"window must be \(x, y, width, height\)"):
            call(data, window=form([3, 4, 5]))
        with pytest.raises(TypeError):
            call(data, window=form([0.5, 0, 5, 6]))


@pytest.mark.parametrize("mode, channels", [("L", 1), ("LA", 2), ("RGB", 3), ("RGBA", 4)])
def test_decode_png_keeps_stored_channels(mode: str, channels: int) -> None:
    data = encode_png(3, mode=mode)
    found = rm.decode_png(data)
    np.testing.assert_array_equal(found, np.asarray(opened(data)))
    assert found.shape == ((14, 20) if channels == 1 else (14, 20, channels)) and found.dtype == np.uint8


def test_decode_image_drops_alpha_without_blending() -> None:
    rgba = np.dstack([make_pixels(1), np.arange(280, dtype=np.uint8).reshape(14, 20)])
    np.testing.assert_array_equal(rm.decode_image(encode_image(Image.fromarray(rgba))), rgba[:, :, :3])


def test_decode_png_scales_1_bit_to_255() -> None:
    bits = make_pixels(1)[:, :, 0] > 128
    data = encode_image(Image.fromarray(bits))
    np.testing.assert_array_equal(rm.decode_png(data), bits * np.uint8(255))
    np.testing.assert_array_equal(rm.decode_png(data, palette="indices"), bits.astype(np.uint8))


@pytest.mark.parametrize("bits", [1, 2, 4, 8])
def test_decode_png_palette_gives_colors_or_indices(bits: int) -> None:
    indices = (np.arange(280).reshape(14, 20) % 2**bits).astype(np.uint8)
    image = Image.fromarray(indices)
    palette = np.random.default_rng(2).integers(0, 256, (2**bits, 3)).astype(np.uint8)
    image.putpalette(palette.tobytes())
    data = encode_image(image, bits=bits)
    np.testing.assert_array_equal(rm.decode_png(data, palette="indices"), indices)
    np.testing.assert_array_equal(rm.decode_png(data), palette[indices])
    np.testing.assert_array_equal(rm.decode_png(data, palette="indices", window=(2, 1, 3, 4)), indices[1:5, 2:5])


def test_decode_png_transparent_palette_gives_alpha() -> None:
    data, indices = encode_palette_mask()
    image = opened(data)
    clear = encode_image(image, transparency=3)
    assert rm.decode_png(clear).shape == (14, 20, 4)
    np.testing.assert_array_equal(rm.decode_png(clear)[:, :, 3] == 0, indices == 3)
    np.testing.assert_array_equal(rm.decode_png(clear, palette="indices"), indices)
    np.testing.assert_array_equal(rm.decode_image(clear), rm.decode_png(data))


def test_decode_png_keeps_16_bits() -> None:
    data, values = encode_gray16_png()
    for found in (rm.decode_png(data), rm.decode_png(data, palette="indices"), rm.decode_image(data, channels="gray")):
        assert found.dtype == np.uint16
        np.testing.assert_array_equal(found, values)
    np.testing.assert_array_equal(rm.decode_image(data), np.repeat(values[:, :, None], 3, axis=2))


def test_16_bit_png_to_8_bits_follows_preset() -> None:
    data, values = encode_gray16_png()
    with pytest.raises(rm.ImageError) as caught:
        rm.decode_image(data, depth="8")
    assert caught.value.kind == "lost_depth" and "uint16" in str(caught.value)
    for like in ("opencv", "tensorflow", "mxnet"):
        found = rm.decode_image(data, like=like, channels="gray", depth="8")
        np.testing.assert_array_equal(found, (values >> 8).astype(np.uint8))


def deep_color_png() -> bytes:
    """Put a 16-bit RGB PNG of 2 x 1 pixels together, as Pillow cannot write one."""
    import struct
    import zlib

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    row = b"\0" + struct.pack(">6H", 1, 256, 65535, 4660, 0, 513)
    head = struct.pack(">IIBBBBB", 2, 1, 16, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(row)) + chunk(b"IEND", b"")


def test_16_bit_color_png_never_loses_low_bits_silently() -> None:
    data = deep_color_png()
    assert rm.decode_png(data).tolist() == [[[1, 256, 65535], [4660, 0, 513]]]
    for found in (
        rm.decode_image(data),
        rm.decode_image(data, like="opencv")[:, :, ::-1],
        rm.decode_batch([data], {"x": rm.Image(dtype="uint16", layout="hwc")})["x"][0],
    ):
        assert found.tolist() == [[[1, 256, 65535], [4660, 0, 513]]]
    fractions = rm.decode_batch([data], {"x": rm.Image(dtype="float32", white=65535.0, layout="hwc")})["x"][0]
    assert fractions.tolist() == [[[1, 256, 65535], [4660, 0, 513]]]
    with pytest.raises(rm.DecodeError, match="low bits"):
        rm.decode_batch([data], {"x": rm.Image(decoder="pillow", dtype="uint16")})
    with pytest.raises(rm.ImageError, match="low bits"):
        rm.decode_image(data, depth="8")
    cut = rm.decode_image(data, like="tensorflow", depth="8")
    assert cut.tolist() == [[[0, 1, 255], [18, 0, 2]]]


@pytest.mark.parametrize("encoding", ["TIFF", "WEBP", "BMP", "GIF"])
def test_decode_image_reads_other_formats(encoding: str) -> None:
    image = Image.fromarray(make_pixels(4))
    data = encode_image(image, encoding, **({"lossless": True} if encoding == "WEBP" else {}))
    found = rm.decode_image(data)
    assert found.shape == (14, 20, 3)
    assert encoding == "GIF" or (found == make_pixels(4)).all()


def test_decode_image_rejects_floating_point_images() -> None:
    data = encode_image(Image.fromarray(np.ones((3, 3), np.float32)), "PPM")
    with pytest.raises(rm.ImageError, match="floating-point numbers"):
        rm.decode_image(data)


@pytest.mark.parametrize(
    "data", [b"", b"junk", encode_jpeg(0)[:300], encode_png(0)[:100], encode_jpeg(0)[:2], b"\xff\xd8\xff" + bytes(99)]
)
def test_invalid_data_raises_picklable_image_error(data: bytes) -> None:
    for call in (rm.decode_image, rm.decode_jpeg, rm.decode_png):
        with pytest.raises(rm.ImageError) as caught:
            call(data)
        assert pickle.loads(pickle.dumps(caught.value)).kind == caught.value.kind is not None


def test_decode_jpeg_and_png_reject_other_formats() -> None:
    with pytest.raises(rm.ImageError, match="not a JPEG"):
        rm.decode_jpeg(encode_png(0))
    with pytest.raises(rm.ImageError, match="not a PNG"):
        rm.decode_png(encode_jpeg(0))


@given(st.data())
def test_corrupt_image_gives_pixels_or_image_error(data) -> None:
    whole = bytearray(
        data.draw(st.sampled_from([encode_jpeg(1), encode_png(1), encode_palette_mask()[0], encode_gray16_png()[0]]))
    )
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    try:
        pixels = rm.decode_image(bytes(whole), max_pixels=100_000)
    except (rm.ImageError, rm.LimitError):
        return
    assert pixels.dtype in (np.uint8, np.uint16) and pixels.size <= 300_000


def test_max_pixels_limits_every_function() -> None:
    for call, data in (
        (rm.decode_jpeg, encode_jpeg(0)),
        (rm.decode_png, encode_png(0)),
        (rm.decode_image, encode_png(0)),
    ):
        assert call(data, max_pixels=280).shape == (14, 20, 3)
        with pytest.raises(rm.LimitError, match="too large"):
            call(data, max_pixels=279)
    with pytest.raises(rm.LimitError):
        rm.decode_png(encode_palette_mask()[0], palette="indices", max_pixels=279)


@pytest.mark.filterwarnings("ignore:Corrupt EXIF data")
def test_orientation_ignores_damaged_exif() -> None:
    damaged = (b"Exif\0\0II*\0\xff\xff\xff\xff", b"Exif\0\0neither", b"Exif\0\0MM")
    for data in (encode_jpeg(0, exif=notes) for notes in damaged):
        np.testing.assert_array_equal(rm.decode_jpeg(data, orientation="apply"), rm.decode_jpeg(data))


@pytest.mark.parametrize("options", [{"mode": "slow"}, {"channels": "rgba"}, {"scale": 3}, {"orientation": "turn"}])
def test_decode_jpeg_rejects_unknown_options(options) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        rm.decode_jpeg(encode_jpeg(0), **options)


def test_missing_pillow_affects_other_formats_only(monkeypatch) -> None:
    spec = {decoder: {"image": rm.Image(decoder=decoder)} for decoder in ("auto", "pillow")}
    gif, natively = (
        encode_image(Image.fromarray(make_pixels(4)), "GIF"),
        (encode_jpeg(0), encode_png(0), encode_jpeg(0, mode="CMYK")),
    )
    odd = encode_jpeg(0).replace(b"\xff\xdb", b"ab\xff\xdb", 1)
    monkeypatch.setitem(sys.modules, "PIL", None)
    for data in natively:
        assert rm.decode_image(data).shape == (14, 20, 3)
        assert rm.decode_batch([data], spec["auto"])["image"].shape == (1, 3, 14, 20)
    extra = r"recordmill\[image\]"
    with pytest.raises(rm.MissingExtraError, match=extra):
        rm.decode_jpeg(odd)
    with pytest.raises(rm.DecodeError, match=extra):
        rm.decode_batch([gif], spec["auto"])
    with pytest.raises(rm.MissingExtraError, match=extra):
        rm.decode_batch([natively[0]], spec["pillow"])

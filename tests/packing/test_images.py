"""Pictures encoded anew: exact indices, exact 16 bits, sizes, colors, and refusals with a name."""

from __future__ import annotations

import io
import struct
import sys
import zlib

import numpy as np
import pytest
from PIL import Image

import recordmill as rm
from recordmill.decode.image import decode_image
from recordmill.errors import ImageError, MissingExtraError
from recordmill.packing.recode import Recoding, check_decodable, read_mask, read_shape, recode_image, recode_mask
from recordmill.packing.records import find_non_images
from recordmill.types import Ragged
from tests.packing.pictures import jpeg
from tests.pictures import encode, palette_mask

DEEP = np.random.default_rng(3).integers(0, 65536, (9, 13)).astype(np.uint16)


def opened(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data))


def png(head: tuple[int, int, int, int], rows: bytes, palette: bytes | None = None) -> bytes:
    """Make a PNG by hand: width, height, bits and color type, then filter bytes and rows."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    colors = b"" if palette is None else chunk(b"PLTE", palette)
    start = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", *head, 0, 0, 0))
    return start + colors + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def png_16_bit_rgb() -> bytes:
    """Make what Pillow opens as 8-bit RGB."""
    return png((2, 1, 16, 2), b"\0" + bytes(range(12)))


@pytest.mark.parametrize("encoding", ["png", "tiff"])
def test_palette_when_encoded_anew_then_indices_and_palette_are_the_same(encoding: str) -> None:
    data, indices = palette_mask()
    image = opened(recode_image(data, Recoding(encoding))[0])
    assert image.mode == "P" and (np.asarray(image) == indices).all()
    assert image.getpalette() == opened(data).getpalette()


def test_palette_when_it_is_short_then_indices_beyond_it_survive() -> None:
    indices = np.array([[0, 1, 2, 200]], np.uint8)
    data = png((4, 1, 8, 3), b"\0" + indices.tobytes(), b"\x0a\x14\x1e" * 4)
    assert (read_mask(data) == indices).all()
    assert (np.asarray(opened(recode_image(data, Recoding("png"))[0])) == indices).all()
    assert (read_mask(recode_mask(data, Recoding("png"))) == indices).all()


@pytest.mark.parametrize("bits", [1, 2, 4])
def test_palette_when_packed_in_bits_then_mask_has_its_indices(bits: int) -> None:
    indices = np.random.default_rng(bits).integers(0, 2**bits, (5, 11)).astype(np.uint8)
    image = Image.fromarray(indices)
    image.putpalette(list(range(3 * 2**bits)))
    assert (read_mask(encode(image, bits=bits)) == indices).all()


@pytest.mark.parametrize("encoding", ["png", "tiff"])
def test_sixteen_bits_when_encoded_anew_then_every_value_is_the_same(encoding: str) -> None:
    for source in ("PNG", "TIFF"):
        data = recode_image(encode(Image.fromarray(DEEP), source), Recoding(encoding, color=False))[0]
        assert opened(data).mode == "I;16" and (np.asarray(opened(data)) == DEEP).all()


@pytest.mark.parametrize("how", [Recoding("jpeg"), Recoding("webp"), Recoding("png", color=True)])
def test_sixteen_bits_when_they_would_be_lost_then_is_refused(how: Recoding) -> None:
    with pytest.raises(ImageError, match="16-bit"):
        recode_image(encode(Image.fromarray(DEEP)), how)


def test_sixteen_bit_color_when_pillow_would_cut_it_then_is_refused() -> None:
    assert opened(png_16_bit_rgb()).mode == "RGB"
    with pytest.raises(ImageError, match="low bits"):
        recode_image(png_16_bit_rgb(), Recoding("png"))


def test_floating_point_when_it_would_be_lost_then_is_refused_as_what_it_is() -> None:
    data = encode(Image.fromarray(np.full((3, 4), 0.5, np.float32)), "TIFF")
    with pytest.raises(ImageError, match="floating-point numbers") as caught:
        recode_image(data, Recoding("png"))
    assert caught.value.kind == "lost_depth"


def test_sixteen_bit_mask_when_read_then_is_exact_little_endian() -> None:
    mask = read_mask(encode(Image.fromarray(DEEP)))
    assert mask.dtype == np.dtype("<u2") and (mask == DEEP).all()
    moved = read_mask(recode_mask(encode(Image.fromarray(DEEP)), Recoding("png", center_crop=4)))
    assert (moved == DEEP[2:6, 4:8]).all()


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "LA", "CMYK"])
def test_mask_when_it_has_colors_then_is_refused(mode: str) -> None:
    data = encode(Image.new(mode, (4, 4)), "TIFF")
    for work in (read_mask, lambda data: recode_mask(data, Recoding("png"))):
        with pytest.raises(ImageError, match="one value per pixel"):
            work(data)


def test_mask_when_bilevel_then_is_0_and_1() -> None:
    assert read_mask(encode(Image.new("1", (3, 2), 1))).tolist() == [[1, 1, 1], [1, 1, 1]]


@pytest.mark.parametrize(
    "size, how, expected",
    [
        ((30, 20), {"resize": 7}, (10, 7)),
        ((20, 30), {"resize": 7}, (7, 10)),
        ((31, 20), {"resize": 40}, (62, 40)),
        ((30, 20), {"center_crop": True}, (20, 20)),
        ((30, 20), {"center_crop": True, "resize": 8}, (8, 8)),
        ((30, 20), {"center_crop": 6, "resize": 8}, (6, 6)),
    ],
)
def test_picture_when_cut_and_scaled_then_has_the_size_of_the_rule(size: tuple, how: dict, expected: tuple) -> None:
    data, shape = recode_image(encode(Image.new("RGB", size)), Recoding("png", **how))
    assert opened(data).size == expected and shape == expected[::-1]


def test_picture_when_cropped_then_is_its_middle() -> None:
    pixels = np.arange(7 * 10, dtype=np.uint8).reshape(7, 10)
    data = encode(Image.fromarray(pixels))
    assert (np.asarray(opened(recode_image(data, Recoding("png", center_crop=True))[0])) == pixels[:, 1:8]).all()
    assert (np.asarray(opened(recode_image(data, Recoding("png", center_crop=4))[0])) == pixels[1:5, 3:7]).all()
    with pytest.raises(ImageError, match="smaller than the center crop"):
        recode_image(data, Recoding("png", center_crop=8))


@pytest.mark.parametrize("encoding", ["jpeg", "png", "tiff", "webp"])
@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK"])
@pytest.mark.parametrize("color", [None, True, False])
def test_picture_when_of_any_mode_then_every_encoding_takes_it(encoding: str, mode: str, color: bool | None) -> None:
    source = "TIFF" if mode == "CMYK" else "PNG"
    data, shape = recode_image(encode(Image.new(mode, (6, 5)), source), Recoding(encoding, color=color))
    image = opened(data)
    assert image.size == (6, 5) and shape == (5, 6)
    assert image.format == encoding.upper()
    if color is not None and encoding != "webp":
        assert image.mode == ("RGB" if color else "L")


def test_jpeg_when_encoded_anew_then_is_what_pillow_makes() -> None:
    data = jpeg(1, 64, 48)
    plain = Recoding("jpeg", 95, restart_markers=False)
    assert recode_image(data, plain)[0] == encode(opened(data), "JPEG", quality=95)
    assert recode_image(data, Recoding("jpeg", 95))[0] == encode(
        opened(data), "JPEG", quality=95, restart_marker_rows=1
    )


def test_jpeg_when_it_has_restart_markers_then_the_pixels_are_the_same_and_each_row_can_be_entered() -> None:
    data = jpeg(3, 640, 480)
    marked, plain = (recode_image(data, Recoding("jpeg", 95, restart_markers=marks))[0] for marks in (True, False))
    with opened(marked) as first, opened(plain) as second:
        np.testing.assert_array_equal(np.asarray(first), np.asarray(second))
    assert len(plain) < len(marked) <= len(plain) * 1.01
    assert [marked.count(bytes([0xFF, 0xD0 + n])) > 0 for n in range(8)] == [True] * 8
    found = rm.find_entry_points([marked, plain])
    assert found[0] == b"" and found[1] != b""
    assert len(recode_image(data, Recoding("jpeg", 30))[0]) < len(recode_image(data, Recoding("jpeg", 95))[0])


def test_exif_when_asked_for_then_turns_the_picture() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    data = encode(Image.new("RGB", (8, 5)), "JPEG", exif=exif)
    assert recode_image(data, Recoding("png"))[1] == (5, 8)
    assert recode_image(data, Recoding("png", exif=True))[1] == (8, 5)


@pytest.mark.parametrize("data", [b"", b"no picture", jpeg(1)[:400], encode(Image.new("L", (9, 9)))[:-30]])
def test_picture_when_damaged_then_is_an_image_error(data: bytes) -> None:
    with pytest.raises(ImageError, match=r"cannot be decoded|truncated|no picture"):
        check_decodable(data)
    with pytest.raises(ImageError, match=r"cannot be decoded|truncated|no picture"):
        recode_image(data, Recoding("png"))


def test_picture_when_it_is_a_bomb_then_is_an_image_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 10)
    with pytest.raises(ImageError, match="cannot be decoded"):
        read_shape(jpeg(1))


@pytest.mark.parametrize("name, mode", [("JPEG", "RGB"), *(("PNG", mode) for mode in ("RGB", "RGBA", "L", "P", "1"))])
def test_picture_when_its_end_is_missing_then_a_whole_look_finds_it_as_decoding_does(
    name: str, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = encode(Image.new(mode, (40, 30)), name)
    monkeypatch.setitem(sys.modules, "PIL", None)  # which is not needed
    check_decodable(data)
    cut = data[: -12 if name == "PNG" else -2]
    with pytest.raises(ImageError):
        decode_image(cut)
    with pytest.raises(ImageError):
        check_decodable(cut)


def test_pillow_when_missing_then_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(MissingExtraError, match=r"recordmill\[image\]"):
        read_shape(b"")


def test_signature_when_files_are_pictures_then_none_is_found() -> None:
    tiff = encode(Image.new("L", (3, 3)), "TIFF")
    good = [
        jpeg(1),
        tiff,
        b"MM\0*" + tiff[4:],
        *(encode(Image.new("L", (3, 3)), one) for one in ("PNG", "GIF", "BMP", "WEBP")),
    ]
    bad = [b"", b"\xff\xd8\xff", b"<!DOCTYPE html>", b"RIFF1234WAVEfmt ", b"\x89PNG\n\x1a\n\0\0\0\0\0\0", bytes(20)]
    assert find_non_images(Ragged.from_rows(good)) == []
    assert find_non_images(Ragged.from_rows(bad)) == list(range(len(bad)))
    assert find_non_images(Ragged.from_rows([b""])) == [0]

"""Recoding of images and masks: exact values, sizes, colors, native and Pillow results, and errors."""

from __future__ import annotations

import gc
import io
import os
import struct
import sys
import threading
import zlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from PIL import Image, ImageCms, ImageOps
from PIL.PngImagePlugin import PngInfo

import recordmill as rm
from recordmill import _core
from recordmill.decode.image import decode_image
from recordmill.errors import ImageError, MissingExtraError
from recordmill.packing.recode import (
    Recoding,
    check_decodable,
    encode_png,
    get_thread_output_file,
    read_image_shape,
    read_mask,
    read_written_bytes,
    recode_image,
    recode_mask,
    recode_png_files,
)
from recordmill.types import Ragged
from tests.images import encode_image, encode_palette_mask
from tests.packing.helpers import smooth_jpeg

GRAY_16_BIT = np.random.default_rng(3).integers(0, 65536, (9, 13)).astype(np.uint16)


def open_image(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data))


def png(header: tuple[int, int, int, int], rows: bytes, palette: bytes | None = None) -> bytes:
    """Return a PNG from width, height, bits and color type, and from rows that start with their filter byte."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    colors = b"" if palette is None else chunk(b"PLTE", palette)
    start = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", *header, 0, 0, 0))
    return start + colors + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def png_16_bit_rgb() -> bytes:
    """Return a PNG that Pillow opens as 8-bit RGB."""
    return png((2, 1, 16, 2), b"\0" + bytes(range(12)))


@pytest.mark.parametrize("encoding", ["png", "tiff"])
def test_recode_image_keeps_palette_and_indices(encoding: str) -> None:
    data, indices = encode_palette_mask()
    image = open_image(recode_image(data, Recoding(encoding))[0])
    assert image.mode == "P" and (np.asarray(image) == indices).all()
    assert image.getpalette() == open_image(data).getpalette()


def test_recode_keeps_indices_beyond_short_palette() -> None:
    indices = np.array([[0, 1, 2, 200]], np.uint8)
    data = png((4, 1, 8, 3), b"\0" + indices.tobytes(), b"\x0a\x14\x1e" * 4)
    assert (read_mask(data) == indices).all()
    assert (np.asarray(open_image(recode_image(data, Recoding("png"))[0])) == indices).all()
    assert (read_mask(recode_mask(data, Recoding("png"))) == indices).all()


@pytest.mark.parametrize("bits", [1, 2, 4])
def test_read_mask_returns_indices_of_fewer_than_8_bits(bits: int) -> None:
    indices = np.random.default_rng(bits).integers(0, 2**bits, (5, 11)).astype(np.uint8)
    image = Image.fromarray(indices)
    image.putpalette(list(range(3 * 2**bits)))
    assert (read_mask(encode_image(image, bits=bits)) == indices).all()


@pytest.mark.parametrize("encoding", ["png", "tiff"])
def test_recode_image_keeps_16_bit_gray(encoding: str) -> None:
    for source in ("PNG", "TIFF"):
        data = recode_image(encode_image(Image.fromarray(GRAY_16_BIT), source), Recoding(encoding, color=False))[0]
        assert open_image(data).mode == "I;16" and (np.asarray(open_image(data)) == GRAY_16_BIT).all()


@pytest.mark.parametrize("recoding", [Recoding("jpeg"), Recoding("webp"), Recoding("png", color=True)])
def test_recode_image_rejects_loss_of_16_bit_gray(recoding: Recoding) -> None:
    with pytest.raises(ImageError, match="16-bit"):
        recode_image(encode_image(Image.fromarray(GRAY_16_BIT)), recoding)


def test_recode_image_rejects_16_bit_color() -> None:
    assert open_image(png_16_bit_rgb()).mode == "RGB"
    with pytest.raises(ImageError, match="low bits"):
        recode_image(png_16_bit_rgb(), Recoding("png"))


def test_recode_image_rejects_floating_point_pixels() -> None:
    data = encode_image(Image.fromarray(np.full((3, 4), 0.5, np.float32)), "TIFF")
    with pytest.raises(ImageError, match="floating-point numbers") as caught:
        recode_image(data, Recoding("png"))
    assert caught.value.kind == "lost_depth"


def test_read_mask_returns_exact_little_endian_16_bits() -> None:
    mask = read_mask(encode_image(Image.fromarray(GRAY_16_BIT)))
    assert mask.dtype == np.dtype("<u2") and (mask == GRAY_16_BIT).all()
    moved = read_mask(recode_mask(encode_image(Image.fromarray(GRAY_16_BIT)), Recoding("png", center_crop=4)))
    assert (moved == GRAY_16_BIT[2:6, 4:8]).all()


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "LA", "CMYK"])
def test_mask_functions_reject_color_images(mode: str) -> None:
    data = encode_image(Image.new(mode, (4, 4)), "TIFF")
    for work in (read_mask, lambda data: recode_mask(data, Recoding("png"))):
        with pytest.raises(ImageError, match="one value per pixel"):
            work(data)


def test_read_mask_returns_0_and_1_for_bilevel_image() -> None:
    assert read_mask(encode_image(Image.new("1", (3, 2), 1))).tolist() == [[1, 1, 1], [1, 1, 1]]


@pytest.mark.parametrize(
    "size, recoding, expected",
    [
        ((30, 20), {"resize": 7}, (10, 7)),
        ((20, 30), {"resize": 7}, (7, 10)),
        ((31, 20), {"resize": 40}, (62, 40)),
        ((30, 20), {"center_crop": True}, (20, 20)),
        ((30, 20), {"center_crop": True, "resize": 8}, (8, 8)),
        ((30, 20), {"center_crop": 6, "resize": 8}, (6, 6)),
    ],
)
def test_recode_image_crops_and_resizes_to_documented_size(size: tuple, recoding: dict, expected: tuple) -> None:
    data, shape = recode_image(encode_image(Image.new("RGB", size)), Recoding("png", **recoding))
    assert open_image(data).size == expected and shape == expected[::-1]


def test_recode_image_crops_center() -> None:
    pixels = np.arange(7 * 10, dtype=np.uint8).reshape(7, 10)
    data = encode_image(Image.fromarray(pixels))
    assert (np.asarray(open_image(recode_image(data, Recoding("png", center_crop=True))[0])) == pixels[:, 1:8]).all()
    assert (np.asarray(open_image(recode_image(data, Recoding("png", center_crop=4))[0])) == pixels[1:5, 3:7]).all()
    with pytest.raises(ImageError, match="smaller than the center crop"):
        recode_image(data, Recoding("png", center_crop=8))


@pytest.mark.parametrize("encoding", ["jpeg", "png", "tiff", "webp"])
@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK"])
@pytest.mark.parametrize("color", [None, True, False])
def test_recode_image_converts_any_mode_to_any_encoding(encoding: str, mode: str, color: bool | None) -> None:
    source = "TIFF" if mode == "CMYK" else "PNG"
    data, shape = recode_image(encode_image(Image.new(mode, (6, 5)), source), Recoding(encoding, color=color))
    image = open_image(data)
    assert image.size == (6, 5) and shape == (5, 6)
    assert image.format == encoding.upper()
    if color is not None and encoding != "webp":
        assert image.mode == ("RGB" if color else "L")


def test_recode_image_writes_jpeg_bytes_of_pillow() -> None:
    data = smooth_jpeg(1, 64, 48)
    plain = Recoding("jpeg", 95, restart_markers=False)
    assert recode_image(data, plain)[0] == encode_image(open_image(data), "JPEG", quality=95)
    assert recode_image(data, Recoding("jpeg", 95))[0] == encode_image(
        open_image(data), "JPEG", quality=95, restart_marker_rows=1
    )


def test_recode_image_adds_restart_markers_without_changing_pixels() -> None:
    data = smooth_jpeg(3, 640, 480)
    marked, plain = (recode_image(data, Recoding("jpeg", 95, restart_markers=marks))[0] for marks in (True, False))
    with open_image(marked) as first, open_image(plain) as second:
        np.testing.assert_array_equal(np.asarray(first), np.asarray(second))
    assert len(plain) < len(marked) <= len(plain) * 1.01
    assert [marked.count(bytes([0xFF, 0xD0 + n])) > 0 for n in range(8)] == [True] * 8
    of_marked, of_plain = rm.find_entry_points([marked, plain])
    assert of_marked == b"" and of_plain != b""
    assert len(recode_image(data, Recoding("jpeg", 30))[0]) < len(recode_image(data, Recoding("jpeg", 95))[0])


def test_recode_image_rotates_by_exif_if_enabled() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    data = encode_image(Image.new("RGB", (8, 5)), "JPEG", exif=exif)
    assert recode_image(data, Recoding("png"))[1] == (5, 8)
    assert recode_image(data, Recoding("png", exif=True))[1] == (8, 5)


@pytest.mark.parametrize(
    "data", [b"", b"not an image", smooth_jpeg(1)[:400], encode_image(Image.new("L", (9, 9)))[:-30]]
)
def test_corrupt_image_raises_image_error(data: bytes) -> None:
    with pytest.raises(ImageError, match=r"cannot be decoded|truncated"):
        check_decodable(data)
    with pytest.raises(ImageError, match=r"cannot be decoded|truncated"):
        recode_image(data, Recoding("png"))


def test_read_image_shape_rejects_decompression_bomb(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 10)
    with pytest.raises(ImageError, match="cannot be decoded"):
        read_image_shape(smooth_jpeg(1))


@pytest.mark.parametrize("name, mode", [("JPEG", "RGB"), *(("PNG", mode) for mode in ("RGB", "RGBA", "L", "P", "1"))])
def test_check_decodable_rejects_truncated_image_as_decoding_does(
    name: str, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = encode_image(Image.new(mode, (40, 30)), name)
    monkeypatch.setitem(sys.modules, "PIL", None)  # Pillow must not be needed.
    check_decodable(data)
    cut = data[: -12 if name == "PNG" else -2]
    with pytest.raises(ImageError):
        decode_image(cut)
    with pytest.raises(ImageError):
        check_decodable(cut)


def test_missing_pillow_error_names_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(MissingExtraError, match=r"recordmill\[image\]"):
        read_image_shape(b"")


ICC_PROFILE = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
MODES = ["1", "L", "LA", "P", "RGB", "RGBA"]


def noise_image(mode: str, width: int = 17, height: int = 13) -> Image.Image:
    samples = np.random.default_rng(5).integers(0, 256, (height, width, 4)).astype(np.uint8)
    return Image.fromarray(samples if mode in ("LA", "RGBA") else samples[:, :, :3]).convert(mode)


def rotated_exif() -> Image.Exif:
    exif = Image.Exif()
    exif[0x0112] = 6
    return exif


def exif_as_text() -> PngInfo:
    """Return EXIF as ImageMagick stores it: hexadecimal text."""
    body = rotated_exif().tobytes()
    info = PngInfo()
    info.add_text("Raw profile type exif", f"\nexif\n{len(body):8}\n{body.hex()}\n", zip=True)
    return info


def open_with_pillow(data: bytes, recoding: Recoding) -> Image.Image:
    """Open an image and convert it to the stored mode with Pillow."""
    image = Image.open(io.BytesIO(data))
    image.load()
    image = ImageOps.exif_transpose(image) if recoding.exif else image
    return image if recoding.color is None else image.convert("RGB" if recoding.color else "L")


def recode_any(data: bytes, recoding: Recoding) -> tuple[bytes, tuple[int, int]]:
    """Recode a file as `pack` does: as a PNG file natively if possible, else by `recode_image`."""
    images, shapes = recode_png_files(Ragged.from_rows([data]), recoding)
    return (images[0], shapes[0]) if shapes[0] else recode_image(data, recoding)


@pytest.mark.parametrize("color", [None, True, False])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "extra",
    [{}, {"icc_profile": ICC_PROFILE}, {"transparency": 3}, {"exif": rotated_exif()}, {"pnginfo": exif_as_text()}],
    ids=["plain", "profile", "transparent", "exif", "text"],
)
@pytest.mark.parametrize("exif", [False, True])
def test_recoded_png_equals_result_of_pillow(mode: str, color: bool | None, extra: dict, exif: bool) -> None:
    if "transparency" in extra:
        extra = {"L": {"transparency": 3}, "P": {"transparency": 3}, "RGB": {"transparency": (1, 2, 3)}}.get(mode, {})
    data, recoding = encode_image(noise_image(mode), **extra), Recoding("png", color=color, exif=exif)
    expected = Image.open(io.BytesIO(encode_image(open_with_pillow(data, recoding))))
    recoded, shape = recode_any(data, recoding)
    actual = Image.open(io.BytesIO(recoded))
    assert (actual.format, actual.mode, actual.size) == ("PNG", expected.mode, expected.size)
    assert actual.tobytes() == expected.tobytes() and shape == actual.size[::-1]
    for name in ("icc_profile", "transparency"):
        assert actual.info.get(name) == expected.info.get(name)


def test_recode_png_files_handles_plain_pixels_natively(monkeypatch: pytest.MonkeyPatch) -> None:
    files = Ragged.from_rows([encode_image(noise_image(mode)) for mode in MODES])
    assert None not in recode_png_files(files, Recoding("png", color=True, exif=True))[1]
    assert recode_png_files(files, Recoding("png"))[1] == [None, (13, 17), (13, 17), None, (13, 17), (13, 17)]
    for recoding in (Recoding("jpeg"), Recoding("png", resize=5), Recoding("png", center_crop=True)):
        assert recode_png_files(files, recoding)[1] == [None] * len(MODES)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 17 * 13 - 1)
    assert recode_png_files(files, Recoding("png"))[1] == [None] * len(MODES)


@pytest.mark.parametrize("mode", ["L", "LA", "RGB", "RGBA"])
def test_encode_png_equals_recoded_png_file(mode: str) -> None:
    encoded = encode_png(noise_image(mode))
    assert encoded == recode_png_files(Ragged.from_rows([encode_image(noise_image(mode))]), Recoding("png"))[0][0]


@pytest.mark.parametrize("mode", ["1", "P", "I;16", "CMYK"])
def test_encode_png_returns_none_for_other_samples(mode: str) -> None:
    assert encode_png(Image.new(mode, (3, 2))) is None
    assert encode_png(Image.new("L", (0, 2))) is None


def test_native_png_functions_reject_invalid_arguments() -> None:
    with pytest.raises(_core.ImageRefused, match="bad_argument"):
        _core.encode_png(bytes(11), 2, 2, 3)
    with pytest.raises(ValueError, match="channels must be one of stored, gray, rgb, got"):
        _core.recode_png([b""], "blue", False, 1)


@pytest.mark.parametrize("color", [None, True, False])
@pytest.mark.parametrize("mode", ["L", "RGB", "CMYK"])
@pytest.mark.parametrize(
    "extra",
    [{}, {"comment": b"a comment"}, {"exif": rotated_exif()}, {"icc_profile": ICC_PROFILE}, {"progressive": True}],
    ids=["plain", "comment", "exif", "profile", "progressive"],
)
@pytest.mark.parametrize("exif", [False, True])
def test_recoded_jpeg_equals_bytes_of_pillow(mode: str, color: bool | None, extra: dict, exif: bool) -> None:
    data, recoding = encode_image(noise_image(mode), "JPEG", **extra), Recoding("jpeg", 90, color=color, exif=exif)
    expected = encode_image(open_with_pillow(data, recoding), "JPEG", quality=90, restart_marker_rows=1)
    assert recode_image(data, recoding) == (expected, Image.open(io.BytesIO(expected)).size[::-1])


def test_recode_image_decodes_plain_jpeg_without_pillow(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("opened by Pillow")

    color, gray = encode_image(noise_image("RGB"), "JPEG"), encode_image(noise_image("L"), "JPEG")
    commented = encode_image(noise_image("RGB"), "JPEG", comment=b"a comment")
    monkeypatch.setattr(Image, "open", fail)
    for data, options in ((color, {}), (gray, {}), (gray, {"color": False}), (color, {"color": True})):
        assert recode_image(data, Recoding("jpeg", **options))[1] == (13, 17)
    for data, recoding in (
        (color, Recoding("png")),
        (color, Recoding("jpeg", resize=5)),
        (color, Recoding("jpeg", center_crop=4)),
        (color, Recoding("jpeg", color=False)),
        (commented, Recoding("jpeg")),
        (color[:200], Recoding("jpeg")),
    ):
        with pytest.raises(ImageError, match="opened by Pillow"):
            recode_image(data, recoding)


@pytest.mark.parametrize("data, encoding", [(smooth_jpeg(1), "jpeg"), (encode_image(noise_image("RGB")), "png")])
def test_recode_rejects_image_above_pixel_limit_of_pillow(
    data: bytes, encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 10)
    with pytest.raises(ImageError, match="cannot be decoded"):
        recode_any(data, Recoding(encoding))


def test_output_file_contains_only_latest_output() -> None:
    for data in (b"longer bytes", b"short", b""):
        file = get_thread_output_file()
        file.write(data)
        assert read_written_bytes(file) == data


def test_output_file_releases_memory_of_large_output() -> None:
    get_thread_output_file().write(bytes(9 << 20))
    file = get_thread_output_file()
    assert os.fstat(file.fileno()).st_size == 0
    file.write(bytes(1 << 20))
    assert os.fstat(get_thread_output_file().fileno()).st_size == 1 << 20


def test_output_file_is_separate_for_each_thread() -> None:
    barrier = threading.Barrier(4)

    def use(number: int) -> tuple[int, bytes]:
        file = get_thread_output_file()
        file.write(bytes([number]) * 1000)
        barrier.wait()
        return file.fileno(), read_written_bytes(file)

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(use, range(4)))
    assert len({descriptor for descriptor, _ in results}) == 4
    assert [data for _, data in results] == [bytes([number]) * 1000 for number in range(4)]


def test_output_file_is_closed_when_thread_ends() -> None:
    files = []
    thread = threading.Thread(target=lambda: files.append(get_thread_output_file()))
    thread.start()
    thread.join()
    gc.collect()
    assert files[0].closed

"""Pictures encoded anew natively, wholly or in part: what Pillow alone would store, and files that are left to it."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageCms, ImageOps
from PIL.PngImagePlugin import PngInfo

from recordmill import ImageFolder, _core, pack
from recordmill.errors import ImageError
from recordmill.packing.recode import Recoding, _decode_plain_jpeg, encode_png, recode_image, recode_png_files
from recordmill.types import Ragged
from tests.packing.packed import everything, read
from tests.packing.pictures import jpeg
from tests.pictures import encode

PROFILE = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
MODES = ["1", "L", "LA", "P", "RGB", "RGBA"]


def picture(mode: str, width: int = 17, height: int = 13) -> Image.Image:
    samples = np.random.default_rng(5).integers(0, 256, (height, width, 4)).astype(np.uint8)
    return Image.fromarray(samples if mode in ("LA", "RGBA") else samples[:, :, :3]).convert(mode)


def sideways() -> Image.Exif:
    exif = Image.Exif()
    exif[0x0112] = 6
    return exif


def text_exif() -> PngInfo:
    """Return EXIF as ImageMagick stores it: hexadecimal text."""
    body = sideways().tobytes()
    info = PngInfo()
    info.add_text("Raw profile type exif", f"\nexif\n{len(body):8}\n{body.hex()}\n", zip=True)
    return info


def by_pillow(data: bytes, how: Recoding) -> Image.Image:
    """Open a picture and bring it to the mode that is stored, with Pillow alone."""
    image = Image.open(io.BytesIO(data))
    image.load()
    image = ImageOps.exif_transpose(image) if how.exif else image
    return image if how.color is None else image.convert("RGB" if how.color else "L")


def packed(data: bytes, how: Recoding) -> tuple[bytes, tuple[int, int]]:
    """As packing stores a file: natively as a whole, or else by `recode`."""
    made, shapes = recode_png_files(Ragged.from_rows([data]), how)
    return (made[0], shapes[0]) if shapes[0] else recode_image(data, how)


@pytest.mark.parametrize("color", [None, True, False])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "extra",
    [{}, {"icc_profile": PROFILE}, {"transparency": 3}, {"exif": sideways()}, {"pnginfo": text_exif()}],
    ids=["plain", "profile", "transparent", "exif", "text"],
)
@pytest.mark.parametrize("exif", [False, True])
def test_png_when_encoded_anew_then_is_what_pillow_would_store(
    mode: str, color: bool | None, extra: dict, exif: bool
) -> None:
    if "transparency" in extra:
        extra = {"L": {"transparency": 3}, "P": {"transparency": 3}, "RGB": {"transparency": (1, 2, 3)}}.get(mode, {})
    data, how = encode(picture(mode), **extra), Recoding("png", color=color, exif=exif)
    expected = Image.open(io.BytesIO(encode(by_pillow(data, how))))
    made, shape = packed(data, how)
    found = Image.open(io.BytesIO(made))
    assert (found.format, found.mode, found.size) == ("PNG", expected.mode, expected.size)
    assert found.tobytes() == expected.tobytes() and shape == found.size[::-1]
    for name in ("icc_profile", "transparency"):
        assert found.info.get(name) == expected.info.get(name)


def test_png_when_it_holds_pixels_alone_then_is_encoded_without_pillow(monkeypatch: pytest.MonkeyPatch) -> None:
    files = Ragged.from_rows([encode(picture(mode)) for mode in MODES])
    assert None not in recode_png_files(files, Recoding("png", color=True, exif=True))[1]
    assert recode_png_files(files, Recoding("png"))[1] == [None, (13, 17), (13, 17), None, (13, 17), (13, 17)]
    for how in (Recoding("jpeg"), Recoding("png", resize=5), Recoding("png", center_crop=True)):
        assert recode_png_files(files, how)[1] == [None] * len(MODES)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 17 * 13 - 1)
    assert recode_png_files(files, Recoding("png"))[1] == [None] * len(MODES)


@pytest.mark.parametrize("mode", ["L", "LA", "RGB", "RGBA"])
def test_png_when_of_a_picture_then_is_that_of_a_file_with_its_pixels(mode: str) -> None:
    made = encode_png(picture(mode))
    assert made == recode_png_files(Ragged.from_rows([encode(picture(mode))]), Recoding("png"))[0][0]


@pytest.mark.parametrize("mode", ["1", "P", "I;16", "CMYK"])
def test_png_when_a_picture_has_other_samples_then_is_left_to_pillow(mode: str) -> None:
    assert encode_png(Image.new(mode, (3, 2))) is None
    assert encode_png(Image.new("L", (0, 2))) is None


def test_png_when_samples_and_size_disagree_then_is_refused() -> None:
    with pytest.raises(_core.ImageRefused, match="bad_argument"):
        _core.encode_png(bytes(11), 2, 2, 3)
    with pytest.raises(ValueError, match="channels is not"):
        _core.recode_png([b""], "blue", False, 1)


@pytest.mark.parametrize("color", [None, True, False])
@pytest.mark.parametrize("mode", ["L", "RGB", "CMYK"])
@pytest.mark.parametrize(
    "extra",
    [{}, {"comment": b"words"}, {"exif": sideways()}, {"icc_profile": PROFILE}, {"progressive": True}],
    ids=["plain", "comment", "exif", "profile", "progressive"],
)
@pytest.mark.parametrize("exif", [False, True])
def test_jpeg_when_encoded_anew_then_is_byte_for_byte_what_pillow_makes(
    mode: str, color: bool | None, extra: dict, exif: bool
) -> None:
    data, how = encode(picture(mode), "JPEG", **extra), Recoding("jpeg", 90, color=color, exif=exif)
    expected = encode(by_pillow(data, how), "JPEG", quality=90, restart_marker_rows=1)
    assert recode_image(data, how) == (expected, Image.open(io.BytesIO(expected)).size[::-1])


def test_jpeg_when_it_holds_pixels_alone_then_pillow_gets_no_copy() -> None:
    data = encode(picture("RGB"), "JPEG")
    plain = _decode_plain_jpeg(data, Recoding("jpeg"))
    assert plain is not None and plain.mode == "RGBX" and plain.readonly
    gray = _decode_plain_jpeg(encode(picture("L"), "JPEG"), Recoding("jpeg", color=False))
    assert gray is not None and gray.mode == "L" and gray.readonly
    for how in (
        Recoding("png"),
        Recoding("jpeg", resize=5),
        Recoding("jpeg", center_crop=4),
        Recoding("jpeg", color=False),
    ):
        assert _decode_plain_jpeg(data, how) is None
    assert _decode_plain_jpeg(encode(picture("RGB"), "JPEG", comment=b"words"), Recoding("jpeg")) is None
    assert _decode_plain_jpeg(data[:200], Recoding("jpeg")) is None


@pytest.mark.parametrize("data, encoding", [(jpeg(1), "jpeg"), (encode(picture("RGB")), "png")])
def test_picture_when_larger_than_pillow_may_open_then_is_an_image_error(
    data: bytes, encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 10)
    with pytest.raises(ImageError, match="cannot be decoded"):
        packed(data, Recoding(encoding))


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """Ninety files: native ones, ones for Pillow, and two damaged ones among them."""
    (tmp_path / "in").mkdir()
    kinds = [("RGB", "PNG"), ("L", "PNG"), ("P", "PNG"), ("RGB", "JPEG"), ("1", "PNG"), ("RGB", "TIFF")]
    for number in range(90):
        mode, encoding = kinds[number % len(kinds)]
        data = encode(picture(mode, 5 + number), encoding)
        path = tmp_path / "in" / f"{number:02}.{encoding.lower()}"
        path.write_bytes(data[:70] if number in (6, 67) else data)
    return tmp_path / "in"


@pytest.mark.parametrize("encoding", ["png", "jpeg"])
@pytest.mark.parametrize("color", [None, True])
def test_folder_when_some_files_are_left_to_pillow_then_order_and_bytes_are_the_same_for_all_workers(
    encoding: str, color: bool | None, mixed: Path, tmp_path: Path
) -> None:
    for workers in (1, 3):
        result = pack(
            ImageFolder(mixed, labels=None),
            tmp_path / f"{workers}/out",
            encode=encoding,
            color=color,
            keep_shape=True,
            keep_name=True,
            on_error="skip",
            workers=workers,
            shards=2,
        )
        assert [Path(path).name for path, _ in result.skipped] == ["06.png", "67.png"] and result.num_records == 88
    assert everything(tmp_path / "1") == everything(tmp_path / "3")
    for path in result.paths:
        columns = read(path)
        for data, name, height, width in zip(
            *(columns[key] for key in ("image", "name", "height", "width")), strict=True
        ):
            source, found = (mixed / name.decode()).read_bytes(), Image.open(io.BytesIO(data))
            assert (found.height, found.width) == (height, width)
            expected = by_pillow(source, Recoding(encoding, color=color))
            if encoding == "png":
                assert found.mode == expected.mode and found.tobytes() == expected.tobytes()
            elif expected.mode in ("L", "RGB"):
                assert data == encode(expected, "JPEG", quality=95, restart_marker_rows=1)

"""Sizes that pictures may be given: long thin ones grow beyond memory when their shorter side is scaled."""

from __future__ import annotations

import io
import os
import threading
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Literal, cast

import numpy as np

from recordmill import _core
from recordmill.decode.native_image import try_native
from recordmill.decode.pillow import check_depth, import_pillow, open_image, to_16_bits
from recordmill.errors import ImageError
from recordmill.packing.png import encode_png, max_pixels, plain_picture

if TYPE_CHECKING:
    from PIL.Image import Image

# Pixels of a side that an encoding can store.
_LARGEST_SIDE = {"jpeg": 65_500, "webp": 16_383}


def refuse_large(before: tuple[int, int], after: tuple[int, int]) -> None:
    """Refuse to scale a picture to more pixels than one may have that is opened."""
    limit = max(max_pixels(), before[0] * before[1])
    if after[0] * after[1] > limit:
        raise ImageError(
            "the picture would be too large when its shorter side is scaled",
            kind="limit_exceeded",
            expected=f"at most {limit:,} pixels",
            found=f"{after[0]} x {after[1]}",
        )


def refuse_long(size: tuple[int, int], encoding: str) -> None:
    """Refuse a picture with a side that the encoding cannot store."""
    limit = _LARGEST_SIDE.get(encoding, max(size))
    if max(size) > limit:
        raise ImageError(
            f"the picture is too large for {encoding.upper()}",
            kind="limit_exceeded",
            expected=f"at most {limit:,} pixels each way",
            found=f"{size[0]} x {size[1]}",
            hint='encode="png" and encode="tiff" store it',
        )


# Bytes above which memory is given back; below, fresh pages would cost more.
_KEPT = 8 << 20


class _Held:
    """A file that is closed when nobody has it any more, as when its thread ends."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self.file = _new_file()

    def __del__(self) -> None:
        self.file.close()


class _Local(threading.local):
    """The file of a thread."""

    held: _Held | None = None


_LOCAL = _Local()


def scratch_file() -> IO[bytes]:
    """Return a file that belongs to this thread of this process until it is asked for again, at its beginning."""
    held = _LOCAL.held
    if held is None or held.process != os.getpid():
        held = _LOCAL.held = _Held()
    if held.file.seek(0, os.SEEK_END) > _KEPT:
        held.file.truncate(0)
    held.file.seek(0)
    return held.file


def _new_file() -> IO[bytes]:
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("recordmill"), "w+b", buffering=0)
    import tempfile

    return cast("IO[bytes]", tempfile.TemporaryFile(buffering=0))


def contents(file: IO[bytes]) -> bytes:
    """Everything that was written to a scratch file since it was asked for."""
    length = file.tell()
    file.seek(0)
    parts = []
    while length > 0 and (part := file.read(length)):
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


Encoding = Literal["jpeg", "png", "tiff", "webp"]
_SAVE: dict[str, dict[str, Any]] = {
    "jpeg": {"format": "JPEG"},
    "png": {"format": "PNG"},
    "tiff": {"format": "TIFF", "compression": "tiff_lzw"},
    "webp": {"format": "WEBP"},
}
# Pillow modes that each encoding stores as they are.
_MODES = {
    "jpeg": ("L", "RGB", "CMYK"),
    "png": ("1", "L", "LA", "P", "RGB", "RGBA", "I;16"),
    "tiff": ("1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "I;16"),
    "webp": ("RGB", "RGBA"),
}
_LOSSY = ("jpeg", "webp")


@dataclass(frozen=True, slots=True)
class Recoding:
    """What happens to a picture before it is stored.

    Parameters
    ----------
    encode : {"jpeg", "png", "tiff", "webp"}
    quality : int
        1 to 100, of JPEG and WebP.
    resize : int, optional
        Pixels of the shorter side; the longer one is ``other * resize // shorter``. Bilinear with antialiasing.
    center_crop : bool or int
        True: a square of the shorter side, cut before resizing. A number: a square of so many pixels, cut after it.
    color : bool, optional
        True for RGB, False for gray, None for what the file holds.
    exif : bool
        Whether a rotation that EXIF asks for is carried out.
    restart_markers : bool
        Whether a JPEG gets a restart marker at each row of blocks, by which decoders can begin there.
    """

    encode: Encoding
    quality: int = 95
    resize: int | None = None
    center_crop: bool | int = False
    color: bool | None = None
    exif: bool = False
    restart_markers: bool = True

    @property
    def keeps_size(self) -> bool:
        """Whether pictures are neither cut nor scaled."""
        return self.resize is None and self.center_crop is False

    @property
    def moves_pixels(self) -> bool:
        """Whether masks must be changed with their images."""
        return not self.keeps_size or self.exif


def recode(data: Any, how: Recoding) -> tuple[bytes, tuple[int, int]]:
    """Decode a picture and encode it anew."""
    plain = plain_picture(data, how)
    if plain is not None:
        return save_picture(plain, how), (plain.height, plain.width)
    with open_image(data) as image:
        check_depth(image, data)
        picture = _fit_mode(move_pixels(_loaded(image, data), how, nearest=False), how)
        refuse_long(picture.size, how.encode)
        return save_picture(picture, how), (picture.height, picture.width)


def _loaded(image: Image, data: Any) -> Image:
    """Decode an opened picture: JPEG natively, which gives the same pixels in less time."""
    if image.format == "JPEG" and image.mode in ("L", "RGB"):
        limit = image.width * image.height
        pixels = try_native(lambda: _core.decode_jpeg(data, None, "stored", "accurate", "fancy", "pillow", 1, limit))
        if pixels is not None:
            picture = import_pillow().fromarray(pixels[:, :, 0] if pixels.shape[2] == 1 else pixels)
            picture.info = image.info
            return cast("Image", picture)
    image.load()  # saving copies pictures that were never loaded
    return image


def save_picture(picture: Image, how: Recoding) -> bytes:
    """Encode a picture whose mode the encoding stores."""
    options = dict(_SAVE[how.encode])
    if how.encode in _LOSSY:
        options["quality"] = how.quality
    if picture.mode == "P" and how.encode == "png":
        picture = _with_whole_palette(picture)
    if how.encode == "png" and (made := encode_png(picture)) is not None:
        return made
    if how.encode == "jpeg":
        if how.restart_markers:
            options["restart_marker_rows"] = 1
        file = scratch_file()
        picture.save(file, **options)
        return contents(file)
    out = io.BytesIO()
    picture.save(out, **options)
    return out.getvalue()


def _with_whole_palette(picture: Image) -> Image:
    """Give every index a color: Pillow chooses the bits per pixel by the palette's length, and cuts what is beyond."""
    colors = picture.getpalette() or []
    missing = int(np.asarray(picture).max(initial=0)) + 1 - len(colors) // 3
    if missing <= 0:
        return picture
    whole = picture.copy()
    whole.putpalette([*colors, *[0] * (3 * missing)])
    return whole


def move_pixels(image: Image, how: Recoding, *, nearest: bool) -> Image:
    """Rotate, cut and scale a picture."""
    module = import_pillow()
    if how.exif:
        from PIL import ImageOps

        image = ImageOps.exif_transpose(image)
    if how.center_crop is True:
        image = _center(image, min(image.size))
    if how.resize is not None:
        width, height = image.size
        shorter = min(width, height)
        size = (
            (how.resize, height * how.resize // shorter)
            if width < height
            else (width * how.resize // shorter, how.resize)
        )
        refuse_large(image.size, size)
        kernel = module.Resampling.NEAREST if nearest or image.mode in ("P", "1") else module.Resampling.BILINEAR
        image = image.resize(size, kernel)
    if how.center_crop is not True and how.center_crop is not False:
        if min(image.size) < how.center_crop:
            raise ImageError(
                "the picture is smaller than the center crop",
                kind="small_image",
                expected=f"at least {how.center_crop} pixels each way",
                found=f"{image.width} x {image.height}",
                hint="resize first: resize=...",
            )
        image = _center(image, how.center_crop)
    return image


def _center(image: Image, side: int) -> Image:
    left, top = (image.width - side) // 2, (image.height - side) // 2
    return image.crop((left, top, left + side, top + side))


def _fit_mode(image: Image, how: Recoding) -> Image:
    """Bring a picture to a mode that the encoding stores, and to color or gray if asked."""
    if image.mode.startswith("I"):
        image = to_16_bits(image)
        if how.encode in _LOSSY or how.color:
            what = "as RGB" if how.color else f"as {how.encode.upper()}"
            raise ImageError(
                f"a 16-bit picture cannot be stored {what} without loss",
                kind="lost_depth",
                expected="8 bits per sample",
                found="16",
                hint='encode="png" keeps 16 bits, and so do the bytes as they are',
            )
        return image
    if how.color is not None:
        wanted = "RGB" if how.color else "L"
    else:
        wanted = image.mode if image.mode in _MODES[how.encode] else _nearest_mode(image, how)
    return image if image.mode == wanted else image.convert(wanted)


def _nearest_mode(image: Image, how: Recoding) -> str:
    if image.mode in ("1", "L", "LA") and "L" in _MODES[how.encode]:
        return "L"
    return "RGBA" if image.has_transparency_data and "RGBA" in _MODES[how.encode] else "RGB"


def image_shape(data: Any) -> tuple[int, int]:
    """Height and width that an encoded picture declares."""
    with open_image(data) as image:
        return image.height, image.width


def decode_whole(data: Any) -> None:
    """Decode a picture to its last pixel as training will, and forget it."""
    head, limit, done = bytes(memoryview(data)[:26]), 2 * max_pixels(), None
    if head.startswith(b"\xff\xd8"):
        done = try_native(lambda: _core.decode_jpeg(data, None, "stored", "accurate", "fancy", "pillow", 1, limit))
    elif head.startswith(b"\x89PNG\r\n\x1a\n"):
        has_palette = head[25:] == b"\x03"
        done = try_native(lambda: _core.decode_png(data, has_palette, limit))
    if done is None:
        with open_image(data) as image:
            image.load()

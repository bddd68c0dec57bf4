"""Pictures through Pillow: cut, scaled and encoded anew, and masks as arrays of exact values."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from recordmill.errors import ImageError, MissingExtraError

if TYPE_CHECKING:
    from PIL.Image import Image

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
_SAMPLE_BITS = 258  # the TIFF tag BitsPerSample


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
        True for RGB, False for grey, None for what the file holds.
    exif : bool
        Whether a rotation that EXIF asks for is carried out.
    """

    encode: Encoding
    quality: int = 95
    resize: int | None = None
    center_crop: bool | int = False
    color: bool | None = None
    exif: bool = False

    @property
    def moves_pixels(self) -> bool:
        """Whether masks must be changed with their images."""
        return self.resize is not None or self.center_crop is not False or self.exif


def need_pillow() -> Any:
    """Return the module ``PIL.Image``.

    Returns
    -------
    module

    Raises
    ------
    MissingExtraError
        Pillow is not installed.
    """
    try:
        from PIL import Image
    except ImportError:
        hint = "pip install 'recordmill[image]'"
        raise MissingExtraError("re-encoding and looking into images needs Pillow", hint=hint) from None
    return Image


def recode(data: Any, how: Recoding) -> tuple[bytes, tuple[int, int]]:
    """Decode a picture and encode it anew.

    Parameters
    ----------
    data : buffer
        An encoded picture.
    how : Recoding

    Returns
    -------
    data : bytes
    shape : (int, int)
        Height and width.

    Raises
    ------
    ImageError
        The bytes are no picture, or one that the encoding cannot store without loss of depth.
    """
    with _opened(data) as image:
        _refuse_lost_depth(image, data)
        picture = _fit_mode(_move(image, how, nearest=False), how)
        return _save(picture, how), (picture.height, picture.width)


def _save(picture: Image, how: Recoding) -> bytes:
    options = dict(_SAVE[how.encode])
    if how.encode in _LOSSY:
        options["quality"] = how.quality
    if picture.mode == "P" and how.encode == "png":
        options["bits"] = 8  # fewer would be chosen by the palette's length, and cut indices beyond it
    out = io.BytesIO()
    picture.save(out, **options)
    return out.getvalue()


def _move(image: Image, how: Recoding, *, nearest: bool) -> Image:
    module = need_pillow()
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
        kernel = module.Resampling.NEAREST if nearest or image.mode in ("P", "1") else module.Resampling.BILINEAR
        image = image.resize(size, kernel)
    if how.center_crop is not True and how.center_crop is not False:
        if min(image.size) < how.center_crop:
            raise ImageError(
                "the picture is smaller than the centre crop",
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
    """Bring a picture to a mode that the encoding stores, and to colour or grey if asked."""
    if image.mode.startswith("I"):
        image = _sixteen_bits(image)
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


def _sixteen_bits(image: Image) -> Image:
    """Grey of 16 bits, which older Pillow opens as 32-bit numbers."""
    if image.mode == "I;16":
        return image
    values = np.asarray(image)
    if values.min(initial=0) < 0 or values.max(initial=0) > 0xFFFF:
        raise ImageError(
            "the picture has values beyond 16 bits", kind="lost_depth", expected="0 to 65535", found=image.mode
        )
    module = need_pillow()
    return module.fromarray(values.astype(np.uint16))  # type: ignore[no-any-return]


def read_mask(data: Any, how: Recoding | None = None) -> NDArray[Any]:
    """Values of a mask, exactly: indices of a palette picture, grey levels else.

    Parameters
    ----------
    data : buffer
        An encoded picture.
    how : Recoding, optional
        Its cuts and sizes are followed, without mixing neighbours.

    Returns
    -------
    ndarray of uint8 or uint16, shape (height, width)

    Raises
    ------
    ImageError
        The bytes are no picture, or one of several values per pixel.
    """
    with _opened(data) as image:
        moved = image if how is None else _move(image, how, nearest=True)
        if moved.mode.startswith("I"):
            return np.asarray(_sixteen_bits(moved)).astype("<u2")
        _refuse_many_channels(moved)
        return np.asarray(moved).astype(np.uint8)


def recode_mask(data: Any, how: Recoding) -> bytes:
    """Move the pixels of a mask with those of its image; a PNG whose values, palette and depth stay.

    Parameters
    ----------
    data : buffer
        An encoded picture.
    how : Recoding

    Returns
    -------
    bytes

    Raises
    ------
    ImageError
        The bytes are no picture, or one of several values per pixel.
    """
    with _opened(data) as image:
        moved = _move(image, how, nearest=True)
        if moved.mode.startswith("I"):
            moved = _sixteen_bits(moved)
        else:
            _refuse_many_channels(moved)
        return _save(moved, Recoding("png"))


def _refuse_many_channels(image: Image) -> None:
    if image.mode not in ("P", "L", "1"):
        raise ImageError(
            "a mask holds one value per pixel",
            kind="bad_mask",
            expected="a palette or grey picture",
            found=f"mode {image.mode}",
            hint="palette colours cannot be turned back into classes: use the original palette files",
        )


def image_shape(data: Any) -> tuple[int, int]:
    """Height and width that an encoded picture declares.

    Parameters
    ----------
    data : buffer

    Returns
    -------
    (int, int)

    Raises
    ------
    ImageError
        The bytes are no picture.
    """
    with _opened(data) as image:
        return image.height, image.width


def decode_whole(data: Any) -> None:
    """Decode a picture to its last pixel, and forget it.

    Parameters
    ----------
    data : buffer

    Raises
    ------
    ImageError
        The bytes are no whole picture.
    """
    with _opened(data) as image:
        image.load()


class _opened:  # noqa: N801
    """An open picture; whatever Pillow raises inside becomes an ImageError, as damaged files make it raise anything."""

    def __init__(self, data: Any) -> None:
        self._module, self._data = need_pillow(), data

    def __enter__(self) -> Image:
        try:
            self._image: Image = self._module.open(io.BytesIO(self._data))
        except Exception as error:
            raise _unreadable(error) from error
        return self._image

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        self._image.close()
        if isinstance(error, Exception) and not isinstance(error, ImageError | MissingExtraError | MemoryError):
            raise _unreadable(error) from error


def _unreadable(error: Exception) -> ImageError:
    cause = "no picture that Pillow knows" if "cannot identify image file" in str(error) else str(error) or repr(error)
    return ImageError(f"the image cannot be decoded: {cause}", kind="bad_image")


def _refuse_lost_depth(image: Image, data: Any) -> None:
    """Refuse pictures of which Pillow would silently give the high bytes only: 16-bit colour."""
    head = bytes(memoryview(data)[:26])
    deep_png = head[:8] == b"\x89PNG\r\n\x1a\n" and head[24:25] == b"\x10" and head[25:26] != b"\x00"
    bits = image.tag_v2.get(_SAMPLE_BITS, (8,)) if image.format == "TIFF" else (8,)  # type: ignore[attr-defined]
    deep_tiff = image.mode[0] != "I" and max(bits) > 8
    if deep_png or deep_tiff:
        raise ImageError(
            "a 16-bit colour picture would lose its low bits",
            kind="lost_depth",
            expected="8 bits per sample, or 16-bit grey",
            found="16-bit colour",
            hint="pack the bytes as they are: leave encode= out",
        )

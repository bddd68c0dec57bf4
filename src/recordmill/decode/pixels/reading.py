"""Encoded images to pixels, with Pillow: which channels, which depth, which conversions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from recordmill.decode.pillow import refuse_lost_depth, sixteen_bits
from recordmill.decode.pixels.grays import cmyk_like_opencv, cmyk_like_tensorflow, gray_like_libpng, gray_like_opencv
from recordmill.decode.pixels.scans import check_scans
from recordmill.errors import ImageError

if TYPE_CHECKING:
    from PIL.Image import Image

JPEG_FORMATS = ("JPEG", "MPO")
_KEPT = ("L", "LA", "RGB", "RGBA", "CMYK")
# Of one that differs from 1 by less, libpng makes nothing.
_INSIGNIFICANT_GAMMA = 0.05


@dataclass(frozen=True, slots=True)
class Reading:
    """What to make of an encoded image; the words are those of `Preset`.

    Parameters
    ----------
    channels : {"rgb", "gray", "stored"}
    dct : {"accurate", "fast"}
    upsampling : {"fancy", "plain"}
    gray : {"pillow", "libpng"}
    cmyk : {"pillow", "opencv", "tensorflow"}
    deep : {"refuse", "high_byte", "keep"}
    scale : int
        1, 2, 4 or 8.
    """

    channels: Literal["rgb", "gray", "stored"] = "rgb"
    dct: str = "accurate"
    upsampling: str = "fancy"
    gray: str = "pillow"
    cmyk: str = "pillow"
    deep: str = "keep"
    scale: int = 1


def prepare(image: Image, data: Any, how: Reading) -> None:
    """Set an opened image up for a reading, and refuse what Pillow would do in another way than asked."""
    if how.deep != "high_byte":
        refuse_lost_depth(image, data)
    if image.format in JPEG_FORMATS:
        check_scans(data, image.width, image.height)
        _prepare_jpeg(image, how)
    elif how.scale != 1:
        raise ImageError(
            f"only JPEG can be decoded at 1/{how.scale}", kind="bad_scale", expected="JPEG", found=str(image.format)
        )


def _prepare_jpeg(image: Image, how: Reading) -> None:
    if how.dct != "accurate":
        _refuse('the fast inverse DCT, dct="accurate"')
    luma = how.channels == "gray" and how.gray == "libpng" and image.mode == "RGB"
    if how.upsampling != "fancy" and image.mode != "L" and not luma:
        _refuse('plain upsampling, upsampling="fancy"')
    if how.scale == 1 and not luma:
        return
    wanted = tuple(-(-side // how.scale) for side in image.size)
    target = tuple(max(1, side // how.scale) for side in image.size)
    image.draft("L" if luma else None, target if how.scale > 1 else None)  # type: ignore[arg-type]
    if image.size != wanted or (how.scale > 1 and image.decoderconfig[:1] != (how.scale,)):  # type: ignore[attr-defined]
        _refuse(f"1/{how.scale} of so small a picture, scale=1")


def _refuse(what: str) -> None:
    missing, _, instead = what.partition(", ")
    raise ImageError(f"Pillow has no {missing} for JPEG", kind="unsupported", hint=f"use {instead}")


def read_pixels(image: Image, how: Reading) -> NDArray[Any]:
    """Pixels of an opened and prepared image."""
    image.load()
    if image.mode[0] in "IF":
        pixels = _deep_gray(image, how)
        return np.repeat(pixels, 3, axis=2) if how.channels == "rgb" else pixels
    if how.channels == "rgb" or (image.mode == "CMYK" and how.channels == "stored" and how.cmyk == "tensorflow"):
        return _rgb(image, how)
    return _gray(image, how) if how.channels == "gray" else _array(_as_stored(image))


def _array(image: Image) -> NDArray[np.uint8]:
    pixels = np.asarray(image)
    return pixels[:, :, None] if pixels.ndim == 2 else pixels


def _deep_gray(image: Image, how: Reading) -> NDArray[Any]:
    if image.mode == "F":
        raise ImageError("a picture of fractions has no levels", kind="unsupported", found="mode F")
    levels = np.asarray(sixteen_bits(image)).astype(np.uint16)[:, :, None]
    if how.deep == "keep":
        return levels
    if how.deep == "high_byte":
        return (levels >> 8).astype(np.uint8)
    raise ImageError(
        "a 16-bit picture would lose its low bits",
        kind="lost_depth",
        expected="8 bits per sample",
        found="16",
        hint='dtype="uint16" or a float dtype keeps them',
    )


def _rgb(image: Image, how: Reading) -> NDArray[np.uint8]:
    if image.mode == "CMYK" and how.cmyk != "pillow":
        inks, adobe = np.asarray(image), "adobe" in image.info
        return cmyk_like_opencv(inks) if how.cmyk == "opencv" else cmyk_like_tensorflow(inks, adobe=adobe)
    return np.asarray(image if image.mode == "RGB" else image.convert("RGB"))


def _gray(image: Image, how: Reading) -> NDArray[np.uint8]:
    if image.mode in ("L", "LA", "1") or how.gray == "pillow":
        return _array(image.convert("L"))
    if image.mode == "CMYK" and how.cmyk == "opencv":
        return gray_like_opencv(_rgb(image, how))
    if image.mode == "CMYK":
        raise ImageError(
            "a CMYK picture has no luma plane",
            kind="unsupported",
            expected="gray or YCbCr",
            found="CMYK",
            hint='like="pillow" converts it',
        )
    colors = np.asarray(image.convert("RGB"))
    if image.format == "PNG":
        _refuse_gamma(image)
        return gray_like_libpng(colors)
    return gray_like_opencv(colors, 15 if image.format == "WEBP" else 14)


def _refuse_gamma(image: Image) -> None:
    """Refuse colors that libpng would weigh in linear light; of 8 bits the native decoder does so."""
    gamma = 0.45455 if "srgb" in image.info else image.info.get("gamma", 1.0)
    if "icc_profile" not in image.info and abs(gamma - 1) > _INSIGNIFICANT_GAMMA:
        raise ImageError(
            "the gray of this color picture is known in linear light alone",
            kind="unsupported",
            expected="8 bits per sample, or no gAMA and sRGB chunk",
            found=f"gamma {gamma:g}",
            hint='like="pillow" does not look at it',
        )


def stored_mode(image: Image) -> str:
    """Pillow mode of what a file holds, palette looked up and transparent colors as a channel."""
    if image.mode[0] in "IF":
        return "I;16"
    transparent = image.has_transparency_data
    if image.mode in ("1", "L"):
        return "LA" if transparent else "L"
    if image.mode == "LA" or (image.mode in _KEPT and not transparent):
        return image.mode
    return "RGBA" if transparent else "RGB"


def _as_stored(image: Image) -> Image:
    wanted = stored_mode(image)
    return image if image.mode == wanted else image.convert(wanted)

"""Opens pictures with Pillow, which is only needed here: errors with names, and no silent loss of depth."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np

from recordmill.errors import ImageError, MissingExtraError, RecordmillError

if TYPE_CHECKING:
    from PIL.Image import Image

_SAMPLE_BITS = 258  # the TIFF tag BitsPerSample


def need_pillow() -> Any:
    """Return the module ``PIL.Image``."""
    try:
        from PIL import Image
    except ImportError:
        hint = "pip install 'recordmill[image]'"
        raise MissingExtraError("working on images needs Pillow", hint=hint) from None
    return Image


class opened:  # noqa: N801
    """An open picture; whatever Pillow raises inside becomes an ImageError, as damaged files make it raise anything.

    Parameters
    ----------
    data : buffer
        An encoded picture.
    """

    def __init__(self, data: Any) -> None:
        self._module, self._data = need_pillow(), data

    def __enter__(self) -> Image:
        try:
            image: Image = self._module.open(io.BytesIO(self._data))
        except Exception as error:
            raise _unreadable(error) from error
        if image.format == "EPS":
            image.close()
            raise ImageError("a PostScript picture is a program, which is not run", kind="unsupported", found="EPS")
        self._image = image
        return image

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        self._image.close()
        if isinstance(error, Exception) and not isinstance(error, RecordmillError | MemoryError):
            raise _unreadable(error) from error


def _unreadable(error: Exception) -> ImageError:
    cause = "no picture that Pillow knows" if "cannot identify image file" in str(error) else str(error) or repr(error)
    is_bomb = type(error).__name__.startswith("DecompressionBomb")
    hint = "PIL.Image.MAX_IMAGE_PIXELS sets Pillow's limit" if is_bomb else None
    kind = "limit_exceeded" if is_bomb else "bad_image"
    return ImageError(f"the image cannot be decoded: {cause}", kind=kind, hint=hint)


def sixteen_bits(image: Image) -> Image:
    """Gray of 16 bits, which older Pillow opens as 32-bit numbers."""
    if image.mode == "I;16":
        return image
    values = np.asarray(image)
    if values.min(initial=0) < 0 or values.max(initial=0) > 0xFFFF:
        raise ImageError(
            "the picture has values beyond 16 bits", kind="lost_depth", expected="0 to 65535", found=image.mode
        )
    gray: Image = need_pillow().fromarray(values.astype(np.uint16))
    return gray


def refuse_lost_depth(image: Image, data: Any) -> None:
    """Raise if Pillow would silently return only the high bytes: 16-bit color and floating-point images."""
    head = bytes(memoryview(data)[:26])
    deep_png = head[:8] == b"\x89PNG\r\n\x1a\n" and head[24:25] == b"\x10" and head[25:26] != b"\x00"
    bits = image.tag_v2.get(_SAMPLE_BITS, (8,)) if image.format == "TIFF" else (8,)  # type: ignore[attr-defined]
    deep_tiff = image.mode[0] != "I" and max(bits) > 8
    if image.mode == "F":
        raise ImageError(
            "a picture of floating-point numbers would lose them",
            kind="lost_depth",
            expected="8 bits per sample, or 16-bit gray",
            found="floating-point numbers",
            hint="pack the bytes as they are: leave encode= out",
        )
    if deep_png or deep_tiff:
        raise ImageError(
            "a 16-bit color picture would lose its low bits",
            kind="lost_depth",
            expected="8 bits per sample, or 16-bit gray",
            found="16-bit color",
            hint="pack the bytes as they are: leave encode= out",
        )

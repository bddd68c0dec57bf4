"""What an encoded image says about itself, without its pixels being decoded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recordmill.decode.pillow import need_pillow, opened
from recordmill.decode.pixels.reading import JPEG_FORMATS, Reading, prepare, stored_mode
from recordmill.errors import LimitError

if TYPE_CHECKING:
    from PIL.Image import Image

_ORIENTATION = 0x0112
_TIFF = (b"II*\x00", b"MM\x00*")
_BANDS = {"L": 1, "LA": 2, "RGB": 3, "RGBA": 4, "CMYK": 4, "I;16": 1}


def read_header(data: Any, reading: Reading, *, upright: bool, max_pixels: int) -> tuple[int, ...]:
    """Size, size as decoded, orientation and channels of an encoded image."""
    with opened(data) as image:
        check_pixels(image.width, image.height, max_pixels)
        stored, channels = image.size, _BANDS[stored_mode(image)]
        orientation = orientation_of(image) if upright else 1
        prepare(image, data, reading)
        size, decoded = (pair[::-1] if orientation >= 5 else pair for pair in (stored, image.size))
        return (*size, *decoded, orientation, channels, int(image.format in JPEG_FORMATS))


def check_pixels(width: int, height: int, max_pixels: int) -> None:
    """Refuse an image that is too large."""
    if width * height > max_pixels:
        raise LimitError(
            "the image is too large",
            kind="limit_exceeded",
            expected=f"at most {max_pixels:,} pixels",
            found=f"{width:,} x {height:,}",
            hint="max_pixels= sets the limit",
        )


def orientation_of(image: Image) -> int:
    """EXIF orientation of an opened image; 1 where there is none, or none that makes sense."""
    notes = (image.info.get("exif") or b"").removeprefix(b"Exif\x00\x00")
    if not notes.startswith(_TIFF):
        return 1
    exif = need_pillow().Exif()
    try:
        exif.load(notes)
    except Exception:  # noqa: BLE001  # damaged notes do not make an image unreadable
        return 1
    value = exif.get(_ORIENTATION, 1)
    return value if isinstance(value, int) and value in range(1, 9) else 1

"""Label images to classes: what the file holds for each pixel, before any palette or brightness."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from recordmill.decode.pillow import opened, sixteen_bits
from recordmill.decode.pixels.header import check_pixels, orientation_of
from recordmill.decode.pixels.moving import orient
from recordmill.errors import ImageError

if TYPE_CHECKING:
    from PIL.Image import Image

_PNG_DEPTH, _PNG_COLOR_TYPE = 24, 25
_JPEG = b"\xff\xd8\xff"  # known before Pillow walks through its segments, of which there may be millions
_LOSSY, _LOSSY_IN_TIFF = ("JPEG", "MPO", "AVIF"), ("jpeg", "tiff_jpeg", "webp")
MAX_PIXELS = 1 << 26


def read_indices(data: Any, *, upright: bool = False, max_pixels: int = MAX_PIXELS) -> NDArray[Any]:
    """Classes of an encoded mask."""
    if bytes(memoryview(data)[:3]) == _JPEG:
        raise _no_classes("JPEG")
    with opened(data) as image:
        check_pixels(image.width, image.height, max_pixels)
        orientation = orientation_of(image) if upright else 1
        return orient(_classes(image, data), orientation)


def _classes(image: Image, data: Any) -> NDArray[Any]:
    if _is_lossy(image) or (image.mode not in ("1", "L", "P") and not image.mode.startswith("I")):
        raise _no_classes(f"{image.format} of mode {image.mode}")
    image.load()
    if image.mode.startswith("I"):
        return np.asarray(sixteen_bits(image)).astype(np.uint16)
    levels = np.asarray(image).astype(np.uint8)
    return levels // _step_of(image, data)


def _no_classes(found: str) -> ImageError:
    return ImageError(
        "a mask holds one value per pixel, kept exactly",
        kind="bad_mask",
        expected="palette or gray, not JPEG or another lossy coding",
        found=found,
        hint="colors and lossy encodings cannot be turned back into classes: use the original masks",
    )


def _is_lossy(image: Image) -> bool:
    return image.format in _LOSSY or image.info.get("compression") in _LOSSY_IN_TIFF


def _step_of(image: Image, data: Any) -> np.uint8:
    """Return by how much Pillow spread the levels of a gray PNG of less than 8 bits."""
    head = bytes(memoryview(data)[:26])
    if image.format != "PNG" or image.mode != "L" or head[_PNG_COLOR_TYPE] != 0:
        return np.uint8(1)
    return np.uint8({2: 85, 4: 17}.get(head[_PNG_DEPTH], 1))

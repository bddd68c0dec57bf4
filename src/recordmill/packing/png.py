"""JPEG to JPEG: the pixels as a picture of Pillow's that shares memory with what was decoded."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from recordmill import _core
from recordmill.decode.pillow import import_pillow
from recordmill.types import Ragged

if TYPE_CHECKING:
    from PIL.Image import Image

    from recordmill.packing.recode import Recoding

# MAX_IMAGE_PIXELS of Pillow.
_MAX_PIXELS = 89_478_485
# JPEG_MAX_DIMENSION of libjpeg, which decodes larger pictures and encodes none.
_MAX_SIDE = 65_500
_MODES = {1: "L", 4: "RGBX"}


def max_pixels() -> int:
    """Pixels of the largest picture that Pillow does not warn of; larger ones are left to it."""
    limit = getattr(sys.modules.get("PIL.Image"), "MAX_IMAGE_PIXELS", None)
    return int(limit or _MAX_PIXELS)


def plain_picture(data: Any, how: Recoding) -> Image | None:
    """Decode a JPEG file that is encoded as JPEG anew, where nothing else is wanted and it holds nothing but pixels."""
    if how.encode != "jpeg" or not how.keeps_size:
        return None
    try:
        block, height, width, num_bytes = _core.decode_plain_jpeg(data, how.exif, max_pixels())
    except _core.ImageRefused:
        return None
    if max(height, width) > _MAX_SIDE or how.color not in (None, num_bytes == 4):
        return None
    mode, module = _MODES[num_bytes], import_pillow()
    import PIL.JpegImagePlugin  # noqa: F401 (Pillow would import all its formats to find the one it saves)

    return cast("Image", module.frombuffer(mode, (width, height), block, "raw", mode, 0, 1))


_CHANNELS = {"L": 1, "LA": 2, "RGB": 3, "RGBA": 4}
# What Pillow writes besides pixels.
_MORE = ("icc_profile", "transparency")

Shape = tuple[int, int] | None


def recode_png_files(files: Ragged, how: Recoding) -> tuple[Ragged, list[Shape]]:
    """Decode PNG files and encode them anew, where nothing else is wanted and they hold nothing but pixels."""
    if how.encode != "png" or not how.keeps_size:
        return Ragged.from_rows([b""] * len(files)), [None] * len(files)
    channels = {None: "stored", True: "rgb", False: "gray"}[how.color]
    rows = (files.data, files.row_splits)
    data, row_splits, sides = _core.recode_png(rows, channels, how.exif, max_pixels())
    sizes = np.asarray(sides).reshape(-1, 2).tolist()
    return Ragged.from_blocks(data, row_splits), [(height, width) if height else None for height, width in sizes]


def encode_png(picture: Image) -> bytes | None:
    """Encode a picture of 8-bit samples."""
    channels = _CHANNELS.get(picture.mode)
    if channels is None or any(picture.info.get(name) is not None for name in _MORE):
        return None
    samples: Any = np.asarray(picture).reshape(-1)
    try:
        return bytes(memoryview(_core.encode_png(samples, picture.height, picture.width, channels)))
    except _core.ImageRefused:
        return None

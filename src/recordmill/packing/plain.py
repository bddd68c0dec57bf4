"""JPEG to JPEG: the pixels as a picture of Pillow's that shares memory with what was decoded."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, cast

from recordmill import _core
from recordmill.decode.pillow import need_pillow

if TYPE_CHECKING:
    from PIL.Image import Image

    from recordmill.packing.images import Recoding

# MAX_IMAGE_PIXELS of Pillow.
_MAX_PIXELS = 89_478_485
# JPEG_MAX_DIMENSION of libjpeg, which decodes larger pictures and encodes none.
_MAX_SIDE = 65_500
_MODES = {1: "L", 4: "RGBX"}


def max_pixels() -> int:
    """Pixels of the largest picture that Pillow does not warn of; larger ones are left to it.

    Returns
    -------
    int
    """
    limit = getattr(sys.modules.get("PIL.Image"), "MAX_IMAGE_PIXELS", None)
    return int(limit or _MAX_PIXELS)


def plain_picture(data: Any, how: Recoding) -> Image | None:
    """Decode a JPEG file that is encoded as JPEG anew, where nothing else is wanted and it holds nothing but pixels.

    Parameters
    ----------
    data : buffer
        An encoded picture.
    how : Recoding

    Returns
    -------
    PIL.Image.Image or None
        Of mode ``L`` or ``RGBX``, whose JPEG is that of ``RGB``; None for what is left to Pillow.
    """
    if how.encode != "jpeg" or not how.keeps_size:
        return None
    try:
        block, height, width, num_bytes = _core.decode_plain_jpeg(data, how.exif, max_pixels())
    except _core.ImageRefused:
        return None
    if max(height, width) > _MAX_SIDE or how.color not in (None, num_bytes == 4):
        return None
    mode, module = _MODES[num_bytes], need_pillow()
    import PIL.JpegImagePlugin  # noqa: F401 (Pillow would import all its formats to find the one it saves)

    return cast("Image", module.frombuffer(mode, (width, height), block, "raw", mode, 0, 1))

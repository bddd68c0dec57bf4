"""PNG made natively: of the PNG files of a chunk at once, and of Pillow's pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recordmill import _core
from recordmill.packing.plain import max_pixels
from recordmill.types import Ragged

if TYPE_CHECKING:
    from PIL.Image import Image

    from recordmill.packing.images import Recoding

_CHANNELS = {"L": 1, "LA": 2, "RGB": 3, "RGBA": 4}
# What Pillow writes besides pixels.
_MORE = ("icc_profile", "transparency")

Shape = tuple[int, int] | None


def recode_png_files(files: Ragged, how: Recoding) -> tuple[Ragged, list[Shape]]:
    """Decode PNG files and encode them anew, where nothing else is wanted and they hold nothing but pixels.

    Parameters
    ----------
    files : Ragged of uint8
    how : Recoding

    Returns
    -------
    files : Ragged of uint8
        Empty rows where that is left to `recode`.
    shapes : list of (int, int) or None
        Height and width of each; None where that is left to `recode`.
    """
    if how.encode != "png" or not how.keeps_size:
        return Ragged.from_rows([b""] * len(files)), [None] * len(files)
    channels = {None: "stored", True: "rgb", False: "grey"}[how.color]
    rows = (files.data, files.row_splits)
    data, row_splits, sides = _core.recode_png(rows, channels, how.exif, max_pixels())
    sizes = np.asarray(sides).reshape(-1, 2).tolist()
    return Ragged.from_blocks(data, row_splits), [(height, width) if height else None for height, width in sizes]


def encode_png(picture: Image) -> bytes | None:
    """Encode a picture of 8-bit samples.

    Parameters
    ----------
    picture : PIL.Image.Image

    Returns
    -------
    bytes or None
        None for what is left to Pillow: other modes, pictures with a profile or a transparent colour, impossible sizes.
    """
    channels = _CHANNELS.get(picture.mode)
    if channels is None or any(picture.info.get(name) is not None for name in _MORE):
        return None
    samples: Any = np.asarray(picture).reshape(-1)
    try:
        return bytes(memoryview(_core.encode_png(samples, picture.height, picture.width, channels)))
    except _core.ImageRefused:
        return None

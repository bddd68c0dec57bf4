"""Label masks: one value per pixel, kept exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from recordmill.decode.pillow import open_image, to_16_bits
from recordmill.errors import ImageError
from recordmill.packing.recode import Recoding, move_pixels, save_picture

if TYPE_CHECKING:
    from PIL.Image import Image


def read_mask(data: Any, how: Recoding | None = None) -> NDArray[Any]:
    """Values of a mask, exactly: indices of a palette picture, gray levels else."""
    with open_image(data) as image:
        moved = image if how is None else move_pixels(image, how, nearest=True)
        if moved.mode.startswith("I"):
            return np.asarray(to_16_bits(moved)).astype("<u2")
        _refuse_many_channels(moved)
        return np.asarray(moved).astype(np.uint8)


def recode_mask(data: Any, how: Recoding) -> bytes:
    """Move the pixels of a mask with those of its image; a PNG whose values, palette and depth stay."""
    with open_image(data) as image:
        moved = move_pixels(image, how, nearest=True)
        if moved.mode.startswith("I"):
            moved = to_16_bits(moved)
        else:
            _refuse_many_channels(moved)
        return save_picture(moved, Recoding("png"))


def _refuse_many_channels(image: Image) -> None:
    if image.mode not in ("P", "L", "1"):
        raise ImageError(
            "a mask holds one value per pixel",
            kind="bad_mask",
            expected="a palette or gray picture",
            found=f"mode {image.mode}",
            hint="palette colors cannot be turned back into classes: use the original palette files",
        )

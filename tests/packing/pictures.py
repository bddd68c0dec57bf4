"""Small generated pictures for the tests of packing."""

from __future__ import annotations

import numpy as np
from PIL import Image

from tests.pictures import encode


def jpeg(seed: int, width: int = 20, height: int = 14) -> bytes:
    """Encode a smooth picture that differs from seed to seed."""
    y, x = np.mgrid[:height, :width]
    pixels = np.stack([(x * 9 + seed * 31) % 256, (y * 13 + seed * 7) % 256, (x + y + seed) % 256], -1)
    return encode(Image.fromarray(pixels.astype(np.uint8)), "JPEG", quality=90)

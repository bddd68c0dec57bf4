"""Small generated pictures of every kind for the tests of decoding."""

from __future__ import annotations

import numpy as np
from PIL import Image

from tests.pictures import encode


def colors(seed: int, width: int = 20, height: int = 14) -> np.ndarray:
    """Return a smooth picture with some noise, different for each seed."""
    y, x = np.mgrid[:height, :width]
    smooth = np.stack([(x * 9 + seed * 31) % 256, (y * 13 + seed * 7) % 256, (x * 5 + y * 3 + seed) % 256], -1)
    noise = np.random.default_rng(seed).integers(0, 20, smooth.shape)
    return np.clip(smooth + noise, 0, 255).astype(np.uint8)


def jpeg(seed: int, width: int = 20, height: int = 14, mode: str = "RGB", **options) -> bytes:
    image = Image.fromarray(colors(seed, width, height)).convert(mode)
    return encode(image, "JPEG", quality=90, **options)


def png(seed: int, width: int = 20, height: int = 14, mode: str = "RGB") -> bytes:
    return encode(Image.fromarray(colors(seed, width, height)).convert(mode))


def turned(orientation: int, seed: int = 0, width: int = 20, height: int = 14) -> bytes:
    """Encode a JPEG that asks to be turned."""
    exif = Image.Exif()
    exif[0x0112] = orientation
    return jpeg(seed, width, height, exif=exif)


def deep_gray(seed: int = 0, width: int = 20, height: int = 14) -> tuple[bytes, np.ndarray]:
    values = np.random.default_rng(seed).integers(0, 65536, (height, width)).astype(np.uint16)
    return encode(Image.fromarray(values)), values

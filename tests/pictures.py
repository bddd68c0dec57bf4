"""Generated images for tests."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image


def encode(image: Image.Image, encoding: str = "PNG", **options) -> bytes:
    """Return the encoded bytes of an image."""
    out = io.BytesIO()
    image.save(out, encoding, **options)
    return out.getvalue()


def palette_mask(seed: int = 0, width: int = 20, height: int = 14, num_classes: int = 21) -> tuple[bytes, np.ndarray]:
    """Return an encoded mask of class indices 0 to 20 and 255 with a palette, as in VOC, and the indices."""
    indices = np.random.default_rng(seed).integers(0, num_classes, (height, width)).astype(np.uint8)
    indices[:, -1] = 255
    image = Image.fromarray(indices)
    image.putpalette(np.random.default_rng(1).integers(0, 256, 768).astype(np.uint8).tobytes())
    return encode(image), indices

"""Small generated images and masks, encoded in several formats."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image


def encode_image(image: Image.Image, encoding: str = "PNG", **options) -> bytes:
    """Return the encoded bytes of an image."""
    out = io.BytesIO()
    image.save(out, encoding, **options)
    return out.getvalue()


def make_pixels(seed: int, width: int = 20, height: int = 14) -> np.ndarray:
    """Return a smooth RGB image with some noise, different for each seed."""
    y, x = np.mgrid[:height, :width]
    smooth = np.stack([(x * 9 + seed * 31) % 256, (y * 13 + seed * 7) % 256, (x * 5 + y * 3 + seed) % 256], -1)
    noise = np.random.default_rng(seed).integers(0, 20, smooth.shape)
    return np.clip(smooth + noise, 0, 255).astype(np.uint8)


def encode_jpeg(seed: int, width: int = 20, height: int = 14, mode: str = "RGB", **options) -> bytes:
    """Return a JPEG file with the image of `make_pixels`."""
    image = Image.fromarray(make_pixels(seed, width, height)).convert(mode)
    return encode_image(image, "JPEG", quality=90, **options)


def encode_png(seed: int, width: int = 20, height: int = 14, mode: str = "RGB") -> bytes:
    """Return a PNG file with the image of `make_pixels`."""
    return encode_image(Image.fromarray(make_pixels(seed, width, height)).convert(mode))


def encode_oriented_jpeg(orientation: int, seed: int = 0, width: int = 20, height: int = 14) -> bytes:
    """Return a JPEG file with an Exif orientation."""
    exif = Image.Exif()
    exif[0x0112] = orientation
    return encode_jpeg(seed, width, height, exif=exif)


def encode_gray16_png(seed: int = 0, width: int = 20, height: int = 14) -> tuple[bytes, np.ndarray]:
    """Return a PNG file with 16-bit gray levels, and the levels."""
    values = np.random.default_rng(seed).integers(0, 65536, (height, width)).astype(np.uint16)
    return encode_image(Image.fromarray(values)), values


def encode_palette_mask(
    seed: int = 0, width: int = 20, height: int = 14, num_classes: int = 21
) -> tuple[bytes, np.ndarray]:
    """Return a PNG mask of class indices 0 to 20 and 255 with a palette, as in VOC, and the indices."""
    indices = np.random.default_rng(seed).integers(0, num_classes, (height, width)).astype(np.uint8)
    indices[:, -1] = 255
    image = Image.fromarray(indices)
    image.putpalette(np.random.default_rng(1).integers(0, 256, 768).astype(np.uint8).tobytes())
    return encode_image(image), indices

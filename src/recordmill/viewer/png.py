"""Encode pixels and masks of class labels as PNG files."""

from __future__ import annotations

import colorsys
import zlib
from functools import cache

import numpy as np
from numpy.typing import NDArray

from recordmill import _core

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
# Opacity of the classes of a mask. The background and the label 255, which means "ignore", are transparent.
_OPACITY = 153
_TRANSPARENT = (0, 255)


def encode_pixels(pixels: NDArray[np.uint8]) -> bytes:
    """Encode pixels of shape (height, width) or (height, width, 1 to 4); 2 and 4 channels end with alpha."""
    height, width, channels = pixels.shape if pixels.ndim == 3 else (*pixels.shape, 1)
    return bytes(memoryview(_core.encode_png(np.ascontiguousarray(pixels).reshape(-1), height, width, channels)))


def encode_mask(mask: NDArray[np.uint8]) -> bytes:
    """Encode a mask of shape (height, width) with one color per class; 0 and 255 are transparent."""
    height, width = mask.shape
    header = width.to_bytes(4, "big") + height.to_bytes(4, "big") + bytes([8, 3, 0, 0, 0])
    opacity = bytes(0 if label in _TRANSPARENT else _OPACITY for label in range(256))
    rows = np.zeros((height, width + 1), np.uint8)  # Each row begins with the number of its filter, 0.
    rows[:, 1:] = mask
    chunks = (
        (b"IHDR", header),
        (b"PLTE", _build_palette()),
        (b"tRNS", opacity),
        (b"IDAT", zlib.compress(rows.tobytes(), 1)),
        (b"IEND", b""),
    )
    return _SIGNATURE + b"".join(_build_chunk(kind, data) for kind, data in chunks)


def _build_chunk(kind: bytes, data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")


@cache
def _build_palette() -> bytes:
    """Return 256 different colors. Those of neighboring labels differ most, as hues advance by the golden ratio."""
    colors = (
        colorsys.hsv_to_rgb(label * 0.618034 % 1, 1 - 0.15 * (label % 3), 1 - 0.1 * (label % 4)) for label in range(256)
    )
    return bytes(round(255 * level) for color in colors for level in color)

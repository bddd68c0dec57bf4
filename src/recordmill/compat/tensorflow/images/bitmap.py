"""BMP to pixels as TensorFlow reads it: palette indices stay indices, a fourth byte is alpha."""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.images.contents import refuse

_MAX_ELEMENTS = 2**29


class _Header(NamedTuple):
    first: int  # byte of the first row
    width: int
    height: int
    top_down: bool
    stored: int  # bytes of a pixel


def bmp_pixels(data: bytes, channels: int) -> NDArray[np.uint8]:
    """Decode an uncompressed BMP."""
    if channels not in (0, 3, 4):
        refuse(f"`channels` must be 0, 3 or 4 for BMP, but got {channels}")
    header = _header(data)
    stride = (header.stored * header.width + 3) // 4 * 4
    missing = len(data) - header.first - stride * header.height
    if missing < 0:
        refuse(f"Input size should match (header_size + row_size * abs_height) but they differ by {missing}")
    rows = np.frombuffer(data, np.uint8, stride * header.height, header.first).reshape(header.height, stride)
    pixels = rows[:, : header.stored * header.width].reshape(header.height, header.width, header.stored)
    return _coloured(pixels if header.top_down else pixels[::-1], channels or header.stored)


def _header(data: bytes) -> _Header:
    """Fields of BITMAPFILEHEADER and BITMAPINFOHEADER (Windows GDI)."""
    if len(data) < 32:
        refuse(f"Incomplete bmp content, requires at least 32 bytes to find the header, got {len(data)} bytes")
    (first,) = struct.unpack_from("<i", data, 10)
    width, height = struct.unpack_from("<ii", data, 18)
    (bits,) = struct.unpack_from("<H", data, 28)
    if first < 0 or width <= 0 or height == 0 or abs(height) == 2**31:
        refuse(f"Width and height must be positive, and the header's size, not {width}, {height} and {first}")
    if bits // 8 not in (1, 3, 4):
        refuse(f"Number of channels inherent in the image must be 1, 3 or 4, was {bits // 8}")
    if width * abs(height) * (bits // 8) >= _MAX_ELEMENTS:
        refuse(f"Total possible pixel bytes must be less than 2^29, not {width * abs(height) * (bits // 8)}")
    return _Header(first, width, abs(height), height < 0, bits // 8)


def _coloured(pixels: NDArray[np.uint8], channels: int) -> NDArray[np.uint8]:
    stored = pixels.shape[2]
    colours = np.repeat(pixels, min(channels, 3), axis=2) if stored == 1 else pixels[:, :, 2::-1]
    if channels < 4:
        return np.ascontiguousarray(colours)
    alpha = pixels[:, :, 3:] if stored == 4 else np.full((*pixels.shape[:2], 1), 255, np.uint8)
    return np.concatenate([colours, alpha], axis=2)

"""PNG files as libpng writes them with its defaults: filters by the least sum, zlib's strategy for filtered rows.

References
----------
W3C Portable Network Graphics (Third Edition), sections 5, 9 and 12.8; libpng 1.6, pngwutil.c (its defaults).
"""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.images.png_filters import filtered

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_COLOUR_TYPES = {1: 0, 2: 4, 3: 2, 4: 6}
_IDAT_BYTES = 8192
_MEMORY_LEVEL = 8


def png_file(pixels: NDArray[Any], level: int) -> bytes:
    """Encode one image."""
    height, width, channels = pixels.shape
    depth = 8 * pixels.dtype.itemsize
    header = struct.pack(">IIBBBBB", width, height, depth, _COLOUR_TYPES[channels], 0, 0, 0)
    rows = np.ascontiguousarray(pixels.astype(pixels.dtype.newbyteorder(">"), copy=False)).view(np.uint8)
    stream = _deflated(filtered(rows.reshape(height, -1), channels * pixels.dtype.itemsize).tobytes(), level)
    parts = [stream[first : first + _IDAT_BYTES] for first in range(0, len(stream), _IDAT_BYTES)]
    chunks = [(b"IHDR", header), *((b"IDAT", part) for part in parts), (b"IEND", b"")]
    return _SIGNATURE + b"".join(_chunk(name, data) for name, data in chunks)


def _chunk(name: bytes, data: bytes) -> bytes:
    return b"".join([len(data).to_bytes(4), name, data, zlib.crc32(data, zlib.crc32(name)).to_bytes(4)])


def _deflated(data: bytes, level: int) -> bytes:
    """One zlib stream whose window is no larger than the data need."""
    bits = 15
    if len(data) <= 16384:
        half = 1 << (bits - 1)
        while len(data) + 262 <= half and bits > 8:
            half, bits = half >> 1, bits - 1
    packer = zlib.compressobj(level, zlib.DEFLATED, max(bits, 9), _MEMORY_LEVEL, zlib.Z_FILTERED)
    stream = bytearray(packer.compress(data) + packer.flush())
    _narrow(stream, len(data))
    return bytes(stream)


def _narrow(stream: bytearray, size: int) -> None:
    """Tell the smallest window that holds the data in the stream's two bytes of header."""
    info = stream[0] >> 4
    half = 1 << (info + 7)
    if size > 16384:
        return
    while size <= half and info > 0:
        half, info = half >> 1, info - 1
    stream[0] = info << 4 | stream[0] & 15
    kept = stream[1] & 0xE0
    stream[1] = kept + (31 - (stream[0] << 8 | kept) % 31)

"""Whole-file gzip and zlib compression: detection from content, and compression with the standard library's zlib."""

from __future__ import annotations

import zlib
from typing import Literal, get_args

Compression = Literal["gzip", "zlib"]
COMPRESSIONS: tuple[str, ...] = get_args(Compression)
# Appended to the file name of a compressed shard.
SUFFIXES: dict[str | None, str] = {None: "", "gzip": ".gz", "zlib": ".zlib"}
# Limit on the decompressed bytes when `detect_stream` tests whether a stream can be decompressed.
_DETECTION_BYTES = 4096
_WINDOW_BITS = {"gzip": 31, "zlib": 15}


def check_compression(compression: str | None) -> Compression | None:
    """Validate a `compression` argument and return it in its canonical form."""
    if compression is None or compression.lower() in ("none", ""):
        return None
    if compression.lower() == "gzip":
        return "gzip"
    if compression.lower() == "zlib":
        return "zlib"
    raise ValueError(f"compression must be one of {', '.join(COMPRESSIONS)} or None, got {compression!r}")


def detect_compression(head: bytes) -> Compression | None:
    """Return the compression whose header matches the first bytes of a file.

    A zlib header has only two bytes, so uncompressed data may match it by chance; see `detect_stream`.
    """
    if head[:3] == b"\x1f\x8b\x08":
        return "gzip"
    if len(head) >= 2 and head[0] & 0x0F == 8 and head[0] >> 4 <= 7 and not head[1] & 0x20:
        return "zlib" if int.from_bytes(head[:2], "big") % 31 == 0 else None
    return None


def detect_stream(head: bytes) -> Compression | None:
    """Detect compression like `detect_compression`, but report zlib only if the bytes can be decompressed."""
    compression = detect_compression(head)
    if compression == "zlib":
        try:
            zlib.decompressobj().decompress(head, _DETECTION_BYTES)
        except zlib.error:
            return None
    return compression


class Compressor:
    """Compress a stream piece by piece.

    Parameters
    ----------
    compression : str
        Container of the compressed stream. Either "gzip" or "zlib".
    level : int
        Compression level: 0 (stored) to 9 (smallest), or -1 for zlib's default, 6.
    """

    def __init__(self, compression: Compression, level: int = -1) -> None:
        if not -1 <= level <= 9:
            raise ValueError(f"compression level must be between -1 and 9, got {level}")
        self._stream = zlib.compressobj(level, zlib.DEFLATED, _WINDOW_BITS[compression])

    def compress(self, data: memoryview | bytes) -> bytes:
        """Compress `data` and return the output that is available so far."""
        return self._stream.compress(data)

    def finish(self) -> bytes:
        """Return the rest of the stream, including the trailer."""
        return self._stream.flush()

"""Detect gzip and zlib compression of whole files by their content, and compress files."""

from __future__ import annotations

import zlib
from typing import Literal, get_args

Compression = Literal["gzip", "zlib"]
COMPRESSIONS: tuple[str, ...] = get_args(Compression)
# Suffix that is appended to the file name of a compressed shard.
SUFFIXES: dict[str | None, str] = {None: "", "gzip": ".gz", "zlib": ".zlib"}
# Maximum number of bytes that `detect_compression_by_trial` decompresses.
_DETECTION_BYTES = 4096
_WINDOW_BITS = {"gzip": 31, "zlib": 15}


def check_compression(compression: str | None) -> Compression | None:
    """Return a `compression` argument in lower case; raise ValueError if it is unknown."""
    if compression is None or compression.lower() in ("none", ""):
        return None
    if compression.lower() == "gzip":
        return "gzip"
    if compression.lower() == "zlib":
        return "zlib"
    raise ValueError(f"compression must be one of {', '.join(COMPRESSIONS)} or None, got {compression!r}")


def detect_compression(head: bytes) -> Compression | None:
    """Return the compression whose header matches the first bytes of a file; None if there is no match.

    A zlib header has only two bytes, so uncompressed data may match it by chance; see `detect_compression_by_trial`.
    """
    if head[:3] == b"\x1f\x8b\x08":
        return "gzip"
    if len(head) >= 2 and head[0] & 0x0F == 8 and head[0] >> 4 <= 7 and not head[1] & 0x20:
        return "zlib" if int.from_bytes(head[:2], "big") % 31 == 0 else None
    return None


def detect_compression_by_trial(head: bytes) -> Compression | None:
    """Like `detect_compression`, but return "zlib" only if the first bytes of the file can be decompressed."""
    compression = detect_compression(head)
    if compression == "zlib":
        try:
            zlib.decompressobj().decompress(head, _DETECTION_BYTES)
        except zlib.error:
            return None
    return compression


class Compressor:
    """Compresses a stream piece by piece.

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
        """End the stream, and return the rest of its compressed bytes."""
        return self._stream.flush()

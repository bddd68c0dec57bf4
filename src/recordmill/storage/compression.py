"""Whole-file compression: recognized from content, written with the standard library's zlib."""

from __future__ import annotations

import zlib
from typing import Literal, get_args

Compression = Literal["gzip", "zlib"]
COMPRESSIONS: tuple[str, ...] = get_args(Compression)
# Put behind the name of a compressed shard.
SUFFIXES: dict[str | None, str] = {None: "", "gzip": ".gz", "zlib": ".zlib"}
# Bytes that are inflated to see whether something is a stream at all.
_TRIED_BYTES = 4096
_WINDOW_BITS = {"gzip": 31, "zlib": 15}


def recognize(head: bytes) -> Compression | None:
    """Tell from the first bytes of a file whether it may be compressed, and how."""
    if head[:3] == b"\x1f\x8b\x08":
        return "gzip"
    if len(head) >= 2 and head[0] & 0x0F == 8 and head[0] >> 4 <= 7 and not head[1] & 0x20:
        return "zlib" if int.from_bytes(head[:2], "big") % 31 == 0 else None
    return None


def recognize_stream(head: bytes) -> Compression | None:
    """Tell compressed bytes, too, from others whose first two make a zlib header by chance: those do not inflate."""
    seen = recognize(head)
    if seen == "zlib":
        try:
            zlib.decompressobj().decompress(head, _TRIED_BYTES)
        except zlib.error:
            return None
    return seen


def check(compression: str | None) -> Compression | None:
    """Check an argument that names a compression."""
    if compression is None or compression.lower() in ("none", ""):
        return None
    if compression.lower() == "gzip":
        return "gzip"
    if compression.lower() == "zlib":
        return "zlib"
    raise ValueError(f"compression is one of {', '.join(COMPRESSIONS)} or None, not {compression!r}")


class Compressor:
    """Compresses a stream piece by piece.

    Parameters
    ----------
    compression : {"gzip", "zlib"}
    level : int
        0 (stored) to 9; -1 for zlib's usual level, 6.
    """

    def __init__(self, compression: Compression, level: int = -1) -> None:
        if not -1 <= level <= 9:
            raise ValueError(f"a compression level is -1 to 9, not {level}")
        self._stream = zlib.compressobj(level, zlib.DEFLATED, _WINDOW_BITS[compression])

    def compress(self, data: memoryview | bytes) -> bytes:
        """Compressed bytes that are ready after `data` came in."""
        return self._stream.compress(data)

    def finish(self) -> bytes:
        """Rest of the stream, trailer included."""
        return self._stream.flush()

"""How much work a JPEG asks for: a small file may have thousands of scans, each of which visits every block."""

from __future__ import annotations

import re
from typing import Any

from recordmill.errors import LimitError

MAX_SCANS = 500
MAX_BLOCK_VISITS = 1 << 27
_START, _END = 0xDA, 0xD9
_MARKER = re.compile(rb"\xff+([^\x00\xd0-\xd7\xff])")


def check_scans(data: Any, width: int, height: int) -> None:
    """Refuse a JPEG of too many scans, with the limits of the native decoder."""
    blocks = -(-width // 8) * -(-height // 8)
    limit = max(1, min(MAX_SCANS, MAX_BLOCK_VISITS // max(1, blocks)))
    if count_scans(data, limit) > limit:
        raise LimitError(
            "the image has too many scans",
            kind="limit_exceeded",
            expected=f"at most {limit} scans of {blocks:,} blocks",
            found="more",
        )


def count_scans(data: Any, enough: int) -> int:
    """Scans of a JPEG up to the marker of its end, and not many more than `enough`."""
    scans, place, view = 0, 2, memoryview(data)
    while scans <= enough and (found := _MARKER.search(view, place)) is not None:
        marker, place = found[1][0], found.end()
        if marker == _END:
            break
        scans += marker == _START
        place += int.from_bytes(view[place : place + 2], "big")
    return scans

"""The blocks of a GIF file: frames with their places, colours and coded pixels.

References
----------
Graphics Interchange Format, Version 89a, sections 17 to 27.
"""

from __future__ import annotations

import struct

import numpy as np
from numpy.typing import NDArray

from recordmill.dataclass import dataclass

_SCREEN = 13
_EXTENSION, _IMAGE, _TRAILER, _CONTROL = 0x21, 0x2C, 0x3B, 0xF9
_HAS_TABLE, _TABLE_SIZE, _HAS_TRANSPARENT, _INTERLACED = 0x80, 7, 1, 0x40


@dataclass(frozen=True, slots=True)
class GifFrame:
    """One image of a file."""

    left: int
    top: int
    width: int
    height: int
    colours: NDArray[np.uint8]
    transparent: int
    file: bytes


def gif_blocks(data: bytes) -> list[GifFrame]:
    """Frames in order, up to the first one that is not whole."""
    frames: list[GifFrame] = []
    try:
        shared, at = _table(data, 10, _SCREEN)
        transparent = -1
        while data[at] != _TRAILER:
            if data[at] == _EXTENSION:
                if data[at + 1] == _CONTROL and transparent < 0:
                    transparent = data[at + 6] if data[at + 3] & _HAS_TRANSPARENT else -1
                at = _behind(data, at + 2)
            elif data[at] == _IMAGE:
                frame, at = _frame(data, at, shared, transparent)
                frames.append(frame)
                transparent = -1
            else:
                break
    except (IndexError, struct.error):
        pass  # the file ends here
    return frames


def _frame(data: bytes, at: int, shared: bytes, transparent: int) -> tuple[GifFrame, int]:
    left, top, width, height = struct.unpack_from("<4H", data, at + 1)
    own, start = _table(data, at + 9, at + 10)
    stop = _behind(data, start + 1)
    table = own or shared
    colours = np.frombuffer(table, np.uint8).reshape(-1, 3)
    bits = max(len(colours).bit_length() - 2, 0)
    screen = struct.pack("<2H3B", width, height, (_HAS_TABLE if table else 0) | bits, 0, 0)
    place = struct.pack("<B4HB", _IMAGE, 0, 0, width, height, data[at + 9] & _INTERLACED)
    alone = b"".join((b"GIF89a", screen, table, place, data[start:stop], bytes([_TRAILER])))
    return GifFrame(left, top, width, height, colours, transparent, alone), stop


def _table(data: bytes, flags: int, start: int) -> tuple[bytes, int]:
    """Table of colours, if there is one, and where it ends."""
    if not data[flags] & _HAS_TABLE:
        return b"", start
    stop = start + (6 << (data[flags] & _TABLE_SIZE))
    if stop > len(data):
        raise IndexError(stop)
    return data[start:stop], stop


def _behind(data: bytes, at: int) -> int:
    """Place behind the last of a row of blocks."""
    while data[at]:
        at += 1 + data[at]
    return at + 1

"""Elements as bytes that another process reads where they lie: a pickle stream, and large arrays beside it.

::

    8 bytes         number of parts, n
    8 × n bytes     length of each part
    parts           the pickle stream, then the buffers that it refers to; each starts at a multiple of 64

All numbers are little-endian. Arrays become views of the buffers (pickle protocol 5, PEP 574).
"""

from __future__ import annotations

import os
import pickle
import struct
from typing import Any

ALIGNED = 64
_SMALL = 4096  # bytes; what is smaller is not worth a part of its own


class Parts:
    """An element taken apart.

    Parameters
    ----------
    value : object
        Anything that can be pickled.

    Attributes
    ----------
    nbytes : int
        Of all parts together, as they are written.
    """

    def __init__(self, value: Any) -> None:
        self._parts: list[memoryview] = []
        stream = pickle.dumps(value, 5, buffer_callback=self._keep)
        self._parts.insert(0, memoryview(stream))
        lengths = [part.nbytes for part in self._parts]
        self._head = struct.pack(f"<{len(lengths) + 1}Q", len(lengths), *lengths)
        self._places, self.nbytes = _placed(lengths)

    def _keep(self, buffer: pickle.PickleBuffer) -> bool:
        """Take a large buffer out of the stream."""
        raw = buffer.raw()
        if raw.nbytes < _SMALL:
            return True
        self._parts.append(raw)
        return False

    def tobytes(self) -> bytearray:
        """All parts in one buffer.

        Returns
        -------
        bytearray, shape (nbytes,)
        """
        whole = bytearray(self.nbytes)
        for place, part in zip((0, *self._places), (self._head, *self._parts), strict=True):
            whole[place : place + len(part)] = part
        return whole

    def write(self, file: int, start: int = 0) -> None:
        """Write all parts to a file, into memory that is not mapped here.

        Parameters
        ----------
        file : int
            Descriptor.
        start : int
            Where in the file.
        """
        for place, part in zip((0, *self._places), (memoryview(self._head), *self._parts), strict=True):
            done = 0
            while done < part.nbytes:
                done += os.pwrite(file, part[done:], start + place + done)


def rebuild(whole: memoryview) -> Any:
    """Put an element together again.

    Parameters
    ----------
    whole : memoryview of uint8
        What `Parts` wrote; arrays are views of it, and may be written to if it may.

    Returns
    -------
    object
    """
    (count,) = struct.unpack_from("<Q", whole)
    lengths = struct.unpack_from(f"<{count}Q", whole, 8)
    places, _ = _placed(list(lengths))
    parts = [whole[place : place + length] for place, length in zip(places, lengths, strict=True)]
    return pickle.loads(parts[0], buffers=parts[1:])  # noqa: S301 (our own worker wrote it)


def _placed(lengths: list[int]) -> tuple[list[int], int]:
    """Where each part starts, and where the last one ends."""
    places, end = [], 8 * (len(lengths) + 1)
    for length in lengths:
        places.append(-(-end // ALIGNED) * ALIGNED)
        end = places[-1] + length
    return places, end

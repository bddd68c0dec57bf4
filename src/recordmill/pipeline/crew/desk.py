"""What making an element needs beside its place: put on a desk by the consumer, and read by whichever process makes it.

The desk is one file in memory without a name: a table that says which slot belongs to which place, and slots so far
from one another that none is too small. Only what was written takes memory, and a slot is used again.
"""

from __future__ import annotations

import os
import struct
from typing import Any

from recordmill.errors import WorkerError
from recordmill.pipeline.crew.passing import ALIGNED, Parts, rebuild

_ENTRY = struct.Struct("<qq")
_ENTRIES = 1 << 20  # places that may be on the desk at a time
_SLOT_BYTES = 1 << 40


class Desk:
    """Values by place, for workers to read.

    Parameters
    ----------
    file : int
        Descriptor of a file in memory.
    """

    here: Desk | None = None
    """That of the consumer, in a worker process."""

    def __init__(self, file: int) -> None:
        self.file = file
        self._slots: dict[int, int] = {}

    def put(self, place: int, value: Any) -> None:
        """Lay down what making an element needs, before it is ordered.

        Parameters
        ----------
        place : int
        value : object
            Anything that can be pickled.

        Raises
        ------
        WorkerError
            It cannot be.
        """
        try:
            parts = Parts(value)
        except Exception as error:
            hint = "processes are handed what can be pickled: arrays, numbers, strings, and dicts and lists of them"
            raise WorkerError(f"work cannot be given to a worker process: {error}", place=place, hint=hint) from error
        slot = min(set(range(len(self._slots) + 1)) - set(self._slots.values()))
        self._slots[place] = slot
        parts.write(self.file, _start(slot))
        os.pwrite(self.file, _ENTRY.pack(slot, parts.nbytes), place % _ENTRIES * _ENTRY.size)

    def clear(self, place: int) -> None:
        """Use the room of a value for others; nothing where there is none.

        Parameters
        ----------
        place : int
        """
        self._slots.pop(place, None)

    def get(self, place: int) -> Any:
        """Read a value.

        Parameters
        ----------
        place : int

        Returns
        -------
        object
        """
        slot, nbytes = _ENTRY.unpack(os.pread(self.file, _ENTRY.size, place % _ENTRIES * _ENTRY.size))
        whole, done = bytearray(nbytes), 0
        while done < nbytes:
            done += os.preadv(self.file, [memoryview(whole)[done:]], _start(slot) + done)
        return rebuild(memoryview(whole))


def _start(slot: int) -> int:
    table = -(-_ENTRIES * _ENTRY.size // ALIGNED) * ALIGNED
    return table + slot * _SLOT_BYTES

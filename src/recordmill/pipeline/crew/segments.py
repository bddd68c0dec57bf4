"""Anonymous memory that goes from a worker process to the consumer and, once no array looks at it, back again.

A worker has a few slots, each a file in memory without a name. It fills a free slot and lends it; the consumer maps it,
once, and gives it back when the last view of it is gone. When all slots are lent, as to a consumer that keeps what it
is given, the file is new and the consumer copies it, so that neither side ever holds many descriptors.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import weakref
from collections import deque

import numpy as np
from numpy.typing import NDArray

from recordmill._core import HandedFile
from recordmill.dataclass import dataclass
from recordmill.pipeline.crew.forks import Forks
from recordmill.pipeline.crew.passing import ALIGNED

MAX_SLOTS = 8
NO_SLOT = -1
"""Number of a file that is not lent but given away."""
_SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL


@dataclass(frozen=True, slots=True)
class Lent:
    """A file that a worker may fill and hand over.

    Parameters
    ----------
    slot : int
        `NO_SLOT` for a file that is used once.
    file : int
        Descriptor.
    is_new : bool
        Whether the consumer has not seen the file yet.
    """

    slot: int
    file: int
    is_new: bool


class Slots:
    """The files of one worker.

    Parameters
    ----------
    limit : int
        Files at most.
    """

    def __init__(self, limit: int = MAX_SLOTS) -> None:
        self._limit = limit
        self._files: dict[int, tuple[int, int]] = {}
        self._free: set[int] = set()

    def lend(self, nbytes: int) -> Lent:
        """Find or make a file of at least so many bytes.

        Parameters
        ----------
        nbytes : int

        Returns
        -------
        Lent
            The smallest free file that is large enough, else a new one.
        """
        fitting = [slot for slot in self._free if self._files[slot][1] >= nbytes]
        if fitting:
            slot = min(fitting, key=lambda one: self._files[one][1])
            self._free.remove(slot)
            return Lent(slot, self._files[slot][0], is_new=False)
        file, size = _new_file(nbytes)
        slot = self._vacated()
        if slot != NO_SLOT:
            self._files[slot] = file, size
        return Lent(slot, file, is_new=True)

    def _vacated(self) -> int:
        """Return a slot without a file: a new one, or that of the smallest free file."""
        unused = set(range(self._limit)) - self._files.keys()
        if not unused and self._free:
            slot = min(self._free, key=lambda one: self._files[one][1])
            self.give_back(slot, again=False)
            return slot
        return min(unused, default=NO_SLOT)

    def give_back(self, slot: int, *, again: bool) -> None:
        """Take note that the consumer has no view of a file any more.

        Parameters
        ----------
        slot : int
        again : bool
            Whether the file may be filled again.
        """
        if again:
            self._free.add(slot)
        else:
            self._free.discard(slot)
            os.close(self._files.pop(slot)[0])


def _new_file(nbytes: int) -> tuple[int, int]:
    size = -(-nbytes // mmap.PAGESIZE) * mmap.PAGESIZE
    file = os.memfd_create("recordmill", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        os.ftruncate(file, size)
        fcntl.fcntl(file, fcntl.F_ADD_SEALS, _SEALS)
    except BaseException:
        os.close(file)
        raise
    return file, size


class Views:
    """What the consumer sees of the files of one worker.

    Attributes
    ----------
    returned : deque of (int, bool)
        Slots without a view since they were last looked for, and whether they may be filled again.
    """

    def __init__(self) -> None:
        self._maps: dict[int, mmap.mmap] = {}
        self.returned: deque[tuple[int, bool]] = deque()

    def receive(self, slot: int, nbytes: int, file: HandedFile | None) -> NDArray[np.uint8]:
        """Memory that a worker filled.

        Parameters
        ----------
        slot : int
        nbytes : int
        file : HandedFile, optional
            That was not seen before.

        Returns
        -------
        ndarray of uint8, shape (nbytes,)
            When it and all views of it are gone, the slot is in `returned`. Arrays are not seen by the collector of
            cycles, so this cannot happen while anything can still reach one.
        """
        if file is not None:
            if slot == NO_SLOT:
                return _copied(file.fileno(), nbytes)
            size = os.fstat(file.fileno()).st_size
            self._maps[slot] = mmap.mmap(file.fileno(), size, flags=mmap.MAP_SHARED | mmap.MAP_POPULATE)
        root = np.frombuffer(self._maps[slot], np.uint8, nbytes)
        weakref.finalize(root, _give_back, self.returned, slot, Forks.seen).atexit = False
        return root

    def forget(self, slot: int) -> None:
        """Let go of the memory of a slot that will not be filled again.

        Parameters
        ----------
        slot : int
        """
        del self._maps[slot]


def _give_back(returned: deque[tuple[int, bool]], slot: int, forks_seen: int) -> None:
    """Note that a slot has no views here; a copy of this process, forked meanwhile, may have some for ever."""
    returned.append((slot, forks_seen == Forks.seen))


def _copied(file: int, nbytes: int) -> NDArray[np.uint8]:
    room = np.empty(nbytes + ALIGNED, np.uint8)
    start = -room.ctypes.data % ALIGNED
    whole = room[start : start + nbytes]
    done = 0
    while done < nbytes:
        done += os.preadv(file, [whole.data[done:]], done)
    return whole

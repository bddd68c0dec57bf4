"""Anonymous shared memory between a consumer and its worker processes.

Results: each worker has a few segments, which are anonymous files. The worker fills a free segment and sends it to the
consumer. The consumer maps a segment once, and releases it when it has no more views. If no segment is free, for
example because the consumer keeps all results, the worker sends a new file and the consumer copies it. In this way,
neither side has many open descriptors.

Inputs: if a task needs more than its number, the consumer writes it to a `TaskInputBuffer`, which all workers read.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import struct
import weakref
from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill._core import HandedFile
from recordmill.allocator import ALIGNMENT
from recordmill.concurrency.forks import ForkCounter
from recordmill.concurrency.processes import PICKLE_HINT
from recordmill.concurrency.serialization import PickleParts, load_pickle_parts
from recordmill.errors import WorkerError

MAX_SEGMENTS = 8
NO_SLOT = -1
"""Slot number of a file that is sent once and not reused."""
_SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
_ENTRY = struct.Struct("<qq")
_MAX_INPUTS = 1 << 20  # Maximum number of tasks that have an input at the same time.
_SLOT_BYTES = 1 << 40  # Distance in bytes between slots. The file is sparse: unwritten pages take no memory.


@dataclass(frozen=True, slots=True)
class Segment:
    """A shared memory file that a worker process fills with a result and sends to the consumer.

    Parameters
    ----------
    slot : int
        `NO_SLOT` for a file that is used once.
    file : int
        Descriptor.
    is_new : bool
        Whether the consumer has not received the file yet.
    """

    slot: int
    file: int
    is_new: bool


class SegmentPool:
    """The shared memory segments that one worker process owns.

    Parameters
    ----------
    max_segments : int
    """

    def __init__(self, max_segments: int = MAX_SEGMENTS) -> None:
        self._max_segments = max_segments
        self._files: dict[int, tuple[int, int]] = {}
        self._free: set[int] = set()

    def acquire(self, nbytes: int) -> Segment:
        """Return the smallest free segment that has at least `nbytes` bytes, or a new segment."""
        fitting = [slot for slot in self._free if self._files[slot][1] >= nbytes]
        if fitting:
            slot = min(fitting, key=lambda one: self._files[one][1])
            self._free.remove(slot)
            return Segment(slot, self._files[slot][0], is_new=False)
        file, size = _create_segment_file(nbytes)
        slot = self._find_or_free_slot()
        if slot != NO_SLOT:
            self._files[slot] = file, size
        return Segment(slot, file, is_new=True)

    def _find_or_free_slot(self) -> int:
        """Return a slot for a new segment, or `NO_SLOT` if all slots are used and no segment is free.

        If all slots are used, the smallest free segment is closed, and its slot is returned.
        """
        unused = set(range(self._max_segments)) - self._files.keys()
        if not unused and self._free:
            slot = min(self._free, key=lambda one: self._files[one][1])
            self.release(slot, reusable=False)
            return slot
        return min(unused, default=NO_SLOT)

    def release(self, slot: int, *, reusable: bool) -> None:
        """Mark the segment in a slot as free, or close the segment if it is not reusable."""
        if reusable:
            self._free.add(slot)
        else:
            self._free.discard(slot)
            os.close(self._files.pop(slot)[0])


def _create_segment_file(nbytes: int) -> tuple[int, int]:
    size = -(-nbytes // mmap.PAGESIZE) * mmap.PAGESIZE
    file = os.memfd_create("recordmill", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        os.ftruncate(file, size)
        fcntl.fcntl(file, fcntl.F_ADD_SEALS, _SEALS)
    except BaseException:
        os.close(file)
        raise
    return file, size


class SegmentViews:
    """Memory maps of the segments of one worker process, in the consumer.

    Attributes
    ----------
    released : deque of (int, bool)
        (slot, is reusable) for each segment that has no more views and was not yet released to the worker.
    """

    def __init__(self) -> None:
        self._maps: dict[int, mmap.mmap] = {}
        self.released: deque[tuple[int, bool]] = deque()

    def view_segment(self, slot: int, nbytes: int, file: HandedFile | None) -> NDArray[np.uint8]:
        """Return the first `nbytes` bytes of a segment as an array; `file` is None if the segment is already mapped."""
        if file is not None:
            if slot == NO_SLOT:
                return _read_into_memory(file.fileno(), nbytes)
            size = os.fstat(file.fileno()).st_size
            self._maps[slot] = mmap.mmap(file.fileno(), size, flags=mmap.MAP_SHARED | mmap.MAP_POPULATE)
        root = np.frombuffer(self._maps[slot], np.uint8, nbytes)
        weakref.finalize(root, _add_released_slot, self.released, slot, ForkCounter.count).atexit = False
        return root

    def unmap(self, slot: int) -> None:
        """Drop the memory map of a segment, because the worker will not fill the segment again."""
        del self._maps[slot]


def _add_released_slot(released: deque[tuple[int, bool]], slot: int, fork_count: int) -> None:
    """Append a slot to `released`. Mark the slot as not reusable if the fork count has changed from `fork_count`.

    After a fork, the child process may still have views of the segment in the slot.
    """
    released.append((slot, fork_count == ForkCounter.count))


def _read_into_memory(file: int, nbytes: int) -> NDArray[np.uint8]:
    buffer = np.empty(nbytes + ALIGNMENT, np.uint8)
    start = -buffer.ctypes.data % ALIGNMENT
    data = buffer[start : start + nbytes]
    done = 0
    while done < nbytes:
        done += os.preadv(file, [data.data[done:]], done)
    return data


class TaskInputBuffer:
    """Shared memory for task inputs. The consumer writes the inputs, and a worker process reads the input of its task.

    The buffer is an anonymous file. It has a table with the slot of each task, followed by the slots, which are so far
    apart that every input fits. A slot is reused after the result of its task was taken.

    Parameters
    ----------
    file : int
        Descriptor.
    """

    current: TaskInputBuffer | None = None
    """In a worker process, the buffer that its consumer writes."""

    def __init__(self, file: int) -> None:
        self.file = file
        self._slots: dict[int, int] = {}

    @classmethod
    def create(cls) -> TaskInputBuffer:
        """Return an empty buffer in a new anonymous file."""
        return cls(os.memfd_create("recordmill-inputs", os.MFD_CLOEXEC))

    def write(self, task: int, value: Any) -> None:
        """Write the input of a task that is not submitted yet; raise WorkerError if the input cannot be pickled."""
        try:
            parts = PickleParts(value)
        except Exception as error:
            message = f"the input of a task cannot be sent to a worker process: {error}"
            raise WorkerError(message, place=task, hint=PICKLE_HINT) from error
        slot = min(set(range(len(self._slots) + 1)) - set(self._slots.values()))
        self._slots[task] = slot
        parts.write(self.file, _slot_offset(slot))
        os.pwrite(self.file, _ENTRY.pack(slot, parts.nbytes), task % _MAX_INPUTS * _ENTRY.size)

    def discard(self, task: int) -> None:
        """Free the slot that the input of a task occupies. Has no effect if the task has no input."""
        self._slots.pop(task, None)

    def read(self, task: int) -> Any:
        """Return the input of a task."""
        slot, nbytes = _ENTRY.unpack(os.pread(self.file, _ENTRY.size, task % _MAX_INPUTS * _ENTRY.size))
        data, done = bytearray(nbytes), 0
        while done < nbytes:
            done += os.preadv(self.file, [memoryview(data)[done:]], _slot_offset(slot) + done)
        return load_pickle_parts(memoryview(data))


def _slot_offset(slot: int) -> int:
    table_bytes = -(-_MAX_INPUTS * _ENTRY.size // ALIGNMENT) * ALIGNMENT
    return table_bytes + slot * _SLOT_BYTES

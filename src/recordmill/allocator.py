"""Allocation of large arrays: reuse memory that is no longer referenced, and keep what the C library frees.

Fresh memory is not free: the system clears each page when it is first written. For a batch of 77 MB that is a large
part of the cost of filling it.
"""

from __future__ import annotations

import functools
import math
import threading
import weakref
from collections import deque
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

ALIGNMENT = 64
"""Large arrays start at a multiple of this many bytes."""
MIN_REUSED_BYTES = 1 << 20
"""The C library reuses the memory of smaller arrays by itself."""
# Just below the largest block by which the GNU C library still learns (malloc's DEFAULT_MMAP_THRESHOLD_MAX, 32 MiB).
_BLOCK_BYTES = 31 << 20


@functools.cache
def keep_freed_memory() -> None:
    """Let the allocator keep memory that is freed, as it does once a program has freed one large array."""
    np.empty(_BLOCK_BYTES, np.uint8)


class Memory:
    """Allocates arrays, and reuses their memory when the last view of them is gone.

    An array may be kept for any time; only its memory cannot be reused meanwhile. Methods may be called from several
    threads.

    Parameters
    ----------
    max_bytes : int
        Largest number of bytes that are kept for reuse.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._blocks: deque[NDArray[np.uint8]] = deque()
        self._lock = threading.Lock()

    @property
    def kept_bytes(self) -> int:
        """Bytes of memory that are kept for reuse now."""
        with self._lock:
            return sum(block.nbytes for block in self._blocks)

    def empty(self, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """Return an array with arbitrary values, as `numpy.empty` does.

        Parameters
        ----------
        shape : tuple of int
        dtype : dtype_like

        Returns
        -------
        ndarray
            Starts at a multiple of 64 bytes if it is large enough for its memory to be reused.
        """
        kind = np.dtype(dtype)
        nbytes = math.prod(shape) * kind.itemsize
        if nbytes < MIN_REUSED_BYTES or kind.hasobject:
            return np.empty(shape, kind)
        block = self._take_block(nbytes + ALIGNMENT)
        start = -block.ctypes.data % ALIGNMENT
        # A view through the buffer protocol: arrays made from it refer to it, not to the block behind it.
        root = np.frombuffer(block.data, np.uint8, nbytes, start)
        weakref.finalize(root, _give_back, weakref.ref(self), block).atexit = False
        return root.view(kind).reshape(shape)

    def _take_block(self, nbytes: int) -> NDArray[np.uint8]:
        """Return a kept block of exactly this size, as batches have the same size every time, or a new one."""
        with self._lock:
            for index, block in enumerate(self._blocks):
                if block.nbytes == nbytes:
                    del self._blocks[index]
                    return block
        return np.empty(nbytes, np.uint8)

    def close(self) -> None:
        """Free the memory that is kept, and keep none from now on."""
        with self._lock:
            self._max_bytes = 0
            self._shrink(0)

    def _shrink(self, max_bytes: int) -> None:
        while sum(block.nbytes for block in self._blocks) > max_bytes:
            self._blocks.popleft()

    def keep(self, block: NDArray[np.uint8]) -> None:
        """Keep a block for reuse; the oldest ones are freed if there are too many bytes.

        This runs wherever an array is freed, perhaps inside another method of this object, and so must not wait for
        the lock: a block that comes at such a moment is freed.

        Parameters
        ----------
        block : ndarray of uint8
        """
        if not self._lock.acquire(blocking=False):
            return
        try:
            self._blocks.append(block)
            self._shrink(self._max_bytes)
        finally:
            self._lock.release()


def _give_back(memory: weakref.ref[Memory], block: NDArray[np.uint8]) -> None:
    if (owner := memory()) is not None:
        owner.keep(block)

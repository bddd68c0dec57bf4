"""Allocate large arrays, and reuse the memory of arrays that are no longer referenced.

The operating system clears each page of new memory when it is first written. When a new batch of 77 MB is filled,
clearing takes a large part of the time.
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
"""Minimum size, in bytes, of arrays that `Memory` reuses. The C library reuses the memory of smaller arrays."""
# Freeing a block raises the mmap threshold of glibc to the size of the block, if the size is at most 32 MiB
# (DEFAULT_MMAP_THRESHOLD_MAX).
_BLOCK_BYTES = 31 << 20


@functools.cache
def keep_freed_memory() -> None:
    """Make the C library keep freed memory for later allocations.

    This function allocates a large array and frees it at once. Freeing the array changes the settings of glibc.
    """
    np.empty(_BLOCK_BYTES, np.uint8)


class Memory:
    """Allocator that reuses the memory of arrays that are no longer referenced.

    Arrays may be kept for any time; their memory is reused after the last view of them is gone. Methods may be called
    from several threads.

    Parameters
    ----------
    max_bytes : int
        Maximum number of bytes that are kept for reuse.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._blocks: deque[NDArray[np.uint8]] = deque()
        self._lock = threading.Lock()

    @property
    def kept_bytes(self) -> int:
        """Number of free bytes that are currently kept for reuse."""
        with self._lock:
            return sum(block.nbytes for block in self._blocks)

    def empty(self, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """Return an uninitialized array, as `numpy.empty` does.

        Parameters
        ----------
        shape : tuple of int
            Shape of the array.
        dtype : dtype_like
            Type of its values.

        Returns
        -------
        ndarray
            Arrays of at least 1 MiB start at a multiple of 64 bytes, and their memory is reused.
        """
        dtype = np.dtype(dtype)
        nbytes = math.prod(shape) * dtype.itemsize
        if nbytes < MIN_REUSED_BYTES or dtype.hasobject:
            return np.empty(shape, dtype)
        block = self._take_block(nbytes + ALIGNMENT)
        start = -block.ctypes.data % ALIGNMENT
        # The `base` of `root` is a buffer and not an array. NumPy therefore sets the `base` of every view of the result
        # to `root`. When the last view is deleted, `root` is deleted, too, and its finalizer keeps the block.
        root = np.frombuffer(block.data, np.uint8, nbytes, start)
        weakref.finalize(root, _return_block, weakref.ref(self), block).atexit = False
        return root.view(dtype).reshape(shape)

    def _take_block(self, nbytes: int) -> NDArray[np.uint8]:
        """Return a block of exactly this size: a block that was kept for reuse, or a new block."""
        # A kept block often has exactly this size, because the batches of a loader usually have equal sizes.
        with self._lock:
            for index, block in enumerate(self._blocks):
                if block.nbytes == nbytes:
                    del self._blocks[index]
                    return block
        return np.empty(nbytes, np.uint8)

    def close(self) -> None:
        """Free the kept memory and stop keeping memory for reuse."""
        with self._lock:
            self._max_bytes = 0
            self._free_oldest_blocks(0)

    def _free_oldest_blocks(self, max_bytes: int) -> None:
        while sum(block.nbytes for block in self._blocks) > max_bytes:
            self._blocks.popleft()

    def keep_block(self, block: NDArray[np.uint8]) -> None:
        """Keep a block for reuse; free the oldest blocks if the total size exceeds the maximum.

        Parameters
        ----------
        block : ndarray of uint8
            Memory that nothing else refers to.
        """
        # Do not wait for the lock, because a finalizer may call this method in the thread that holds the lock. If a
        # thread holds the lock, the block is freed and not kept for reuse.
        if not self._lock.acquire(blocking=False):
            return
        try:
            self._blocks.append(block)
            self._free_oldest_blocks(self._max_bytes)
        finally:
            self._lock.release()


def _return_block(memory: weakref.ref[Memory], block: NDArray[np.uint8]) -> None:
    if (owner := memory()) is not None:
        owner.keep_block(block)

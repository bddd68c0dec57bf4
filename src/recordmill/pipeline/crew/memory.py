"""Memory of large arrays that is used again when nothing looks at it any more.

Fresh memory is not free: the system clears every page when it is first written to. For a batch of 77 MB that is a good
part of what it costs to fill it.
"""

from __future__ import annotations

import math
import threading
import weakref
from collections import deque
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from recordmill.pipeline.crew.passing import ALIGNED

SMALLEST = 1 << 20  # bytes; the allocator keeps what is smaller by itself


class Memory:
    """Gives out arrays, and takes their memory back when the last view of them is gone.

    Whoever has an array may keep it for as long as it likes: its memory is missing here meanwhile, and nothing else.
    May be used by several threads.

    Parameters
    ----------
    max_bytes : int
        Memory that is kept for later, at most.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._blocks: deque[NDArray[np.uint8]] = deque()
        self._lock = threading.Lock()

    @property
    def kept_bytes(self) -> int:
        """Bytes of memory that nothing looks at now."""
        with self._lock:
            return sum(block.nbytes for block in self._blocks)

    def empty(self, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """Array with arbitrary values, as `numpy.empty` gives it.

        Parameters
        ----------
        shape : tuple of int
        dtype : dtype_like
            Of numbers.

        Returns
        -------
        ndarray
            It starts at a multiple of 64 bytes where it is large enough for its memory to be used again.
        """
        kind = np.dtype(dtype)
        nbytes = math.prod(shape) * kind.itemsize
        if nbytes < SMALLEST or kind.hasobject:
            return np.empty(shape, kind)
        block = self._found(nbytes + ALIGNED)
        start = -block.ctypes.data % ALIGNED
        # A view through the buffer protocol: arrays made from it refer to it, not to the block behind it.
        root = np.frombuffer(block.data, np.uint8, nbytes, start)
        weakref.finalize(root, _give_back, weakref.ref(self), block).atexit = False
        return root.view(kind).reshape(shape)

    def _found(self, nbytes: int) -> NDArray[np.uint8]:
        """Return a block of the size, an old one if there is one; the sizes of batches are always the same."""
        with self._lock:
            for place, block in enumerate(self._blocks):
                if block.nbytes == nbytes:
                    del self._blocks[place]
                    return block
        return np.empty(nbytes, np.uint8)

    def close(self) -> None:
        """Let go of what is kept, and keep nothing from now on."""
        with self._lock:
            self._max_bytes = 0
            self._shrink(0)

    def _shrink(self, max_bytes: int) -> None:
        while sum(one.nbytes for one in self._blocks) > max_bytes:
            self._blocks.popleft()

    def keep(self, block: NDArray[np.uint8]) -> None:
        """Keep memory for later; the oldest makes room.

        This runs wherever an array dies, perhaps in the middle of the other methods, and so must not wait for them:
        memory that comes at such a moment is let go.

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
    if (kept := memory()) is not None:
        kept.keep(block)

"""What the system's allocator has to learn before many large byte strings or arrays are made and let go."""

from __future__ import annotations

import functools

import numpy as np

# Just below the largest block by which the GNU C library still learns (malloc's DEFAULT_MMAP_THRESHOLD_MAX, 32 MiB).
_BLOCK_BYTES = 31 << 20


@functools.cache
def keep_freed_memory() -> None:
    """Let the allocator keep memory that is freed, as it does once a program has let go of one large array.

    Until then the GNU C library hands the end of its heap back to the system whenever 128 KiB are free there, and byte
    strings and arrays of photographs cost more page faults than copying. The block is never touched, so it takes no
    memory. Other allocators do not mind.
    """
    np.empty(_BLOCK_BYTES, np.uint8)

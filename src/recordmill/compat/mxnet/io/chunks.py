"""Ranges of bytes and the chunks in which MXNet reads them, in numbers of records."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
# First and one past the last.
Span = tuple[int, int]
# Bytes of a chunk; it ends before the last record that begins in front of its last eight.
CHUNK_BYTES = 1 << 23
_HEAD_BYTES = 8
# By how much more ranges `shuffle_chunk_size` makes than would do.
_MORE = 1.1


def byte_ranges(values: Mapping[str, Any], size: int) -> list[Span]:
    """Cut the bytes of one part: into one range, or those that `shuffle_chunk_size` asks for."""
    num_parts, part, chunk = values["num_parts"], values["part_index"], values["shuffle_chunk_size"]
    count = max(math.ceil(size * _MORE / (num_parts * (chunk << 20))), 1) if chunk > 0 else 1
    step = (-(-size // (num_parts * count)) + 3) // 4 * 4
    return [(k * step, (k + 1) * step) for k in range(part * count, (part + 1) * count)]


def record_chunks(starts: Ints, span: Span, size: int) -> list[Span]:
    """Cut records into those that are read together."""
    first, last = span
    end = int(starts[last]) if last < len(starts) else size
    chunks = []
    while first < last:
        stop, room = last, CHUNK_BYTES
        while end - starts[first] >= room:
            stop = int(np.searchsorted(starts, starts[first] + room - _HEAD_BYTES, "right")) - 1
            if stop > first:
                break
            stop, room = last, 2 * room
        chunks.append((first, min(stop, last)))
        first = min(stop, last)
    return chunks

"""Byte ranges of one remote file: merge them into requests, find requested ranges, and wait for their content."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Future
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from recordmill.storage.block_cache import FilePart

Ints = NDArray[np.int64]

# Maximum size of one request.
MAX_REQUEST_BYTES = 8 << 20


class CachedContent:
    """A byte range that is already in the cache, with the methods of a completed `Future`."""

    __slots__ = ("_part",)

    def __init__(self, part: FilePart) -> None:
        self._part = part

    def result(self) -> FilePart:
        """Return the cache file, the offset of the byte range in this file, and the length of the range in bytes."""
        return self._part

    def cancel(self) -> bool:
        """Return False: content that is already available cannot be canceled."""
        return False


class RequestedRange(NamedTuple):
    """Byte range of a file, with a future of its content.

    Parameters
    ----------
    start, stop : int
        Range in bytes.
    content : Future or CachedContent
    """

    start: int
    stop: int
    content: Future[memoryview] | CachedContent


def wait_for_ranges(requested: Iterable[RequestedRange]) -> tuple[list[int], list[memoryview | FilePart]]:
    """Wait for the content of ranges. Return the starts and contents, sorted by start and without overlaps."""
    starts: list[int] = []
    parts: list[memoryview | FilePart] = []
    end = 0
    for start, stop, content in sorted(requested, key=lambda each: each[:2]):
        data = content.result()
        if start < end < stop:
            data = _skip_bytes(data, end - start)
        if stop > end:
            starts.append(max(start, end))
            parts.append(data)
            end = stop
    return starts, parts


def _skip_bytes(data: memoryview | FilePart, count: int) -> memoryview | FilePart:
    """Return the content of a range without its first `count` bytes."""
    if isinstance(data, memoryview):
        return data[count:]
    path, offset, num_bytes = data
    return path, offset + count, num_bytes - count


class RangeTable:
    """Table of sorted byte ranges, in which `find` looks up other ranges.

    Parameters
    ----------
    starts, stops : ndarray of int64, shape (n,)
    """

    def __init__(self, starts: Ints, stops: Ints) -> None:
        # `_stops[n]` is the end of the nth range, counted from 1. `_stops[0]` stands for the positions before the first
        # range. It is -1, so that `find` reports ranges at these positions as missing.
        self._starts, self._stops = starts, np.append(-1, stops)
        # `merge_ranges` divides a range that is too large for one request. A range that is passed to `find` may
        # therefore extend over several ranges of the table. `_gaps[n]` is the number of gaps before the nth range.
        # Ranges with the same number have no gap between them.
        self._gaps = np.append(0, np.cumsum(self._stops[:-1] != starts))

    def find(self, starts: Ints, stops: Ints) -> tuple[list[int], NDArray[np.bool_]]:
        """Return the indices of the table ranges that cover the given ranges, and a mask of uncovered given ranges."""
        first = np.searchsorted(self._starts, starts, side="right")
        last = np.searchsorted(self._starts, stops)
        missing = stops > self._stops[last]
        is_divided = first != last
        if is_divided.any():
            missing |= self._gaps[first] != self._gaps[last]
        if missing.any():
            first, last, is_divided = first[~missing], last[~missing], is_divided[~missing]
        used = set(first.tolist())
        for row in np.flatnonzero(is_divided).tolist():
            used.update(range(first[row], last[row] + 1))
        return [entry - 1 for entry in sorted(used)], missing


def merge_ranges(starts: Ints, stops: Ints, max_gap_bytes: int) -> tuple[list[int], list[int]]:
    """Sort ranges, merge those with small gaps between them, and divide those that are too large for one request."""
    order = np.lexsort((stops, starts))
    starts, stops = starts[order], np.maximum.accumulate(stops[order])
    merged_starts: list[int] = []
    merged_stops: list[int] = []
    # Indices of the ranges that begin after a large gap.
    edges = (np.flatnonzero(starts[1:] - stops[:-1] > max_gap_bytes) + 1).tolist()
    row, end = 0, 0
    for edge in [*edges, len(starts)]:
        while row < edge:
            first = max(int(starts[row]), end)
            num_merged = int(np.searchsorted(stops[row:edge], first + MAX_REQUEST_BYTES, side="right"))
            row += max(num_merged, 1)
            end = int(stops[row - 1])
            bounds = [*range(first, end, MAX_REQUEST_BYTES), end]
            merged_starts += bounds[:-1]
            merged_stops += bounds[1:]
    return merged_starts, merged_stops

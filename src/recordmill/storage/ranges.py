"""Byte ranges of one remote file: merge them into requests, and wait for their content."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recordmill.storage.block_cache import MAX_REQUEST_BYTES, FilePart


class CachedRange:
    """A range in a file of the cache, with the methods of a completed `Future`."""

    __slots__ = ("_part",)

    def __init__(self, part: FilePart) -> None:
        self._part = part

    def result(self) -> FilePart:
        """Return the file of the cache and the range in it."""
        return self._part

    def cancel(self) -> bool:
        """Return False: a range that is already available cannot be canceled."""
        return False


class FetchedRanges(NamedTuple):
    """Ranges of one file that are being requested.

    Parameters
    ----------
    starts, stops : ndarray of int64, shape (n,)
        Ranges in bytes, in increasing order.
    parts : list of Future or CachedRange
        Content of each range.
    """

    starts: NDArray[np.int64]
    stops: NDArray[np.int64]
    parts: Sequence[Future[memoryview] | CachedRange]

    def wait(self) -> tuple[list[int], list[memoryview | FilePart]]:
        """Wait for the content; return the starts and the content of disjoint ranges."""
        starts: list[int] = []
        parts: list[memoryview | FilePart] = []
        end = 0
        for start, stop, part in zip(self.starts.tolist(), self.stops.tolist(), self.parts, strict=True):
            data = part.result()
            if start < end < stop:
                data = _skip_bytes(data, end - start)
            if stop > end:
                starts.append(max(start, end))
                parts.append(data)
                end = stop
        return starts, parts

    def select(self, starts: NDArray[np.int64], stops: NDArray[np.int64]) -> tuple[FetchedRanges, NDArray[np.bool_]]:
        """Return the requested ranges that contain the given ranges, and a mask of the given ranges not found."""
        first = np.searchsorted(self.starts, starts, side="right") - 1
        last = np.searchsorted(self.starts, stops - 1, side="right") - 1
        # A range that was too large for one request was divided into adjacent ranges.
        gaps = np.concatenate(([0], np.cumsum(self.starts[1:] != self.stops[:-1])))
        inside = (first >= 0) & (stops <= self.stops[last]) & (gaps[first] == gaps[last])
        pairs = zip(first[inside].tolist(), last[inside].tolist(), strict=True)
        used = sorted({number for low, high in pairs for number in range(low, high + 1)})
        return FetchedRanges(self.starts[used], self.stops[used], [self.parts[number] for number in used]), ~inside


def _skip_bytes(data: memoryview | FilePart, count: int) -> memoryview | FilePart:
    """Return the content of a range without its first `count` bytes."""
    if isinstance(data, memoryview):
        return data[count:]
    path, offset, num_bytes = data
    return path, offset + count, num_bytes - count


def join_ranges(found: Sequence[FetchedRanges]) -> FetchedRanges:
    """Combine several groups of ranges of one file. The ranges may overlap."""
    starts, stops = (np.concatenate([getattr(ranges, name) for ranges in found]) for name in ("starts", "stops"))
    parts = [part for ranges in found for part in ranges.parts]
    order = np.argsort(starts, kind="stable").tolist()
    return FetchedRanges(starts[order], stops[order], [parts[number] for number in order])


def merge_ranges(
    starts: NDArray[np.int64], stops: NDArray[np.int64], max_gap_bytes: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Sort ranges, merge those with small gaps between them, and divide those that are too large for one request."""
    order = np.lexsort((stops, starts))
    starts, stops = starts[order], np.maximum.accumulate(stops[order])
    merged_starts: list[int] = []
    merged_stops: list[int] = []
    first, last = int(starts[0]), int(stops[0])
    for start, stop in zip([*starts[1:].tolist(), None], [*stops[1:].tolist(), None], strict=True):
        if start is not None and start - last <= max_gap_bytes and stop - first <= MAX_REQUEST_BYTES:
            last = max(last, stop)
            continue
        edges = [*range(first, last, MAX_REQUEST_BYTES), last]
        merged_starts += edges[:-1]
        merged_stops += edges[1:]
        if start is not None:
            first, last = max(start, last), max(stop, last)
    return np.array(merged_starts, np.int64), np.array(merged_stops, np.int64)

"""Request the records of coming batches of remote datasets, in the order in which the batches will need them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from itertools import count, pairwise
from typing import Any, NamedTuple

import numpy as np

from recordmill.concurrency.daemon_pool import DaemonPool
from recordmill.pipeline.compiled_pipeline import CompiledPipeline
from recordmill.pipeline.engine import BatchBuilder
from recordmill.pipeline.samples import Positions

# Records are requested in windows of at least this many bytes. By default, `shuffle` shuffles 16 blocks of about 7 MiB
# of remote shards together. Such a group is larger than the minimum, so one window contains the whole group, and one
# request reads each block.
_WINDOW_BYTES = 48 << 20
# A window that reaches this many bytes ends, even within a group of blocks.
_MAX_WINDOW_BYTES = 128 << 20
# Number of windows that are requested in advance, in addition to the window from which batches are built.
_WINDOWS_AHEAD = 1

# An element (a batch, or a chunk of samples before a filter) is identified by its epoch and its number in the epoch.
Element = tuple[int, int]


class Segment(NamedTuple):
    """Samples that belong to the same element and to the same shuffle group.

    A shuffle group consists of the blocks whose samples are shuffled together. Without a block shuffle, `group` is -1.
    """

    element: Element
    pipeline: CompiledPipeline
    positions: Positions
    group: int


class _Window(NamedTuple):
    """First and last element of a window, and the result of `_request_records` for it."""

    first: Element
    last: Element
    requests: Future[list[Callable[[], None]]]


class ReadAhead:
    """Requests the records of elements before the elements are built, in the order of `segments`.

    The samples are divided into windows. An element is built only after its windows and the next one have been
    requested. The records of a window are dropped when all of its elements have been delivered.

    Parameters
    ----------
    segments : iterator of Segment
        Samples of all elements in the order in which they are built, see `iterate_batches` and `iterate_chunks`.
    start : Element
        First element.
    """

    def __init__(self, segments: Iterator[Segment], start: Element) -> None:
        self._segments = segments
        self._next = next(self._segments, None)
        self.position = start
        self._windows: deque[_Window] = deque()
        self._has_started = False
        self._thread = DaemonPool(1, "recordmill-read-ahead")

    def prepare(self, element: Element) -> None:
        """Request the records of an element, and wait for these requests. Also request the next window.

        The first call requests no next window, so that the first element does not share the connection with it.
        """
        while self._next is not None and (
            self._next.element <= element or (self._has_started and not self._has_enough_windows_after(element))
        ):
            self._request_window()
        self._has_started = True
        for window in list(self._windows):
            if window.first <= element:
                window.requests.result()

    def _has_enough_windows_after(self, element: Element) -> bool:
        """Return True if enough windows after an element have been requested."""
        return sum(window.first > element for window in self._windows) >= _WINDOWS_AHEAD

    def release(self, element: Element) -> None:
        """Drop the windows whose elements were all delivered. `element` is the next element to deliver."""
        self.position = element
        while self._windows and self._windows[0].last < element:
            _drop_records(self._windows.popleft().requests)

    def close(self) -> None:
        """Drop the records of all windows, and stop the thread."""
        self._next = None
        while self._windows:
            requests = self._windows.popleft().requests
            if not requests.cancel():
                requests.add_done_callback(_drop_records)
        self._thread.close()

    def _request_window(self) -> None:
        segments: list[Segment] = []
        num_bytes = 0
        while self._next is not None:
            if segments and _is_window_end(segments[-1], self._next, num_bytes):
                break
            segments.append(self._next)
            num_bytes += len(self._next.positions) * self._next.pipeline.mean_record_bytes
            self._next = next(self._segments, None)
        requests = self._thread.submit(_request_records, segments)
        self._windows.append(_Window(segments[0].element, segments[-1].element, requests))


def _is_window_end(last: Segment, following: Segment, num_bytes: int) -> bool:
    """Return True if a window of `num_bytes` ends after segment `last`. Segment `following` then begins a new window.

    No window extends beyond its epoch, so that a window of a small dataset does not contain many epochs.
    """
    if following.element[0] != last.element[0] or num_bytes >= _MAX_WINDOW_BYTES:
        return True
    return num_bytes >= _WINDOW_BYTES and (following.group != last.group or following.group < 0)


def iterate_batches(
    create_builder: Callable[[int], BatchBuilder], part: tuple[int, int], start: Element
) -> Iterator[Segment]:
    """Yield the samples of the batches of a loader, one epoch after another.

    Parameters
    ----------
    create_builder : callable
        Function that returns the builder for an epoch.
    part : (int, int)
        ``(index, count)``: the loader builds only every `count`-th batch, starting with `index`.
    start : Element
        First batch.
    """
    epoch, number = start
    while True:
        builder = create_builder(epoch)
        total = builder.sampler.num_batches
        if total is not None and part[0] >= total:
            return
        while total is None or number < total:
            positions = Positions(epoch, builder.sampler.positions(number))
            yield from _split_by_shuffle_group((epoch, number), builder.pipeline, positions)
            number += part[1]
        epoch, number = epoch + 1, part[0]


def iterate_chunks(pipeline: CompiledPipeline, epoch: int, first: int, chunk_size: int) -> Iterator[Segment]:
    """Yield the unfiltered samples of one epoch, from sample `first` on, divided into chunks."""
    length = pipeline.length
    for number in count():
        start = first + number * chunk_size
        stop = start + chunk_size if length is None else min(start + chunk_size, length)
        if start >= stop:
            return
        yield from _split_by_shuffle_group((epoch, number), pipeline, Positions(epoch, range(start, stop)))


def _split_by_shuffle_group(element: Element, pipeline: CompiledPipeline, positions: Positions) -> Iterator[Segment]:
    groups = pipeline.find_shuffle_groups(positions)
    edges = [0, *(np.flatnonzero(np.diff(groups)) + 1).tolist(), len(positions)]
    for first, last in pairwise(edges):
        yield Segment(element, pipeline, positions.slice(first, last), int(groups[first]) if last else -1)


def _request_records(segments: list[Segment]) -> list[Callable[[], None]]:
    """Request the records of samples from remote sources; return functions that drop the requested records."""
    by_source: dict[int, tuple[Any, list[Any]]] = {}
    for segment in segments:
        for source, records in segment.pipeline.locate_records(segment.positions):
            by_source.setdefault(id(source), (source, []))[1].append(records)
    remote = [entry for entry in by_source.values() if getattr(entry[0], "is_remote", False)]
    return [source.request_ahead(np.concatenate(records)) for source, records in remote]


def _drop_records(window: Future[list[Callable[[], None]]]) -> None:
    if not window.cancelled() and window.exception() is None:
        for drop in window.result():
            drop()

"""Request the records of coming batches of remote datasets, in the order in which the batches will need them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from recordmill.pipeline.engine import BatchBuilder
from recordmill.pipeline.samples import Positions

# Approximate size of the records that are requested together. It is that of the blocks whose samples `shuffle` mixes,
# so that each block is requested as a whole.
_WINDOW_BYTES = 64 << 20
# Number of windows that are requested beyond the one from which batches are built.
_WINDOWS_AHEAD = 1

# An element is identified by its epoch and its number in the epoch.
Element = tuple[int, int]


class ReadAhead:
    """Requests for the elements of a loader, also beyond the end of an epoch.

    Elements are divided into windows. Before an element of a window is built, the window and the next one have been
    requested; when all elements of a window were delivered, its records are dropped.

    Parameters
    ----------
    create_builder : callable
        Function that returns the builder for an epoch.
    part : (int, int)
        Build only every `count`-th element, starting with `index`: (index, count).
    start : Element
        First element.
    """

    def __init__(self, create_builder: Callable[[int], BatchBuilder], part: tuple[int, int], start: Element) -> None:
        self._elements, self._part = _iterate_elements(create_builder, part, start), part
        self.position = start
        # The last element of each window, and what was requested for it.
        self._windows: deque[tuple[Element, Future[list[Callable[[], None]]]]] = deque()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="recordmill-read-ahead")
        self._is_ended = False

    def prepare(self, element: Element) -> None:
        """Wait until the window that contains an element is requested, and request the next one."""
        first = 0
        while first < len(self._windows) and self._windows[first][0] < element:
            first += 1
        while len(self._windows) <= first + _WINDOWS_AHEAD and not self._is_ended:
            self._request_window()
            while first < len(self._windows) and self._windows[first][0] < element:
                first += 1
        for _, window in list(self._windows)[: first + 1]:
            window.result()

    def release(self, element: Element) -> None:
        """Drop the windows whose elements were all delivered; `element` is the next one."""
        self.position = element
        while self._windows and self._windows[0][0] < element:
            _drop(self._windows.popleft()[1])

    def close(self) -> None:
        """Drop everything, and end the thread."""
        self._is_ended = True
        while self._windows:
            window = self._windows.popleft()[1]
            if not window.cancel():
                window.add_done_callback(_drop)
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _request_window(self) -> None:
        parts: list[tuple[BatchBuilder, Positions]] = []
        num_bytes, last = 0, None
        for last, builder, values in self._elements:
            parts.append((builder, Positions(last[0], values)))
            num_bytes += len(values) * builder.pipeline.mean_record_bytes
            num_elements = builder.sampler.num_batches
            # A window ends with the epoch, so that windows of small datasets do not contain thousands of epochs.
            if num_bytes >= _WINDOW_BYTES or (num_elements is not None and last[1] + self._part[1] >= num_elements):
                break
        if last is None:
            self._is_ended = True
            return
        self._windows.append((last, self._thread.submit(_request_records, parts)))


def _iterate_elements(
    create_builder: Callable[[int], BatchBuilder], part: tuple[int, int], start: Element
) -> Iterator[tuple[Element, BatchBuilder, Any]]:
    """Yield elements, with their builders and the positions of their samples, of one epoch after the other."""
    epoch, number = start
    while True:
        builder = create_builder(epoch)
        total = builder.sampler.num_batches
        if total is not None and part[0] >= total:
            return
        while total is None or number < total:
            yield (epoch, number), builder, builder.sampler.positions(number)
            number += part[1]
        epoch, number = epoch + 1, part[0]


def _request_records(parts: list[tuple[BatchBuilder, Positions]]) -> list[Callable[[], None]]:
    """Request the records of samples from all sources; return functions that drop them."""
    by_source: dict[int, tuple[Any, list[Any]]] = {}
    for builder, positions in parts:
        for source, records in builder.pipeline.locate_records(positions):
            by_source.setdefault(id(source), (source, []))[1].append(records)
    remote = [entry for entry in by_source.values() if getattr(entry[0], "is_remote", False)]
    return [source.request_ahead(np.concatenate(records)) for source, records in remote]


def _drop(window: Future[list[Callable[[], None]]]) -> None:
    if not window.cancelled() and window.exception() is None:
        for drop in window.result():
            drop()

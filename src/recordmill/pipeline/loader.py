"""Iterates over a data set with threads that work ahead."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol


class Elements(Protocol):
    """Anything that is read by position."""

    def __len__(self) -> int:
        """Return the number of elements."""
        ...

    def __getitem__(self, key: int, /) -> Any:
        """Element at a position."""
        ...


class Loader:
    """Elements in order, made by threads ahead of the caller.

    Every iteration has its own threads; they end with it, also when it is left early or fails. An error reaches the
    caller in the place of the element that it spoiled.

    Parameters
    ----------
    elements : Elements
    threads : int
        0 for none.
    prefetch : int
        Elements that are ready beyond those being made.
    """

    def __init__(self, elements: Elements, threads: int = 2, prefetch: int = 2) -> None:
        if threads < 0 or prefetch < 0:
            raise ValueError(f"threads and prefetch are not negative, not {threads} and {prefetch}")
        self._elements, self._threads, self._prefetch = elements, threads, prefetch

    def __len__(self) -> int:
        """Return the number of elements per iteration."""
        return len(self._elements)

    def __iter__(self) -> Iterator[Any]:
        """Elements in order."""
        if self._threads == 0:
            return (self._elements[place] for place in range(len(self)))
        return self._ahead()

    def _ahead(self) -> Iterator[Any]:
        pool = ThreadPoolExecutor(self._threads, thread_name_prefix="recordmill-load")
        waiting: deque[Future[Any]] = deque()
        try:
            for place in range(len(self)):
                waiting.append(pool.submit(self._elements.__getitem__, place))
                if len(waiting) > self._threads + self._prefetch:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

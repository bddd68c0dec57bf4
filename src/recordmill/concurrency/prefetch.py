"""An iterator that reads ahead from another iterator in a background thread."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from threading import Condition, Thread, current_thread
from typing import Generic, Self, TypeVar

from recordmill.concurrency.forks import ForkCounter

T = TypeVar("T")
_JOIN_TIMEOUT_S = 5.0


class Prefetcher(Generic[T]):
    """Iterator over `items`, which a daemon thread reads before the caller needs them.

    Behaves like `items` itself: an error is raised in place of its item, and the next call continues with whatever
    `items` yields after it. The thread stops at the end of `items` or on `close`.

    Parameters
    ----------
    items : iterator
        Iterator to read. Only the thread advances it; at the end, the thread calls its `close` method if it has one.
    depth : int
        Number of finished items that may wait for the caller while the next one is in progress.
    name : str
        Name of the thread.
    """

    def __init__(self, items: Iterator[T], depth: int, name: str = "recordmill-prefetch") -> None:
        self._items, self._depth = items, depth
        self._results: deque[tuple[T | None, BaseException | None]] = deque()
        self._changed = Condition()
        self._is_closed = False
        self._fork_depth = ForkCounter.depth
        self._thread = Thread(target=self._fill_queue, name=name, daemon=True)
        self._thread.start()

    def __iter__(self) -> Self:
        """Return the iterator itself."""
        return self

    def __next__(self) -> T:
        """Wait for the next item and return it, or raise the error that `items` raised."""
        if self._fork_depth != ForkCounter.depth:
            raise RuntimeError("this iterator belongs to the process that created it; create a new one after a fork")
        with self._changed:
            self._changed.wait_for(lambda: self._results or self._is_closed)
            if self._is_closed:
                raise StopIteration
            item, error = self._results[0]
            if not isinstance(error, StopIteration):  # Later calls raise StopIteration again.
                self._results.popleft()
                self._changed.notify_all()
        if error is not None:
            raise error
        return item  # type: ignore[return-value]

    def close(self) -> None:
        """Drop items that were not returned, and wait at most 5 s until the thread stops after its current item."""
        if self._fork_depth != ForkCounter.depth:
            return
        with self._changed:
            self._is_closed = True
            self._results.clear()
            self._changed.notify_all()
        # Garbage collection may call `close` in `_thread`, which cannot join itself.
        if current_thread() is not self._thread:
            self._thread.join(_JOIN_TIMEOUT_S)

    def _fill_queue(self) -> None:
        error: BaseException | None = None
        try:
            while not isinstance(error, StopIteration) and self._wait_for_room():
                try:
                    item, error = next(self._items), None
                except BaseException as caught:  # noqa: BLE001 (raised in the caller's thread)
                    item, error = None, caught
                with self._changed:
                    self._results.append((item, error))
                    self._changed.notify_all()
        finally:
            close = getattr(self._items, "close", None)
            if close is not None:
                close()

    def _wait_for_room(self) -> bool:
        with self._changed:
            self._changed.wait_for(lambda: self._is_closed or len(self._results) <= self._depth)
            return not self._is_closed

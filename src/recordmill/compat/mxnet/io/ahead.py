"""Elements made ahead of their consumer by one thread, in order."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

Made = TypeVar("Made")


class Ahead(Generic[Made]):
    """Makes what an iterator of calls asks for, a few elements ahead.

    An error is raised in the place of its element. A copy that a fork made begins a thread of its own.
    """

    def __init__(self, calls: Iterator[Callable[[], Made]], depth: int) -> None:
        self._calls, self._depth = calls, depth
        self._waiting: deque[tuple[Callable[[], Made], Future[Made] | None]] = deque()
        self._pool: ThreadPoolExecutor | None = None
        self._process = os.getpid()

    def take(self) -> Made | None:
        """Return the next element; None where there is no more."""
        if self._process != os.getpid():
            self._pool, self._process = None, os.getpid()
            self._waiting = deque((call, None) for call, _ in self._waiting)
        while len(self._waiting) <= self._depth and (call := next(self._calls, None)) is not None:
            self._waiting.append((call, self._order(call)))
        if not self._waiting:
            return None
        call, future = self._waiting.popleft()
        return call() if future is None else future.result()

    def _order(self, call: Callable[[], Made]) -> Future[Made] | None:
        if not self._depth:
            return None
        if self._pool is None:
            self._pool = ThreadPoolExecutor(1, thread_name_prefix="recordmill-mxnet")
        return self._pool.submit(call)

    def close(self) -> None:
        """Drop what was made and is to be made, and end the thread."""
        self._waiting.clear()
        if self._pool is not None and self._process == os.getpid():
            self._pool.shutdown(wait=False, cancel_futures=True)
        self._pool = None

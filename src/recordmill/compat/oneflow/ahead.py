"""Makes the next batch while the last one is used."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

T = TypeVar("T")


class Ahead(Generic[T]):
    """What a function gives, call after call, one call ahead.

    An error comes when its turn is; then the function is called again.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make, self._process = make, os.getpid()
        self._thread = ThreadPoolExecutor(1, "recordmill-reader")
        self._next: Future[T] | None = None

    def take(self) -> T:
        """Return the next result."""
        if self._process != os.getpid():
            raise RuntimeError("this reader was called before the process was forked: make one in each process")
        coming = self._next = self._next or self._thread.submit(self._make)
        try:
            found = coming.result()
        finally:
            # Whoever is interrupted while waiting finds the result the next time.
            if coming.done():
                self._next = None
        self._next = self._thread.submit(self._make)
        return found

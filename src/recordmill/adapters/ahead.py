"""One thread that takes from an iterator ahead of the caller."""

from __future__ import annotations

import os
from collections.abc import Iterator
from queue import SimpleQueue
from threading import Semaphore, Thread
from typing import Any, Self

_END = object()
_PATIENT_S = 5.0


class Ahead:
    """Items of an iterator, in order, made by a thread that runs ahead.

    The thread ends with the iterator, with its first error, or with `close`. An error reaches the caller in its place.

    Parameters
    ----------
    items : iterator
        Used, and closed, by the thread alone.
    depth : int
        Items that are ready beyond the one being made.
    """

    def __init__(self, items: Iterator[Any], depth: int) -> None:
        self._items = items
        self._room = Semaphore(depth + 1)
        self._made: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()
        self._is_closed = False
        self._process = os.getpid()
        self._thread = Thread(target=self._work, name="recordmill-ahead", daemon=True)
        self._thread.start()

    def __iter__(self) -> Self:
        """Return itself."""
        return self

    def __next__(self) -> Any:
        """Wait for the next item; raises what making it raised."""
        if self._process != os.getpid():
            raise RuntimeError("this iterator belongs to the process that made it; start a new one after a fork")
        if self._is_closed:
            raise StopIteration
        item, error = self._made.get()
        if error is None and item is not _END:
            self._room.release()
            return item
        self.close()
        raise error or StopIteration

    def close(self) -> None:
        """End the thread, behind the item that it is making; one that hangs ends by itself if it ever goes on."""
        self._is_closed = True
        if self._process == os.getpid():
            self._room.release()
            self._thread.join(_PATIENT_S)

    def _work(self) -> None:
        try:
            while not self._wait_for_room():
                self._made.put((next(self._items), None))
        except StopIteration:
            self._made.put((_END, None))
        except BaseException as error:  # noqa: BLE001 (it goes to the caller)
            self._made.put((_END, error))
        finally:
            close = getattr(self._items, "close", None)
            if close is not None:
                close()

    def _wait_for_room(self) -> bool:
        self._room.acquire()
        return self._is_closed

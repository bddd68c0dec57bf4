"""Iterates over a data set with threads that work ahead."""

from __future__ import annotations

from collections.abc import Iterator
from queue import SimpleQueue
from threading import Thread
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
        crew = _Crew(self._elements, self._threads)
        count, ahead = len(self), self._threads + self._prefetch + 1
        try:
            for place in range(count):
                crew.order(min(count, place + ahead))
                yield crew.take(place)
        finally:
            crew.dismiss()


class _Crew:
    """Threads that make elements of which the places are put into a queue, and put them into another.

    Parameters
    ----------
    elements : Elements
    num_threads : int
    """

    def __init__(self, elements: Elements, num_threads: int) -> None:
        self._elements = elements
        self._wanted: SimpleQueue[int | None] = SimpleQueue()
        self._made: SimpleQueue[tuple[int, Any, BaseException | None]] = SimpleQueue()
        self._early: dict[int, tuple[Any, BaseException | None]] = {}
        self._num_ordered = 0
        self._dismissed = False
        self._threads = [Thread(target=self._work, name="recordmill-load", daemon=True) for _ in range(num_threads)]
        for thread in self._threads:
            thread.start()

    def order(self, stop: int) -> None:
        """Ask for the elements below a place that were not asked for yet."""
        for place in range(self._num_ordered, stop):
            self._wanted.put(place)
        self._num_ordered = max(self._num_ordered, stop)

    def take(self, place: int) -> Any:
        """Wait for an element that was asked for; raises what making it raised."""
        while place not in self._early:
            made, element, error = self._made.get()
            self._early[made] = element, error
        element, error = self._early.pop(place)
        if error is not None:
            raise error
        return element

    def dismiss(self) -> None:
        """End the threads, each behind the element that it is making."""
        self._dismissed = True
        for _ in self._threads:
            self._wanted.put(None)
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        while (place := self._wanted.get()) is not None and not self._dismissed:
            try:
                self._made.put((place, self._elements[place], None))
            except BaseException as error:  # noqa: BLE001 (it goes to the caller)
                self._made.put((place, None, error))

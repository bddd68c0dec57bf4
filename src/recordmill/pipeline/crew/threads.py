"""A crew of threads of this process."""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any

from recordmill.errors import WorkerError
from recordmill.pipeline.crew.base import Counters, Make, NotReadyError, WorkerCounters, check_num_workers
from recordmill.pipeline.crew.forks import Forks

# Sleepers are woken when there is something for them; that they also look once a second costs nothing and means that
# nothing at all can make them sleep for ever.
_LOOK_S = 1.0


class _Shared:
    """What consumer and threads have in common. It does not know the crew, so that a crew nobody has can end.

    Parameters
    ----------
    make : callable
    """

    __slots__ = ("awaited", "ended", "made", "make", "wake", "wanted")

    def __init__(self, make: Make) -> None:
        self.make = make
        self.wanted: SimpleQueue[int | None] = SimpleQueue()
        self.made: dict[int, tuple[Any, BaseException | None]] = {}
        self.awaited: int | None = None
        self.wake: SimpleQueue[None] = SimpleQueue()
        self.ended = False

    def end(self, num_workers: int) -> None:
        """Let the threads end, each behind the element that it is making; safe inside a finalizer."""
        self.ended = True
        for _ in range(num_workers):
            self.wanted.put(None)
        self.wake.put(None)


class _Worker(threading.Thread):
    """Makes elements until it is told to end.

    Parameters
    ----------
    shared : _Shared
    """

    def __init__(self, shared: _Shared) -> None:
        super().__init__(name="recordmill-load", daemon=True)
        self.shared = shared
        self.state: tuple[int | None, float, float, float, int] = None, 0.0, 0.0, 0.0, 0  # as `run` writes it

    def run(self) -> None:
        """Make what is ordered. An element goes straight where the consumer finds it: nothing here keeps it."""
        shared, make, wanted, made = self.shared, self.shared.make, self.shared.wanted, self.shared.made
        busy_s, waited_s, num_made = 0.0, 0.0, 0
        ready = monotonic()
        while (place := wanted.get()) is not None and not shared.ended:
            begun = monotonic()
            waited_s += begun - ready
            self.state = place, begun, busy_s, waited_s, num_made
            try:
                made[place] = make(place), None
            except BaseException as error:  # noqa: BLE001 (it goes to the consumer)
                made[place] = None, error
            ready = monotonic()
            busy_s += ready - begun
            num_made += 1
            self.state = None, ready, busy_s, waited_s, num_made
            if shared.awaited == place:
                shared.wake.put(None)


class ThreadCrew:
    """Threads that make elements ahead of one consumer.

    They start with the first order, and end when the crew is dismissed, when nobody has it any more, and before the
    interpreter exits. `make` must not hold the crew, or nobody can ever be without it.

    Parameters
    ----------
    make : callable
        Gives the element at a place; called by all threads.
    num_workers : int
    start : int
        The first place that may be ordered.
    """

    def __init__(self, make: Make, num_workers: int, *, start: int = 0) -> None:
        self._num_workers = check_num_workers(num_workers)
        self._shared = _Shared(make)
        self._threads: list[_Worker] = []
        self._next, self._open = start, set[int]()
        self._waited_s, self._process, self._behind = 0.0, os.getpid(), Forks.behind
        weakref.finalize(self, _end, self._shared, num_workers, Forks.behind).atexit = False

    def order(self, stop: int) -> None:
        """Ask for the elements below a place that were not asked for yet.

        Parameters
        ----------
        stop : int

        Raises
        ------
        WorkerError
            The crew was dismissed, or belongs to the process that this one was forked from.
        """
        if stop <= self._next:
            return
        self._check()
        places = range(self._next, stop)
        self._next = stop
        self._open.update(places)
        if len(self._threads) < self._num_workers:
            self._hire(len(self._open))
        for place in places:
            self._shared.wanted.put(place)

    def take(self, place: int, *, timeout: float | None = None) -> Any:
        """Wait for an element that was asked for.

        Parameters
        ----------
        place : int
        timeout : float, optional
            Seconds to wait at most.

        Returns
        -------
        object
            What `make` gave.

        Raises
        ------
        BaseException
            What `make` raised.
        NotReadyError
            Nothing came in time; the place can be taken later.
        ValueError
            The place was not ordered, or was taken.
        WorkerError
            The crew was dismissed, or belongs to the process that this one was forked from.
        """
        self._check()
        if place not in self._open:
            raise ValueError(f"element {place} was not ordered, or was taken")
        made = self._shared.made
        if place not in made:
            self._wait(place, timeout)
        self._open.remove(place)
        element, error = made.pop(place)
        if error is None:
            return element
        try:
            raise error
        finally:
            del error  # or the error would hold this frame, and the frame the error

    def dismiss(self, *, timeout: float = 5.0) -> None:
        """End the threads, each behind the element that it is making; again does nothing.

        Parameters
        ----------
        timeout : float
            Seconds to wait for them at most; one that hangs ends by itself if it ever goes on.
        """
        if self._behind != Forks.behind:
            return
        self._shared.end(self._num_workers)  # one may be starting that Ctrl-C kept from the list
        _join(self._threads, timeout)
        self._shared.made.clear()

    @property
    def num_ready(self) -> int:
        """Elements that are made and not yet taken, as far as is known without asking."""
        return len(self._shared.made)

    def counters(self) -> Counters:
        """Where time went until now.

        Returns
        -------
        Counters
        """
        workers = tuple(WorkerCounters(*one.state[2:]) for one in self._threads)
        num_made = sum(one.num_made for one in workers)
        return Counters(self._waited_s, num_made, len(self._shared.made), workers)

    def running(self) -> list[tuple[int, float]]:
        """What is being made now.

        Returns
        -------
        list of (int, float)
            Places, and seconds since their making began; the longest first.
        """
        now, states = monotonic(), [one.state for one in self._threads]
        making = [(place, now - begun) for place, begun, *_ in states if place is not None]
        return sorted(making, key=lambda one: -one[1])

    def notes(self) -> dict[int, bytes]:
        """None: threads share everything."""
        return {}

    def _check(self) -> None:
        if self._behind != Forks.behind:
            hint = "begin a new iteration in this process"
            raise WorkerError(f"the threads of this iteration are in process {self._process}, not here", hint=hint)
        if self._shared.ended:
            raise WorkerError("the threads of this iteration were dismissed", hint="begin a new iteration")

    def _hire(self, num_open: int) -> None:
        while len(self._threads) < min(self._num_workers, num_open):
            worker = _Worker(self._shared)
            worker.start()
            self._threads.append(worker)

    def _wait(self, place: int, timeout: float | None) -> None:
        """Sleep until an element is there: name it first and look then, as its maker looks for the name afterwards."""
        shared, begun = self._shared, monotonic()
        shared.awaited = place
        try:
            while place not in shared.made:
                left = _LOOK_S if timeout is None else begun + timeout - monotonic()
                if left <= 0:
                    raise NotReadyError(f"element {place} was not ready after {timeout} s")
                try:
                    shared.wake.get(timeout=min(left, _LOOK_S))
                except Empty:
                    continue
                finally:
                    self._check()
        finally:
            shared.awaited = None
            self._waited_s += monotonic() - begun


def _end(shared: _Shared, num_workers: int, behind: int) -> None:
    if behind == Forks.behind:
        shared.end(num_workers)


def _join(threads: list[_Worker], timeout: float) -> None:
    """Wait for threads; one of them must not wait for the others, who may be waiting for what it holds."""
    if threading.current_thread() in threads:
        return
    deadline = monotonic() + timeout
    for thread in threads:
        thread.join(max(0.0, deadline - monotonic()))


@atexit.register
def _end_all() -> None:
    """End every thread while the interpreter is whole: native code must not come back to one that is not."""
    threads = [thread for thread in threading.enumerate() if isinstance(thread, _Worker)]
    for thread in threads:
        thread.shared.end(len(threads))
    _join(threads, 2.0)

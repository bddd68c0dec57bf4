"""A crew of processes, for work that holds the interpreter lock."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Collection
from copy import copy
from time import monotonic
from typing import Any

from recordmill.errors import WorkerError
from recordmill.pipeline.crew.base import Counters, Make, NotReadyError, check_num_workers
from recordmill.pipeline.crew.failures import Failure
from recordmill.pipeline.crew.forks import Forks
from recordmill.pipeline.crew.messages import Kind, Message
from recordmill.pipeline.crew.passing import rebuild
from recordmill.pipeline.crew.process import WorkerProcess
from recordmill.pipeline.crew.team import Team

_LOOK_S = 1.0  # a consumer that waits looks about so often whether it was dismissed by another thread


class ProcessCrew:
    """Processes that make elements ahead of one consumer.

    They are started afresh with the first order, and import what `make` needs. They end when the crew is dismissed,
    when nobody has it any more, and when the process of the consumer ends in whatever way. Large arrays lie in memory
    that both sides see: it is filled again only when no array looks at it any more.

    Parameters
    ----------
    make : callable
        Gives the element at a place; pickled once, a copy for each process.
    num_workers : int
    start : int
        The first place that may be ordered.
    """

    def __init__(self, make: Make, num_workers: int, *, start: int = 0) -> None:
        self._make, self._num_workers = make, check_num_workers(num_workers)
        self._team, self._lock = Team(), threading.Lock()
        self._made: dict[int, tuple[Kind, memoryview]] = {}
        self._next, self._sent, self._open = start, start, set[int]()
        self._fault: WorkerError | None = None
        self._waited_s, self._process, self._behind = 0.0, os.getpid(), Forks.behind
        weakref.finalize(self, self._team.end)

    def order(self, stop: int) -> None:
        """Ask for the elements below a place that were not asked for yet.

        Parameters
        ----------
        stop : int

        Raises
        ------
        WorkerError
            `make` cannot be pickled, the crew was dismissed, or it belongs to the process that this one was forked
            from.
        """
        if stop <= self._next:
            return
        self._check()
        self._hire()
        self._open.update(range(self._next, stop))
        self._next = stop
        self._send()

    def put(self, place: int, value: Any) -> None:
        """Lay down what making an element needs; `Desk.here` has it for the worker that makes it.

        Parameters
        ----------
        place : int
            That is ordered afterwards.
        value : object

        Raises
        ------
        WorkerError
            It cannot be pickled, or as `order`.
        """
        self._check()
        self._hire()
        if self._team.desk is not None:
            self._team.desk.put(place, value)

    def _hire(self) -> None:
        if not self._team.members:
            self._team.hire(self._make, self._num_workers)

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
            What `make` gave. Large arrays are writable views of shared memory.

        Raises
        ------
        BaseException
            What `make` raised, with its causes, and the traceback as a note.
        NotReadyError
            Nothing came in time; the place can be taken later.
        ValueError
            The place was not ordered, or was taken.
        WorkerError
            A worker ended, could not start, or cannot hand over what it made; or the crew was dismissed, or belongs to
            the process that this one was forked from.
        """
        self._check()
        if place not in self._open:
            raise ValueError(f"element {place} was not ordered, or was taken")
        if place not in self._made:
            self._wait(place, timeout)
        self._open.remove(place)
        kind, whole = self._made.pop(place)
        if self._team.desk is not None:
            self._team.desk.clear(place)
        try:
            value = rebuild(whole)
        except Exception as error:
            raise WorkerError("what a worker made cannot be built here", place=place) from error
        if kind is Kind.MADE:
            return value
        try:
            raise value.error()
        finally:
            del value  # or the error would hold this frame, and the frame the error

    def dismiss(self, *, timeout: float = 2.0) -> None:
        """End the processes, each behind the element that it is making; again does nothing.

        Parameters
        ----------
        timeout : float
            Seconds until those that have not ended are killed.
        """
        with self._lock:
            self._team.end(timeout)
            self._made.clear()

    @property
    def num_ready(self) -> int:
        """Elements that are made and not yet taken, as far as is known without asking."""
        return len(self._made)

    def counters(self) -> Counters:
        """Where time went until now.

        Returns
        -------
        Counters
        """
        self._receive_all()
        workers = tuple(member.counters for member in self._team.members)
        return Counters(self._waited_s, sum(one.num_made for one in workers), len(self._made), workers)

    def running(self) -> list[tuple[int, float]]:
        """What is being made now.

        Returns
        -------
        list of (int, float)
            Places, and seconds since their making began; the longest first.
        """
        self._receive_all()
        now, making = monotonic(), [member.making for member in self._team.members]
        return sorted(((one[0], now - one[1]) for one in making if one), key=lambda one: -one[1])

    def notes(self) -> dict[int, bytes]:
        """What workers have noted on their slates.

        Returns
        -------
        dict of int to bytes
            By the place of the element that each makes, or was making when it ended.
        """
        self._receive_all()
        members = [] if self._team.ended else self._team.members
        return {member.making[0]: member.slate.read() for member in members if member.making}

    def _check(self) -> None:
        if self._behind != Forks.behind:
            hint = "begin a new iteration in this process"
            raise WorkerError(f"the workers of this iteration belong to process {self._process}", hint=hint)
        if self._team.ended:
            raise WorkerError("the workers of this iteration were dismissed", hint="begin a new iteration")

    def _send(self) -> None:
        """Pass on orders, and slots that are free again, as far as there is room."""
        for member in self._team.members:
            member.give_back()
        if self._sent < self._next:
            self._sent += self._team.write(range(self._sent, self._next))

    def _wait(self, place: int, timeout: float | None) -> None:
        begun = monotonic()
        try:
            self._receive_all()
            while place not in self._made:
                self._check()
                if self._fault is not None:
                    raise copy(self._fault) from self._fault.__cause__  # or the fault would hold this frame
                self._send()
                left = _LOOK_S if timeout is None else begun + timeout - monotonic()
                if left <= 0:
                    raise NotReadyError(f"element {place} was not ready after {timeout} s")
                ready = {file for file, _ in self._team.poller.poll(min(left, _LOOK_S) * 1000)}
                self._receive_all(ready)
        finally:
            self._waited_s += monotonic() - begun

    def _receive_all(self, ready: Collection[int] = ()) -> None:
        """Read what workers have told; the ready descriptors say which of them have ended."""
        if self._behind != Forks.behind:
            return
        with self._lock:
            if self._team.ended:
                return
            for member in self._team.members:
                for message in member.messages():
                    self._receive(member, message)
                if member.watch in ready and self._fault is None:
                    self._fault = member.death()
                if member.is_silent:
                    self._team.listen_no_more(member)

    def _receive(self, member: WorkerProcess, message: Message) -> None:
        if message.kind in (Kind.READY, Kind.BEGUN):
            return
        try:
            if message.nbytes:
                whole = member.views.receive(message.slot, message.nbytes, message.file).data
            else:
                whole = memoryview(message.inside)
        except OSError as error:
            self._fault = WorkerError("memory of a worker cannot be mapped", place=message.place, hint=str(error))
            return
        if message.kind is Kind.BROKEN:
            self._fault = _could_not_start(rebuild(whole))
        else:
            self._made[message.place] = message.kind, whole


def _could_not_start(failure: Failure) -> WorkerError:
    cause = failure.error()
    what, hint = "a worker process could not start", getattr(cause, "hint", None)
    if not hint:
        what += f": {type(cause).__name__}: {cause}".partition("\n")[0][:200]
        hint = (
            "it imports anew what the work needs: define functions in a module, or in a script file, outside "
            "`if __name__ == '__main__':`; those of a notebook go into a module of their own"
        )
    fault = WorkerError(what, hint=hint)
    fault.__cause__ = cause
    return fault

"""What a worker process runs: it makes what is ordered until its consumer ends, whatever way that happens."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import select
import signal
import socket
import sys
import threading
from multiprocessing import spawn
from time import monotonic
from typing import Any, NoReturn, cast

from recordmill.errors import WorkerError
from recordmill.pipeline.crew.base import Make
from recordmill.pipeline.crew.desk import Desk
from recordmill.pipeline.crew.failures import packed
from recordmill.pipeline.crew.messages import MAX_INSIDE, STOP, Kind, Message, heard_return, next_order, tell
from recordmill.pipeline.crew.passing import Parts
from recordmill.pipeline.crew.segments import NO_SLOT, Slots
from recordmill.pipeline.crew.slate import Slate


def main(link: int, orders: int, setup: int, consumer: int, noted: int, desk: int) -> NoReturn:
    """Run a worker.

    Parameters
    ----------
    link : int
        Descriptor of a socket to the consumer.
    orders : int
        Descriptor of a pipe that all workers read places from.
    setup : int
        Descriptor of a file with what the process has to know.
    consumer : int
        Descriptor of the consumer's process, readable when that has ended.
    noted : int
        Descriptor of a page that the consumer reads, also when this process has died.
    desk : int
        Descriptor of a file in which the consumer lays down what elements need.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the whole group; the consumer tells us what follows
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    threading.Thread(target=_end_with, args=(consumer,), name="recordmill-watch", daemon=True).start()
    connection = socket.socket(fileno=link)
    Slate.here, Desk.here = Slate(noted), Desk(desk)
    try:
        make = _prepared(setup)
    except BaseException as error:  # noqa: BLE001 (the consumer raises it)
        _leave(_told(connection, Message(Kind.BROKEN), packed(error)))
    _leave(_Worker(make, connection, orders).run())


def _end_with(consumer: int) -> NoReturn:
    """End when the consumer's process has ended, in the middle of whatever is being made."""
    poller = select.poll()
    poller.register(consumer, select.POLLIN)
    poller.poll()
    os._exit(1)


def _prepared(setup: int) -> Make:
    """Become a process like the consumer's: its paths, its main module, and a copy of what it makes elements with."""
    with open(setup, "rb") as file:
        preparation, make = pickle.load(file)  # noqa: S301 (the consumer, our parent, wrote it)
    here = multiprocessing.current_process()
    here._inheriting = True  # type: ignore[attr-defined]  # as multiprocessing says that no process may start yet
    try:
        spawn.prepare(preparation)
    finally:
        del here._inheriting  # type: ignore[attr-defined]
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(line_buffering=True)
    return cast("Make", pickle.loads(make))  # noqa: S301


def _leave(well: bool) -> NoReturn:
    """End at once: nothing that other threads or exit handlers do here matters to anybody."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    os._exit(0 if well else 1)


def _told(link: socket.socket, message: Message, value: Any, slots: Slots | None = None) -> bool:
    """Send a message with an element, inside or in a file; whether the consumer is still there."""
    parts = Parts(value)
    kind, place, times = message.kind, message.place, (message.busy_s, message.waited_s)
    try:
        if parts.nbytes <= MAX_INSIDE:
            tell(link, Message(kind, place, NO_SLOT, 0, *times, inside=parts.tobytes()))
            return True
        lent = (slots or Slots(0)).lend(parts.nbytes)
        try:
            parts.write(lent.file)
            tell(link, Message(kind, place, lent.slot, parts.nbytes, *times), lent.file if lent.is_new else None)
        except OSError:
            if slots is not None and lent.slot != NO_SLOT:
                slots.give_back(lent.slot, again=not lent.is_new)
            raise
        finally:
            if lent.slot == NO_SLOT:
                os.close(lent.file)
    except ConnectionError:
        return False
    return True


def _made(make: Make, place: int) -> tuple[Any, Kind]:
    """An element, or what making it failed with."""
    try:
        return make(place), Kind.MADE
    except BaseException as error:  # noqa: BLE001 (the consumer raises it)
        return packed(error), Kind.FAILED


class _Worker:
    """Makes elements in order of their places, and hands them over.

    Parameters
    ----------
    make : callable
    link : socket
    orders : int
    """

    def __init__(self, make: Make, link: socket.socket, orders: int) -> None:
        self._make, self._link, self._orders, self._slots = make, link, orders, Slots()

    def run(self) -> bool:
        """Work until there is nobody to work for.

        Returns
        -------
        bool
            Whether the consumer said so.
        """
        try:
            tell(self._link, Message(Kind.READY))
        except ConnectionError:
            return True
        ready = monotonic()
        while (place := next_order(self._orders)) != STOP:
            begun = monotonic()
            if not self._is_wanted() or not self._begins(place, begun, begun - ready):
                return True
            if not self._makes(place, begun):
                return False
            ready = monotonic()
        return True

    def _is_wanted(self) -> bool:
        """Take back slots; the end of them is the end of the consumer's interest, whatever is still ordered."""
        try:
            while (found := heard_return(self._link)) is not None:
                self._slots.give_back(found[0], again=found[1])
        except BlockingIOError:
            return True
        return False

    def _begins(self, place: int, begun: float, waited_s: float) -> bool:
        try:
            tell(self._link, Message(Kind.BEGUN, place, busy_s=begun, waited_s=waited_s))
        except ConnectionError:
            return False
        return True

    def _makes(self, place: int, begun: float) -> bool:
        value, kind = _made(self._make, place)
        try:
            return self._hands_over(kind, place, begun, value)
        except Exception as error:  # noqa: BLE001 (whatever a foreign class raises when it is pickled; no memory)
            return self._hands_over_carefully(place, begun, value, error)

    def _hands_over_carefully(self, place: int, begun: float, value: Any, cause: Exception) -> bool:
        careful = getattr(self._make, "carefully", None)
        if careful is not None and not isinstance(cause, OSError):
            again, kind = _made(careful, place)
            with contextlib.suppress(Exception):
                return self._hands_over(kind, place, begun, again)
        failure = packed(self._not_handed_over(place, value, cause))
        return self._hands_over(Kind.FAILED, place, begun, failure)

    def _hands_over(self, kind: Kind, place: int, begun: float, value: Any) -> bool:
        return _told(self._link, Message(kind, place, busy_s=monotonic() - begun), value, self._slots)

    def _not_handed_over(self, place: int, value: Any, cause: Exception) -> WorkerError:
        if isinstance(cause, OSError):
            hint = "memory may be short: use fewer workers or a smaller prefetch"
        else:
            hint = "processes hand over what can be pickled: arrays, numbers, strings, and dicts and lists of them"
        error = WorkerError(
            f"a worker cannot hand over the {type(value).__name__} that it made", place=place, hint=hint
        )
        error.__cause__ = cause
        return error

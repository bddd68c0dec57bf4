"""The worker processes of a crew: started together, ended together, also when nobody asks for it."""

from __future__ import annotations

import contextlib
import errno
import os
import resource
import select
from collections.abc import Iterator
from time import monotonic

from recordmill.pipeline.crew.base import Make
from recordmill.pipeline.crew.desk import Desk
from recordmill.pipeline.crew.forks import Forks
from recordmill.pipeline.crew.messages import STOP, send_orders
from recordmill.pipeline.crew.process import WorkerProcess, setup_file


class Team:
    """Processes that read orders from one pipe. It does not know the crew, so that a crew nobody has can end."""

    def __init__(self) -> None:
        self.members: list[WorkerProcess] = []
        self.orders: int | None = None
        self.desk: Desk | None = None
        self.ended = self._is_left = False
        self.poller = select.poll()
        self._behind = Forks.behind

    def hire(self, make: Make, count: int) -> None:
        """Start processes; they run when they are ready.

        Parameters
        ----------
        make : callable
        count : int
        """
        with _advising(count), contextlib.ExitStack() as stack:
            setup = setup_file(make)
            stack.callback(os.close, setup)
            theirs, self.orders = os.pipe2(os.O_CLOEXEC)
            stack.callback(os.close, theirs)
            os.set_blocking(self.orders, False)
            self.desk = Desk(os.memfd_create("recordmill-desk", os.MFD_CLOEXEC))
            try:
                for _ in range(count):
                    self._take_in(WorkerProcess(setup, theirs, self.desk.file))
            except BaseException:
                self.end()
                raise

    def _take_in(self, member: WorkerProcess) -> None:
        self.members.append(member)
        self.poller.register(member.link, select.POLLIN)
        self.poller.register(member.watch, select.POLLIN)

    def write(self, places: range) -> int:
        """Put orders where the next worker with nothing to do finds them.

        Parameters
        ----------
        places : range

        Returns
        -------
        int
            How many there was room for.
        """
        try:
            return 0 if self.orders is None else send_orders(self.orders, places)
        except BrokenPipeError:
            return 0  # all workers have ended; who waits for an element hears of it

    def listen_no_more(self, member: WorkerProcess) -> None:
        """Do not wake up for a socket that nothing comes from any more.

        Parameters
        ----------
        member : WorkerProcess
        """
        with contextlib.suppress(KeyError):
            self.poller.unregister(member.link)

    def end(self, grace_s: float = 0.0) -> None:
        """End all processes; again does nothing. A copy of the consumer only lets go of its own descriptors.

        Ctrl-C on the way ends the patience, and what it leaves undone is done when it is called again: at the latest
        when nobody has the crew any more.

        Parameters
        ----------
        grace_s : float
            Seconds until those that have not ended are killed.
        """
        if self._is_left:
            return
        self.ended = True
        ours = self._behind == Forks.behind
        try:
            if ours:
                self._stop(grace_s)
        finally:
            self._leave(ours)

    def _leave(self, ours: bool) -> None:
        for member in self.members:
            member.close(ours=ours)
        self._is_left = True
        if self.orders is not None:
            os.close(self.orders)
        if self.desk is not None:
            os.close(self.desk.file)

    def _stop(self, grace_s: float) -> None:
        try:
            for member in self.members:
                member.let_go()
            if grace_s > 0:
                for _ in self.members:
                    self.write(range(STOP, STOP + 1))
                self._await_all(monotonic() + grace_s)
        finally:
            for member in self.members:
                member.kill()

    def _await_all(self, deadline: float) -> None:
        for member in self.members:
            if member.is_closed:
                continue
            poller = select.poll()
            poller.register(member.watch, select.POLLIN)
            poller.poll(max(0.0, deadline - monotonic()) * 1000)


@contextlib.contextmanager
def _advising(count: int) -> Iterator[None]:
    """Tell of the limit where descriptors do not suffice."""
    try:
        yield
    except OSError as error:
        if error.errno != errno.EMFILE:
            raise
        allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        told = f"too many open files to start {count} worker processes: `ulimit -n` allows {allowed}; raise it"
        raise OSError(errno.EMFILE, f"{told}, or take fewer threads= in the loader") from error

"""One worker process as its consumer sees it: started afresh, linked by a socket, watched by a descriptor."""

from __future__ import annotations

import contextlib
import fcntl
import json
import multiprocessing
import os
import pickle
import signal
import socket
import sys
from collections.abc import Iterator
from multiprocessing import spawn
from time import monotonic
from typing import Any

from recordmill.errors import WorkerError
from recordmill.pipeline.crew.base import Make, WorkerCounters
from recordmill.pipeline.crew.messages import Kind, Message, heard, tell_return
from recordmill.pipeline.crew.segments import Views
from recordmill.pipeline.crew.slate import Slate, new_file

_PROGRAM = """\
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from recordmill.pipeline.crew.worker import main
main(3, 4, 5, 6, 7, 8)
"""
_FIRST_FREE = 16  # descriptors are moved here before they become 3, 4, … of the new process
_GUARD = "a script needs `if __name__ == '__main__':` around what it runs, as each worker process imports it"


def setup_file(make: Make) -> int:
    """Write what a worker has to know.

    Parameters
    ----------
    make : callable

    Returns
    -------
    int
        Descriptor of a file in memory.

    Raises
    ------
    WorkerError
        This process is a worker that is starting, or `make` cannot be pickled.
    """
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise WorkerError("a worker process asked for worker processes while it was starting", hint=_GUARD)
    try:
        copied = pickle.dumps(make, 5)
    except Exception as error:
        hint = "functions for worker processes stand at the top of a module (no lambda, nothing inside a function)"
        raise WorkerError(f"the work cannot be sent to worker processes: {error}", hint=hint) from error
    kept = ("sys_path", "sys_argv", "orig_dir", "dir", "init_main_from_name", "init_main_from_path")
    everything = spawn.get_preparation_data("recordmill-load")
    preparation = {name: everything[name] for name in kept if name in everything}
    file = os.memfd_create("recordmill-setup", os.MFD_CLOEXEC)
    with open(file, "wb", closefd=False) as writer:
        pickle.dump((preparation, copied), writer)
    return file


class WorkerProcess:
    """A process that makes elements.

    Parameters
    ----------
    setup : int
        Descriptor of what `setup_file` wrote.
    orders : int
        Descriptor of the end of the pipe that orders are read from.
    desk : int
        Descriptor of the file that a `Desk` is kept in.

    Attributes
    ----------
    pid : int
    watch : int
        Descriptor that is readable when the process has ended.
    link : socket
    views : Views
    slate : Slate
        What the process notes.
    is_ready, is_silent, is_closed : bool
        Whether it has told that it is ready, whether it will tell nothing more, and whether it was let go.
    making : tuple of (int, float), or None
        Place, and the time at which its making began.
    counters : WorkerCounters
    """

    def __init__(self, setup: int, orders: int, desk: int) -> None:
        self.link, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        failed = contextlib.ExitStack()
        failed.callback(self.link.close)
        self._begun, self.is_ready, self.is_silent = monotonic(), False, False
        with failed, contextlib.ExitStack() as stack:
            stack.callback(theirs.close)
            consumer = os.pidfd_open(os.getpid())
            stack.callback(os.close, consumer)
            noted = new_file()
            stack.callback(os.close, noted)
            self.slate = Slate(noted)
            failed.callback(self.slate.close)
            self.pid = _spawned((theirs.fileno(), orders, _opened_again(setup, stack), consumer, noted, desk))
            failed.callback(_put_down, self.pid)
            self.watch = os.pidfd_open(self.pid)
            failed.pop_all()
        self.is_closed = False
        self.views, self.counters = Views(), WorkerCounters()
        self.making: tuple[int, float] | None = None

    def messages(self) -> Iterator[Message]:
        """Yield what the worker has told, and keep its accounts.

        Yields
        ------
        Message
        """
        with contextlib.suppress(BlockingIOError):
            while (message := heard(self.link)) is not None:
                self._note(message)
                yield message
            self.is_silent = True

    def _note(self, message: Message) -> None:
        was = self.counters
        if message.kind is Kind.BEGUN:
            self.making = message.place, message.busy_s
            waited_s = was.waited_s + message.waited_s
            self.counters = WorkerCounters(was.busy_s, waited_s, was.num_made, was.start_s)
        elif message.kind in (Kind.MADE, Kind.FAILED):
            self.making = None
            busy_s = was.busy_s + message.busy_s
            self.counters = WorkerCounters(busy_s, was.waited_s, was.num_made + 1, was.start_s)
        elif message.kind is Kind.READY:
            self.is_ready = True
            self.counters = WorkerCounters(start_s=monotonic() - self._begun)

    def give_back(self) -> None:
        """Tell the worker which of its memory is free again."""
        returned = self.views.returned
        while returned:
            slot, again = returned[0]
            if not tell_return(self.link, slot, again):
                return
            returned.popleft()
            if not again:
                self.views.forget(slot)

    def death(self) -> WorkerError:
        """Name the end of a process that should not have ended.

        Returns
        -------
        WorkerError
        """
        code = _exit_code(self.pid)
        how = f"ended with exit code {code}" if code >= 0 else f"was killed by signal {-code} ({_signal(-code)})"
        place = None if self.making is None else self.making[0]
        when = "" if self.is_ready else " while it was starting"
        hint = _GUARD
        if code == -signal.SIGKILL:
            hint = "memory may be short: use fewer workers or a smaller prefetch"
        elif self.is_ready or code < 0:
            hint = "look for what native code or `exit` in the functions of the pipeline may do"
        return WorkerError(f"worker process {self.pid} {how}{when}", place=place, exit_code=code, hint=hint)

    def let_go(self) -> None:
        """Tell the process that nothing of it is wanted any more."""
        with contextlib.suppress(OSError):
            self.link.shutdown(socket.SHUT_RDWR)

    def kill(self) -> None:
        """End the process, wherever it is."""
        if self.is_closed:
            return
        with contextlib.suppress(OSError):
            signal.pidfd_send_signal(self.watch, signal.SIGKILL)

    def close(self, *, ours: bool = True) -> None:
        """Close the descriptors, when the process has ended; again does nothing.

        Parameters
        ----------
        ours : bool
            Whether the process is a child of this one, not of the one that this one was forked from.
        """
        if self.is_closed:
            return
        if ours:
            _exit_code(self.pid)
        self.link.close()
        self.slate.close()
        self.is_closed = True
        os.close(self.watch)


def _opened_again(file: int, stack: contextlib.ExitStack) -> int:
    """Open a file in memory anew, so that each process reads it from its start."""
    again = os.open(f"/proc/self/fd/{file}", os.O_RDONLY | os.O_CLOEXEC)
    stack.callback(os.close, again)
    return again


def _spawned(files: tuple[int, ...]) -> int:
    """Start a process that has the given descriptors as 3, 4, …, nothing else of ours, and cannot be interrupted."""
    executable = os.fsdecode(spawn.get_executable() or sys.executable)
    paths = [path or os.getcwd() for path in sys.path]
    options = [f"-W{option}" for option in sys.warnoptions] + ["-I"] * sys.flags.isolated
    arguments = [executable, *options, "-c", _PROGRAM, json.dumps(paths)]
    actions: list[tuple[Any, ...]] = [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)]
    pid = 0
    try:
        with contextlib.ExitStack() as stack:
            for number, file in enumerate(files, 3):
                moved = fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, _FIRST_FREE)
                stack.callback(os.close, moved)
                actions.append((os.POSIX_SPAWN_DUP2, moved, number))
            pid = os.posix_spawn(executable, arguments, os.environ, file_actions=actions, setsigmask=[signal.SIGINT])
    except BaseException:  # Ctrl-C behind the start
        if pid:
            _put_down(pid)
        raise
    return pid


def _put_down(pid: int) -> None:
    """End a child that nobody will ask for."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    _exit_code(pid)


def _exit_code(pid: int) -> int:
    """Exit code, or minus the signal, of a child that has ended; 0 where somebody else has asked before."""
    try:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    except ChildProcessError:
        return 0


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"

"""Start a worker process, receive its messages, and detect its exit. This module runs in the consumer."""

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

from recordmill.concurrency.messages import Message, MessageKind, receive_message, send_released_segment
from recordmill.concurrency.pool import TaskFunction, WorkerCounters
from recordmill.concurrency.processes import MAIN_GUARD_HINT, MEMORY_HINT
from recordmill.concurrency.shared_memory import SegmentViews
from recordmill.concurrency.status_page import StatusPage
from recordmill.errors import WorkerError

_PROGRAM = """\
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from recordmill.concurrency.worker_main import main
main(3, 4, 5, 6, 7, 8)
"""
# The worker process gets its descriptors as 3, 4, …. Each descriptor is first duplicated to a number of at least 16, so
# that assigning the numbers 3, 4, … does not overwrite a descriptor that is still needed.
_FIRST_FREE = 16


def create_setup_file(function: TaskFunction) -> int:
    """Write the task function and the import paths to an anonymous file; return its descriptor."""
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        message = "a worker process tried to start worker processes while it was importing the main script"
        raise WorkerError(message, hint=MAIN_GUARD_HINT)
    try:
        pickled = pickle.dumps(function, 5)
    except Exception as error:
        hint = "define the function at the top level of a module, not as a lambda or inside another function"
        raise WorkerError(f"the function cannot be sent to worker processes: {error}", hint=hint) from error
    names = ("sys_path", "sys_argv", "orig_dir", "dir", "init_main_from_name", "init_main_from_path")
    data = spawn.get_preparation_data("recordmill-load")
    preparation = {name: data[name] for name in names if name in data}
    file = os.memfd_create("recordmill-setup", os.MFD_CLOEXEC)
    with open(file, "wb", closefd=False) as writer:
        pickle.dump((preparation, pickled), writer)
    return file


class WorkerProcess:
    """Handle with which the consumer starts a worker process, receives its messages, and stops it.

    Parameters
    ----------
    setup : int
        Descriptor from `create_setup_file`.
    tasks : int
        Descriptor of the reading end of the pipe of task numbers.
    inputs : int
        Descriptor of the `TaskInputBuffer`.

    Attributes
    ----------
    pid : int
    pidfd : int
        Descriptor that becomes readable when the process exits.
    link : socket
    views : SegmentViews
    status : StatusPage
    is_ready : bool
        Whether the process has finished starting.
    is_silent : bool
        Whether the process will send no more messages.
    is_closed : bool
    running : tuple of (int, float), or None
        The task in progress, and the time at which it started.
    counters : WorkerCounters
    """

    def __init__(self, setup: int, tasks: int, inputs: int) -> None:
        self.link, other_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        on_failure = contextlib.ExitStack()
        on_failure.callback(self.link.close)
        self._started, self.is_ready, self.is_silent = monotonic(), False, False
        with on_failure, contextlib.ExitStack() as stack:
            stack.callback(other_end.close)
            consumer = os.pidfd_open(os.getpid())
            stack.callback(os.close, consumer)
            status = StatusPage.create_file()
            stack.callback(os.close, status)
            self.status = StatusPage(status)
            on_failure.callback(self.status.close)
            self.pid = _spawn_process(
                (other_end.fileno(), tasks, _reopen_for_reading(setup, stack), consumer, status, inputs)
            )
            on_failure.callback(_kill_and_wait, self.pid)
            self.pidfd = os.pidfd_open(self.pid)
            on_failure.pop_all()
        self.is_closed = False
        self.views, self.counters = SegmentViews(), WorkerCounters()
        self.running: tuple[int, float] | None = None

    def receive_messages(self) -> Iterator[Message]:
        """Yield the messages that have arrived. Update `is_ready`, `running` and `counters` before each message."""
        with contextlib.suppress(BlockingIOError):
            while (message := receive_message(self.link)) is not None:
                self._update_counters(message)
                yield message
            self.is_silent = True

    def _update_counters(self, message: Message) -> None:
        last = self.counters
        if message.kind is MessageKind.STARTED:
            self.running = message.task, message.seconds
            waited_s = last.waited_s + message.waited_s
            self.counters = WorkerCounters(last.busy_s, waited_s, last.num_finished, last.start_s)
        elif message.kind in (MessageKind.RESULT, MessageKind.ERROR):
            self.running = None
            busy_s = last.busy_s + message.seconds
            self.counters = WorkerCounters(busy_s, last.waited_s, last.num_finished + 1, last.start_s)
        elif message.kind is MessageKind.READY:
            self.is_ready = True
            self.counters = WorkerCounters(start_s=monotonic() - self._started)

    def release_segments(self) -> None:
        """Tell the worker which segments no longer have views in this process, so that the worker can reuse them."""
        released = self.views.released
        while released:
            slot, reusable = released[0]
            if not send_released_segment(self.link, slot, reusable):
                return
            released.popleft()
            if not reusable:
                self.views.unmap(slot)

    def wait_for_exit_error(self) -> WorkerError:
        """Wait until the process has exited, and create the error that describes its unexpected exit."""
        code = _wait_for_child(self.pid)
        how = f"ended with exit code {code}" if code >= 0 else f"was killed by signal {-code} ({_format_signal(-code)})"
        task = None if self.running is None else self.running[0]
        when = "" if self.is_ready else " while it was starting"
        hint = MAIN_GUARD_HINT
        if code == -signal.SIGKILL:
            hint = f"{MEMORY_HINT} or a smaller prefetch"
        elif self.is_ready or code < 0:
            hint = "check the functions of the pipeline for calls of `exit` and for crashes in native code"
        return WorkerError(f"worker process {self.pid} {how}{when}", place=task, exit_code=code, hint=hint)

    def disconnect(self) -> None:
        """Shut down the socket, which makes the process exit after its current task."""
        with contextlib.suppress(OSError):
            self.link.shutdown(socket.SHUT_RDWR)

    def kill(self) -> None:
        """Kill the process with SIGKILL, without waiting for its exit."""
        if self.is_closed:
            return
        with contextlib.suppress(OSError):
            signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)

    def close(self, *, is_parent: bool = True) -> None:
        """Close the descriptors after the process has exited; repeated calls have no effect."""
        if self.is_closed:
            return
        if is_parent:
            _wait_for_child(self.pid)
        self.link.close()
        self.status.close()
        self.is_closed = True
        os.close(self.pidfd)


def _reopen_for_reading(file: int, stack: contextlib.ExitStack) -> int:
    """Open an anonymous file again, so that each process has its own file position, which starts at 0."""
    reopened = os.open(f"/proc/self/fd/{file}", os.O_RDONLY | os.O_CLOEXEC)
    stack.callback(os.close, reopened)
    return reopened


def _spawn_process(descriptors: tuple[int, ...]) -> int:
    """Start a worker process in which SIGINT is blocked and `descriptors` have the numbers 3, 4, …."""
    executable = os.fsdecode(spawn.get_executable() or sys.executable)
    paths = [path or os.getcwd() for path in sys.path]
    options = [f"-W{option}" for option in sys.warnoptions] + ["-I"] * sys.flags.isolated
    arguments = [executable, *options, "-c", _PROGRAM, json.dumps(paths)]
    actions: list[tuple[Any, ...]] = [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)]
    pid = 0
    try:
        with contextlib.ExitStack() as stack:
            for number, file in enumerate(descriptors, 3):
                moved = fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, _FIRST_FREE)
                stack.callback(os.close, moved)
                actions.append((os.POSIX_SPAWN_DUP2, moved, number))
            pid = os.posix_spawn(executable, arguments, os.environ, file_actions=actions, setsigmask=[signal.SIGINT])
    except BaseException:  # Ctrl-C may raise KeyboardInterrupt after the process has started.
        if pid:
            _kill_and_wait(pid)
        raise
    return pid


def _kill_and_wait(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    _wait_for_child(pid)


def _wait_for_child(pid: int) -> int:
    """Wait for a child process and return its exit code: -N if signal N ended it, 0 if it was already reaped."""
    try:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    except ChildProcessError:
        return 0


def _format_signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"

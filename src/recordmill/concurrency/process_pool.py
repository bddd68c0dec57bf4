"""A pool of worker processes, for tasks that hold the interpreter lock. Threads would run such tasks one by one."""

from __future__ import annotations

import contextlib
import errno
import os
import resource
import select
import threading
import weakref
from collections.abc import Collection, Iterator
from copy import copy
from time import monotonic
from typing import Any

from recordmill.concurrency.forks import ForkCounter
from recordmill.concurrency.messages import STOP, Message, MessageKind, send_task_numbers
from recordmill.concurrency.pool import NotReadyError, PoolCounters, TaskFunction, check_num_workers
from recordmill.concurrency.serialization import ErrorChain, load_pickle_parts
from recordmill.concurrency.shared_memory import TaskInputBuffer
from recordmill.concurrency.worker_process import WorkerProcess, create_setup_file
from recordmill.errors import WorkerError

_POLL_S = 1.0  # Interval at which a waiting consumer checks whether another thread has closed the pool.


class ProcessPool:
    """Worker processes that compute results before the consumer needs them.

    New processes are started with the first task, and import what `function` needs. They end when the pool is closed,
    when nothing refers to the pool any more, and when the process of the consumer ends for any reason. Large arrays
    are views of shared memory, which is reused only when it has no more views.

    Parameters
    ----------
    function : callable
        Computes the result of a task; pickled once, and copied to each process.
    num_workers : int
    start : int
        Number of the first task.
    """

    def __init__(self, function: TaskFunction, num_workers: int, *, start: int = 0) -> None:
        self._function, self._num_workers = function, check_num_workers(num_workers)
        self._group, self._lock = WorkerGroup(), threading.Lock()
        self._results: dict[int, tuple[MessageKind, memoryview]] = {}
        self._next, self._sent, self._open = start, start, set[int]()
        self._fault: WorkerError | None = None
        self._waited_s, self._process, self._fork_depth = 0.0, os.getpid(), ForkCounter.depth
        weakref.finalize(self, self._group.close)

    def submit(self, stop: int) -> None:
        """Submit all tasks with numbers below `stop` that have not been submitted yet."""
        if stop <= self._next:
            return
        self._check_usable()
        self._start_workers()
        self._open.update(range(self._next, stop))
        self._next = stop
        self._send_tasks_and_releases()

    def write_input(self, task: int, value: Any) -> None:
        """Store the input of a task that is not submitted yet. Workers read inputs from `TaskInputBuffer.current`."""
        self._check_usable()
        self._start_workers()
        if self._group.inputs is not None:
            self._group.inputs.write(task, value)

    def _start_workers(self) -> None:
        if not self._group.workers:
            self._group.start(self._function, self._num_workers)

    def result(self, task: int, *, timeout: float | None = None) -> Any:
        """Wait for a task and return its result. Can be called once per task.

        Large arrays are views of shared memory.
        """
        self._check_usable()
        if task not in self._open:
            raise ValueError(f"task {task} was not submitted, or its result has already been returned")
        if task not in self._results:
            self._wait_for_result(task, timeout)
        self._open.remove(task)
        kind, data = self._results.pop(task)
        if self._group.inputs is not None:
            self._group.inputs.discard(task)
        try:
            value = load_pickle_parts(data)
        except Exception as error:
            message = "the result of a worker process cannot be unpickled in this process"
            raise WorkerError(message, place=task) from error
        if kind is MessageKind.RESULT:
            return value
        try:
            raise value.restore_error()
        finally:
            del value  # Break the reference cycle between the error and this frame.

    def close(self, *, timeout: float = 2.0) -> None:
        """Stop each process after its current task, or kill the process if that takes longer than `timeout` seconds."""
        with self._lock:
            self._group.close(timeout)
            self._results.clear()

    @property
    def num_ready(self) -> int:
        """Number of results that have arrived but that `result` has not returned yet."""
        return len(self._results)

    def counters(self) -> PoolCounters:
        """Return the statistics since the pool was created."""
        self._receive_all_messages()
        workers = tuple(worker.counters for worker in self._group.workers)
        num_finished = sum(worker.num_finished for worker in workers)
        return PoolCounters(self._waited_s, num_finished, len(self._results), workers)

    def running_tasks(self) -> list[tuple[int, float]]:
        """Return (task number, seconds since the start of the task) for all running tasks, longest first."""
        self._receive_all_messages()
        now, tasks = monotonic(), [worker.running for worker in self._group.workers]
        return sorted(((task[0], now - task[1]) for task in tasks if task), key=lambda entry: -entry[1])

    def status_by_task(self) -> dict[int, bytes]:
        """Map the number of each running task to the status of its worker process. Include tasks whose process died."""
        self._receive_all_messages()
        workers = [] if self._group.closed else self._group.workers
        return {worker.running[0]: worker.status.read() for worker in workers if worker.running}

    def _check_usable(self) -> None:
        if self._fork_depth != ForkCounter.depth:
            hint = "start a new iteration in this process"
            message = f"this iterator was created in process {self._process} but is used in process {os.getpid()}"
            raise WorkerError(message, hint=hint)
        if self._group.closed:
            raise WorkerError("the worker processes of this iteration were stopped", hint="start a new iteration")

    def _send_tasks_and_releases(self) -> None:
        """Send task numbers and released segments to the workers until the pipe and the sockets are full."""
        for worker in self._group.workers:
            worker.release_segments()
        if self._sent < self._next:
            self._sent += self._group.send_task_numbers(range(self._sent, self._next))

    def _wait_for_result(self, task: int, timeout: float | None) -> None:
        begun = monotonic()
        try:
            self._receive_all_messages()
            while task not in self._results:
                self._check_usable()
                if self._fault is not None:
                    # Raise a copy: the traceback of a raised error keeps this frame alive, and `_fault` lives as long
                    # as the pool.
                    raise copy(self._fault) from self._fault.__cause__
                self._send_tasks_and_releases()
                left = _POLL_S if timeout is None else begun + timeout - monotonic()
                if left <= 0:
                    raise NotReadyError(f"the result of task {task} was not ready after {timeout} s")
                ready = {file for file, _ in self._group.poller.poll(min(left, _POLL_S) * 1000)}
                self._receive_all_messages(ready)
        finally:
            self._waited_s += monotonic() - begun

    def _receive_all_messages(self, ready: Collection[int] = ()) -> None:
        """Handle all messages that have arrived. `ready` contains descriptors that `poll` reported as ready."""
        if self._fork_depth != ForkCounter.depth:
            return
        with self._lock:
            if self._group.closed:
                return
            for worker in self._group.workers:
                for message in worker.receive_messages():
                    self._handle_message(worker, message)
                if worker.pidfd in ready and self._fault is None:
                    self._fault = worker.wait_for_exit_error()
                if worker.is_silent:
                    self._group.stop_polling_link(worker)

    def _handle_message(self, worker: WorkerProcess, message: Message) -> None:
        if message.kind in (MessageKind.READY, MessageKind.STARTED):
            return
        try:
            if message.nbytes:
                data = worker.views.view_segment(message.slot, message.nbytes, message.file).data
            else:
                data = memoryview(message.data)
        except OSError as error:
            text = "cannot map the shared memory that contains the result of a worker process"
            self._fault = WorkerError(text, place=message.task, hint=str(error))
            return
        if message.kind is MessageKind.BROKEN:
            self._fault = _build_start_error(load_pickle_parts(data))
        else:
            self._results[message.task] = message.kind, data


def _build_start_error(chain: ErrorChain) -> WorkerError:
    cause = chain.restore_error()
    message, hint = "a worker process could not start", getattr(cause, "hint", None)
    if not hint:
        message += f": {type(cause).__name__}: {cause}".partition("\n")[0][:200]
        hint = (
            "each worker process imports the functions: define them in a module, or in a script file outside of "
            "`if __name__ == '__main__':`; move functions of a notebook into a module"
        )
    error = WorkerError(message, hint=hint)
    error.__cause__ = cause
    return error


class WorkerGroup:
    """The worker processes of a pool, and the pipe from which they read task numbers.

    Has no reference to the pool, so that an unused pool is garbage-collected. This ends its processes.
    """

    def __init__(self) -> None:
        self.workers: list[WorkerProcess] = []
        self.tasks: int | None = None
        self.inputs: TaskInputBuffer | None = None
        self.closed = self._is_released = False
        self.poller = select.poll()
        self._fork_depth = ForkCounter.depth

    def start(self, function: TaskFunction, count: int) -> None:
        """Start `count` processes without waiting until they are ready."""
        with _explain_descriptor_limit(count), contextlib.ExitStack() as stack:
            setup = create_setup_file(function)
            stack.callback(os.close, setup)
            reading_end, self.tasks = os.pipe2(os.O_CLOEXEC)
            stack.callback(os.close, reading_end)
            os.set_blocking(self.tasks, False)
            self.inputs = TaskInputBuffer.create()
            try:
                for _ in range(count):
                    self._add_worker(WorkerProcess(setup, reading_end, self.inputs.file))
            except BaseException:
                self.close()
                raise

    def _add_worker(self, worker: WorkerProcess) -> None:
        self.workers.append(worker)
        self.poller.register(worker.link, select.POLLIN)
        self.poller.register(worker.pidfd, select.POLLIN)

    def send_task_numbers(self, tasks: range) -> int:
        """Write task numbers to the pipe from which idle workers read; return how many numbers fit into the pipe."""
        try:
            return 0 if self.tasks is None else send_task_numbers(self.tasks, tasks)
        except BrokenPipeError:
            return 0  # All workers have exited. `result` raises an error that describes the exit.

    def stop_polling_link(self, worker: WorkerProcess) -> None:
        """Stop polling the socket of a worker that will send no more messages."""
        with contextlib.suppress(KeyError):
            self.poller.unregister(worker.link)

    def close(self, grace_s: float = 0.0) -> None:
        """Stop all workers; kill those still running after `grace_s`. In a forked process, only close descriptors."""
        if self._is_released:
            return
        self.closed = True
        is_parent = self._fork_depth == ForkCounter.depth
        try:
            if is_parent:
                self._stop_workers(grace_s)
        finally:
            self._release_descriptors(is_parent)

    def _release_descriptors(self, is_parent: bool) -> None:
        for worker in self.workers:
            worker.close(is_parent=is_parent)
        self._is_released = True
        if self.tasks is not None:
            os.close(self.tasks)
        if self.inputs is not None:
            os.close(self.inputs.file)

    def _stop_workers(self, grace_s: float) -> None:
        try:
            for worker in self.workers:
                worker.disconnect()
            if grace_s > 0:
                for _ in self.workers:
                    self.send_task_numbers(range(STOP, STOP + 1))
                self._wait_for_exits(monotonic() + grace_s)
        finally:
            for worker in self.workers:
                worker.kill()

    def _wait_for_exits(self, deadline: float) -> None:
        for worker in self.workers:
            if worker.is_closed:
                continue
            poller = select.poll()
            poller.register(worker.pidfd, select.POLLIN)
            poller.poll(max(0.0, deadline - monotonic()) * 1000)


@contextlib.contextmanager
def _explain_descriptor_limit(count: int) -> Iterator[None]:
    """If the `with` block fails because too many files are open, raise an OSError that states the limit and a hint."""
    try:
        yield
    except OSError as error:
        if error.errno != errno.EMFILE:
            raise
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        message = f"too many open files to start {count} worker processes: `ulimit -n` allows {limit}; raise it"
        raise OSError(errno.EMFILE, f"{message}, or use fewer threads= in the loader") from error

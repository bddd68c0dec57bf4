"""A pool of worker threads."""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any

from recordmill.concurrency.forks import ForkCounter
from recordmill.concurrency.pool import NotReadyError, PoolCounters, TaskFunction, WorkerCounters, check_num_workers
from recordmill.errors import WorkerError

# Interval in seconds at which a waiting consumer checks for its result, even without a notification.
_POLL_S = 1.0


class _PoolState:
    """Data that the consumer and the threads share. Has no reference to the pool, so that the pool can be freed.

    Parameters
    ----------
    function : callable
    """

    __slots__ = ("awaited", "closed", "function", "results", "tasks", "wake")

    def __init__(self, function: TaskFunction) -> None:
        self.function = function
        self.tasks: SimpleQueue[int | None] = SimpleQueue()
        self.results: dict[int, tuple[Any, BaseException | None]] = {}
        self.awaited: int | None = None
        self.wake: SimpleQueue[None] = SimpleQueue()
        self.closed = False

    def stop(self, num_workers: int) -> None:
        """Make each thread stop after its current task, without waiting. May be called in a finalizer."""
        self.closed = True
        for _ in range(num_workers):
            self.tasks.put(None)
        self.wake.put(None)


class _WorkerThread(threading.Thread):
    """A thread that runs tasks until the pool stops.

    Parameters
    ----------
    shared : _PoolState
    """

    def __init__(self, shared: _PoolState) -> None:
        super().__init__(name="recordmill-load", daemon=True)
        self.shared = shared
        # (task in progress or None, time of the last start or end of a task, busy seconds, wait seconds, number of
        # finished tasks)
        self.state: tuple[int | None, float, float, float, int] = None, 0.0, 0.0, 0.0, 0

    def run(self) -> None:
        """Run tasks until the pool stops. No local variable may keep a result alive while the thread waits."""
        shared, function, tasks, results = self.shared, self.shared.function, self.shared.tasks, self.shared.results
        busy_s, waited_s, num_finished = 0.0, 0.0, 0
        ready = monotonic()
        while (task := tasks.get()) is not None and not shared.closed:
            begun = monotonic()
            waited_s += begun - ready
            self.state = task, begun, busy_s, waited_s, num_finished
            try:
                results[task] = function(task), None
            except BaseException as error:  # noqa: BLE001 (raised in the consumer's thread)
                results[task] = None, error
            ready = monotonic()
            busy_s += ready - begun
            num_finished += 1
            self.state = None, ready, busy_s, waited_s, num_finished
            if shared.awaited == task:
                shared.wake.put(None)


class ThreadPool:
    """Worker threads that compute results before the consumer needs them.

    They start with the first task. They stop when the pool is closed, when nothing refers to the pool any more, and
    before the interpreter exits. `function` must not refer to the pool; otherwise, the pool is never freed.

    Parameters
    ----------
    function : callable
        Computes the result of a task; called by all threads.
    num_workers : int
    start : int
        Number of the first task.
    """

    def __init__(self, function: TaskFunction, num_workers: int, *, start: int = 0) -> None:
        self._num_workers = check_num_workers(num_workers)
        self._shared = _PoolState(function)
        self._threads: list[_WorkerThread] = []
        self._next, self._open = start, set[int]()
        self._waited_s, self._process, self._fork_depth = 0.0, os.getpid(), ForkCounter.depth
        weakref.finalize(self, _stop_unless_forked, self._shared, num_workers, ForkCounter.depth).atexit = False

    def submit(self, stop: int) -> None:
        """Submit all tasks with numbers below `stop` that have not been submitted yet."""
        if stop <= self._next:
            return
        self._check_usable()
        tasks = range(self._next, stop)
        self._next = stop
        self._open.update(tasks)
        if len(self._threads) < self._num_workers:
            self._start_threads(len(self._open))
        for task in tasks:
            self._shared.tasks.put(task)

    def result(self, task: int, *, timeout: float | None = None) -> Any:
        """Wait for a submitted task, and return its result or raise its error. Can be called once per task."""
        self._check_usable()
        if task not in self._open:
            raise ValueError(f"task {task} was not submitted, or its result has already been returned")
        results = self._shared.results
        if task not in results:
            self._wait_for_result(task, timeout)
        self._open.remove(task)
        value, error = results.pop(task)
        if error is None:
            return value
        try:
            raise error
        finally:
            del error  # Break the reference cycle between the error and this frame.

    def close(self, *, timeout: float = 5.0) -> None:
        """Stop each thread after its current task, and wait up to `timeout` seconds; repeated calls have no effect."""
        if self._fork_depth != ForkCounter.depth:
            return
        # If Ctrl-C interrupted `_start_threads`, `_threads` may lack a running thread. Send enough stop signals for
        # the maximum number of threads.
        self._shared.stop(self._num_workers)
        _join_threads(self._threads, timeout)
        self._shared.results.clear()

    @property
    def num_ready(self) -> int:
        """Number of finished results that `result` has not returned yet."""
        return len(self._shared.results)

    def counters(self) -> PoolCounters:
        """Return the statistics since the pool was created."""
        workers = tuple(WorkerCounters(*thread.state[2:]) for thread in self._threads)
        num_finished = sum(worker.num_finished for worker in workers)
        return PoolCounters(self._waited_s, num_finished, len(self._shared.results), workers)

    def running_tasks(self) -> list[tuple[int, float]]:
        """Return (task number, seconds since the start of the task) for all running tasks, longest first."""
        now, states = monotonic(), [thread.state for thread in self._threads]
        tasks = [(task, now - begun) for task, begun, *_ in states if task is not None]
        return sorted(tasks, key=lambda entry: -entry[1])

    def status_by_task(self) -> dict[int, bytes]:
        """Return an empty dict, because only worker processes have a status."""
        return {}

    def _check_usable(self) -> None:
        if self._fork_depth != ForkCounter.depth:
            hint = "start a new iteration in this process"
            message = f"this iterator was created in process {self._process} but is used in process {os.getpid()}"
            raise WorkerError(message, hint=hint)
        if self._shared.closed:
            raise WorkerError("the worker threads of this iteration were stopped", hint="start a new iteration")

    def _start_threads(self, num_open: int) -> None:
        while len(self._threads) < min(self._num_workers, num_open):
            thread = _WorkerThread(self._shared)
            thread.start()
            self._threads.append(thread)

    def _wait_for_result(self, task: int, timeout: float | None) -> None:
        """Wait until the task has finished; raise NotReadyError after `timeout` seconds.

        `awaited` is set before the first check and workers read it after storing a result, so no wake-up is missed.
        """
        shared, begun = self._shared, monotonic()
        shared.awaited = task
        try:
            while task not in shared.results:
                left = _POLL_S if timeout is None else begun + timeout - monotonic()
                if left <= 0:
                    raise NotReadyError(f"the result of task {task} was not ready after {timeout} s")
                try:
                    shared.wake.get(timeout=min(left, _POLL_S))
                except Empty:
                    continue
                finally:
                    self._check_usable()
        finally:
            shared.awaited = None
            self._waited_s += monotonic() - begun


def _stop_unless_forked(shared: _PoolState, num_workers: int, fork_depth: int) -> None:
    if fork_depth == ForkCounter.depth:
        shared.stop(num_workers)


def _join_threads(threads: list[_WorkerThread], timeout: float) -> None:
    """Wait until all threads end. A call from one of these threads returns at once, because waiting could deadlock."""
    if threading.current_thread() in threads:
        return
    deadline = monotonic() + timeout
    for thread in threads:
        thread.join(max(0.0, deadline - monotonic()))


@atexit.register
def _stop_all_threads() -> None:
    """Stop all worker threads at exit, because native code must not return to an interpreter that has ended."""
    threads = [thread for thread in threading.enumerate() if isinstance(thread, _WorkerThread)]
    for thread in threads:
        thread.shared.stop(len(threads))
    _join_threads(threads, 2.0)

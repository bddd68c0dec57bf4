"""A pool of threads for calls that wait for servers. The threads do not prevent the process from exiting."""

from __future__ import annotations

import atexit
import sys
import weakref
from collections.abc import Callable
from concurrent.futures import Future, wait
from queue import SimpleQueue
from threading import Lock, Semaphore, Thread
from typing import Any, TypeVar

T = TypeVar("T")

_Task = tuple[Future[Any], Callable[..., Any], tuple[Any, ...]]

# Maximum time, in seconds, that the process waits at exit for running functions.
_EXIT_S = 0.5
_running: weakref.WeakSet[Future[Any]] = weakref.WeakSet()


class DaemonPool:
    """Calls functions in threads, like `ThreadPoolExecutor`, but does not prevent the process from exiting.

    A request to a server that does not respond lasts until its timeout. `ThreadPoolExecutor` would make the process
    wait for it, even after Ctrl-C. The threads end when the pool is closed or garbage collected.

    Parameters
    ----------
    max_threads : int
    name : str
        Prefix of the names of the threads.
    """

    def __init__(self, max_threads: int, name: str) -> None:
        self._max_threads, self._name, self._num_threads = max_threads, name, 0
        self._tasks: SimpleQueue[_Task | None] = SimpleQueue()
        self._idle, self._lock = Semaphore(0), Lock()
        self.close = weakref.finalize(self, self._tasks.put, None)

    def submit(self, function: Callable[..., T], *arguments: Any) -> Future[T]:
        """Call a function in one of the threads; raise RuntimeError if the process is exiting."""
        if sys.is_finalizing():
            raise RuntimeError("cannot call a function in a thread while the process is exiting")
        future: Future[T] = Future()
        with self._lock:
            self._tasks.put((future, function, arguments))
            if not self._idle.acquire(blocking=False) and self._num_threads < self._max_threads:
                name = f"{self._name}_{self._num_threads}"
                self._num_threads += 1
                Thread(target=_run_tasks, args=(self._tasks, self._idle), name=name, daemon=True).start()
        return future


def _run_tasks(tasks: SimpleQueue[_Task | None], idle: Semaphore) -> None:
    while (task := tasks.get()) is not None:
        future, function, arguments = task
        del task
        if future.set_running_or_notify_cancel():
            _running.add(future)
            try:
                result = function(*arguments)
            except BaseException as error:  # noqa: BLE001 (raised by the future)
                future.set_exception(error)
            else:
                future.set_result(result)
                del result
        # An idle thread must not keep the function and its arguments alive.
        del future, function, arguments
        idle.release()
    tasks.put(None)  # Pass the stop signal on to the next thread.


@atexit.register
def _wait_for_running_tasks() -> None:
    """Wait briefly for running functions, so that no native call returns to an interpreter that is shutting down."""
    wait(list(_running), _EXIT_S)


def map_in_daemons(function: Callable[[int], T], count: int, threads: int) -> list[T]:
    """Return ``[function(0), …, function(count - 1)]``, computed in up to `threads` threads of a `DaemonPool`."""
    if min(threads, count) <= 1:
        return [function(position) for position in range(count)]
    pool = DaemonPool(min(threads, count), "recordmill-map")
    futures = [pool.submit(function, position) for position in range(count)]
    try:
        return [future.result() for future in futures]
    finally:
        for future in futures:
            future.cancel()
        pool.close()

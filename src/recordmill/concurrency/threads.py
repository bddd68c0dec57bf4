"""Call a function for many inputs in threads, and return the results in the order of the inputs."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

In = TypeVar("In")
Out = TypeVar("Out")


def num_cpus() -> int:
    """Return the number of CPUs that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def map_range(function: Callable[[int], Out], count: int, threads: int | None = None) -> list[Out]:
    """Return ``[function(0), …, function(count - 1)]``, computed in up to `threads` threads (default: one per CPU)."""
    threads = min(num_cpus() if threads is None else threads, count)
    if threads <= 1:
        return [function(position) for position in range(count)]
    with ThreadPoolExecutor(threads, "recordmill-map") as pool:
        return list(pool.map(function, range(count)))


def map_ordered(
    function: Callable[[In], Out], inputs: Iterator[In], threads: int, ahead: int = 0, name: str = "recordmill-map"
) -> Generator[Out]:
    """Yield the result for each input, in order. Threads compute up to `threads` + `ahead` results in advance."""
    pool = ThreadPoolExecutor(threads, name)
    pending: deque[Future[Out]] = deque()
    try:
        failure: Exception | None = None
        while True:
            while failure is None and len(pending) < threads + ahead:
                try:
                    pending.append(pool.submit(function, next(inputs)))
                except Exception as error:  # noqa: BLE001 (raised below, after the results before it)
                    failure = error
            if not pending:
                break
            yield pending.popleft().result()
        if failure is not None and not isinstance(failure, StopIteration):
            raise failure
    finally:
        _shut_down_pool(pool, pending)
        close = getattr(inputs, "close", None)
        if close is not None:
            close()


def _shut_down_pool(pool: ThreadPoolExecutor, pending: deque[Future[Out]]) -> None:
    for future in pending:
        future.cancel()
    try:
        pool.shutdown(wait=True, cancel_futures=True)
    except RuntimeError:  # Garbage collection ran this function in a thread of the pool, which cannot join itself.
        pool.shutdown(wait=False, cancel_futures=True)

"""Threads that run ahead of the caller, in order; none is left behind when the caller stops."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

In = TypeVar("In")
Out = TypeVar("Out")
NAME = "recordmill-data"
_END: Any = object()


def mapped_ahead(function: Callable[[In], Out], inputs: Iterator[In], threads: int, ready: int) -> Generator[Out]:
    """Run a function on each input in threads; results come in the order of the inputs."""
    executor = ThreadPoolExecutor(threads, NAME)
    pending: deque[Future[Out]] = deque()
    failure: BaseException | None = None
    try:
        while True:
            while failure is None and len(pending) < threads + ready:
                try:
                    given = next(inputs, _END)
                except Exception as error:  # noqa: BLE001 (raised below, in its turn)
                    failure = error
                    break
                if given is _END:
                    failure = StopIteration()
                    break
                pending.append(executor.submit(function, given))
            if not pending:
                break
            yield pending.popleft().result()
        if not isinstance(failure, StopIteration) and failure is not None:
            raise failure
    finally:
        _end(executor, pending)
        close(inputs)


def run_ahead(inputs: Iterator[Out], count: int) -> Generator[Out]:
    """Advance an iterator in a thread of its own."""
    executor = ThreadPoolExecutor(1, NAME)
    pending: deque[Future[Any]] = deque()
    try:
        while True:
            while len(pending) <= count:
                pending.append(executor.submit(next, inputs, _END))
            found = pending.popleft().result()
            if found is _END:
                return
            yield found
    finally:
        _end(executor, pending)
        close(inputs)


def _end(executor: ThreadPoolExecutor, pending: deque[Future[Any]]) -> None:
    for one in pending:
        one.cancel()
    try:
        executor.shutdown(wait=True, cancel_futures=True)
    except RuntimeError:  # collected as garbage in one of its own threads, which cannot wait for itself
        executor.shutdown(wait=False, cancel_futures=True)


def close(inputs: Iterator[Any]) -> None:
    """Let an iterator end what it has begun."""
    end = getattr(inputs, "close", None)
    if end is not None:
        end()

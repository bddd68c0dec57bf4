"""The common interface of pools of worker threads and pools of worker processes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

TaskFunction = Callable[[int], Any]
"""Computes the result of a task from its number.

If a worker process cannot send a result, it calls the method `compute_with_checks` of the function, if there is one,
with the same number. This slower computation raises an error that names the cause.
"""


class NotReadyError(TimeoutError):
    """A result was not ready in time. Not a TimeoutError, because the task itself may raise TimeoutError."""


@dataclass(frozen=True, slots=True)
class WorkerCounters:
    """Busy time, waiting time and number of tasks of one worker since it was started.

    Parameters
    ----------
    busy_s : float
        Seconds spent in finished tasks.
    waited_s : float
        Seconds spent waiting for tasks.
    num_finished : int
        Number of finished tasks, including those that failed.
    start_s : float
        Seconds from the start of a worker process until it was ready for tasks; 0 for threads.
    """

    busy_s: float = 0.0
    waited_s: float = 0.0
    num_finished: int = 0
    start_s: float = 0.0


@dataclass(frozen=True, slots=True)
class PoolCounters:
    """Statistics of a pool since it was created.

    Parameters
    ----------
    waited_s : float
        Seconds that the consumer spent waiting for results.
    num_finished : int
        Number of finished tasks, including those that failed.
    num_ready : int
        Number of results that were not taken yet.
    workers : tuple of WorkerCounters
        One entry for each worker that was started.
    """

    waited_s: float
    num_finished: int
    num_ready: int
    workers: tuple[WorkerCounters, ...]


class WorkerPool(Protocol):
    """Workers that compute the results of numbered tasks before the consumer needs them.

    One thread at a time may call `submit` and `result`; any thread may call the other methods.
    """

    def submit(self, stop: int) -> None:
        """Submit all tasks with numbers below `stop` that have not been submitted yet."""
        ...

    def result(self, task: int, *, timeout: float | None = None) -> Any:
        """Wait for a submitted task, and return its result or raise its error. Can be called once per task."""
        ...

    def close(self, *, timeout: float = 2.0) -> None:
        """Stop the workers, and wait for them up to `timeout` seconds; repeated calls have no effect."""
        ...

    @property
    def num_ready(self) -> int:
        """Number of results that have arrived but that `result` has not returned yet."""
        ...

    def counters(self) -> PoolCounters:
        """Return the statistics since the pool was created."""
        ...

    def running_tasks(self) -> list[tuple[int, float]]:
        """Return (task number, seconds since the start of the task) for all running tasks, longest first."""
        ...

    def status_by_task(self) -> dict[int, bytes]:
        """Map the number of each running task to the status of its worker process. Include tasks whose process died."""
        ...


def check_num_workers(num_workers: int) -> int:
    """Return `num_workers`; raise ValueError if it is not positive."""
    if num_workers < 1:
        raise ValueError(f"num_workers must be at least 1, got {num_workers}")
    return num_workers

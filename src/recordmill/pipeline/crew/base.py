"""What a consumer may ask of a crew, whether its workers are threads or processes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from recordmill.dataclass import dataclass

Make = Callable[[int], Any]
"""Gives an element. A method `carefully` of it is called in a worker process for one that cannot be handed over."""


class NotReadyError(TimeoutError):
    """An element did not come in time; unlike a `TimeoutError` that making it raised."""


@dataclass(frozen=True, slots=True)
class WorkerCounters:
    """What one worker did until now.

    Parameters
    ----------
    busy_s : float
        Seconds spent making elements that are finished.
    waited_s : float
        Seconds spent waiting for orders.
    num_made : int
        Elements, failed ones included.
    start_s : float
        Seconds from the start of a worker process until it was ready for orders; 0 for threads.
    """

    busy_s: float = 0.0
    waited_s: float = 0.0
    num_made: int = 0
    start_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Counters:
    """What a crew did until now.

    Parameters
    ----------
    waited_s : float
        Seconds that the consumer spent waiting for elements.
    num_made : int
        Elements, failed ones included.
    num_ready : int
        Elements that are made and not yet taken.
    workers : tuple of WorkerCounters
        One for each worker that was started.
    """

    waited_s: float
    num_made: int
    num_ready: int
    workers: tuple[WorkerCounters, ...]


class Crew(Protocol):
    """Workers that make elements of which the places were ordered.

    For one consumer: `order` and `take` are called by one thread at a time; the other methods by any.
    """

    def order(self, stop: int) -> None:
        """Ask for the elements below a place that were not asked for yet."""
        ...

    def take(self, place: int, *, timeout: float | None = None) -> Any:
        """Wait for an element that was asked for; raises what making it raised."""
        ...

    def dismiss(self, *, timeout: float = 2.0) -> None:
        """End the workers, waiting for them so many seconds at most; again does nothing."""
        ...

    @property
    def num_ready(self) -> int:
        """Elements that are made and not yet taken, as far as is known without asking."""
        ...

    def counters(self) -> Counters:
        """Where time went until now."""
        ...

    def running(self) -> list[tuple[int, float]]:
        """Place and seconds of every element that is being made now, the longest first."""
        ...

    def notes(self) -> dict[int, bytes]:
        """What worker processes have noted, by the place of the element that each makes or died in."""
        ...


def check_num_workers(num_workers: int) -> int:
    """Refuse a crew of nobody.

    Parameters
    ----------
    num_workers : int

    Returns
    -------
    int
        The same.
    """
    if num_workers < 1:
        raise ValueError(f"a crew has at least one worker, not {num_workers}")
    return num_workers

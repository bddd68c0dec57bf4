"""Where the time of a worker goes: computing in a stage, or waiting in it."""

from __future__ import annotations

from dataclasses import field
from time import perf_counter, thread_time

from recordmill.dataclass import dataclass


@dataclass(slots=True)
class Spent:
    """Seconds by stage.

    Parameters
    ----------
    busy : dict of str to float
        In which the thread in the stage computed.
    waited : dict of str to float
        In which it was in the stage and did not: for storage, the interpreter lock, a core, other threads, or whatever
        a function waits for.
    """

    busy: dict[str, float] = field(default_factory=dict)
    waited: dict[str, float] = field(default_factory=dict)

    def timed(self, stage: str) -> _Inside:
        """Count the time spent in a `with` statement for a stage.

        Parameters
        ----------
        stage : str

        Returns
        -------
        context manager
        """
        return _Inside(self, stage)

    def count(self, stage: str, busy: float, waited: float) -> None:
        """Count time for a stage.

        Parameters
        ----------
        stage : str
        busy, waited : float
        """
        self.busy[stage] = self.busy.get(stage, 0.0) + busy
        self.waited[stage] = self.waited.get(stage, 0.0) + waited

    def add(self, other: Spent) -> None:
        """Count what was spent elsewhere.

        Parameters
        ----------
        other : Spent
        """
        for stage, busy in other.busy.items():
            self.count(stage, busy, other.waited[stage])

    def total(self, stage: str) -> float:
        """Seconds in a stage, computing or not.

        Parameters
        ----------
        stage : str

        Returns
        -------
        float
        """
        return self.busy.get(stage, 0.0) + self.waited.get(stage, 0.0)


class _Inside:
    """Two looks at the clocks; a class, as a generator would take longer than they do."""

    __slots__ = ("_begun", "_computed", "_spent", "_stage")

    def __init__(self, spent: Spent, stage: str) -> None:
        self._spent, self._stage = spent, stage

    def __enter__(self) -> None:
        self._begun, self._computed = perf_counter(), thread_time()

    def __exit__(self, *_: object) -> None:
        busy, inside = thread_time() - self._computed, perf_counter() - self._begun
        self._spent.count(self._stage, busy, max(0.0, inside - busy))

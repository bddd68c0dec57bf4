"""The stage that calls a Python function on samples, or on batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from recordmill.errors import MapError
from recordmill.pipeline.rows import Columns, Rows, locked
from recordmill.pipeline.stages.function import Caller, Function, Gathering, check_function, function_name

if TYPE_CHECKING:
    from recordmill.pipeline.stages.base import Work

Workers = Literal["threads", "processes"]


@dataclass(frozen=True, slots=True)
class Map:
    """A function on samples, or behind `batch` on batches.

    Parameters
    ----------
    function : callable
        Takes a sample (a dict), or a batch; returns another dict.
    rng : bool
        Whether it takes a `numpy.random.Generator` as its second argument.
    workers : {"threads", "processes"}
        Where it runs.
    timeout : float, optional
        Seconds after which it counts as hanging.
    seed : int, optional
        Of the generators; that of the shuffle before, or 0.
    """

    function: Function
    rng: bool = False
    workers: Workers = "threads"
    timeout: float | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be called."""
        check_function("map", self.function, self.timeout, self.seed)
        if self.workers not in ("threads", "processes"):
            raise ValueError(f'workers is "threads" or "processes", not {self.workers!r}')

    @property
    def name(self) -> str:
        """What its time is counted under."""
        return "map"

    def apply(self, work: Work) -> Rows:
        """Samples that the function returned."""
        caller, samples = self._caller(work), work.rows.samples()
        gathered, kept = Gathering(len(samples)), list[int]()

        def add(row: int) -> None:
            try:
                result = caller(row, samples[row])
                caller.check(row, result)
                if caller.hands_over(self):
                    caller.check_portable(row, result)
            except MapError as error:
                caller.fail(row, error)
            else:
                gathered.add(result)
                kept.append(row)

        work.context.turns.each(id(self), len(samples), add)
        rows = work.rows
        return Rows(gathered.columns(), rows.ordinals[kept], rows.origins[kept])

    def apply_batch(self, work: Work, batch: Columns) -> Columns:
        """Batch that the function returned."""
        caller = self._caller(work)
        with work.context.turns.taken(id(self), 1):
            returned = caller(0, locked(batch))
        caller.check_batch(returned)
        result: Columns = dict(returned)
        if caller.hands_over(self):
            caller.check_portable(0, result)
        return result

    def _caller(self, work: Work) -> Caller:
        return Caller(self.function, repr(self), work, rng=self.rng, timeout=self.timeout, key=id(self))

    def __repr__(self) -> str:
        """Readable form."""
        told = [function_name(self.function)]
        told += ["rng=True"] if self.rng else []
        told += [f"workers={self.workers!r}"] if self.workers != "threads" else []
        told += [f"{name}={value}" for name in ("timeout", "seed") if (value := _of(self, name)) is not None]
        return f"map({', '.join(told)})"


def in_processes(stages: Sequence[Map]) -> bool:
    """Whether one of some functions asks for worker processes."""
    return any(stage.workers == "processes" for stage in stages)


def _of(stage: Map, name: str) -> Any:
    return getattr(stage, name)

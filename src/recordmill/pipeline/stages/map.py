"""The map stage: calls a Python function on samples, or on batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from recordmill.errors import MapError
from recordmill.pipeline.samples import Columns, SampleRows, make_read_only
from recordmill.pipeline.stages.function import (
    ColumnsBuilder,
    Function,
    FunctionCaller,
    check_function,
    describe_function,
)

if TYPE_CHECKING:
    from recordmill.pipeline.stages.base import StageInput

Workers = Literal["threads", "processes"]


@dataclass(frozen=True, slots=True)
class Map:
    """Calls a function on each sample or, if the stage follows `batch`, on each batch.

    Parameters
    ----------
    function : callable
        Takes a sample or a batch as a dict, and returns a dict.
    rng : bool
        Pass a `numpy.random.Generator` as the second argument.
    workers : str
        Kind of workers that call the function. Either "threads" or "processes".
    timeout : float, optional
        Seconds after which a call counts as hanging.
    seed : int, optional
        Seed of the generators; by default the seed of the last shuffle before this stage, or 0.
    """

    function: Function
    rng: bool = False
    workers: Workers = "threads"
    timeout: float | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
        """Raise TypeError or ValueError if an argument is invalid."""
        check_function("map", self.function, self.timeout, self.seed)
        if self.workers not in ("threads", "processes"):
            raise ValueError(f'workers must be "threads" or "processes", got {self.workers!r}')

    @property
    def name(self) -> str:
        """Name of this stage in the statistics."""
        return "map"

    def apply(self, stage_input: StageInput) -> SampleRows:
        """Call the function on each sample, and return its results."""
        caller, rows = self._create_caller(stage_input), stage_input.rows
        builder, kept = ColumnsBuilder(len(rows)), list[int]()
        samples = rows.split()
        must_be_picklable = self in stage_input.context.pickled_maps

        def call_for_row(row: int) -> None:
            try:
                result = caller(row, samples[row])
                caller.check_sample(row, result)
                if must_be_picklable:
                    caller.check_picklable(row, result)
            except MapError as error:
                caller.raise_or_skip(row, error)
            else:
                builder.add(result)
                kept.append(row)

        stage_input.context.function_lock.call_each(id(self), len(rows), call_for_row)
        return SampleRows(builder.columns(), rows.ordinals[kept], rows.origins[kept])

    def apply_batch(self, stage_input: StageInput, batch: Columns) -> Columns:
        """Call the function on a batch, and return its result."""
        caller, returned = self._create_caller(stage_input), list[Any]()
        locked = make_read_only(batch)
        stage_input.context.function_lock.call_each(id(self), 1, lambda row: returned.append(caller(row, locked)))
        caller.check_batch(returned[0])
        result: Columns = dict(returned[0])
        if self in stage_input.context.pickled_maps:
            caller.check_picklable(0, result)
        return result

    def _create_caller(self, stage_input: StageInput) -> FunctionCaller:
        # The key is the id of the stage object, not the number of the stage, which is not unique in a mixture.
        return FunctionCaller(
            self.function, repr(self), stage_input, rng=self.rng, timeout=self.timeout, stage_key=id(self)
        )

    def __repr__(self) -> str:
        """Return the method call that adds this stage to a dataset, as text."""
        workers = None if self.workers == "threads" else self.workers
        options = {"rng": True if self.rng else None, "workers": workers, "timeout": self.timeout, "seed": self.seed}
        return f"map({describe_function(self.function, options)})"


def uses_processes(stages: Sequence[Map]) -> bool:
    """Return True if any of these stages runs in worker processes."""
    return any(stage.workers == "processes" for stage in stages)

"""The filter stage: keeps the samples for which a Python function returns true."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recordmill.errors import MapError
from recordmill.pipeline.samples import SampleRows
from recordmill.pipeline.stages.function import Function, FunctionCaller, check_function, describe_function

if TYPE_CHECKING:
    from recordmill.pipeline.stages.base import StageInput


@dataclass(frozen=True, slots=True)
class Filter:
    """Keeps the samples for which a function returns true.

    Parameters
    ----------
    function : callable
        Takes a sample; returns a value that is true or false.
    rng : bool
        Pass a `numpy.random.Generator` as the second argument.
    timeout : float, optional
        Seconds after which a call counts as hanging.
    seed : int, optional
        Seed of the generators; by default the seed of the last shuffle before this stage, or 0.
    """

    function: Function
    rng: bool = False
    timeout: float | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
        """Raise TypeError or ValueError if an argument is invalid."""
        check_function("filter", self.function, self.timeout, self.seed)

    @property
    def name(self) -> str:
        """Name of this stage in the statistics."""
        return "filter"

    def apply(self, stage_input: StageInput) -> SampleRows:
        """Return the samples for which the function returns true."""
        caller = FunctionCaller(self.function, repr(self), stage_input, rng=self.rng, timeout=self.timeout)
        rows, kept = stage_input.rows, list[int]()
        samples = rows.split()

        def call_for_row(row: int) -> None:
            try:
                if self._evaluate_predicate(caller, row, samples[row]):
                    kept.append(row)
            except MapError as error:
                caller.raise_or_skip(row, error)

        stage_input.context.function_lock.call_each(id(self), len(rows), call_for_row)
        return rows if len(kept) == len(rows) else rows.take(np.array(kept, np.int64))

    @staticmethod
    def _evaluate_predicate(caller: FunctionCaller, row: int, sample: dict[str, object]) -> bool:
        answer = caller(row, sample)
        try:
            return bool(answer)
        except (TypeError, ValueError) as error:
            raise caller.error(row, "returned a value that cannot be converted to bool", error) from error

    def __repr__(self) -> str:
        """Return the method call that adds this stage to a dataset, as text."""
        options = {"rng": True if self.rng else None, "timeout": self.timeout, "seed": self.seed}
        return f"filter({describe_function(self.function, options)})"

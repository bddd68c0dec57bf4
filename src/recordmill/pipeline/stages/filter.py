"""The stage that leaves out the samples a function says no to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recordmill.errors import MapError
from recordmill.pipeline.rows import Rows
from recordmill.pipeline.stages.function import Caller, Function, check_function, function_name

if TYPE_CHECKING:
    from recordmill.pipeline.stages.base import Work


@dataclass(frozen=True, slots=True)
class Filter:
    """Samples for which a function is true.

    Parameters
    ----------
    function : callable
        Takes a sample; returns something true or false.
    rng : bool
        Whether it takes a `numpy.random.Generator` as its second argument.
    timeout : float, optional
        Seconds after which it counts as hanging.
    seed : int, optional
        Of the generators; that of the shuffle before, or 0.
    """

    function: Function
    rng: bool = False
    timeout: float | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be called."""
        check_function("filter", self.function, self.timeout, self.seed)

    @property
    def name(self) -> str:
        """What its time is counted under."""
        return "filter"

    def apply(self, work: Work) -> Rows:
        """Samples that stay."""
        caller = Caller(self.function, repr(self), work, rng=self.rng, timeout=self.timeout)
        samples, kept = work.rows.samples(), list[int]()

        def hold(row: int) -> None:
            try:
                if self._holds(caller, row, samples[row]):
                    kept.append(row)
            except MapError as error:
                caller.fail(row, error)

        work.context.turns.each(id(self), len(samples), hold)
        return work.rows if len(kept) == len(work.rows) else work.rows.take(np.array(kept, np.int64))

    @staticmethod
    def _holds(caller: Caller, row: int, sample: dict[str, object]) -> bool:
        answer = caller(row, sample)
        try:
            return bool(answer)
        except (TypeError, ValueError) as error:
            raise caller.error(row, "returned something that is neither true nor false", error) from error

    def __repr__(self) -> str:
        """Readable form."""
        told = [function_name(self.function)]
        told += ["rng=True"] if self.rng else []
        told += [f"timeout={self.timeout}"] if self.timeout is not None else []
        told += [f"seed={self.seed}"] if self.seed is not None else []
        return f"filter({', '.join(told)})"

"""What a run hands to every stage: how failures are treated, which functions returned what, and where time goes."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from recordmill.errors import RecordmillError
from recordmill.pipeline.crew.memory import Memory
from recordmill.pipeline.failing import Skipped
from recordmill.pipeline.spent import Spent


@dataclass(frozen=True, slots=True)
class Calling:
    """A call of a user's function that has not returned.

    Parameters
    ----------
    stage : str
        As it prints.
    function : str
    position : int
        Of the sample in the epoch.
    begun : float
        Moment on the clock of `time.perf_counter`.
    """

    stage: str
    function: str
    position: int
    begun: float

    @property
    def seconds(self) -> float:
        """How long it has been going on."""
        return perf_counter() - self.begun


@dataclass(slots=True)
class Context:
    """One evaluation: belongs to one thread.

    Parameters
    ----------
    collects : bool
        Whether samples that fail are noted instead of raised.
    threads : int
        Inside one native call.
    memory : Memory, optional
        Where large arrays come from.
    returned : dict
        Names, dtypes and shapes that each function returned first; shared by all evaluations of a run.
    """

    collects: bool = False
    threads: int = 1
    memory: Memory | None = None
    returned: dict[Any, Any] = field(default_factory=dict)
    skipped: list[Skipped] = field(default_factory=list)
    spent: Spent = field(default_factory=Spent)
    num_bytes: int = 0
    calling: Calling | None = None

    def fail(self, epoch: int, position: int, error: RecordmillError) -> None:
        """Raise an error, or note it.

        Parameters
        ----------
        epoch, position : int
            Of the sample.
        error : RecordmillError
        """
        if not self.collects:
            raise error from (error.__cause__ or getattr(error, "cause", None))
        self.skipped.append(Skipped(epoch, position, error))

"""What a stage is given, and what it owes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from recordmill.decode.random import Draws
from recordmill.pipeline.context import Context
from recordmill.pipeline.positions import Places
from recordmill.pipeline.rows import Rows


@dataclass(frozen=True, eq=False, slots=True)
class Work:
    """Samples for one stage.

    Parameters
    ----------
    rows : Rows
    places : Places
        Of the rows, where the stage stands: what its draws depend on.
    asked : Places
        Of the rows in the epoch of the run: what errors tell.
    where : callable
        Shard, record and offset of a row, as keyword arguments of an error.
    tables : callable
        Entry points that are kept for the images of a feature, or None.
    seed : int
    before : tuple
        Stages before this one.
    context : Context
    """

    rows: Rows
    places: Places
    asked: Places
    where: Callable[[int], dict[str, Any]]
    tables: Callable[[str], Any]
    seed: int
    before: tuple[Any, ...]
    context: Context

    @property
    def number(self) -> int:
        """Of the stage in its pipeline."""
        return len(self.before)

    def number_of(self, kind: type[Any]) -> int:
        """Stages of a kind before this one."""
        return sum(isinstance(stage, kind) for stage in self.before)

    def draws(self, epoch: int) -> Draws:
        """Random numbers of an epoch."""
        return Draws(self.seed, epoch)


@runtime_checkable
class OrderStage(Protocol):
    """Says which samples there are and in which order."""

    def length(self, upstream: int | None) -> int | None:
        """Samples that come out of so many; None is endless."""
        ...

    def at(self, places: Places, upstream: int | None) -> Places:
        """Places before the stage of places behind it."""
        ...


@runtime_checkable
class SampleStage(Protocol):
    """Changes samples, or leaves some out."""

    @property
    def name(self) -> str:
        """What its time is counted under."""
        ...

    def apply(self, work: Work) -> Rows:
        """Samples behind the stage."""
        ...

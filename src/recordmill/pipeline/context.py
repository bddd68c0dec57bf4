"""What a run hands to every stage: how failures are treated, which functions returned what, and where time goes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import inf
from struct import Struct
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from recordmill.allocator import Memory
from recordmill.concurrency.status_page import StatusPage
from recordmill.errors import RecordmillError
from recordmill.pipeline.failures import Skipped
from recordmill.pipeline.stats import Spent
from recordmill.pipeline.turns import Turns

if TYPE_CHECKING:
    from recordmill.pipeline.positions import Places
    from recordmill.pipeline.sources import ExampleSource

_NOTE = Struct("<qqqdd")
_WORD = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class Calling:
    """A call of a user's function that has not returned.

    Parameters
    ----------
    stage : str
        As it prints.
    function : str
        Empty where samples go through a stage together, without a call for each.
    position : int
        Of the sample in the epoch; of the first of several.
    source, record : int
        Where the sample comes from: which of the sources of the run, and position in it; -1 where that is not known.
    timeout : float, optional
        Seconds after which it counts as hanging.
    begun : float
        Moment on the clock of `time.monotonic`, which is the same in all processes.
    """

    stage: str
    function: str
    position: int
    source: int
    record: int
    timeout: float | None
    begun: float

    @property
    def seconds(self) -> float:
        """How long it has been going on."""
        return monotonic() - self.begun

    def parts(self, sources: Sequence[ExampleSource]) -> dict[str, Any]:
        """Keyword arguments of an error about it."""
        found = {"stage": self.stage, "function": self.function, "position": self.position}
        return found | (sources[self.source].where(self.record)._asdict() if self.source >= 0 else {})

    def note(self) -> bytes:
        """Form in which another process reads of it."""
        limit = inf if self.timeout is None else self.timeout
        head = _NOTE.pack(self.position, self.source, self.record, limit, self.begun)
        return head + f"{self.stage}\0{self.function}".encode()

    @classmethod
    def from_note(cls, note: bytes) -> Calling | None:
        """What another process noted."""
        if len(note) < _NOTE.size:
            return None
        position, source, record, limit, begun = _NOTE.unpack_from(note)
        stage, _, function = note[_NOTE.size :].decode("utf-8", "replace").partition("\0")
        return cls(stage, function, position, source, record, None if limit == inf else limit, begun)


def scrambled(number: int) -> int:
    """64 bits that look random, others for every number."""
    word = number * 0x9E3779B97F4A7C15 & _WORD
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & _WORD
    word = (word ^ word >> 27) * 0x94D049BB133111EB & _WORD
    return word ^ word >> 31


class Called(Protocol):
    """What knows the call for a row that it is in."""

    def calling(self, row: int, begun: float) -> Calling:
        """Name the call for a row that began at a moment."""
        ...


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
    handed_over : tuple of Map
        Functions of which what they return has to be what can be pickled.
    first_source : int
        Sources of the run before those of what is evaluated, as one part of a mixture.
    part : int
        Of a mixture, what tells the random numbers of its parts apart; 0 outside of any.
    turns : Turns
        In which threads call functions; shared by all evaluations of a run.
    most_bytes : int
        That samples took behind any stage.
    """

    collects: bool = False
    threads: int = 1
    memory: Memory | None = None
    returned: dict[Any, Any] = field(default_factory=dict)
    handed_over: tuple[Any, ...] = ()
    skipped: list[Skipped] = field(default_factory=list)
    spent: Spent = field(default_factory=Spent)
    num_bytes: int = 0
    first_source: int = 0
    part: int = 0
    turns: Turns = field(default_factory=Turns)
    called: tuple[Called, int, float] | None = None
    most_bytes: int = 0

    @property
    def calling(self) -> Calling | None:
        """The call that the thread of this context is in."""
        called = self.called
        return None if called is None else called[0].calling(*called[1:])

    @contextmanager
    def inside(self, number: int, first_source: int) -> Iterator[None]:
        """Evaluate a part of a mixture."""
        outside = self.first_source, self.part
        self.first_source += first_source
        self.part = scrambled(self.part + number + 1)
        try:
            yield
        finally:
            self.first_source, self.part = outside

    def enter(self, stage: object, asked: Places, source: int, record: int) -> None:
        """Note that samples go through a stage together, where another process may have to tell of it."""
        if StatusPage.current is not None and len(asked):
            first = Calling(str(stage), "", asked.at(0)[1], self.first_source + source, record, None, monotonic())
            StatusPage.current.write(first.note())

    def weigh(self, columns: Mapping[str, Any]) -> int:
        """Note how many bytes samples take behind a stage."""
        num_bytes = sum(map(_num_bytes, columns.values()))
        self.most_bytes = max(self.most_bytes, num_bytes)
        return num_bytes

    def leave(self) -> None:
        """Note that they are through."""
        if StatusPage.current is not None:
            StatusPage.current.clear()

    def begin(self, caller: Called, row: int) -> None:
        """Note that a function is called; told in full where another process may have to tell of it."""
        begun = monotonic()
        self.called = caller, row, begun
        if StatusPage.current is not None:
            StatusPage.current.write(caller.calling(row, begun).note())

    def end(self) -> None:
        """Note that it has returned."""
        self.called = None
        self.leave()

    def fail(self, epoch: int, position: int, error: RecordmillError) -> None:
        """Raise an error, or note it."""
        if not self.collects:
            raise error from (error.__cause__ or getattr(error, "cause", None))
        self.skipped.append(Skipped(epoch, position, error))


def _num_bytes(column: Any) -> int:
    """Bytes of a column; pictures of several sizes are a list of arrays."""
    if isinstance(column, list) and column and isinstance(column[0], np.ndarray):
        return sum(getattr(row, "nbytes", 0) for row in column)
    return int(getattr(column, "nbytes", 0))

"""What a run hands to every stage: how failures are treated, which functions returned what, and where time goes."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from recordmill.errors import RecordmillError
from recordmill.pipeline.crew.memory import Memory
from recordmill.pipeline.crew.slate import Slate
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
    where : callable
        Shard, record and offset of the sample, as keyword arguments of an error.
    timeout : float, optional
        Seconds after which it counts as hanging.
    begun : float
        Moment on the clock of `time.monotonic`, which is the same in all processes.
    """

    stage: str
    function: str
    position: int
    where: Callable[[], dict[str, Any]]
    timeout: float | None = None
    begun: float = field(default_factory=monotonic)

    @property
    def seconds(self) -> float:
        """How long it has been going on."""
        return monotonic() - self.begun

    def parts(self) -> dict[str, Any]:
        """Keyword arguments of an error about it.

        Returns
        -------
        dict of str to object
        """
        return {"stage": self.stage, "function": self.function, "position": self.position} | self.where()

    def note(self) -> bytes:
        """Form in which another process reads of it.

        Returns
        -------
        bytes
        """
        told = self.stage, self.function, self.position, self.where(), self.timeout, self.begun
        return json.dumps(told, default=int).encode()

    @classmethod
    def from_note(cls, note: bytes) -> Calling | None:
        """What another process noted.

        Parameters
        ----------
        note : bytes

        Returns
        -------
        Calling or None
            None of an empty note, or one that was read while it was written.
        """
        try:
            stage, function, position, where, *times = json.loads(note)
        except ValueError:
            return None
        return cls(stage, function, position, lambda: where, *times)


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
    """

    collects: bool = False
    threads: int = 1
    memory: Memory | None = None
    returned: dict[Any, Any] = field(default_factory=dict)
    handed_over: tuple[Any, ...] = ()
    skipped: list[Skipped] = field(default_factory=list)
    spent: Spent = field(default_factory=Spent)
    num_bytes: int = 0
    calling: Calling | None = None

    def begin(self, calling: Calling) -> None:
        """Note that a function is called.

        Parameters
        ----------
        calling : Calling
        """
        self.calling = calling
        if Slate.here is not None:
            Slate.here.write(calling.note())

    def end(self) -> None:
        """Note that it has returned."""
        self.calling = None
        if Slate.here is not None:
            Slate.here.clear()

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

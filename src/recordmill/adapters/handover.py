"""A loader whose batches are changed on their way to the caller, with a state that is still exact."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from inspect import GEN_RUNNING, getgeneratorstate
from types import TracebackType
from typing import Any, Self, TypeAlias
from weakref import WeakSet

import recordmill as rm

Stated: TypeAlias = tuple[Any, dict[str, Any]]


class Handover:
    """What the loaders of all frameworks have in common; a subclass says what becomes of a batch.

    Parameters
    ----------
    loader : recordmill.Loader
        Where the batches come from. It belongs to this object from now on.
    """

    def __init__(self, loader: rm.Loader) -> None:
        self._loader = loader
        self._delivered: dict[str, Any] | None = None
        self._run = object()
        self._running: WeakSet[Generator[Any]] = WeakSet()

    def _place(self, batches: Iterator[Stated]) -> Iterable[Stated]:
        """Batches as the framework has them, each with the state behind it; may run ahead of the caller."""
        raise NotImplementedError

    def __len__(self) -> int:
        """Return the number of batches per epoch of this rank."""
        return len(self._loader)

    def __iter__(self) -> Iterator[Any]:
        """Batches of one epoch: the one that was set, the rest of the one that was loaded, else the next one."""
        running = self._deliver()
        self._running.add(running)
        return running

    def _deliver(self) -> Generator[Any]:
        batches = iter(self._loader)
        self._stand()
        # Until a batch is delivered, the state is where this run begins, however far ahead the loader is.
        this, self._delivered = self._run, self._loader.state_dict()
        placed = iter(self._place(self._stated(batches)))
        try:
            for batch, state in placed:
                if self._run is this:
                    self._delivered = state
                yield batch
            if self._run is this:
                self._delivered = None
        finally:
            close = getattr(placed, "close", None)
            if close is not None:
                close()

    def _stated(self, batches: Iterator[Any]) -> Iterator[Stated]:
        try:
            for batch in batches:
                yield batch, self._loader.state_dict()
        finally:
            close = getattr(batches, "close", None)
            if close is not None:
                close()

    def _stand(self) -> None:
        """Be where the loader is: iterations that still go on do not count any more."""
        self._delivered, self._run = None, object()

    @property
    def epoch(self) -> int:
        """The epoch being iterated over, or the one that comes next."""
        return self._loader.epoch if self._delivered is None else int(self._delivered["epoch"])

    @property
    def rank(self) -> int:
        """Which process of the training run this is, from 0."""
        return self._loader.rank

    @property
    def world_size(self) -> int:
        """Processes of the training run."""
        return self._loader.world_size

    def set_epoch(self, epoch: int) -> None:
        """Choose the epoch of the next iteration; one that a loaded state is in goes on where that says."""
        self._loader.set_epoch(epoch)
        self._stand()

    def state_dict(self) -> dict[str, Any]:
        """Where this run is, exact at the batch last delivered."""
        return self._delivered or self._loader.state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on behind the batch at which a state was taken."""
        self._loader.load_state_dict(state)
        self._stand()

    @property
    def report(self) -> Any:
        """Samples that failed and were left out or replaced."""
        return self._loader.report

    def stats(self) -> Any:
        """Where time went until now."""
        return self._loader.stats()

    def close(self) -> None:
        """End the threads; nothing more can be taken from iterators."""
        self._loader.close()  # first: whoever waits for a batch, in a thread ahead for one, is let go
        for running in list(self._running):
            if getgeneratorstate(running) != GEN_RUNNING:
                running.close()

    def __enter__(self) -> Self:
        """Return the loader itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        self.close()

"""Base class of loaders that convert batches to arrays of a framework."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from inspect import GEN_RUNNING, getgeneratorstate
from textwrap import indent
from types import TracebackType
from typing import Any, Self, TypeAlias
from weakref import WeakSet

import recordmill as rm

BatchAndState: TypeAlias = tuple[Any, dict[str, Any]]
"""A batch and the state of the loader after it."""


class FrameworkLoader:
    """Iterates over converted batches. `state_dict` returns the state after the last batch that the caller received.

    Parameters
    ----------
    loader : recordmill.Loader
        Source of the batches; closed with this object.
    """

    def __init__(self, loader: rm.Loader) -> None:
        self._loader = loader
        self._state: dict[str, Any] | None = None
        self._iteration = object()
        self._iterators: WeakSet[Generator[Any]] = WeakSet()

    def _convert_batches(self, batches: Iterator[BatchAndState]) -> Iterable[BatchAndState]:
        """Convert each batch, and yield it with its state. A subclass may read ahead in `batches`."""
        raise NotImplementedError

    def __len__(self) -> int:
        """Return the number of batches per epoch on this rank."""
        return len(self._loader)

    def __iter__(self) -> Iterator[Any]:
        """Iterate over one epoch: the epoch that was set, the remainder of a resumed epoch, or the next epoch."""
        iterator = self._iterate()
        self._iterators.add(iterator)
        return iterator

    def _iterate(self) -> Generator[Any]:
        batches = iter(self._loader)
        self._reset_state()
        # Until the caller receives a batch, `state_dict` returns the state before that batch, even if the wrapped
        # loader has already prefetched it.
        iteration, self._state = self._iteration, self._loader.state_dict()
        converted = iter(self._convert_batches(self._pair_batches_with_states(batches)))
        try:
            for batch, state in converted:
                if self._iteration is iteration:
                    self._state = state
                yield batch
            if self._iteration is iteration:
                self._state = None
        finally:
            _close_iterator(converted)

    def _pair_batches_with_states(self, batches: Iterator[Any]) -> Iterator[BatchAndState]:
        try:
            for batch in batches:
                yield batch, self._loader.state_dict()
        finally:
            _close_iterator(batches)

    def _reset_state(self) -> None:
        """Make `state_dict` return the state of the wrapped loader, and ignore the progress of existing iterators."""
        self._state, self._iteration = None, object()

    @property
    def epoch(self) -> int:
        """Epoch of the current iteration; if no iteration is in progress, epoch of the next iteration."""
        return self._loader.epoch if self._state is None else int(self._state["epoch"])

    @property
    def rank(self) -> int:
        """Rank of this process, from 0."""
        return self._loader.rank

    @property
    def world_size(self) -> int:
        """Number of ranks."""
        return self._loader.world_size

    def __repr__(self) -> str:
        """Return the source text of an expression that creates the wrapped loader."""
        return f"{self._public_name}({self._loader!r})"

    def __str__(self) -> str:
        """Return the options and the dataset as text with several lines."""
        return f"{self._public_name} with batches of this loader:\n{indent(str(self._loader), '  ')}"

    @property
    def _public_name(self) -> str:
        """Public name of the class, such as ``recordmill.torch.Loader``."""
        framework = type(self).__module__.removeprefix("recordmill.adapters.").partition(".")[0]
        return f"recordmill.{framework}.{type(self).__name__}"

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch of the next iteration.

        If a loaded state is in the middle of this epoch, the iteration continues there.

        Parameters
        ----------
        epoch : int
            Number of the epoch, from 0.
        """
        self._loader.set_epoch(epoch)
        self._reset_state()

    def state_dict(self) -> dict[str, Any]:
        """Return the state after the last batch that the caller received.

        Returns
        -------
        dict
            A small dict that can be written as JSON.
        """
        return self._state or self._loader.state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue after the batch at which a state was saved.

        Parameters
        ----------
        state : dict
            Return value of `state_dict`; the number of threads or ranks may have changed since.

        Raises
        ------
        StateError
            If the state belongs to another pipeline.
        """
        self._loader.load_state_dict(state)
        self._reset_state()

    @property
    def report(self) -> Any:
        """The samples that failed and were skipped or replaced (see `recordmill.Loader.report`)."""
        return self._loader.report

    def stats(self) -> Any:
        """Return the time spent in each stage so far (see `recordmill.Loader.stats`)."""
        return self._loader.stats()

    def close(self) -> None:
        """Stop the threads and end all iterators."""
        # Close the wrapped loader first, because a prefetching thread may be waiting for a batch of this loader.
        self._loader.close()
        for iterator in list(self._iterators):
            if getgeneratorstate(iterator) != GEN_RUNNING:
                iterator.close()

    def __enter__(self) -> Self:
        """Return the loader."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the loader."""
        self.close()


def _close_iterator(iterator: Iterator[Any]) -> None:
    close = getattr(iterator, "close", None)
    if close is not None:
        close()

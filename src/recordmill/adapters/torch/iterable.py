"""An epoch that the worker processes of a DataLoader see change."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, Self

import recordmill as rm
from recordmill.adapters.checks import epoch_of
from recordmill.adapters.frameworks import extra
from recordmill.adapters.torch.tensors import tensors
from recordmill.adapters.torch.warnings import warn_if_batched_again, warn_if_undivided


class SharedEpoch:
    """A number in shared memory; forked and spawned workers of a DataLoader read what the parent last set.

    Parameters
    ----------
    epoch : int
    """

    def __init__(self, epoch: int = 0) -> None:
        with extra("torch"):
            import torch
        self._value: Any = torch.tensor([epoch, 0]).share_memory_()

    def get(self) -> int:
        """Return the epoch."""
        return int(self._value[0])

    def set(self, epoch: int) -> None:
        """Change the epoch, for all processes that share it.

        Parameters
        ----------
        epoch : int
            From 0.
        """
        self._value[0], self._value[1] = epoch_of(epoch), 0

    def end(self) -> None:
        """Note that an iteration came to its end."""
        self._value[1] += 1

    @property
    def ended_once(self) -> bool:
        """Whether one iteration, and no more, came to its end since the epoch was set."""
        return int(self._value[1]) == 1


class IterableDataset:
    """Elements in the order of a pipeline for ``DataLoader(..., batch_size=None)``.

    Worker ``i`` of ``n`` makes every ``n``-th batch, so that the stream of the DataLoader is the same for any number of
    workers (where ``on_error="skip"`` leaves out a batch, later ones come in another order). Pickles, and is a
    `torch.utils.data.IterableDataset`. Its iterators have `state_dict` and `load_state_dict`, which torchdata's
    ``StatefulDataLoader`` calls: that goes on in the middle of an epoch, with
    the same number of workers.

    Ranks are settled here, in the process that makes the data set, because workers may not know them: make it after
    ``torch.distributed.init_process_group``.

    Parameters
    ----------
    dataset : recordmill.Dataset
        Of batches, for ``batch_size=None``: a DataLoader that would stack them once more is told of by a warning. Of
        samples too, but a DataLoader that batches them itself makes others for each number of workers.
    threads, prefetch : int
        Of each worker, as in `recordmill.Dataset.loader`.
    **options
        What else `recordmill.Dataset.loader` takes: rank, world_size, on_error, max_errors.

    Raises
    ------
    MissingExtraError
        PyTorch is not installed.
    TypeError, ValueError
        Options that make no sense, or an epoch without a batch.
    """

    def __init__(self, dataset: rm.Dataset, *, threads: int = 1, prefetch: int = 1, **options: Any) -> None:
        self.dataset = dataset
        self._epoch = SharedEpoch()
        if "workers" in options:
            raise TypeError("workers are those of the DataLoader that has this data set, which divide it themselves")
        warn_if_undivided(dataset, options)
        with dataset.loader(threads=threads, prefetch=prefetch, **options) as settled:
            ranks = {"rank": settled.rank, "world_size": settled.world_size}
        self._options = options | ranks | {"threads": threads, "prefetch": prefetch}

    @property
    def epoch(self) -> int:
        """The epoch that the next iteration runs."""
        return self._epoch.get()

    def set_epoch(self, epoch: int) -> None:
        """Choose the epoch of the next iteration; every iteration runs the same one until it is changed.

        One that begins again behind its end, in the same order, is told of by a warning.

        Parameters
        ----------
        epoch : int
            From 0.
        """
        self._epoch.set(epoch)

    def __len__(self) -> int:
        """Return the number of batches per epoch of this rank, all workers together."""
        with self.dataset.loader(**self._options) as loader:
            return len(loader)

    def __iter__(self) -> Pass:
        """Batches of one epoch that fall to this worker, as tensors (see `tensors`)."""
        warn_if_batched_again(self.dataset)
        with extra("torch"):
            from torch.utils.data import get_worker_info
        worker = get_worker_info()
        index, count = (0, 1) if worker is None else (worker.id, worker.num_workers)
        if index == 0 and self._epoch.ended_once and self.dataset.is_shuffled:
            warnings.warn(
                f"epoch {self.epoch} begins again, in the same order: call set_epoch(number) before each epoch",
                stacklevel=3,
            )
        return Pass(self.dataset, self._options, self._epoch, index, count)

    def __repr__(self) -> str:
        """Readable form."""
        return f"IterableDataset({self.dataset!r}, rank {self._options['rank']} of {self._options['world_size']})"


class Pass:
    """One iteration over the batches of one worker, with the state that torchdata asks for.

    Parameters
    ----------
    dataset : recordmill.Dataset
    options : dict
        Of its loader.
    epoch : SharedEpoch
    index, count : int
        Which worker this is, of how many.
    """

    def __init__(
        self, dataset: rm.Dataset, options: dict[str, Any], epoch: SharedEpoch, index: int, count: int
    ) -> None:
        self._dataset, self._options, self._epoch = dataset, options, epoch
        self._index, self._count, self._is_first = index, count, index == 0
        self._loader = self._made(index)
        self._loader.set_epoch(epoch.get())
        self._batches: Iterator[Any] | None = None
        self._is_over = False
        self._left = self._length()

    def _length(self) -> int | None:
        try:
            return len(self._loader)
        except TypeError:
            return None

    def _made(self, index: int) -> rm.Loader:
        return self._dataset.loader(workers=(index, self._count), **self._options)

    def __iter__(self) -> Self:
        """Return itself."""
        return self

    def __next__(self) -> Any:
        """Return the next batch."""
        if self._is_over:
            raise StopIteration
        if self._batches is None:
            self._batches = iter(self._loader)
        try:
            batch = next(self._batches)
        except StopIteration:
            self._is_over = True
            self._note_end()
            self._loader.close()
            raise
        if self._left is not None:
            self._left -= 1
            if not self._left:  # who knows the length does not ask for more
                self._note_end()
        # Behind a batch of its own, a worker's next one comes when all others had theirs.
        self._index = self._count - 1
        return tensors(batch)

    def _note_end(self) -> None:
        if self._is_first:
            self._is_first = False  # once
            self._epoch.end()

    def state_dict(self) -> dict[str, Any]:
        """Where this worker is.

        Returns
        -------
        dict
            The state of its loader, its turn from there on, of how many, and whether its last batch was delivered.
        """
        turn = {"index": self._index, "count": self._count, "is_over": self._is_over}
        return {"loader": self._loader.state_dict(), **turn}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on behind the batch at which a state was taken.

        Parameters
        ----------
        state : dict
            From `state_dict` of the same worker of as many.

        Raises
        ------
        StateError
            Of one of another number of workers, or of another pipeline.
        """
        self._check_count(state)
        self._loader.close()
        self._index, self._is_over = state["index"], state["is_over"]
        self._loader = self._made(self._index)
        self._loader.load_state_dict(state["loader"])
        self._batches = self._left = None

    def _check_count(self, state: dict[str, Any]) -> None:
        count = state.get("count", self._count)
        if count != self._count or not 0 <= state["index"] < self._count:
            raise rm.StateError(
                "the state is that of a DataLoader with another number of workers",
                kind="bad_state",
                expected=f"num_workers={self._count}",
                found=f"num_workers={count}",
                hint=f"take num_workers={count}; states of recordmill.torch.loader fit any number of threads",
            )

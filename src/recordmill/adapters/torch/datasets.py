"""Datasets for PyTorch's DataLoader: one that yields batches, and one with random access to samples."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, Self, SupportsIndex

import recordmill as rm
from recordmill.adapters.common import check_epoch, check_positional_access, require_extra
from recordmill.adapters.torch.loader import warn_if_not_sharded
from recordmill.adapters.torch.tensors import tensors
from recordmill.suggestions import suggest_constructor_arguments


@suggest_constructor_arguments
class IterableDataset:
    """Batches of a pipeline for ``DataLoader(..., batch_size=None)``; a `torch.utils.data.IterableDataset`.

    Worker ``i`` of ``n`` produces every ``n``-th batch, so that the DataLoader returns the same batches in the same
    order for any number of workers (unless ``on_error="skip"`` drops a batch). Can be pickled. Its iterators have
    `state_dict` and `load_state_dict` for torchdata's ``StatefulDataLoader``, which then resumes in the middle of an
    epoch with the same number of workers.

    The rank is determined when the dataset is created, because worker processes may not know it. Create the dataset
    after ``torch.distributed.init_process_group``.

    Parameters
    ----------
    dataset : recordmill.Dataset
        Dataset of batches, for ``batch_size=None``; there is a warning if the DataLoader would batch them again. A
        dataset of samples is accepted too, but then the batches that the DataLoader builds depend on the number of
        workers.
    threads : int, default 1
        Number of threads in each worker.
    prefetch : int, default 1
        Number of batches that each worker computes ahead, as in `recordmill.Dataset.loader`.
    **options
        Other options of `recordmill.Dataset.loader`: rank, world_size, on_error, max_errors.

    Raises
    ------
    MissingExtraError
        If PyTorch is not installed.
    TypeError
        If `workers` is among the options.
    ValueError
        If an option is invalid, or if an epoch has no batch.
    """

    def __init__(self, dataset: rm.Dataset, *, threads: int = 1, prefetch: int = 1, **options: Any) -> None:
        self.dataset = dataset
        self._epoch = SharedEpoch()
        if "workers" in options:
            raise TypeError("workers= is not supported here; set num_workers= of the DataLoader")
        warn_if_not_sharded(dataset, options)
        with dataset.loader(threads=threads, prefetch=prefetch, **options) as loader:
            ranks = {"rank": loader.rank, "world_size": loader.world_size}
        self._options = options | ranks | {"threads": threads, "prefetch": prefetch}

    @property
    def epoch(self) -> int:
        """Epoch of the next iteration."""
        return self._epoch.get()

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch of all following iterations, until it is set again.

        There is a warning if an epoch of a shuffled dataset is repeated, because its order is the same.

        Parameters
        ----------
        epoch : int
            Number of the epoch, from 0.
        """
        self._epoch.set(epoch)

    def __len__(self) -> int:
        """Return the number of batches per epoch on this rank, summed over all workers."""
        with self.dataset.loader(**self._options) as loader:
            return len(loader)

    def __iter__(self) -> WorkerIterator:
        """Iterate over the batches of this worker in one epoch, as tensors (see `tensors`)."""
        _warn_if_batched_again(self.dataset)
        with require_extra("torch"):
            from torch.utils.data import get_worker_info
        worker = get_worker_info()
        index, count = (0, 1) if worker is None else (worker.id, worker.num_workers)
        if index == 0 and self._epoch.has_ended_once and self.dataset.is_shuffled:
            warnings.warn(
                f"epoch {self.epoch} is repeated in the same order; call set_epoch(number) before each epoch",
                stacklevel=3,
            )
        return WorkerIterator(self.dataset, self._options, self._epoch, index, count)

    def __repr__(self) -> str:
        """Return a readable representation."""
        return f"IterableDataset({self.dataset!r}, rank {self._options['rank']} of {self._options['world_size']})"


@suggest_constructor_arguments
class MapDataset:
    """Random access to samples, for a DataLoader with a PyTorch sampler; a `torch.utils.data.Dataset`.

    If the DataLoader builds batches, it requests all samples of a batch at once, and they are read together. Can be
    pickled, and works in forked and spawned worker processes.

    Parameters
    ----------
    dataset : recordmill.Dataset
        Dataset of samples, or dataset of batches for a DataLoader with ``batch_size=None``. There is a warning if the
        DataLoader would batch batches again.

    Raises
    ------
    MissingExtraError
        If PyTorch is not installed.
    TypeError
        If the dataset has no positions, because it has a `filter` stage.
    ValueError
        If the dataset has a `shard` stage.
    """

    def __init__(self, dataset: rm.Dataset) -> None:
        check_positional_access(dataset, "the sampler of the DataLoader divides the positions (DistributedSampler)")
        self.dataset = dataset
        self._length = len(dataset)
        self._epoch = SharedEpoch()
        self._has_checked_loader = False

    @property
    def epoch(self) -> int:
        """Epoch whose elements are returned."""
        return self._epoch.get()

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch, which determines the order and the random parameters.

        Running workers use the new epoch from their next element on, so call this between two iterations.

        Parameters
        ----------
        epoch : int
            Number of the epoch, from 0.
        """
        self._epoch.set(epoch)

    def __len__(self) -> int:
        """Return the number of elements."""
        return self._length

    def __getitem__(self, position: SupportsIndex) -> dict[str, Any]:
        """Return the element at a position as tensors (see `tensors`); negative positions count from the end."""
        if isinstance(position, list | tuple):
            raise TypeError(
                f"position must be an integer, got {position!r:.60}; if a sampler yields lists of positions, "
                "pass the sampler to the DataLoader as batch_sampler="
            )
        return self._read_elements([position])[0]

    def __getitems__(self, positions: Sequence[SupportsIndex]) -> list[dict[str, Any]]:
        """Read the elements at several positions at once.

        Parameters
        ----------
        positions : sequence of int
            Positions in the epoch; negative ones count from the end.

        Returns
        -------
        list of dict
        """
        if not self._has_checked_loader:
            self._has_checked_loader = True
            _warn_if_batched_again(self.dataset)
        return self._read_elements(positions)

    def _read_elements(self, positions: Sequence[SupportsIndex]) -> list[dict[str, Any]]:
        elements: list[dict[str, Any]] = tensors(self.dataset.fetch(positions, epoch=self.epoch))
        return elements

    def __repr__(self) -> str:
        """Return a readable representation."""
        return f"MapDataset({self.dataset!r})"


class SharedEpoch:
    """Epoch number in shared memory, so that a DataLoader's worker processes see the value set in their parent."""

    def __init__(self) -> None:
        with require_extra("torch"):
            import torch
        # The epoch number, and the number of iterations that have ended since the epoch was set.
        self._numbers: Any = torch.tensor([0, 0]).share_memory_()

    def get(self) -> int:
        """Return the epoch number."""
        return int(self._numbers[0])

    def set(self, epoch: int) -> None:
        """Set the epoch number in all processes, and restart the count of ended iterations at zero."""
        self._numbers[0], self._numbers[1] = check_epoch(epoch), 0

    def count_ended_iteration(self) -> None:
        """Count an iteration that has ended."""
        self._numbers[1] += 1

    @property
    def has_ended_once(self) -> bool:
        """True if exactly one iteration has ended since the epoch was set."""
        return int(self._numbers[1]) == 1


class WorkerIterator:
    """Iterator over the batches of one DataLoader worker in one epoch; torchdata saves its state.

    Parameters
    ----------
    dataset : recordmill.Dataset
    options : dict
        Options of its loader.
    epoch : SharedEpoch
    index, count : int
        Number of this worker, and number of workers.
    """

    def __init__(
        self, dataset: rm.Dataset, options: dict[str, Any], epoch: SharedEpoch, index: int, count: int
    ) -> None:
        self._dataset, self._options, self._epoch = dataset, options, epoch
        # Workers return batches in turn. `_turn` is the number of batches of other workers before the next batch of
        # this worker.
        self._turn, self._count = index, count
        self._counts_end = index == 0
        self._loader = self._create_loader(index)
        self._loader.set_epoch(epoch.get())
        self._batches: Iterator[Any] | None = None
        self._is_over = False
        self._num_left = self._count_batches()

    def _count_batches(self) -> int | None:
        try:
            return len(self._loader)
        except TypeError:
            return None

    def _create_loader(self, turn: int) -> rm.Loader:
        return self._dataset.loader(workers=(turn, self._count), **self._options)

    def __iter__(self) -> Self:
        """Return the iterator itself."""
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
            self._count_end_once()
            self._loader.close()
            raise
        if self._num_left is not None:
            self._num_left -= 1
            # A caller that knows the number of batches may never call this method again after the last batch.
            if not self._num_left:
                self._count_end_once()
        # Each of the other workers returns one batch before this worker returns its next batch.
        self._turn = self._count - 1
        return tensors(batch)

    def _count_end_once(self) -> None:
        if self._counts_end:
            self._counts_end = False
            self._epoch.count_ended_iteration()

    def state_dict(self) -> dict[str, Any]:
        """Return the state after the most recently returned batch.

        Returns
        -------
        dict
            State of the loader, turn of the worker (``"index"``), number of workers (``"count"``), and whether the
            last batch was returned (``"is_over"``).
        """
        turn = {"index": self._turn, "count": self._count, "is_over": self._is_over}
        return {"loader": self._loader.state_dict(), **turn}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue after the batch at which a state was saved.

        Parameters
        ----------
        state : dict
            Return value of `state_dict` of the same worker.

        Raises
        ------
        StateError
            If the state was saved with a different number of workers or with another pipeline.
        """
        self._check_num_workers(state)
        self._loader.close()
        self._turn, self._is_over = state["index"], state["is_over"]
        self._loader = self._create_loader(self._turn)
        self._loader.load_state_dict(state["loader"])
        self._batches = self._num_left = None

    def _check_num_workers(self, state: dict[str, Any]) -> None:
        count = state.get("count", self._count)
        if count != self._count or not 0 <= state["index"] < self._count:
            raise rm.StateError(
                "the state was saved with a different number of DataLoader workers",
                kind="bad_state",
                expected=f"num_workers={self._count}",
                found=f"num_workers={count}",
                hint=f"set num_workers={count}, or use recordmill.torch.loader, whose states can be loaded with any "
                "number of threads",
            )


def _warn_if_batched_again(dataset: Any) -> None:
    """Warn if a DataLoader stacks the batches of a dataset into batches of batches.

    A DataLoader does not pass its batch size to the dataset, so this function inspects the call stack. A custom
    `collate_fn` may concatenate batches on purpose and causes no warning.
    """
    stage = getattr(dataset, "batch_stage", None)
    frame = sys._getframe(1).f_back
    fetcher = None if frame is None else frame.f_locals.get("self")
    if stage is None or not getattr(fetcher, "auto_collation", False):
        return
    with require_extra("torch"):
        from torch.utils.data import default_collate, get_worker_info
    worker = get_worker_info()
    if fetcher.collate_fn is default_collate and (worker is None or worker.id == 0):  # type: ignore[union-attr]
        warnings.warn(
            f"the DataLoader stacks batches again: features of shape ({stage.size}, ...) get another dimension. Pass "
            "batch_size=None to the DataLoader, or remove batch() from the pipeline",
            stacklevel=4,
        )

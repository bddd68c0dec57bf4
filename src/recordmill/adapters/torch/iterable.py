"""An iterable-style data set that divides itself among DataLoader workers and ranks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import recordmill as rm
from recordmill.adapters.frameworks import extra
from recordmill.adapters.torch.epoch import SharedEpoch
from recordmill.adapters.torch.tensors import tensors


class IterableDataset:
    """Elements in the order of a pipeline for ``DataLoader(..., batch_size=None)``.

    Worker ``i`` of ``n`` makes every ``n``-th batch, so that the stream of the DataLoader is the same for any number of
    workers. Pickles, and is a `torch.utils.data.IterableDataset`. Its iterators have `state_dict` and
    `load_state_dict`, which torchdata's ``StatefulDataLoader`` calls: that goes on in the middle of an epoch, with
    the same number of workers.

    Ranks are settled here, in the process that makes the data set, because workers cannot know them: make it after
    ``torch.distributed.init_process_group``.

    Parameters
    ----------
    dataset : recordmill.Dataset
        Of batches. Of samples too, but a DataLoader that batches them itself makes others for each number of workers.
    rank, world_size : int, optional
        What torch.distributed, the environment or JAX say, else 0 of 1, by default.
    threads, prefetch : int
        Of each worker, as in `recordmill.Dataset.loader`.
    on_error : {"raise", "skip", "substitute"}
        What happens with a sample that cannot be made.
    max_errors : int or float, optional
        How many of them, or which share, are borne.

    Raises
    ------
    MissingExtraError
        PyTorch is not installed.
    """

    def __init__(
        self,
        dataset: rm.Dataset,
        *,
        rank: int | None = None,
        world_size: int | None = None,
        threads: int = 1,
        prefetch: int = 1,
        on_error: str = "raise",
        max_errors: float | None = None,
    ) -> None:
        self.dataset = dataset
        self._epoch = SharedEpoch()
        self._options: dict[str, Any] = {"on_error": on_error, "max_errors": max_errors}
        with dataset.loader(threads=0, rank=rank, world_size=world_size, **self._options) as settled:
            self._options |= {"rank": settled.rank, "world_size": settled.world_size}
        self._options |= {"threads": threads, "prefetch": prefetch}

    @property
    def epoch(self) -> int:
        """The epoch that the next iteration runs."""
        return self._epoch.get()

    def set_epoch(self, epoch: int) -> None:
        """Choose the epoch of the next iteration; every iteration runs the same one until it is changed.

        Parameters
        ----------
        epoch : int
            From 0.
        """
        self._epoch.set(epoch)

    def __len__(self) -> int:
        """Return the number of batches per epoch of this rank, all workers together."""
        with self.dataset.loader(**self._options | {"threads": 0}) as loader:
            return len(loader)

    def __iter__(self) -> Pass:
        """Batches of one epoch that fall to this worker, as tensors (see `tensors`)."""
        with extra("torch"):
            from torch.utils.data import get_worker_info
        worker = get_worker_info()
        share = (0, 1) if worker is None else (worker.id, worker.num_workers)
        loader = self.dataset.loader(workers=share, **self._options)
        loader.set_epoch(self.epoch)
        return Pass(loader)

    def __repr__(self) -> str:
        """Readable form."""
        return f"IterableDataset({self.dataset!r}, rank={self._options['rank']} of {self._options['world_size']})"


class Pass:
    """One iteration over the batches of one worker, with the state that torchdata asks for.

    Parameters
    ----------
    loader : recordmill.Loader
    """

    def __init__(self, loader: rm.Loader) -> None:
        self._loader = loader
        self._batches: Iterator[Any] | None = None
        self._is_over = False

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
            return tensors(next(self._batches))
        except StopIteration:
            self._is_over = True
            self._loader.close()
            raise

    def state_dict(self) -> dict[str, Any]:
        """Where this worker is.

        Returns
        -------
        dict
            The state of its loader, and whether its last batch was delivered.
        """
        return {"loader": self._loader.state_dict(), "is_over": self._is_over}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on behind the batch at which a state was taken.

        Parameters
        ----------
        state : dict
            From `state_dict` of the same worker of as many.
        """
        self._is_over = state["is_over"]
        self._loader.load_state_dict(state["loader"])
        self._batches = None

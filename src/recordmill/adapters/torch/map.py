"""A map-style data set: elements by position, a whole batch of positions in one read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, SupportsIndex

import recordmill as rm
from recordmill.adapters.checks import check_by_position
from recordmill.adapters.torch.iterable import SharedEpoch
from recordmill.adapters.torch.tensors import tensors
from recordmill.adapters.torch.warnings import warn_if_batched_again


class MapDataset:
    """Elements by position for a DataLoader with a sampler of PyTorch.

    A DataLoader that makes batches asks for all samples of a batch at once, and gets them in one read. Works in its
    worker processes, forked or spawned, pickles, and is a `torch.utils.data.Dataset`.

    Parameters
    ----------
    dataset : recordmill.Dataset
        Of samples; or of batches, for a DataLoader with ``batch_size=None``. One that would stack batches once more is
        told of by a warning.

    Raises
    ------
    MissingExtraError
        PyTorch is not installed.
    TypeError
        A data set without positions, as filters make them.
    ValueError
        A data set with a `shard` stage.
    """

    def __init__(self, dataset: rm.Dataset) -> None:
        check_by_position(dataset, "the DataLoader's sampler divides what it asks for (DistributedSampler)")
        self.dataset = dataset
        self._length = len(dataset)
        self._epoch = SharedEpoch()
        self._was_asked = False

    @property
    def epoch(self) -> int:
        """The epoch of which elements are given."""
        return self._epoch.get()

    def set_epoch(self, epoch: int) -> None:
        """Choose the epoch: its order, and its random numbers.

        Running workers see it from their next element on, so set it between two iterations.

        Parameters
        ----------
        epoch : int
            From 0.
        """
        self._epoch.set(epoch)

    def __len__(self) -> int:
        """Return the number of elements."""
        return self._length

    def __getitem__(self, position: SupportsIndex) -> dict[str, Any]:
        """Element at a position, as tensors (see `tensors`); negative positions count from the end."""
        if isinstance(position, list | tuple):
            how = "a sampler of lists is the DataLoader's batch_sampler=, and reads each list at once"
            raise TypeError(f"a position is a whole number, not {position!r:.60}: {how}")
        return self._read([position])[0]

    def __getitems__(self, positions: Sequence[SupportsIndex]) -> list[dict[str, Any]]:
        """Elements at positions, in one read.

        Parameters
        ----------
        positions : sequence of int

        Returns
        -------
        list of dict
        """
        if not self._was_asked:
            self._was_asked = True
            warn_if_batched_again(self.dataset)
        return self._read(positions)

    def _read(self, positions: Sequence[SupportsIndex]) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = tensors(self.dataset.fetch(positions, epoch=self.epoch))
        return found

    def __repr__(self) -> str:
        """Readable form."""
        return f"MapDataset({self.dataset!r})"

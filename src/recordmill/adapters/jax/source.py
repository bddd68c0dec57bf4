"""Random access to samples for Grain, which shuffles and batches them itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, SupportsIndex

import recordmill as rm
from recordmill.adapters.common import check_epoch, check_positional_access
from recordmill.suggestions import suggest_constructor_arguments


@suggest_constructor_arguments
@dataclass(frozen=True)
class Source:
    """A dataset as the random-access source of a Grain pipeline.

    Implements ``grain.sources.RandomAccessDataSource``, and reads all positions of a batch at once if Grain requests
    them together. Can be pickled for worker processes. Its representation is the same in all processes, because Grain
    compares it when it loads a checkpoint.

    Parameters
    ----------
    dataset : recordmill.Dataset
        Dataset of samples.
    epoch : int, default 0
        Epoch that determines the order and the random parameters of the samples.

    Raises
    ------
    ValueError
        If the dataset has a `shard` stage, or if `epoch` is invalid.
    """

    dataset: rm.Dataset
    epoch: int = 0

    def __post_init__(self) -> None:
        """Raise ValueError if the dataset cannot be read by position, or the epoch is invalid."""
        check_positional_access(self.dataset, "Grain divides the positions (ShardOptions, or slices of the dataset)")
        object.__setattr__(self, "epoch", check_epoch(self.epoch))

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.dataset)

    def __getitem__(self, position: SupportsIndex) -> dict[str, Any]:
        """Return the sample at a position; negative positions count from the end."""
        return self._getitems([position])[0]

    def _getitems(self, positions: Sequence[SupportsIndex]) -> list[dict[str, Any]]:
        """Read the samples at several positions at once; Grain calls this method."""
        samples: list[dict[str, Any]] = self.dataset.fetch(positions, epoch=self.epoch)
        return samples

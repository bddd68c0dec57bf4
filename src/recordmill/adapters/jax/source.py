"""Samples by position for Grain, which shuffles and batches them itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, SupportsIndex

import recordmill as rm
from recordmill.adapters.checks import check_by_position, epoch_of


@dataclass(frozen=True)
class Source:
    """A data set as the random-access source of a Grain pipeline.

    Satisfies ``grain.sources.RandomAccessDataSource``, and reads all positions of a batch at once where Grain asks so.
    Pickles for its worker processes; prints the same in every process, which Grain's checkpoints compare.

    Parameters
    ----------
    dataset : recordmill.Dataset
        Of samples, decoded or not.
    epoch : int
        Whose random numbers the samples are made with.

    Raises
    ------
    ValueError
        A data set with a `shard` stage, or an epoch that is none.
    """

    dataset: rm.Dataset
    epoch: int = 0

    def __post_init__(self) -> None:
        """Refuse what has no effect here."""
        check_by_position(self.dataset, "Grain divides what it asks for (ShardOptions, or slices of the data set)")
        object.__setattr__(self, "epoch", epoch_of(self.epoch))

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.dataset)

    def __getitem__(self, position: SupportsIndex) -> dict[str, Any]:
        """Sample at a position; negative ones count from the end."""
        return self._getitems([position])[0]

    def _getitems(self, positions: Sequence[SupportsIndex]) -> list[dict[str, Any]]:
        """Samples at positions, in one read (the name is Grain's)."""
        found: list[dict[str, Any]] = self.dataset.fetch(positions, epoch=self.epoch)
        return found

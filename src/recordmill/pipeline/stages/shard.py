"""The mark that a pipeline is divided among the processes of a training run."""

from __future__ import annotations

from dataclasses import dataclass

from recordmill.pipeline.checks import settle
from recordmill.pipeline.ranks import find_rank


@dataclass(frozen=True, slots=True)
class Shard:
    """Division among ranks; takes effect when a loader is made.

    Parameters
    ----------
    rank, world_size : int, optional
        Both; what the training framework or the launcher says, by default.
    """

    rank: int | None = None
    world_size: int | None = None

    def __post_init__(self) -> None:
        """Refuse numbers that make no sense."""
        if self.rank is not None or self.world_size is not None:
            rank, world_size = find_rank(self.rank, self.world_size)
            settle(self, rank=rank, world_size=world_size)

    def found(self) -> tuple[int, int]:
        """Rank and world size of this process."""
        return find_rank(self.rank, self.world_size)

    def __repr__(self) -> str:
        """Readable form."""
        return "shard()" if self.rank is None else f"shard({self.rank}, {self.world_size})"

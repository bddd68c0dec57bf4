"""Which positions of an epoch make which batch of which rank."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from recordmill.pipeline.positions import Ints
from recordmill.pipeline.stages.batch import Last


@dataclass(frozen=True, slots=True)
class Cuts:
    """An epoch cut into batches for one of several ranks.

    All ranks together take the next ``size * world_size`` positions, each a slice of `size`; every rank gets the same
    number of batches.

    Parameters
    ----------
    length : int, optional
        Positions of the epoch; endless without.
    size : int
        Positions per batch and rank.
    last : {"keep", "drop", "pad", "wrap"}
        What becomes of positions that are not enough for all ranks.
    rank, world_size : int
    start : int
        Positions that are behind already.

    Raises
    ------
    ValueError
        No batch at all, or a last one that would leave a rank with nothing.
    """

    length: int | None
    size: int
    last: Last = "keep"
    rank: int = 0
    world_size: int = 1
    start: int = 0

    @property
    def together(self) -> int:
        """Positions that all ranks take at a time."""
        return self.size * self.world_size

    @property
    def count(self) -> int | None:
        """Batches of a rank; None is endless."""
        if self.length is None:
            return None
        full, rest = divmod(max(0, self.length - self.start), self.together)
        if not rest or self.last == "drop":
            return full
        if self.last == "keep" and rest < self.world_size:
            raise ValueError(
                f"the last {rest} samples are not enough for {self.world_size} ranks: "
                'batch(last="drop"), "pad" or "wrap" gives every rank the same number of batches'
            )
        return full + 1

    def check(self) -> None:
        """Refuse an epoch without a single batch."""
        if self.length is None:
            return
        if self.length <= self.start:
            what = f"skip leaves nothing of {self.length} samples" if self.length else "the pipeline has no samples"
            raise ValueError(what)
        if self.count == 0:
            raise ValueError(
                f"{self.length - self.start} samples make no batch of {self.together} ({self.size} for each of "
                f'{self.world_size} ranks): take a smaller batch, or last="keep", "pad" or "wrap"'
            )

    def check_filtered(self, held: int | None) -> None:
        """Refuse an epoch without a single batch, however many samples pass a filter."""
        ends = [end for end in (held, self.length) if end is not None]
        most = replace(self, length=min(ends) if ends else None)
        if most.length is not None and (self.last == "drop" or most.length <= self.start):
            most.check()

    def positions(self, number: int) -> range | Ints:
        """Positions of a batch of this rank."""
        first = self.start + number * self.together
        rest = self.together if self.length is None else self.length - first
        if rest >= self.together or self.last == "wrap":
            begin = first + self.rank * self.size
            whole = range(begin, begin + self.size)
            inside = self.length is None or whole.stop <= self.length
            return whole if inside else np.arange(whole.start, whole.stop) % (self.length or 1)
        if self.last == "pad":
            begin = min(self.rank * self.size, rest)
            return range(first + begin, first + min(begin + self.size, rest))
        share, more = divmod(rest, self.world_size)
        begin = self.rank * share + min(self.rank, more)
        return range(first + begin, first + begin + share + (self.rank < more))

    def behind(self, number: int) -> int:
        """Positions that are behind once so many batches are."""
        found = self.start + number * self.together
        return found if self.length is None else min(found, self.length)

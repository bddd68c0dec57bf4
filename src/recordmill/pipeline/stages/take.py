"""Order stages that shorten or repeat: take, skip, repeat."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recordmill.pipeline.checks import settle, whole
from recordmill.pipeline.positions import Places

# Positions are counted with 64 bits.
MOST = 1 << 62


@dataclass(frozen=True, slots=True)
class Take:
    """The first samples.

    Parameters
    ----------
    count : int
        All, where there are fewer.
    """

    count: int

    def __post_init__(self) -> None:
        """Refuse what is no number of samples."""
        settle(self, count=_count("take", self.count, 0))

    def length(self, upstream: int | None) -> int | None:
        """Samples that come out of so many."""
        return self.count if upstream is None else min(self.count, upstream)

    def at(self, places: Places, upstream: int | None) -> Places:
        """Places of the samples before this stage."""
        del upstream
        return places

    def __repr__(self) -> str:
        """Readable form."""
        return f"take({self.count})"


@dataclass(frozen=True, slots=True)
class Skip:
    """What comes behind the first samples.

    Parameters
    ----------
    count : int
    """

    count: int

    def __post_init__(self) -> None:
        """Refuse what is no number of samples."""
        settle(self, count=_count("skip", self.count, 0, MOST))

    def length(self, upstream: int | None) -> int | None:
        """Samples that come out of so many."""
        return None if upstream is None else max(0, upstream - self.count)

    def at(self, places: Places, upstream: int | None) -> Places:
        """Places of the samples before this stage."""
        del upstream
        found = places.positions
        if isinstance(found, range):
            return Places(places.epochs, range(found.start + self.count, found.stop + self.count, found.step))
        return Places(places.epochs, found + self.count)

    def __repr__(self) -> str:
        """Readable form."""
        return f"skip({self.count})"


@dataclass(frozen=True, slots=True)
class Repeat:
    """All samples several times, each time as another epoch of the stages before.

    Parameters
    ----------
    count : int, optional
        Endless without.
    """

    count: int | None = None

    def __post_init__(self) -> None:
        """Refuse what is no number of times."""
        if self.count is not None:
            settle(self, count=_count("repeat", self.count, 1, MOST))

    def length(self, upstream: int | None) -> int | None:
        """Samples that come out of so many."""
        if upstream is None:
            raise ValueError("an endless pipeline cannot be repeated")
        if not upstream and self.count is None:
            raise ValueError("an empty pipeline cannot be repeated for ever")
        return None if self.count is None else upstream * self.count

    def at(self, places: Places, upstream: int | None) -> Places:
        """Places of the samples before this stage."""
        length, times = max(upstream or 0, 1), self.count or 1
        found = places.positions
        if isinstance(found, range) and isinstance(places.epochs, int) and len(found):
            turn = found[0] // length
            if turn == found[-1] // length:
                start = turn * length
                inside = range(found.start - start, found.stop - start, found.step)
                return Places(places.epochs * times + turn, inside)
        turns, inside_array = np.divmod(places.array, length)
        return Places(np.asarray(places.epochs, np.int64) * times + turns, inside_array)

    def __repr__(self) -> str:
        """Readable form."""
        return f"repeat({'' if self.count is None else self.count})"


def _count(name: str, count: int, least: int, most: int | None = None) -> int:
    up_to = "" if most is None else " and at most 2**62"
    return whole(count, f"{name} needs a whole number of at least {least}{up_to}", least, most and most + 1)

"""Batches of a pipeline with a filter: samples that passed, put together in order, as they come."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from recordmill.dataclass import dataclass
from recordmill.pipeline.cuts import Cuts
from recordmill.pipeline.order.places import Ints
from recordmill.pipeline.rows import Rows, joined_rows
from recordmill.pipeline.stages.batch import Last


@dataclass(frozen=True, eq=False, slots=True)
class Portion:
    """Samples of one element.

    Parameters
    ----------
    rows : Rows
        Ordinals count from 0.
    like : Rows
        One sample of another rank, for the form of a portion without any.
    positions : ndarray of int64
        Of the samples before the filter.
    position : int
        First position before the filter that no rank has taken.
    passed : int
        Samples that passed and were taken, by all ranks together.
    """

    rows: Rows
    like: Rows
    positions: Ints
    position: int
    passed: int


class Gatherer:
    """Cuts samples that passed a filter into portions for one rank.

    Parameters
    ----------
    size : int
        Samples per portion and rank.
    last : {"keep", "drop", "pad"}
    rank, world_size : int
    cut : (int, int or None)
        First sample that is wanted, and the first that is not.
    passed : int
        Samples that are behind already.
    """

    def __init__(
        self, size: int, last: Last, rank: int, world_size: int, cut: tuple[int, int | None], passed: int
    ) -> None:
        self._size, self._last, self._rank, self._world_size = size, last, rank, world_size
        self._start, self._stop = cut
        self._passed = passed
        self._held: list[tuple[Rows, Ints]] = []

    @property
    def is_done(self) -> bool:
        """Whether nothing more is wanted."""
        return self._stop is not None and self._passed + self._count >= self._stop

    @property
    def _count(self) -> int:
        return sum(len(rows) for rows, _ in self._held)

    def add(self, rows: Rows, positions: Ints) -> Iterator[Portion]:
        """Portions that are full.

        Parameters
        ----------
        rows : Rows
            What passed next.
        positions : ndarray of int64
            Of these rows.

        Yields
        ------
        Portion
        """
        begin = max(0, self._start - self._passed - self._count)
        end = len(rows) if self._stop is None else max(0, min(len(rows), self._stop - self._passed - self._count))
        dropped = min(begin, end)
        if dropped:
            self._passed += dropped
        chosen = np.arange(dropped, end)
        if len(chosen):
            self._held.append((rows if len(chosen) == len(rows) else rows.take(chosen), positions[chosen]))
        together = self._size * self._world_size
        if self._count < together:
            return
        everything, places = self._everything()
        for first in range(0, len(everything) - together + 1, together):
            yield self._portion(everything, places, first, together)
        rest = np.arange(len(everything) - len(everything) % together, len(everything))
        self._held = [(everything.take(rest), places[rest])]

    def finish(self) -> Iterator[Portion]:
        """The last portion, if there is one.

        Yields
        ------
        Portion
        """
        count = self._count
        if count and self._last != "drop":
            everything, places = self._everything()
            yield self._portion(everything, places, 0, count)
        self._held = []

    def _everything(self) -> tuple[Rows, Ints]:
        parts = [(Rows(rows.columns, _from(at, rows), rows.origins), places) for at, rows, places in self._numbered()]
        return joined_rows([rows for rows, _ in parts]), np.concatenate([places for _, places in parts])

    def _numbered(self) -> Iterator[tuple[int, Rows, Ints]]:
        at = 0
        for rows, places in self._held:
            yield at, rows, places
            at += len(rows)

    def _portion(self, everything: Rows, places: Ints, first: int, count: int) -> Portion:
        cuts = Cuts(count, self._size, self._last, self._rank, self._world_size)
        cuts.check()
        mine = cuts.positions(0)
        chosen = np.arange(first + mine[0], first + mine[-1] + 1) if len(mine) else np.empty(0, np.int64)
        rows = everything.take(chosen)
        self._passed += count
        own = Rows(rows.columns, np.arange(len(rows)), rows.origins)
        like = everything.take(np.array([first]))
        return Portion(own, like, places[chosen], int(places[first + count - 1]) + 1, self._passed)


def _from(first: int, rows: Rows) -> Ints:
    return np.arange(first, first + len(rows), dtype=np.int64)

"""Where the samples of a pipeline come from: one source of examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from recordmill.dataclass import dataclass
from recordmill.errors import DamageError, FeatureError, RecordmillError
from recordmill.pipeline.context import Context
from recordmill.pipeline.order.places import Ints, Places
from recordmill.pipeline.rows import Rows, joined_rows
from recordmill.pipeline.source import ExampleSource
from recordmill.pipeline.stages.map import Map
from recordmill.types import Ragged

# What one record can be blamed for; anything else ends the run.
_OF_A_RECORD = (DamageError, FeatureError)


class Origin(Protocol):
    """Samples by place."""

    @property
    def sources(self) -> list[ExampleSource]:
        """What samples are read from, by the first number of their origin."""
        ...

    @property
    def functions(self) -> list[Map]:
        """Stages in it that call functions of users."""
        ...

    def length(self) -> int | None:
        """Samples of an epoch; None is endless."""
        ...

    def rows(self, places: Places, context: Context, asked: Places) -> Rows:
        """Samples at places; errors tell where they were asked for in the epoch of the run."""
        ...

    def fingerprint(self) -> str:
        """Short text that differs between origins."""
        ...


@dataclass(frozen=True, slots=True)
class SourceOrigin:
    """The examples of one source; epochs are alike.

    Parameters
    ----------
    source : ExampleSource
    """

    source: ExampleSource

    @property
    def sources(self) -> list[ExampleSource]:
        """What samples are read from."""
        return [self.source]

    @property
    def functions(self) -> list[Map]:
        """None."""
        return []

    def length(self) -> int:
        """Samples of an epoch."""
        return len(self.source)

    def fingerprint(self) -> str:
        """Short text that differs between sources."""
        return self.source.fingerprint()

    def rows(self, places: Places, context: Context, asked: Places) -> Rows:
        """Examples at places.

        Parameters
        ----------
        places : Places
        context : Context
        asked : Places
            Of the same samples in the epoch of the run.

        Returns
        -------
        Rows
        """
        context.enter("read", asked, 0, places.at(0)[1] if len(places) else -1)
        with context.spent.timed("read"):
            rows = self._rows(places, 0, context, asked)
        context.leave()
        context.num_bytes += context.weigh(rows.columns)
        return rows

    def __repr__(self) -> str:
        """Readable form."""
        return repr(self.source)

    def _rows(self, places: Places, first: int, context: Context, asked: Places) -> Rows:
        count = len(places)
        try:
            columns = self.source.columns(places.positions)
        except _OF_A_RECORD as error:
            if not context.collects:
                raise
            return self._halves(places, first, context, asked, error)
        ordinals = np.arange(first, first + count, dtype=np.int64)
        return Rows(columns, ordinals, np.stack([np.zeros(count, np.int64), places.array], axis=1))

    def _halves(self, places: Places, first: int, context: Context, asked: Places, error: RecordmillError) -> Rows:
        """The sound ones among places of which one at least is damaged."""
        count = len(places)
        if count == 1:
            context.fail(*asked.at(0), error)
            empty = self.source.columns(range(0))
            return Rows(empty, np.empty(0, np.int64), np.empty((0, 2), np.int64))
        middle = count // 2
        parts = (np.arange(middle), np.arange(middle, count))
        return joined_rows(
            [self._rows(places.take(rows), first + int(rows[0]), context, asked.take(rows)) for rows in parts]
        )


def entry_points(sources: Sequence[ExampleSource], origins: Ints, feature: str) -> Ragged | None:
    """Entry points that are kept for the images of some samples.

    Parameters
    ----------
    sources : sequence of ExampleSource
    origins : ndarray of int64, shape (n, 2)
        Number of the source, and position in it.
    feature : str

    Returns
    -------
    Ragged of uint8, or None
    """
    if len(sources) == 1:
        return sources[0].entry_points(origins[:, 1], feature)
    found = [b""] * len(origins)
    for number in np.unique(origins[:, 0]):
        chosen = np.flatnonzero(origins[:, 0] == number)
        tables = sources[number].entry_points(origins[chosen, 1], feature)
        for row, table in zip(chosen, tables if tables is not None else (), strict=tables is not None):
            found[row] = table
    return Ragged.from_rows(found) if any(found) else None

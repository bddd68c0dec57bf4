"""What a pipeline needs from where examples come from."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from recordmill.errors import DamageError, FeatureError, RecordmillError
from recordmill.pipeline.checks import is_number
from recordmill.pipeline.context import Context
from recordmill.pipeline.positions import Ints, Places
from recordmill.pipeline.rows import Rows, joined_rows
from recordmill.pipeline.stages.map import Map
from recordmill.schema import Schema
from recordmill.types import Ragged, RecordRef

if TYPE_CHECKING:
    from recordmill.pipeline.context import Context
    from recordmill.pipeline.program import Program
    from recordmill.pipeline.stages.map import Map


class ExampleSource(Protocol):
    """Examples by position.

    Calls from several threads at once are safe, a pickled copy gives the same examples, and the same position always
    gives the same example.
    """

    @property
    def schema(self) -> Schema:
        """Kinds and shapes of the features."""
        ...

    @property
    def is_schema_inferred(self) -> bool:
        """Whether the schema is only what a look at some examples told."""
        ...

    def __len__(self) -> int:
        """Return the number of examples."""
        ...

    def __getitems__(self, positions: Sequence[int]) -> list[dict[str, Any]]:
        """Examples at positions, negative ones counted from the end."""
        ...

    def columns(self, positions: NDArray[np.int64] | range, schema: Schema | None = None) -> dict[str, Any]:
        """Features of examples at positions from 0, as arrays."""
        ...

    def entry_points(self, positions: NDArray[np.int64] | range, feature: str) -> Ragged | None:
        """Entry points that are kept for the images at positions from 0."""
        ...

    def where(self, position: int) -> RecordRef:
        """Place of the example at a position."""
        ...

    def fingerprint(self) -> str:
        """Short text that differs between data sets, and is the same wherever the data set lies."""
        ...


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
        """Examples at places."""
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
    """Entry points that are kept for the images of some samples."""
    if len(sources) == 1:
        return sources[0].entry_points(origins[:, 1], feature)
    found = [b""] * len(origins)
    for number in np.unique(origins[:, 0]):
        chosen = np.flatnonzero(origins[:, 0] == number)
        tables = sources[number].entry_points(origins[chosen, 1], feature)
        for row, table in zip(chosen, tables if tables is not None else (), strict=tables is not None):
            found[row] = table
    return Ragged.from_rows(found) if any(found) else None


# Samples after which the pattern of children begins anew: shares are met to one part in as many.
_PERIOD = 1 << 16


@dataclass(frozen=True)
class Mixture:
    """Samples of several programs, spread evenly.

    Parameters
    ----------
    programs : tuple of Program
        Of samples, finite.
    shares : tuple of float
        Adding up to 1.
    num_samples : int, optional
        Per epoch; by default as many as there are before the first of the programs runs out.
    """

    programs: tuple[Program, ...]
    shares: tuple[float, ...]
    num_samples: int | None = None

    @cached_property
    def _pattern(self) -> tuple[Ints, Ints, Ints]:
        """Program of each place of a period, how many of it came before in the period, and its samples per period."""
        counts = _counts(self.shares)
        programs = np.repeat(np.arange(len(counts)), counts)
        inside = np.concatenate([np.arange(count) for count in counts])
        order = np.lexsort((programs, (inside + 0.5) / counts[programs]))
        return programs[order], inside[order], counts

    @property
    def sources(self) -> list[ExampleSource]:
        """What samples are read from."""
        return [source for program in self.programs for source in program.sources]

    @property
    def functions(self) -> list[Map]:
        """Stages of the programs that call functions of users."""
        return [stage for program in self.programs for stage in program.functions]

    def length(self) -> int:
        """Samples of an epoch."""
        if self.num_samples is not None:
            return self.num_samples
        return min(self._until(number, len(program)) for number, program in enumerate(self.programs))

    def _until(self, number: int, available: int) -> int:
        """Samples of the mixture before a program would have to give more than it has."""
        programs, _, counts = self._pattern
        turns, rest = divmod(available, int(counts[number]))
        return turns * len(programs) + int(np.flatnonzero(programs == number)[rest])

    def fingerprint(self) -> str:
        """Short text that differs between mixtures."""
        inner = ", ".join(program.fingerprint() for program in self.programs)
        return f"mix([{inner}], {list(self.shares)}, {self.num_samples})"

    def rows(self, places: Places, context: Context, asked: Places) -> Rows:
        """Samples at places; a program that runs out begins its next epoch."""
        chosen, ordinals = self._located(places)
        parts, first = [], 0
        for number, program in enumerate(self.programs):
            rows = np.flatnonzero(chosen == number)
            if len(rows):
                turns, inside = np.divmod(ordinals[rows], len(program))
                with context.inside(number, first):
                    found = program.evaluate(Places(turns, inside), context, asked.take(rows))
                origins = found.origins + np.array([first, 0])
                parts.append(Rows(found.columns, rows[found.ordinals], origins))
            first += len(program.sources)
        return joined_rows(parts) if parts else self.programs[0].evaluate(Places(0, range(0)), context)

    def __repr__(self) -> str:
        """Readable form."""
        shares = ", ".join(f"{share:.4g}" for share in self.shares)
        count = "" if self.num_samples is None else f", num_samples={self.num_samples}"
        return f"mix([{', '.join(map(repr, self.programs))}], [{shares}]{count})"

    def _located(self, places: Places) -> tuple[Ints, Ints]:
        """Program of each place, and how many samples of it came before since the first epoch."""
        programs, inside, counts = self._pattern
        turns, rest = np.divmod(places.array, len(programs))
        chosen = programs[rest]
        per_epoch = np.array([self._given(number) for number in range(len(self.programs))])
        epochs = np.asarray(places.epochs, np.int64)
        return chosen, epochs * per_epoch[chosen] + turns * counts[chosen] + inside[rest]

    def _given(self, number: int) -> int:
        """Samples that a program gives in one epoch."""
        programs, _, counts = self._pattern
        turns, rest = divmod(self.length(), len(programs))
        return turns * int(counts[number]) + int((programs[:rest] == number).sum())


def _counts(shares: Sequence[float]) -> Ints:
    """Places of a period for each share, by largest remainder, one at least."""
    exact = np.asarray(shares) * _PERIOD
    counts = np.maximum(np.floor(exact), 1).astype(np.int64)
    for number in np.argsort(counts - exact, kind="stable")[: max(0, _PERIOD - int(counts.sum()))]:
        counts[number] += 1
    found: Ints = counts
    return found


def shares_of(weights: Iterable[float], count: int) -> tuple[float, ...]:
    """Shares that add up to 1."""
    given = [] if isinstance(weights, Mapping) or not isinstance(weights, Iterable) else list(weights)
    if len(given) != count or not all(is_number(one) and 0 < one < math.inf for one in given):
        raise ValueError(f"weights are {count} numbers above 0, not {given or weights!r}")
    numbers = np.array(given, np.float64) / (1.0 if sum(given) < math.inf else max(given))
    shares = numbers / numbers.sum()
    if (shares < 1 / _PERIOD).any():
        raise ValueError(f"a weight is at least 1/{_PERIOD} of all, not {shares.min():.2g}")
    return tuple(float(share) for share in shares)

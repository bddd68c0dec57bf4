"""Several pipelines as one, in given shares."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from recordmill.dataclass import dataclass
from recordmill.pipeline.checks import is_number
from recordmill.pipeline.order.places import Ints, Places
from recordmill.pipeline.rows import Rows, joined_rows

if TYPE_CHECKING:
    from recordmill.pipeline.context import Context
    from recordmill.pipeline.program import Program
    from recordmill.pipeline.source import ExampleSource
    from recordmill.pipeline.stages.map import Map

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
        """Samples at places; a program that runs out begins its next epoch.

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
    """Shares that add up to 1.

    Parameters
    ----------
    weights : iterable of float
        Above 0.
    count : int
        How many there have to be.

    Returns
    -------
    tuple of float

    Raises
    ------
    ValueError
        Another number of weights, or weights that are not above 0 and finite.
    """
    given = [] if isinstance(weights, Mapping) or not isinstance(weights, Iterable) else list(weights)
    if len(given) != count or not all(is_number(one) and 0 < one < math.inf for one in given):
        raise ValueError(f"weights are {count} numbers above 0, not {given or weights!r}")
    numbers = np.array(given, np.float64) / (1.0 if sum(given) < math.inf else max(given))
    shares = numbers / numbers.sum()
    if (shares < 1 / _PERIOD).any():
        raise ValueError(f"a weight is at least 1/{_PERIOD} of all, not {shares.min():.2g}")
    return tuple(float(share) for share in shares)

"""Operations done to one sample after the other, each with random numbers of its own."""

from __future__ import annotations

import contextvars
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core import draws
from recordmill.compat.tensorflow.data.bands import rows_of
from recordmill.compat.tensorflow.data.recording import Call
from recordmill.compat.tensorflow.data.records import Column

# Samples up to which doing all operations to one after the other takes less than to put values together between them.
_FEW = 4


class Samples:
    """Samples that are done one by one, if any operation needs that."""

    def __init__(self, positions: Sequence[tuple[int, ...]]) -> None:
        self._positions = positions

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self._positions)

    @property
    def are_few(self) -> bool:
        """Whether several operations are better done to one sample after the other."""
        return len(self._positions) <= _FEW

    @cached_property
    def _contexts(self) -> list[contextvars.Context]:
        """A context for each sample, in which its random numbers go on from one operation to the next."""
        contexts = [contextvars.copy_context() for _ in self._positions]
        for context, position in zip(contexts, self._positions, strict=True):
            context.run(draws.begin, *position)
        return contexts

    def numbers(self, seed: int | None) -> Iterator[np.random.Generator]:
        """Generators of the samples, one after the other."""
        for context in self._contexts:
            yield context.run(draws.generator, seed)

    def through(self, calls: Sequence[Call], known: dict[int, Column]) -> None:
        """Do all of some calls to one sample after the other."""
        made = {number for call in calls for number in call.makes}
        taken = {number for call in calls for number in call.inputs} - made
        columns = {number: rows_of(known[number], len(self)) for number in taken}
        rows = [context.run(_through, calls, columns, row) for row, context in enumerate(self._contexts)]
        known.update({number: [row[number] for row in rows] for number in made})


def _through(calls: Sequence[Call], columns: Mapping[int, list[Any]], row: int) -> dict[int, Any]:
    known = {number: column[row] for number, column in columns.items()}
    for call in calls:
        call.make(known)
    return known

"""Where operations get random numbers from: one sequence for the process, and one for each element of a data set.

The numbers are NumPy's (PCG64), not TensorFlow's; the same seeds give the same numbers again.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token

import numpy as np

from recordmill.compat.tensorflow.core.seeding import seeded


class Draws:
    """Generators of one place in a program: one for each seed of an operation, and one for those without."""

    def __init__(self, seed: int | None, position: tuple[int, ...] = ()) -> None:
        self.seed = seed
        self._position = position
        self._generators: dict[int | None, np.random.Generator] = {}

    def generator(self, seed: int | None = None) -> np.random.Generator:
        """Find the generator for an operation."""
        if seed not in self._generators:
            self._generators.setdefault(seed, self._begun(seed))
        return self._generators[seed]

    def _begun(self, seed: int | None) -> np.random.Generator:
        program = self.seed
        if program is None:
            program = _UNSEEDED if seed is None else 0
        if self._position:
            return seeded(program, seed, self._position)
        return np.random.default_rng(entropy_of(program, seed, ()))


def words_of(*numbers: int) -> list[int]:
    """Whole numbers as generators take them, which know no sign."""
    return [word for number in numbers for word in (abs(number), int(number < 0))]


def entropy_of(program: int, seed: int | None, position: tuple[int, ...]) -> list[int]:
    """What a generator begins with."""
    return [*words_of(program), *([0] if seed is None else [1, *words_of(seed)]), *position]


_UNSEEDED = secrets.randbits(128)
_process = Draws(None)
_CURRENT: ContextVar[Draws | None] = ContextVar("draws", default=None)


def set_seed(seed: int | None) -> None:
    """Begin the random numbers of the process anew."""
    global _process  # noqa: PLW0603 (the seed of a program is one for the process)
    _process = Draws(None if seed is None else int(seed))


def global_seed() -> int | None:
    """Seed of the program."""
    return _process.seed


def generator(seed: int | None = None) -> np.random.Generator:
    """Find the generator that an operation draws from now."""
    return (_CURRENT.get() or _process).generator(seed)


@contextmanager
def element(*position: int) -> Iterator[None]:
    """Let operations draw what belongs to one element of a data set, whichever thread computes it."""
    before = begin(*position)
    try:
        yield
    finally:
        _CURRENT.reset(before)


def begin(*position: int) -> Token[Draws | None]:
    """Let operations draw what belongs to one element of a data set, in the context of the caller from now on."""
    return _CURRENT.set(Draws(_process.seed, position))

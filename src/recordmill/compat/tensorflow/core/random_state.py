"""Random generators for operations: one set for the process, and a separate set for each dataset element.

The numbers come from NumPy's PCG64, not from TensorFlow's generators; equal seeds give equal numbers.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from functools import lru_cache
from hashlib import blake2b

import numpy as np
from numpy.random.bit_generator import ISeedSequence
from numpy.typing import NDArray

# Number of bytes in the seed of a PCG64 generator: 16 for its state and 16 for its increment.
_STATE_BYTES = 32


class RandomState:
    """Random generators of the process or of one dataset element.

    Each operation seed has its own generator; unseeded operations share one.
    """

    def __init__(self, seed: int | None, position: tuple[int, ...] = ()) -> None:
        self.seed = seed
        self._position = position
        self._generators: dict[int | None, np.random.Generator] = {}

    def generator(self, seed: int | None = None) -> np.random.Generator:
        """Return the generator for an operation seed; all operations without a seed (None) share one generator."""
        if seed not in self._generators:
            self._generators.setdefault(seed, self._create_generator(seed))
        return self._generators[seed]

    def _create_generator(self, seed: int | None) -> np.random.Generator:
        global_seed = self.seed
        if global_seed is None:
            global_seed = _UNSEEDED if seed is None else 0
        if self._position:
            return create_generator(global_seed, seed, self._position)
        return np.random.default_rng(compose_entropy(global_seed, seed, ()))


class _DigestSeedSequence:
    """Seed sequence that consists of a hash digest. It is five times faster than NumPy's `SeedSequence`."""

    __slots__ = ("_words",)

    def __init__(self, digest: bytes) -> None:
        self._words = np.frombuffer(digest, "<u8")

    def generate_state(self, n_words: int, dtype: type = np.uint64) -> NDArray[np.uint64]:
        """Return the digest as four 64-bit words. PCG64 always requests four words."""
        del n_words, dtype
        return self._words


ISeedSequence.register(_DigestSeedSequence)


def create_generator(global_seed: int, seed: int | None, position: tuple[int, ...]) -> np.random.Generator:
    """Create a generator that depends only on the global seed, the operation seed and an element's position."""
    text = ",".join(map(str, position)).encode()
    digest = blake2b(text, digest_size=_STATE_BYTES, key=_hash_seeds(global_seed, seed)).digest()
    return np.random.Generator(np.random.PCG64(_DigestSeedSequence(digest)))  # type: ignore[arg-type]


@lru_cache(maxsize=256)
def _hash_seeds(global_seed: int, seed: int | None) -> bytes:
    return blake2b(repr((global_seed, seed)).encode(), digest_size=_STATE_BYTES).digest()


def to_nonnegative_ints(*numbers: int) -> list[int]:
    """Encode each integer as two non-negative integers; NumPy's generators do not accept negative seeds."""
    return [word for number in numbers for word in (abs(number), int(number < 0))]


def compose_entropy(global_seed: int, seed: int | None, position: tuple[int, ...]) -> list[int]:
    """Combine the global seed, an operation seed and the numbers in `position` into a seed for a generator."""
    return [*to_nonnegative_ints(global_seed), *([0] if seed is None else [1, *to_nonnegative_ints(seed)]), *position]


_UNSEEDED = secrets.randbits(128)
_process = RandomState(None)
_CURRENT: ContextVar[RandomState | None] = ContextVar("random state", default=None)


def set_seed(seed: int | None) -> None:
    """Set the global seed and reset the random generators of the process."""
    global _process  # noqa: PLW0603 (the global seed belongs to the process)
    _process = RandomState(None if seed is None else int(seed))


def global_seed() -> int | None:
    """Return the global seed, or None if the program has not set one."""
    return _process.seed


def current_generator(seed: int | None = None) -> np.random.Generator:
    """Return the generator of the current dataset element or, outside of datasets, of the process."""
    return (_CURRENT.get() or _process).generator(seed)


@contextmanager
def use_element_state(*position: int) -> Iterator[None]:
    """Within a ``with`` block, derive random numbers from the position of a dataset element."""
    token = set_element_state(*position)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def set_element_state(*position: int) -> Token[RandomState | None]:
    """In the current ``contextvars`` context, use the random generators of the dataset element at `position`."""
    return _CURRENT.set(RandomState(_process.seed, position))

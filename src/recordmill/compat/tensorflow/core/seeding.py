"""Generators for the elements of data sets, of which there are many: begun by one hash of seeds and place."""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b

import numpy as np
from numpy.random.bit_generator import ISeedSequence
from numpy.typing import NDArray

# Of what a hash gives: the state of a PCG64, and its sequence.
_NUM_BYTES = 32


class _Hash:
    """What a bit generator begins with, where NumPy's own way to stretch a few numbers takes five times as long."""

    __slots__ = ("_words",)

    def __init__(self, digest: bytes) -> None:
        self._words = np.frombuffer(digest, "<u8")

    def generate_state(self, n_words: int, dtype: type = np.uint64) -> NDArray[np.uint64]:
        """Return the four words that PCG64 asks for."""
        del n_words, dtype
        return self._words


ISeedSequence.register(_Hash)


def seeded(program: int, seed: int | None, position: tuple[int, ...]) -> np.random.Generator:
    """Make a generator whose numbers depend on all of these, and on nothing else."""
    place = ",".join(map(str, position)).encode()
    digest = blake2b(place, digest_size=_NUM_BYTES, key=_key(program, seed)).digest()
    return np.random.Generator(np.random.PCG64(_Hash(digest)))  # type: ignore[arg-type]


@lru_cache(maxsize=256)
def _key(program: int, seed: int | None) -> bytes:
    return blake2b(repr((program, seed)).encode(), digest_size=_NUM_BYTES).digest()

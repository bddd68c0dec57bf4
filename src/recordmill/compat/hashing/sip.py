"""SipHash-2-4: a hash with a secret key, against which collisions cannot be prepared.

References
----------
Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.hashing.words import Word, of_each, plus, turned

# "somepseudorandomlygeneratedbytes"
_START = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)
State = tuple[Word, Word, Word, Word]


def hashes(strings: Sequence[bytes], key: tuple[int, int]) -> NDArray[np.uint64]:
    """Hash of each string.

    Parameters
    ----------
    strings : sequence of bytes
    key : tuple of two int
        Of 64 bits each.

    Returns
    -------
    numpy.ndarray of uint64, shape (num_strings,)
    """
    return of_each(strings, lambda data: _hash(data, key))


def _hash(data: Word, key: tuple[int, int]) -> Word:
    state: State = tuple(start ^ key[place % 2] for place, start in enumerate(_START))  # type: ignore[assignment]
    rest = data.length % 8
    for at in range(0, data.length - rest, 8):
        state = _taken(state, data.word(at))
    last: Word = (data.length & 0xFF) << 56
    for place in range(rest):
        last = last | (data.byte(data.length - rest + place) << (8 * place))
    one, two, three, four = _taken(state, last)
    state = one, two, three ^ 0xFF, four
    for _ in range(4):
        state = _round(state)
    return state[0] ^ state[1] ^ state[2] ^ state[3]


def _taken(state: State, word: Word) -> State:
    one, two, three, four = _round(_round((*state[:3], state[3] ^ word)))
    return one ^ word, two, three, four


def _round(state: State) -> State:
    one, two, three, four = state
    one, three = plus(one, two), plus(three, four)
    two, four = turned(two, 51) ^ one, turned(four, 48) ^ three
    one = turned(one, 32)
    three, one = plus(three, two), plus(one, four)
    two, four = turned(two, 47) ^ three, turned(four, 43) ^ one
    return one, two, turned(three, 32), four

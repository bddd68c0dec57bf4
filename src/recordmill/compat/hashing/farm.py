"""FarmHash's 64-bit fingerprint, which never changes from release to release.

References
----------
https://github.com/google/farmhash (``Fingerprint64``)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.hashing.words import Word, folded, of_each, plus, times, turned

_FIRST = 0xC3A5C85C97CB3127
_SECOND = 0xB492B66FBE98F273
_THIRD = 0x9AE16A3B2F90404F
_SEED = 81
_BLOCK = 64


def fingerprints(strings: Sequence[bytes]) -> NDArray[np.uint64]:
    """Fingerprint of each string.

    Parameters
    ----------
    strings : sequence of bytes

    Returns
    -------
    numpy.ndarray of uint64, shape (num_strings,)
    """
    return of_each(strings, _fingerprint)


def _fingerprint(data: Word) -> Word:
    if data.length <= 16:
        return _up_to_16(data)
    if data.length <= 32:
        return _up_to_32(data)
    return _up_to_64(data) if data.length <= 64 else _longer(data)


def _joined(first: Word, second: Word, factor: Word) -> Word:
    """One word of two."""
    inner = folded(times(first ^ second, factor))
    return times(folded(times(second ^ inner, factor)), factor)


def _up_to_16(data: Word) -> Word:
    length, factor = data.length, _THIRD + 2 * data.length
    if length >= 8:
        start, end = plus(data.word(0), _THIRD), data.word(length - 8)
        left = plus(times(turned(end, 37), factor), start)
        right = times(plus(turned(start, 25), end), factor)
        return _joined(left, right, factor)
    if length >= 4:
        return _joined(plus(length, data.half(0) << 3), data.half(length - 4), factor)
    if not length:
        return _THIRD
    low = data.byte(0) + (data.byte(length >> 1) << 8)
    high = length + (data.byte(length - 1) << 2)
    return times(folded(times(low, _THIRD) ^ times(high, _FIRST)), _THIRD)


def _ends(data: Word, at_start: int, factor: Word) -> tuple[Word, Word, Word]:
    """Two words of the first and last 16 bytes, and the first one multiplied."""
    start, then = times(data.word(0), at_start), data.word(8)
    last, before = times(data.word(data.length - 8), factor), times(data.word(data.length - 16), _THIRD)
    left = plus(turned(plus(start, then), 43), turned(last, 30), before)
    return left, plus(start, turned(plus(then, _THIRD), 18), last), start


def _up_to_32(data: Word) -> Word:
    factor = _THIRD + 2 * data.length
    left, right, _ = _ends(data, _SECOND, factor)
    return _joined(left, right, factor)


def _up_to_64(data: Word) -> Word:
    factor = _THIRD + 2 * data.length
    left, right, start = _ends(data, _THIRD, factor)
    mixed = _joined(left, right, factor)
    third, fourth = times(data.word(16), factor), data.word(24)
    fifth = times(plus(left, data.word(data.length - 32)), factor)
    sixth = times(plus(mixed, data.word(data.length - 24)), factor)
    return _joined(
        plus(turned(plus(third, fourth), 43), turned(fifth, 30), sixth),
        plus(third, turned(plus(fourth, start), 18), fifth),
        factor,
    )


Pair = tuple[Word, Word]


def _weak(data: Word, at: int, first: Word, second: Word) -> Pair:
    """Two words of 32 bytes and of two words."""
    one, two, three, four = (data.word(at + step) for step in (0, 8, 16, 24))
    first = plus(first, one)
    total = plus(first, two, three)
    second = plus(turned(plus(second, first, four), 21), turned(total, 44))
    return plus(total, four), plus(second, first)


class _State:
    """What the blocks of a long string leave behind."""

    def __init__(self, data: Word) -> None:
        self.data = data
        self.x = plus(times(_SEED, _THIRD), data.word(0))
        self.y = plus(times(_SEED, _SECOND), 113)
        self.z = times(folded(plus(times(self.y, _THIRD), 113)), _THIRD)
        self.v: Pair = (0, 0)
        self.w: Pair = (0, 0)

    def take(self, at: int, factor: Word, weight: int) -> None:
        """Mix in the block at a place."""
        data, v, w = self.data, self.v, self.w
        x = times(turned(plus(self.x, self.y, v[0], data.word(at + 8)), 37), factor)
        y = times(turned(plus(self.y, v[1], data.word(at + 48)), 42), factor)
        x = x ^ times(w[1], weight)
        y = plus(y, times(v[0], weight), data.word(at + 40))
        z = times(turned(plus(self.z, w[0]), 33), factor)
        self.v = _weak(data, at, times(v[1], factor), plus(x, w[0]))
        self.w = _weak(data, at + 32, plus(z, w[1]), plus(y, data.word(at + 16)))
        self.x, self.y, self.z = z, y, x


def _longer(data: Word) -> Word:
    state, rest = _State(data), (data.length - 1) % _BLOCK
    for at in range(0, data.length - 1 - rest, _BLOCK):
        state.take(at, _SECOND, 1)
    factor = plus(_SECOND, (state.z & 0xFF) << 1)
    tail = plus(state.w[0], rest)
    head = plus(state.v[0], tail)
    state.v, state.w = (head, state.v[1]), (plus(tail, head), state.w[1])
    state.take(data.length - _BLOCK, factor, 9)
    left = plus(_joined(state.v[0], state.w[0], factor), times(folded(state.y), _FIRST), state.z)
    return _joined(left, plus(_joined(state.v[1], state.w[1], factor), state.x), factor)

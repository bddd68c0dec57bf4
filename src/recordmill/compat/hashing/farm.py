"""FarmHash's 64-bit fingerprint, which is the same in every release and on every platform.

References
----------
https://github.com/google/farmhash (``Fingerprint64``; private names follow ``farmhashna``)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.hashing.words import Strings, Word, add, hash_each, multiply, rotate_right, shift_mix

_K0 = 0xC3A5C85C97CB3127
_K1 = 0xB492B66FBE98F273
_K2 = 0x9AE16A3B2F90404F
_SEED = 81
_BLOCK_BYTES = 64


def fingerprints(strings: Sequence[bytes]) -> NDArray[np.uint64]:
    """Return the fingerprint of each string, uint64, shape (num_strings,)."""
    return hash_each(strings, _compute_fingerprint)


def _compute_fingerprint(data: Strings) -> Word:
    if data.length <= 16:
        return _hash_0_to_16(data)
    if data.length <= 32:
        return _hash_17_to_32(data)
    return _hash_33_to_64(data) if data.length <= 64 else _hash_long(data)


def _combine_words(first: Word, second: Word, factor: Word) -> Word:
    """Combine two words into one: FarmHash's ``HashLen16``."""
    inner = shift_mix(multiply(first ^ second, factor))
    return multiply(shift_mix(multiply(second ^ inner, factor)), factor)


def _hash_0_to_16(data: Strings) -> Word:
    length, factor = data.length, _K2 + 2 * data.length
    if length >= 8:
        a, b = add(data.word64(0), _K2), data.word64(length - 8)
        c = add(multiply(rotate_right(b, 37), factor), a)
        d = multiply(add(rotate_right(a, 25), b), factor)
        return _combine_words(c, d, factor)
    if length >= 4:
        return _combine_words(add(length, data.word32(0) << 3), data.word32(length - 4), factor)
    if not length:
        return _K2
    low = data.byte(0) + (data.byte(length >> 1) << 8)
    high = length + (data.byte(length - 1) << 2)
    return multiply(shift_mix(multiply(low, _K2) ^ multiply(high, _K0)), _K2)


def _hash_first_and_last_16(data: Strings, first_factor: int, factor: Word) -> tuple[Word, Word, Word]:
    """Hash the first and last 16 bytes to two words. Also return the first 8 bytes multiplied by `first_factor`."""
    a, b = multiply(data.word64(0), first_factor), data.word64(8)
    c, d = multiply(data.word64(data.length - 8), factor), multiply(data.word64(data.length - 16), _K2)
    left = add(rotate_right(add(a, b), 43), rotate_right(c, 30), d)
    return left, add(a, rotate_right(add(b, _K2), 18), c), a


def _hash_17_to_32(data: Strings) -> Word:
    factor = _K2 + 2 * data.length
    left, right, _ = _hash_first_and_last_16(data, _K1, factor)
    return _combine_words(left, right, factor)


def _hash_33_to_64(data: Strings) -> Word:
    factor = _K2 + 2 * data.length
    y, right, a = _hash_first_and_last_16(data, _K2, factor)
    z = _combine_words(y, right, factor)
    e, f = multiply(data.word64(16), factor), data.word64(24)
    g = multiply(add(y, data.word64(data.length - 32)), factor)
    h = multiply(add(z, data.word64(data.length - 24)), factor)
    return _combine_words(
        add(rotate_right(add(e, f), 43), rotate_right(g, 30), h),
        add(e, rotate_right(add(f, a), 18), g),
        factor,
    )


Pair = tuple[Word, Word]


def _weak_hash_32(data: Strings, offset: int, first: Word, second: Word) -> Pair:
    """Hash the 32 bytes at `offset` to two words, with the seeds `first` and `second` (``WeakHashLen32WithSeeds``)."""
    w, x, y, z = (data.word64(offset + step) for step in (0, 8, 16, 24))
    first = add(first, w)
    total = add(first, x, y)
    second = add(rotate_right(add(second, first, z), 21), rotate_right(total, 44))
    return add(total, z), add(second, first)


class _LongHashState:
    """Hash state of strings longer than 64 bytes, updated block by block."""

    def __init__(self, data: Strings) -> None:
        self.data = data
        self.x = add(multiply(_SEED, _K2), data.word64(0))
        self.y = add(multiply(_SEED, _K1), 113)
        self.z = multiply(shift_mix(add(multiply(self.y, _K2), 113)), _K2)
        self.v: Pair = (0, 0)
        self.w: Pair = (0, 0)

    def update_with_block(self, offset: int, factor: Word, weight: int) -> None:
        """Mix the 64-byte block at `offset` into the state."""
        data, v, w = self.data, self.v, self.w
        x = multiply(rotate_right(add(self.x, self.y, v[0], data.word64(offset + 8)), 37), factor)
        y = multiply(rotate_right(add(self.y, v[1], data.word64(offset + 48)), 42), factor)
        x = x ^ multiply(w[1], weight)
        y = add(y, multiply(v[0], weight), data.word64(offset + 40))
        z = multiply(rotate_right(add(self.z, w[0]), 33), factor)
        self.v = _weak_hash_32(data, offset, multiply(v[1], factor), add(x, w[0]))
        self.w = _weak_hash_32(data, offset + 32, add(z, w[1]), add(y, data.word64(offset + 16)))
        self.x, self.y, self.z = z, y, x


def _hash_long(data: Strings) -> Word:
    state, rest = _LongHashState(data), (data.length - 1) % _BLOCK_BYTES
    for offset in range(0, data.length - 1 - rest, _BLOCK_BYTES):
        state.update_with_block(offset, _K1, 1)
    factor = add(_K1, (state.z & 0xFF) << 1)
    w0 = add(state.w[0], rest)
    v0 = add(state.v[0], w0)
    state.v, state.w = (v0, state.v[1]), (add(w0, v0), state.w[1])
    state.update_with_block(data.length - _BLOCK_BYTES, factor, 9)
    left = add(_combine_words(state.v[0], state.w[0], factor), multiply(shift_mix(state.y), _K0), state.z)
    return _combine_words(left, add(_combine_words(state.v[1], state.w[1], factor), state.x), factor)

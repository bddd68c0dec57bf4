"""Arithmetic modulo 2**64 on Python integers or uint64 arrays, and classes that read integers from byte strings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

# 64-bit word: a Python integer for one string, or a uint64 array with one value for each of several strings.
Word: TypeAlias = Any
_MASK = (1 << 64) - 1
# If at least this many strings have the same length, array arithmetic is faster than a loop over the strings.
_MIN_VECTORIZED = 12


class SingleString:
    """Reads bytes and integers from one byte string."""

    __slots__ = ("_data", "length")

    def __init__(self, data: bytes) -> None:
        self._data, self.length = data, len(data)

    def byte(self, offset: int) -> Word:
        """Return the byte at `offset`."""
        return self._data[offset]

    def word32(self, offset: int) -> Word:
        """Return the little-endian 32-bit word at `offset`."""
        return int.from_bytes(self._data[offset : offset + 4], "little")

    def word64(self, offset: int) -> Word:
        """Return the little-endian 64-bit word at `offset`."""
        return int.from_bytes(self._data[offset : offset + 8], "little")


class EqualLengthStrings:
    """Reads bytes and integers from several byte strings of equal length, as arrays with one value per string.

    Parameters
    ----------
    table : ndarray of uint8, shape (num_strings, length)
    """

    __slots__ = ("_table", "length")

    def __init__(self, table: NDArray[np.uint8]) -> None:
        self._table, self.length = table, table.shape[1]

    def byte(self, offset: int) -> Word:
        """Return the byte at `offset` of each string."""
        return self._table[:, offset].astype(np.uint64)

    def word32(self, offset: int) -> Word:
        """Return the little-endian 32-bit word at `offset` of each string."""
        part = np.ascontiguousarray(self._table[:, offset : offset + 4])
        return part.view("<u4")[:, 0].astype(np.uint64)

    def word64(self, offset: int) -> Word:
        """Return the little-endian 64-bit word at `offset` of each string."""
        part = np.ascontiguousarray(self._table[:, offset : offset + 8])
        return part.view("<u8")[:, 0].astype(np.uint64, copy=False)


Strings: TypeAlias = SingleString | EqualLengthStrings


def add(*terms: Word) -> Word:
    """Add words modulo 2**64."""
    total = terms[0]
    for term in terms[1:]:
        total = (total + term) & _MASK
    return total


def multiply(first: Word, second: Word) -> Word:
    """Multiply two 64-bit words modulo 2**64."""
    return (first * second) & _MASK


def rotate_right(value: Word, bits: int) -> Word:
    """Rotate the bits of a 64-bit word to the right."""
    return (value >> bits) | ((value << (64 - bits)) & _MASK)


def shift_mix(value: Word) -> Word:
    """Mix the upper bits of a word into the lower ones, as FarmHash's ``ShiftMix`` does."""
    return value ^ (value >> 47)


def hash_each(strings: Sequence[bytes], compute: Callable[[Strings], Word]) -> NDArray[np.uint64]:
    """Hash each string; many strings of equal length are hashed together.

    Parameters
    ----------
    strings : sequence of bytes
    compute : callable
        Returns the hash of a `SingleString`, or the array of hashes of `EqualLengthStrings`.

    Returns
    -------
    numpy.ndarray of uint64, shape (num_strings,)
    """
    hashes = np.empty(len(strings), np.uint64)
    by_length: dict[int, list[int]] = {}
    for position, string in enumerate(strings):
        by_length.setdefault(len(string), []).append(position)
    for length, positions in by_length.items():
        if length and len(positions) >= _MIN_VECTORIZED:
            table = np.frombuffer(b"".join([strings[position] for position in positions]), np.uint8)
            hashes[positions] = compute(EqualLengthStrings(table.reshape(-1, length)))
        else:
            for position in positions:
                hashes[position] = compute(SingleString(strings[position]))
    return hashes

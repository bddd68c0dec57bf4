"""Arithmetic modulo 2**64 on Python's whole numbers or on arrays of uint64, and the words of byte strings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

# One number, or one for each of several strings of the same length.
Word: TypeAlias = Any
MASK = (1 << 64) - 1
# Strings of one length from which on arrays are quicker than one string after the other.
_MANY = 12


class One:
    """Words of one string.

    Parameters
    ----------
    data : bytes
    """

    __slots__ = ("_data", "length")

    def __init__(self, data: bytes) -> None:
        self._data, self.length = data, len(data)

    def byte(self, at: int) -> Word:
        """Byte at a place."""
        return self._data[at]

    def half(self, at: int) -> Word:
        """Four bytes from a place on, the lowest first."""
        return int.from_bytes(self._data[at : at + 4], "little")

    def word(self, at: int) -> Word:
        """Eight bytes from a place on, the lowest first."""
        return int.from_bytes(self._data[at : at + 8], "little")


class Several:
    """Words of strings of one length; the same methods give arrays.

    Parameters
    ----------
    table : ndarray of uint8, shape (num_strings, length)
    """

    __slots__ = ("_table", "length")

    def __init__(self, table: NDArray[np.uint8]) -> None:
        self._table, self.length = table, table.shape[1]

    def byte(self, at: int) -> Word:
        """Byte at a place, of each string."""
        return self._table[:, at].astype(np.uint64)

    def half(self, at: int) -> Word:
        """Four bytes from a place on, of each string."""
        part = np.ascontiguousarray(self._table[:, at : at + 4])
        return part.view("<u4")[:, 0].astype(np.uint64)

    def word(self, at: int) -> Word:
        """Eight bytes from a place on, of each string."""
        part = np.ascontiguousarray(self._table[:, at : at + 8])
        return part.view("<u8")[:, 0].astype(np.uint64, copy=False)


def plus(*terms: Word) -> Word:
    """Sum of words."""
    total = terms[0]
    for term in terms[1:]:
        total = (total + term) & MASK
    return total


def times(first: Word, second: Word) -> Word:
    """Product of two words."""
    return (first * second) & MASK


def turned(value: Word, bits: int) -> Word:
    """Word with its bits turned to the right."""
    return (value >> bits) | ((value << (64 - bits)) & MASK)


def folded(value: Word) -> Word:
    """Word whose upper bits are mixed into the lower ones."""
    return value ^ (value >> 47)


def of_each(strings: Sequence[bytes], compute: Callable[[Any], Word]) -> NDArray[np.uint64]:
    """Compute a word of each string, for those of one length at once where there are many.

    Parameters
    ----------
    strings : sequence of bytes
    compute : callable
        Takes `One` or `Several`.

    Returns
    -------
    numpy.ndarray of uint64, shape (num_strings,)
    """
    found = np.empty(len(strings), np.uint64)
    by_length: dict[int, list[int]] = {}
    for place, string in enumerate(strings):
        by_length.setdefault(len(string), []).append(place)
    for length, places in by_length.items():
        if length and len(places) >= _MANY:
            table = np.frombuffer(b"".join([strings[place] for place in places]), np.uint8).reshape(-1, length)
            found[places] = compute(Several(table))
        else:
            for place in places:
                found[place] = compute(One(strings[place]))
    return found

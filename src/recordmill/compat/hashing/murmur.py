"""MurmurHash64A with the seed that older hashes of words in TensorFlow have.

References
----------
https://github.com/aappleby/smhasher (``MurmurHash2.cpp``)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.hashing.words import Word, folded, of_each, times

_FACTOR = 0xC6A4A7935BD1E995
_SEED = 0xDECAFCAFFE


def hashes(strings: Sequence[bytes]) -> NDArray[np.uint64]:
    """Hash of each string.

    Parameters
    ----------
    strings : sequence of bytes

    Returns
    -------
    numpy.ndarray of uint64, shape (num_strings,)
    """
    return of_each(strings, _hash)


def _hash(data: Word) -> Word:
    rest = data.length % 8
    found: Word = _SEED ^ times(data.length, _FACTOR)
    for at in range(0, data.length - rest, 8):
        found = times(found ^ times(folded(times(data.word(at), _FACTOR)), _FACTOR), _FACTOR)
    for place in range(rest):
        found = found ^ (data.byte(data.length - rest + place) << (8 * place))
    found = times(found, _FACTOR) if rest else found
    return folded(times(folded(found), _FACTOR))

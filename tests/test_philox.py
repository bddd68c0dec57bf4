"""The Philox generator returns the published test vectors, for one counter and for arrays of counters."""

from __future__ import annotations

import numpy as np
import pytest

from recordmill.testing.philox import generate_words

# kat_vectors of Random123 1.14 (Salmon et al.), philox4x32 with 10 rounds: counter, key, result.
VECTORS = [
    ("00000000 00000000 00000000 00000000", "00000000 00000000", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
]


def _parse_words(text: str) -> list[int]:
    return [int(word, 16) for word in text.split()]


@pytest.mark.parametrize("counter, key, result", VECTORS)
def test_generate_words_returns_published_words(counter, key, result) -> None:
    low, high = _parse_words(key)
    assert generate_words(np.array(_parse_words(counter), np.uint64), (low, high)).tolist() == _parse_words(result)


def test_generate_words_computes_each_counter_independently() -> None:
    counters = np.random.default_rng(5).integers(0, 1 << 32, (4, 3, 2), np.uint64)
    copied = counters.copy()
    words = generate_words(counters, (5, 7))
    assert words.shape == counters.shape and np.array_equal(counters, copied)
    for index in np.ndindex(3, 2):
        assert words[(..., *index)].tolist() == generate_words(counters[(..., *index)], (5, 7)).tolist()

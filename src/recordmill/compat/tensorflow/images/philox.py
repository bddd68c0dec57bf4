"""Random numbers of TensorFlow's stateless operations: a Philox generator with key and counter from two seeds.

References
----------
tensorflow/core/kernels/stateless_random_ops.cc (derivation of key and counter from a pair of seeds).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill import Draws
from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError

_SEED_KEY = (0x3EC8F720, 0x02461E29)
_WORD = 0xFFFFFFFF
_BLOCKS = 16


def iterate_random_words(seed: Any) -> Iterator[int]:
    """Yield TensorFlow's random 32-bit words for a pair of seeds; the iterator is infinite."""
    pair = array_of(seed)
    if pair.shape != (2,) or pair.dtype.kind not in "iu":
        message = f"seed must be an array of 2 integers, got shape {pair.shape} and dtype {pair.dtype}"
        raise InvalidArgumentError(message, kind="bad_shape", found=pair.dtype.name)
    first, second = (int(number) % 2**64 for number in pair)
    start = (first & _WORD, first >> 32, second & _WORD, second >> 32)
    low_key, high_key, third, fourth = _compute_blocks(start, _SEED_KEY, 1)
    return _generate_words(third, fourth, (low_key, high_key))


def _generate_words(third: int, fourth: int, key: tuple[int, int]) -> Iterator[int]:
    for first in count(0, _BLOCKS):
        yield from _compute_blocks((first, 0, third, fourth), key, _BLOCKS)


def _compute_blocks(counter: tuple[int, int, int, int], key: tuple[int, int], num_blocks: int) -> list[int]:
    """Return four random 32-bit words for each of `num_blocks` consecutive counters, starting at `counter`."""
    first, second, third, fourth = counter
    draws = Draws(key[1] << 32 | key[0], epoch=fourth)
    # `Draws` builds the Philox counter from a position, a stage and an epoch. The arguments are chosen such that the
    # result is `counter`.
    pairs = draws.words([(third & 0xFFFF) << 32 | second], third >> 16, 2 * num_blocks, first=2 * first)
    return [word for pair in pairs[0].tolist() for word in (pair & _WORD, pair >> 32)]


def word_to_unit_float(word: int) -> np.float32:
    """Convert the lower 23 bits of a 32-bit integer to a float32 number in [0, 1)."""
    return np.uint32(word & 0x7FFFFF | 127 << 23).view(np.float32) - np.float32(1)


def draw_unit_floats(source: Iterator[int], shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Return a float32 array of random numbers in [0, 1)."""
    numbers = [word_to_unit_float(next(source)) for _ in range(int(np.prod(shape)))]
    return np.array(numbers, np.float32).reshape(shape)


def draw_uniform(source: Iterator[int], low: float, high: float) -> float:
    """Return a random number in [low, high), computed in float32."""
    start = np.float32(low)
    return float(word_to_unit_float(next(source)) * (np.float32(high) - start) + start)

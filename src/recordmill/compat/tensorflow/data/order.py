"""Nodes that do not use element values: ``repeat``, ``take``, ``skip``, ``shard``, ``prefetch`` and ``shuffle``."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count as count_from, islice
from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.random_state import compose_entropy, global_seed
from recordmill.compat.tensorflow.data.elements import (
    INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY,
    ExecutionOptions,
    FailedElement,
    Node,
    Step,
)
from recordmill.concurrency.prefetch import Prefetcher

# `Skip.iterate_sample_values` skips elements only if `count` is at most this number. A short skip usually removes the
# header lines of a file, which differ from the other lines. A long skip would be slow.
_MAX_HEADER_ELEMENTS = 16
_AUTOTUNE_DEPTH = 2
# Number of random positions that are drawn at once, because single draws from a NumPy generator are slow.
_DRAWS = 256


class Repeat(Node):
    """Elements repeated `count` times, or without end if `count` is negative."""

    forwards_elements = True

    def __init__(self, node: Node, count: int) -> None:
        super().__init__(node)
        self._count = count

    def iterate(self, execution: ExecutionOptions) -> Iterator[Step]:
        """Yield the elements of one pass after another; stop after an empty pass."""
        passes: Any = count_from() if self._count < 0 else range(self._count)
        for _ in passes:
            is_empty = True
            for step in self.input.iterate(execution):
                is_empty = False
                yield step
            if is_empty:
                return

    def cardinality(self) -> int:
        length = self.input.cardinality()
        if self._count == 0 or length == 0:
            return 0
        if self._count < 0:
            return INFINITE_CARDINALITY
        return length if length < 0 else length * self._count


class Take(Node):
    """The first `count` elements, or all if `count` is negative."""

    forwards_elements = True

    def __init__(self, node: Node, count: int) -> None:
        super().__init__(node)
        self._count = count

    def iterate(self, execution: ExecutionOptions) -> Iterator[Step]:
        """Yield the elements; the input is not advanced beyond the last element that is taken."""
        left = self._count
        if left == 0:
            return
        for element in self.input.iterate(execution):
            yield element
            left -= not isinstance(element, FailedElement)
            if left == 0:
                return

    def cardinality(self) -> int:
        length = self.input.cardinality()
        if self._count < 0 or length == UNKNOWN_CARDINALITY:
            return length
        return self._count if length == INFINITE_CARDINALITY else min(length, self._count)


class Skip(Node):
    """The elements after the first `count`; if `count` is negative, no elements."""

    forwards_elements = True

    def __init__(self, node: Node, count: int) -> None:
        super().__init__(node)
        self._count = count

    def iterate(self, execution: ExecutionOptions) -> Iterator[Step]:
        if self._count < 0:
            return
        left = self._count
        for element in self.input.iterate(execution):
            if isinstance(element, FailedElement) or left == 0:
                yield element
            else:
                left -= 1

    def cardinality(self) -> int:
        length = self.input.cardinality()
        if length < 0:
            return length
        return 0 if self._count < 0 else max(length - self._count, 0)

    def iterate_sample_values(self) -> Iterator[Any]:
        """Return the input's sample values after the first `count`, or all if skipping `count` values would be slow."""
        values = self.input.iterate_sample_values()
        return islice(values, self._count, None) if 0 < self._count <= _MAX_HEADER_ELEMENTS else values


class Shard(Node):
    """Elements whose position modulo `num_shards` is `index`."""

    forwards_elements = True

    def __init__(self, node: Node, num_shards: int, index: int) -> None:
        super().__init__(node)
        if num_shards < 1:
            raise InvalidArgumentError(
                f"Number of shards must be greater than zero (currently num_shards = {num_shards})."
            )
        if not 0 <= index < num_shards:
            raise InvalidArgumentError(f"Index must be between 0 and {num_shards - 1} (currently index = {index}).")
        self._num_shards, self._index = num_shards, index

    def iterate(self, execution: ExecutionOptions) -> Iterator[Step]:
        position = 0
        for element in self.input.iterate(execution):
            if isinstance(element, FailedElement):
                yield element
                continue
            if position % self._num_shards == self._index:
                yield element
            position += 1

    def cardinality(self) -> int:
        length = self.input.cardinality()
        return length if length < 0 else len(range(self._index, length, self._num_shards))


class Prefetch(Node):
    """Elements that a thread computes ahead of the consumer."""

    forwards_elements = True

    def __init__(self, node: Node, buffer_size: int) -> None:
        super().__init__(node)
        if buffer_size < -1:
            raise InvalidArgumentError("buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning")
        self._depth = _AUTOTUNE_DEPTH if buffer_size < 0 else buffer_size

    def iterate(self, execution: ExecutionOptions) -> Iterator[Step]:
        """Advance the input in a thread, which ends when the iterator is closed or garbage-collected."""
        steps = self.input.iterate(execution)
        if not self._depth:
            yield from steps
            return
        prefetcher = Prefetcher(steps, self._depth, "recordmill-data")
        try:
            yield from prefetcher
        finally:
            prefetcher.close()


class Shuffle(Node):
    """Elements shuffled in a buffer as in TensorFlow, but with NumPy's random numbers."""

    forwards_elements = True

    def __init__(self, node: Node, buffer_size: int, seed: int | None, again: bool) -> None:
        super().__init__(node)
        if buffer_size < 1 and buffer_size != UNKNOWN_CARDINALITY:
            raise InvalidArgumentError("buffer_size must be greater than zero or UNKNOWN_CARDINALITY")
        self._size, self._seed, self._again = buffer_size, seed, again
        self._own_entropy = np.random.SeedSequence().entropy

    def iterate(self, execution: ExecutionOptions) -> Iterator[Step]:
        """Fill the buffer. Yield a random element for each new input element, then the rest in random order."""
        generator = np.random.default_rng(self._build_seed_entropy(self.begin_pass() if self._again else 0))
        positions = _draw_positions(generator, self._size)
        buffer: list[Step] = []
        for step in self.input.iterate(execution):
            if isinstance(step, FailedElement):
                yield step
                continue
            buffer.append(step)
            if len(buffer) == self._size:
                yield _swap_and_pop(buffer, next(positions))
        for position in _draw_shrinking_positions(generator, len(buffer)):
            yield _swap_and_pop(buffer, position)

    def _build_seed_entropy(self, epoch: int) -> list[Any]:
        program_seed = global_seed()
        if self._seed is None and program_seed is None:
            return [self._own_entropy, epoch]
        # The key includes the depth of the node, so that successive shuffles without a seed draw different numbers.
        key = (self.depth, epoch) if self._seed is None else (epoch,)
        return compose_entropy(program_seed or 0, self._seed, key)


def _draw_positions(generator: np.random.Generator, size: int) -> Iterator[int]:
    """Yield an endless sequence of random positions in a buffer of `size` elements."""
    while True:
        yield from generator.integers(size, size=_DRAWS).tolist()


def _draw_shrinking_positions(generator: np.random.Generator, count: int) -> Iterator[int]:
    """Yield random positions in a shrinking buffer: one position per buffer size, from `count` down to 1."""
    for upper in range(count, 0, -_DRAWS):
        yield from generator.integers(np.arange(upper, max(upper - _DRAWS, 0), -1)).tolist()


def _swap_and_pop(buffer: list[Any], position: int) -> Any:
    buffer[position], buffer[-1] = buffer[-1], buffer[position]
    return buffer.pop()

"""The step that draws elements from a buffer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.draws import entropy_of, global_seed
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.data.elements import UNKNOWN_CARDINALITY, Failed, Node, Run, Step, Way
from recordmill.compat.tensorflow.data.runs import gathered

# Places drawn at once.
_AHEAD = 256


class Shuffle(Node):
    """Elements drawn from a buffer; a generator of ours, TensorFlow's rule."""

    hands_on = True

    def __init__(self, node: Node, buffer_size: int, seed: int | None, again: bool) -> None:
        super().__init__(node)
        if buffer_size < 1 and buffer_size != UNKNOWN_CARDINALITY:
            raise InvalidArgumentError("buffer_size must be greater than zero or UNKNOWN_CARDINALITY")
        self._size, self._seed, self._again = buffer_size, seed, again
        self._own = np.random.SeedSequence().entropy

    def iterate(self, way: Way) -> Iterator[Step]:
        """Fill the buffer, give one drawn from it for each that comes in, then the rest."""
        return self._drawn([step] for step in self.input.iterate(way))

    def runs(self, way: Way, length: int) -> Iterator[Run] | None:
        """Give what is drawn as runs of bytes objects."""
        given = self.input.runs(way, length)
        if given is None:
            return None
        return gathered(self._drawn([run] if isinstance(run, Failed) else run for run in given), length)

    def _drawn(self, groups: Iterator[Iterable[Any]]) -> Iterator[Any]:
        """Draw from elements that come in groups; what failed is handed on at once."""
        places = _Places(np.random.default_rng(self._entropy(self.begin() if self._again else 0)), self._size)
        buffer: list[Any] = []
        for group in groups:
            for one in group:
                if isinstance(one, Failed):
                    yield one
                    continue
                buffer.append(one)
                if len(buffer) == self._size:
                    yield _taken(buffer, places.of_all())
        places.give_back()
        for place in places.of_the_rest(len(buffer)):
            yield _taken(buffer, place)

    def _entropy(self, number: int) -> list[Any]:
        program = global_seed()
        if self._seed is None and program is None:
            return [self._own, number]
        # Without a seed of their own, steps of one pipeline are told apart by how far in they stand.
        place = (self.depth, number) if self._seed is None else (number,)
        return entropy_of(program or 0, self._seed, place)


class _Places:
    """Places in a buffer, drawn; many at once while it is full, and the same as one by one."""

    def __init__(self, drawn: np.random.Generator, size: int) -> None:
        self._drawn, self._size = drawn, size
        self._state: Any = None
        self._ahead: list[int] = []

    def of_all(self) -> int:
        """Place in the full buffer."""
        if not self._ahead:
            self._state = self._drawn.bit_generator.state
            self._ahead = self._drawn.integers(self._size, size=_AHEAD).tolist()[::-1]
        return self._ahead.pop()

    def give_back(self) -> None:
        """Let what was drawn ahead be drawn again."""
        if self._ahead:
            self._drawn.bit_generator.state = self._state
            self._drawn.integers(self._size, size=_AHEAD - len(self._ahead))
            self._ahead = []

    def of_the_rest(self, count: int) -> Iterator[int]:
        """Places in a buffer of so many, of one less, and so on; the numbers are those of single draws."""
        for most in range(count, 0, -_AHEAD):
            least = max(most - _AHEAD, 0)
            yield from self._drawn.integers(np.arange(most, least, -1)).tolist()


def _taken(buffer: list[Any], place: int) -> Any:
    buffer[place], buffer[-1] = buffer[-1], buffer[place]
    return buffer.pop()

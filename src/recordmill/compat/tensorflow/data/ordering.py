"""Steps that choose elements and their order, without looking into them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count as counted, islice
from typing import Any, TypeVar

from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.data.ahead import run_ahead
from recordmill.compat.tensorflow.data.elements import (
    INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY,
    Element,
    Failed,
    Node,
    Run,
    Step,
    Way,
)
from recordmill.compat.tensorflow.data.tables import kept

Found = TypeVar("Found")
# Elements that `skip` may leave out of a sample.
_MOST_HEADERS = 16
# Elements that prefetch(AUTOTUNE) keeps ready.
_AUTOTUNED = 2


class Repeat(Node):
    """Elements several times, or without end."""

    hands_on = True

    def __init__(self, node: Node, count: int) -> None:
        super().__init__(node)
        self._count = count

    def iterate(self, way: Way) -> Iterator[Step]:
        """Give the elements of one pass after the other; an input without any ends it."""
        return self._again(lambda: self.input.iterate(way))

    def runs(self, way: Way, length: int) -> Iterator[Run] | None:
        """Give the runs of one pass after the other."""
        first = self.input.runs(way, length)
        if first is None:
            return None
        return self._again(lambda: self.input.runs(way, length) or iter(()))

    def _again(self, begin: Callable[[], Iterator[Found]]) -> Iterator[Found]:
        passes: Any = counted() if self._count < 0 else range(self._count)
        for _ in passes:
            empty = True
            for found in begin():
                empty = False
                yield found
            if empty:
                return

    def cardinality(self) -> int:
        """As many times as many."""
        length = self.input.cardinality()
        if self._count == 0 or length == 0:
            return 0
        if self._count < 0:
            return INFINITE_CARDINALITY
        return length if length < 0 else length * self._count


class Take(Node):
    """The first elements."""

    hands_on = True

    def __init__(self, node: Node, count: int) -> None:
        super().__init__(node)
        self._count = count

    def iterate(self, way: Way) -> Iterator[Step]:
        """Give them; the input is not asked for more."""
        left = self._count
        if left == 0:
            return
        for element in self.input.iterate(way):
            yield element
            left -= not isinstance(element, Failed)
            if left == 0:
                return

    def cardinality(self) -> int:
        """At most so many."""
        length = self.input.cardinality()
        if self._count < 0 or length == UNKNOWN_CARDINALITY:
            return length
        return self._count if length == INFINITE_CARDINALITY else min(length, self._count)


class Skip(Node):
    """All but the first elements."""

    hands_on = True

    def __init__(self, node: Node, count: int) -> None:
        super().__init__(node)
        self._count = count

    def iterate(self, way: Way) -> Iterator[Step]:
        """Give the others."""
        if self._count < 0:
            return
        left = self._count
        for element in self.input.iterate(way):
            if isinstance(element, Failed) or left == 0:
                yield element
            else:
                left -= 1

    def cardinality(self) -> int:
        """So many less."""
        length = self.input.cardinality()
        if length < 0:
            return length
        return 0 if self._count < 0 else max(length - self._count, 0)

    def sample(self) -> Iterator[Any]:
        """Input's sample without the first ones if they are few, as headers of a file are, which look otherwise."""
        values = self.input.sample()
        return islice(values, self._count, None) if 0 < self._count <= _MOST_HEADERS else values


class Shard(Node):
    """Every so many-th element."""

    hands_on = True

    def __init__(self, node: Node, num_shards: int, index: int) -> None:
        super().__init__(node)
        if num_shards < 1:
            raise InvalidArgumentError(
                f"Number of shards must be greater than zero (currently num_shards = {num_shards})."
            )
        if not 0 <= index < num_shards:
            raise InvalidArgumentError(f"Index must be between 0 and {num_shards - 1} (currently index = {index}).")
        self._num_shards, self._index = num_shards, index

    def iterate(self, way: Way) -> Iterator[Step]:
        """Give those whose position leaves the index."""
        position = 0
        for element in self.input.iterate(way):
            if isinstance(element, Failed):
                yield element
                continue
            if position % self._num_shards == self._index:
                yield element
            position += 1

    def cardinality(self) -> int:
        """Its share."""
        length = self.input.cardinality()
        return length if length < 0 else len(range(self._index, length, self._num_shards))


class Prefetch(Node):
    """Elements made ahead in a thread."""

    hands_on = True

    def __init__(self, node: Node, buffer_size: int) -> None:
        super().__init__(node)
        if buffer_size < -1:
            raise InvalidArgumentError("buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning")
        self._size = _AUTOTUNED if buffer_size < 0 else buffer_size

    def iterate(self, way: Way) -> Iterator[Step]:
        """Give them in order."""
        inner = self.input.iterate(way)
        return run_ahead(inner, self._size) if self._size else inner


class Cache(Node):
    """Elements kept in memory after the first whole pass."""

    def __init__(self, node: Node) -> None:
        super().__init__(node)
        self._kept: list[Element] | None = None

    def iterate(self, way: Way) -> Iterator[Step]:
        """Give the kept ones, or keep while giving."""
        if self._kept is not None:
            yield from self._kept
            return
        keeping: list[Element] = []
        sound = True
        for element in self.input.iterate(way):
            if isinstance(element, Element):
                keeping.append(element)
            else:
                sound = False
            yield element
        if sound:
            self._kept = kept(keeping)

"""Steps that bring together elements with the same key, and drop those that came before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from recordmill.compat.tensorflow.core.tensor import Tensor, array_of, as_tensor
from recordmill.compat.tensorflow.data.elements import (
    INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY,
    Element,
    Failed,
    Node,
    NoElementsError,
    Step,
    Way,
)
from recordmill.compat.tensorflow.data.functions import Function, placed
from recordmill.compat.tensorflow.data.nesting import Values


class GroupByWindow(Node):
    """Elements of data sets that a function makes of those with the same key."""

    runs_python = True

    def __init__(
        self,
        node: Node,
        key: Callable[..., Any],
        reduce: Callable[..., Any],
        size: Callable[..., Any],
        wrap: Callable[[Node], Any],
    ) -> None:
        super().__init__(node)
        self._key, self._reduce, self._size, self._wrap = Function(key, node), reduce, size, wrap

    def iterate(self, way: Way) -> Iterator[Step]:
        """Give what is made of each window that is full; in the end of the others, by key."""
        waiting: dict[int, list[Any]] = {}
        for element in self.input.iterate(way):
            if isinstance(element, Failed):
                yield element
                continue
            try:
                key = int(self._key(element.value).values)
                waiting.setdefault(key, []).append(element.value)
                if len(waiting[key]) < int(array_of(self._size(as_tensor(key, "int64")))):
                    continue
                reduced = self._reduced(key, waiting.pop(key))
            except Exception as error:  # noqa: BLE001 (it is told to the caller)
                yield Failed(placed(error, element))
                continue
            yield from reduced.iterate(way)
        for key in sorted(waiting):
            yield from self._reduced(key, waiting[key]).iterate(way)

    def _reduced(self, key: int, values: list[Any]) -> Node:
        made = self._reduce(as_tensor(key, "int64"), self._wrap(Values(values, self.input.spec())))
        node = getattr(made, "node", None)
        if not isinstance(node, Node):
            raise TypeError(f"`reduce_func` must return a `tf.data.Dataset` object, not {made!r}.")
        return node

    def cardinality(self) -> int:
        """Infinite stays infinite; else not known."""
        length = self.input.cardinality()
        return length if length == INFINITE_CARDINALITY else UNKNOWN_CARDINALITY

    def declares_spec(self) -> bool:
        """No: other windows may have other elements."""
        return False

    def spec(self) -> Any:
        """Specs of what is made of the first element."""
        for value in self.input.sample():
            return self._reduced(0, [value]).spec()
        raise NoElementsError("the specs of the elements are found in the first ones, and there are none")

    def sample(self) -> Iterator[Any]:
        """What is made of single elements."""
        for value in self.input.sample():
            yield from self._reduced(0, [value]).sample()


class Unique(Node):
    """Elements, which are single tensors, that were not there before."""

    def iterate(self, way: Way) -> Iterator[Step]:
        """Give them."""
        seen: set[Any] = set()
        for element in self.input.iterate(way):
            if isinstance(element, Element):
                key = _key(element.value)
                if key in seen:
                    continue
                seen.add(key)
            yield element

    def cardinality(self) -> int:
        """Not known."""
        return UNKNOWN_CARDINALITY


def _key(value: Any) -> Any:
    if not isinstance(value, Tensor):
        raise TypeError("`tf.data.Dataset.unique` only supports inputs with a single component.")
    array = value.values
    return array.shape, tuple(array.ravel()) if array.dtype == object else array.tobytes()

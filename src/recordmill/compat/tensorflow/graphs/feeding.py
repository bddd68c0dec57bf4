"""Data sets of placeholders: their values are those that the iterator's initializer was fed with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from recordmill.compat.tensorflow.data.elements import Node, Step, Way
from recordmill.compat.tensorflow.data.recorded import put, recorded_in
from recordmill.compat.tensorflow.data.sources import Single, Slices
from recordmill.compat.tensorflow.data.specs import spec_of, without_axis
from recordmill.compat.tensorflow.data.structures import mapped
from recordmill.compat.tensorflow.graphs.graph import GRAPH
from recordmill.compat.tensorflow.graphs.symbols import Symbol
from recordmill.compat.tensorflow.ops.specs import TensorSpec


class FedNode(Node):
    """Elements of values of a graph."""

    def __init__(self, value: Any, kind: type[Slices | Single] = Slices) -> None:
        super().__init__()
        self._value, self._kind = value, kind
        self._made: Node | None = None

    def feed(self) -> None:
        """Take the values that the running session is fed with."""
        numbers = [one.number for one in recorded_in(self._value)]
        self._made = self._kind(put(self._value, GRAPH.values(numbers, GRAPH.fed)))

    def _node(self) -> Node:
        if self._made is None:
            self.feed()
        return self._made  # type: ignore[return-value]

    def iterate(self, way: Way) -> Iterator[Step]:
        """Elements of what was fed."""
        return self._node().iterate(way)

    def spec(self) -> Any:
        """Specs of the elements, as far as the placeholders tell them."""
        found = mapped(_spec, self._value)
        return without_axis(found) if self._kind is Slices else found

    def sample(self) -> Iterator[Any]:
        """Elements of what was fed."""
        return self._node().sample()


def feed(node: Node) -> None:
    """Let a pipeline take what the running session is fed with."""
    if isinstance(node, FedNode):
        node.feed()
    for one in node.inputs:
        feed(one)


def _spec(leaf: Any) -> Any:
    if not isinstance(leaf, Symbol):
        return spec_of(leaf)
    if leaf.spec is None:
        raise NotImplementedError(
            "data sets of values whose dtype is not known before are not supported: make them of the placeholder"
        )
    return TensorSpec(leaf.shape, leaf.dtype)

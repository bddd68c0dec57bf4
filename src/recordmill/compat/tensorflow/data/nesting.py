"""Steps whose functions give data sets, and steps that join data sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core import dtypes
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor
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
from recordmill.compat.tensorflow.data.specs import common
from recordmill.compat.tensorflow.data.structures import filled, leaves
from recordmill.compat.tensorflow.ops.specs import TensorSpec


class Interleave(Node):
    """Elements of several data sets in turn; with one of them at a time, of one after the other."""

    runs_python = True

    def __init__(self, node: Node, function: Callable[..., Any], cycle_length: int, block_length: int) -> None:
        super().__init__(node)
        for name, given in (("cycle_length", cycle_length), ("block_length", block_length)):
            if given < 1:
                raise InvalidArgumentError(f"{name} must be greater than zero.")
        self._function, self._cycle, self._block = Function(function, node), cycle_length, block_length

    def iterate(self, way: Way) -> Iterator[Step]:
        """Give them: a data set that ends makes room for the next one when its turn comes again."""
        inputs = self.input.iterate(way)
        slots: list[Iterator[Step] | None] = [None] * self._cycle
        more, turn = True, 0
        while more or any(slot is not None for slot in slots):
            if slots[turn] is None and more:
                element = next(inputs, None)
                if element is None:
                    more = False
                    continue
                opened = self._opened(element, way)
                if isinstance(opened, Failed):
                    yield opened
                    continue
                slots[turn] = opened
            slot = slots[turn]
            if slot is not None:
                given = 0
                for step in islice(slot, self._block):
                    given += 1
                    yield step
                if given < self._block:
                    slots[turn] = None
            turn = (turn + 1) % self._cycle

    def _opened(self, element: Step, way: Way) -> Iterator[Step] | Failed:
        if isinstance(element, Failed):
            return element
        try:
            return self._node_of(element.value).iterate(way)
        except Exception as error:  # noqa: BLE001 (it is told to the caller)
            return Failed(placed(error, element))

    def _node_of(self, value: Any) -> Node:
        made = self._function.direct(value)
        node = getattr(made, "node", None)
        if not isinstance(node, Node):
            raise TypeError(f"The function must return a `tf.data.Dataset` object, not {made!r}.")
        return node

    def cardinality(self) -> int:
        """Not known."""
        return UNKNOWN_CARDINALITY

    def declares_spec(self) -> bool:
        """No: other data sets may have other elements."""
        return False

    def spec(self) -> Any:
        """Specs of the elements of the first data set."""
        for value in self.input.sample():
            return self._node_of(value).spec()
        raise NoElementsError("the specs of the elements are found in the first data set, and there is none")

    def sample(self) -> Iterator[Any]:
        """Samples of one data set after the other."""
        for value in self.input.sample():
            yield from self._node_of(value).sample()


class Values(Node):
    """Elements that are there already."""

    def __init__(self, values: list[Any], spec: Any) -> None:
        super().__init__()
        self._values, self._spec = values, spec

    def iterate(self, way: Way) -> Iterator[Step]:  # noqa: ARG002
        """Give them."""
        return map(Element, self._values)

    def cardinality(self) -> int:
        """How many they are."""
        return len(self._values)

    def spec(self) -> Any:
        """What was declared."""
        return self._spec

    def sample(self) -> Iterator[Any]:
        """The values."""
        return iter(self._values)


class Zip(Node):
    """Elements of several data sets side by side, until one ends."""

    def __init__(self, form: Any, *inputs: Node) -> None:
        super().__init__(*inputs)
        self._form = form

    def iterate(self, way: Way) -> Iterator[Step]:
        """Give them; where one failed, the others of that place are lost."""
        for steps in zip(*(node.iterate(way) for node in self.inputs), strict=False):
            failed = next((step for step in steps if isinstance(step, Failed)), None)
            if failed is not None:
                yield failed
                continue
            elements = [step for step in steps if isinstance(step, Element)]
            place = next((element.place for element in elements if element.place is not None), None)
            yield Element(filled(self._form, iter([element.value for element in elements])), place)

    def cardinality(self) -> int:
        """That of the shortest."""
        lengths = [node.cardinality() for node in self.inputs]
        if UNKNOWN_CARDINALITY in lengths:
            return UNKNOWN_CARDINALITY
        return min((length for length in lengths if length >= 0), default=INFINITE_CARDINALITY)

    def spec(self) -> Any:
        """Specs of all, in the form."""
        return filled(self._form, iter([node.spec() for node in self.inputs]))

    def sample(self) -> Iterator[Any]:
        """Samples side by side."""
        for values in zip(*(node.sample() for node in self.inputs), strict=False):
            yield filled(self._form, iter(values))


class Concatenate(Node):
    """Elements of one data set after those of another."""

    def __init__(self, first: Node, second: Node) -> None:
        super().__init__(first, second)
        if not (calls_python(first) or calls_python(second)):
            self.spec()  # tells at once what does not go together

    def iterate(self, way: Way) -> Iterator[Step]:
        """Give them."""
        for node in self.inputs:
            yield from node.iterate(way)

    def cardinality(self) -> int:
        """The sum."""
        lengths = [node.cardinality() for node in self.inputs]
        if INFINITE_CARDINALITY in lengths:
            return INFINITE_CARDINALITY
        return UNKNOWN_CARDINALITY if UNKNOWN_CARDINALITY in lengths else sum(lengths)

    def spec(self) -> Any:
        """What both have in common."""
        return common(self.inputs[0].spec(), self.inputs[1].spec())


class Enumerate(Node):
    """Pairs of a number and an element; those that fail are counted."""

    def __init__(self, node: Node, start: int) -> None:
        super().__init__(node)
        self._start = start

    def iterate(self, way: Way) -> Iterator[Step]:
        """Give them."""
        for number, element in enumerate(self.input.iterate(way), self._start):
            if isinstance(element, Failed):
                yield element
                continue
            yield Element((Tensor(np.array(number, np.int64)), element.value), element.place)

    def spec(self) -> Any:
        """Specs of a pair."""
        return TensorSpec([], dtypes.int64), self.input.spec()

    def sample(self) -> Iterator[Any]:
        """Pairs of the input's sample."""
        return (
            (Tensor(np.array(number, np.int64)), value) for number, value in enumerate(self.input.sample(), self._start)
        )


def calls_python(node: Node) -> bool:
    """Whether functions of the user run before or in a step."""
    return node.runs_python or any(map(calls_python, node.inputs))


def form_of(datasets: Any) -> tuple[Any, list[Node]]:
    """Structure and nodes of nested data sets."""
    nodes = []
    for leaf in leaves(datasets):
        if isinstance(leaf, list):
            raise TypeError(
                "Invalid input to `zip`. Inputs are expected to be (nested) structures of `tf.data.Dataset` objects. "
                "Python `list` is not supported and you should use `tuple` instead."
            )
        if not isinstance(getattr(leaf, "node", None), Node):
            raise TypeError(
                "Invalid input to `zip`. Inputs are expected to be (nested) structures of `tf.data.Dataset` objects. "
                f"Encountered object of type {type(leaf)}."
            )
        nodes.append(leaf.node)
    return datasets, nodes

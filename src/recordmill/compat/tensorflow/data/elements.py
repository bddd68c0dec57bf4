"""What travels between the steps of a pipeline, and what a step is."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from numpy.typing import NDArray

from recordmill.compat.tensorflow.data.specs import common, spec_of
from recordmill.dataclass import dataclass
from recordmill.types import Ragged, RecordRef

INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2


class Element:
    """One element on its way."""

    __slots__ = ("place", "value")

    def __init__(self, value: Any, place: RecordRef | None = None) -> None:
        self.value, self.place = value, place


class Failed:
    """Stands where an element could not be had."""

    __slots__ = ("error",)

    def __init__(self, error: Exception) -> None:
        self.error = error


Step: TypeAlias = Element | Failed
# Byte strings in one buffer, or an array of objects.
Run: TypeAlias = Ragged | NDArray[Any] | Failed


@dataclass(frozen=True, slots=True)
class Way:
    """How a pipeline is iterated over."""

    whole_batches: bool = True
    put_off: tuple[Node, ...] = ()


class Node:
    """One step of a pipeline: a source, or something that is done to the elements of other steps."""

    # Whether it hands elements on without looking at them, so that a map function before it may be put off.
    hands_on = False
    # Whether it runs functions of the user while it is iterated over.
    runs_python = False

    def __init__(self, *inputs: Node) -> None:
        self.inputs = inputs
        self._passes = itertools.count()

    @property
    def input(self) -> Node:
        """The only or first input."""
        return self.inputs[0]

    @property
    def depth(self) -> int:
        """Steps before this one: tells the steps of a pipeline apart in random numbers."""
        return 1 + sum(node.depth for node in self.inputs)

    def begin(self) -> int:
        """Number of this pass over the elements, from 0."""
        return next(self._passes)

    def iterate(self, way: Way) -> Iterator[Step]:
        """Elements in order."""
        raise NotImplementedError

    def runs(self, way: Way, length: int) -> Iterator[Run] | None:  # noqa: ARG002
        """Elements that are byte strings, many in one buffer."""
        return None

    def cardinality(self) -> int:
        """Number of elements, infinite or unknown."""
        return self.input.cardinality() if self.inputs else UNKNOWN_CARDINALITY

    def spec(self) -> Any:
        """Specs of the elements."""
        return self.input.spec()

    def declares_spec(self) -> bool:
        """Whether the specs hold for all elements; those that the first ones showed need not."""
        return all(node.declares_spec() for node in self.inputs)

    def sample(self) -> Iterator[Any]:
        """Values such as the elements have, without the work of steps that only change the order."""
        return self.input.sample()


class NoElementsError(ValueError):
    """What elements are is found in the first ones, and there are none."""


# Values of a sample that may fail before it is given up.
_TRIES = 8


def sampled(function: Callable[[Any], Any], values: Iterator[Any]) -> Iterator[Any]:
    """Results for a sample, without the values that the function fails at, unless these are the first ones."""
    first: Exception | None = None
    failed = given = 0
    for value in values:
        try:
            made = function(value)
        except Exception as error:  # noqa: BLE001 (told if nothing else can be)
            first, failed = first or error, failed + 1
            if not given and failed == _TRIES:
                break
            continue
        given += 1
        yield made
    if not given and first is not None:
        raise first


def seen_spec(node: Node, function: Any) -> Any:
    """Specs of what a function makes of the first elements: a length that differs in the first two is unknown."""
    specs = [spec_of(value) for value in itertools.islice(sampled(function, node.sample()), 2)]
    if not specs:
        raise NoElementsError("the specs of the elements are found in the first ones, and there are none")
    return common(specs[0], specs[-1])

"""Nodes of a pipeline and the elements that they exchange."""

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
# Sample values that may fail before the specs of a function's results are given up.
_MAX_FAILURES = 8


class Element:
    """One element, with the record that it comes from."""

    __slots__ = ("place", "value")

    def __init__(self, value: Any, place: RecordRef | None = None) -> None:
        self.value, self.place = value, place


class Failed:
    """The error that takes the place of an element."""

    __slots__ = ("error",)

    def __init__(self, error: Exception) -> None:
        self.error = error


Step: TypeAlias = Element | Failed
# Byte strings in one buffer or as an array of objects, or an error in place of one string.
Run: TypeAlias = Ragged | NDArray[Any] | Failed


@dataclass(frozen=True, slots=True)
class Way:
    """How a pipeline is iterated over.

    `native` is False if every function has to run element by element. The maps in `deferred` hand on their input
    instead of running: the batch behind them runs them for whole batches.
    """

    native: bool = True
    deferred: tuple[Node, ...] = ()


class Node:
    """One stage of a pipeline: a source, or a transformation of the elements of other nodes."""

    # True if elements are only reordered, repeated or dropped, so that a map before this node may be deferred.
    hands_on = False
    # True if iterating runs functions of the user.
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
        """Number of nodes up to this one; distinguishes the nodes of a pipeline in random seeds."""
        return 1 + sum(node.depth for node in self.inputs)

    def begin(self) -> int:
        """Start a pass over the elements and return its number, from 0."""
        return next(self._passes)

    def iterate(self, way: Way) -> Iterator[Step]:
        """Iterate over the elements in order."""
        raise NotImplementedError

    def runs(self, way: Way, length: int) -> Iterator[Run] | None:  # noqa: ARG002
        """Iterate over runs of about `length` byte strings; None if the elements are something else."""
        return None

    def cardinality(self) -> int:
        """Number of elements, or that it is infinite or unknown."""
        return self.input.cardinality() if self.inputs else UNKNOWN_CARDINALITY

    def spec(self) -> Any:
        """Specs of the elements."""
        return self.input.spec()

    def sample(self) -> Iterator[Any]:
        """Iterate over values like those of the elements, without the work of nodes that only change the order."""
        return self.input.sample()


class NoElementsError(ValueError):
    """The specs are found in the first elements, and there are none."""


def sampled(function: Callable[[Any], Any], values: Iterator[Any]) -> Iterator[Any]:
    """Results of a function for a sample; values for which it fails are dropped if it succeeds for others."""
    first_error: Exception | None = None
    num_results = 0
    for number, value in enumerate(values):
        try:
            result = function(value)
        except Exception as error:  # noqa: BLE001 (raised below if no value succeeds)
            first_error = first_error or error
            if not num_results and number + 1 == _MAX_FAILURES:
                break
            continue
        num_results += 1
        yield result
    if not num_results and first_error is not None:
        raise first_error


def seen_spec(node: Node, function: Any) -> Any:
    """Specs of a function's results for the first elements: a length that differs in the first two is unknown."""
    specs = [spec_of(value) for value in itertools.islice(sampled(function, node.sample()), 2)]
    if not specs:
        raise NoElementsError("the specs of the elements are found in the first ones, and there are none")
    return common(specs[0], specs[-1])

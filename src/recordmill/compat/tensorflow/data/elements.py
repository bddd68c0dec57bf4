"""Nodes of a pipeline and the elements that they exchange."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from recordmill.compat.tensorflow.data.structures import merge_specs, spec_of
from recordmill.types import RecordRef

INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2
# If a function fails for this many sample values without a success, its first error is raised.
_MAX_FAILURES = 8


class Element:
    """Value of one element, and the record that it was read from."""

    __slots__ = ("record", "value")

    def __init__(self, value: Any, record: RecordRef | None = None) -> None:
        self.value, self.record = value, record


class FailedElement:
    """Error in place of an element; the consumer raises the error."""

    __slots__ = ("error",)

    def __init__(self, error: Exception) -> None:
        self.error = error


Step: TypeAlias = Element | FailedElement


@dataclass(frozen=True, slots=True)
class ExecutionOptions:
    """Options of one pass over a pipeline.

    If `native` is False, every function runs element by element. The maps in `deferred` do not run but
    pass on their input; the batch node after them runs them on whole batches.
    """

    native: bool = True
    deferred: tuple[Node, ...] = ()


class Node:
    """One stage of a pipeline: a source, or a transformation of the elements of other nodes."""

    # True if the node only reorders, repeats or drops elements. A later batch node may then run the preceding maps.
    forwards_elements = False
    # True if the node calls Python functions of the user.
    runs_python = False

    def __init__(self, *inputs: Node) -> None:
        self.inputs = inputs
        self._passes = itertools.count()

    @property
    def input(self) -> Node:
        """First input node."""
        return self.inputs[0]

    @property
    def depth(self) -> int:
        """Number of nodes from the sources to this node. Equal nodes of different depth get different random seeds."""
        return 1 + sum(node.depth for node in self.inputs)

    def begin_pass(self) -> int:
        """Start a pass over the elements and return its number, counted from 0."""
        return next(self._passes)

    def iterate(self, execution: ExecutionOptions) -> Iterator[Step]:
        """Iterate over the elements in order."""
        raise NotImplementedError

    def iterate_batches(self, execution: ExecutionOptions, size: int, drop_remainder: bool) -> Iterator[Step] | None:  # noqa: ARG002
        """Iterate over batches of `size` elements without creating the elements; return None if not supported."""
        return None

    def cardinality(self) -> int:
        """Return the number of elements, INFINITE_CARDINALITY or UNKNOWN_CARDINALITY."""
        return self.input.cardinality() if self.inputs else UNKNOWN_CARDINALITY

    def spec(self) -> Any:
        """Return the specs of the elements."""
        return self.input.spec()

    def iterate_sample_values(self) -> Iterator[Any]:
        """Iterate over sample values, from which specs are inferred; the default is the sample values of the input."""
        return self.input.iterate_sample_values()


def require_node(dataset: Any, message: str) -> Node:
    """Return the node of a dataset; for any other value, raise TypeError with `message` and the value's class."""
    node = getattr(dataset, "node", None)
    if not isinstance(node, Node):
        raise TypeError(f"{message}, got {type(dataset)}")
    return node


class NoElementsError(ValueError):
    """Raised if specs must be inferred from the first elements, but the dataset is empty."""


def map_sample_values(function: Callable[[Any], Any], values: Iterator[Any]) -> Iterator[Any]:
    """Yield a function's results for sample values; raise the first error only if no call succeeds."""
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


def infer_spec_from_samples(node: Node, function: Any) -> Any:
    """Infer specs from a function's first two results; if the lengths of an axis differ, the length is unknown."""
    specs = [spec_of(value) for value in itertools.islice(map_sample_values(function, node.iterate_sample_values()), 2)]
    if not specs:
        raise NoElementsError("element_spec cannot be inferred from the first elements, because the dataset is empty")
    return merge_specs(specs[0], specs[-1])

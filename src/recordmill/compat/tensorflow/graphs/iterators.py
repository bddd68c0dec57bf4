"""TensorFlow 1's iterators, which return symbolic tensors, and datasets created from placeholders."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from recordmill.compat.tensorflow.core.errors import FailedPreconditionError, InvalidArgumentError, OutOfRangeError
from recordmill.compat.tensorflow.core.tensor import as_tensor
from recordmill.compat.tensorflow.data.elements import ExecutionOptions, Node, Step
from recordmill.compat.tensorflow.data.sources import SingleElement, TensorSlices, build_signature
from recordmill.compat.tensorflow.data.structures import drop_batch_axis, leaves, map_structure, pack_structure, spec_of
from recordmill.compat.tensorflow.data.symbolic import find_symbolic, substitute_symbols
from recordmill.compat.tensorflow.graphs.graph import GRAPH, Operation, Symbol
from recordmill.compat.tensorflow.ops.specs import TensorSpec

_BY_HANDLE: dict[bytes, GraphIterator] = {}
_COUNT = itertools.count()
# Leaves of the last element that an eager iterator returned.
_LAST_EAGER: list[Any] = []


@dataclass(frozen=True, eq=False, slots=True)
class NextElementStep:
    """Step that reads the next element of an iterator, once in each session run that needs it."""

    iterator: GraphIterator | None
    numbers: tuple[int, ...]
    handle: Symbol | None = None

    def inputs(self) -> set[int]:
        return set() if self.handle is None else {self.handle.number}

    def compute(self, known: dict[int, Any]) -> None:
        iterator = self.iterator or _find_iterator_by_handle(known[self.handle.number].numpy())  # type: ignore[union-attr]
        known.update(zip(self.numbers, leaves(iterator.read_next()), strict=True))


class GraphIterator:
    """Iterator of a TensorFlow 1 graph; `dataset` may be set later, and each session has its own position."""

    def __init__(self, spec: Any, dataset: Any = None, *, starts: bool = False, handle: Symbol | None = None) -> None:
        self.element_spec, self.dataset = spec, dataset
        self._starts, self._handle = starts, handle
        self._name = f"iterator_{next(_COUNT)}".encode()

    @property
    def initializer(self) -> Operation:
        """Operation that restarts the iterator at the first element."""
        if self.dataset is None:
            raise ValueError("Iterator does not have an initializer.")
        return self.make_initializer(self.dataset)

    def make_initializer(self, dataset: Any, name: Any = None) -> Operation:
        """Return an operation that starts the iterator at the first element of `dataset`."""
        del name
        return Operation(lambda: self._start_iteration(dataset))

    def _start_iteration(self, dataset: Any) -> None:
        _create_fed_sources(dataset.node)
        GRAPH.iterators[self] = iter(dataset)

    def get_next(self, name: Any = None) -> Any:
        """Return symbolic tensors for the next element; each session run that needs them reads one element."""
        del name
        specs = [spec if isinstance(spec, TensorSpec) else None for spec in leaves(self.element_spec)]
        first = len(GRAPH.steps)
        iterator = None if self._handle is not None else self
        symbols = GRAPH.add_step(
            NextElementStep(iterator, tuple(range(first, first + len(specs))), self._handle), specs
        )
        return pack_structure(self.element_spec, symbols)

    def read_next(self) -> Any:
        """Read the next element for the session that is running."""
        if self not in GRAPH.iterators and self._starts:
            self._start_iteration(self.dataset)
        if self not in GRAPH.iterators:
            raise FailedPreconditionError(
                "GetNext() failed because the iterator has not been initialized. Ensure that you have run the "
                "initializer operation for this iterator before getting the next element."
            )
        try:
            return next(GRAPH.iterators[self])
        except StopIteration:
            raise OutOfRangeError("End of sequence") from None

    def string_handle(self, name: Any = None) -> Any:
        """Return a string that identifies the iterator, to be fed to a `from_string_handle` iterator."""
        del name
        _BY_HANDLE[self._name] = self
        return as_tensor(self._name)


def from_structure(output_types: Any, output_shapes: Any = None, *unused: Any, **others: Any) -> GraphIterator:
    """Create an iterator that receives its dataset from `GraphIterator.make_initializer`."""
    del unused, others
    return GraphIterator(build_signature(output_types, output_shapes))


def from_string_handle(string_handle: Any, output_types: Any, output_shapes: Any = None, *unused: Any) -> GraphIterator:
    """Return the iterator with this string handle. If the handle is symbolic, each session run selects the iterator."""
    del unused
    if isinstance(string_handle, Symbol):
        return GraphIterator(build_signature(output_types, output_shapes), handle=string_handle)
    return _find_iterator_by_handle(as_tensor(string_handle).numpy())


def _find_iterator_by_handle(handle: bytes) -> GraphIterator:
    if handle not in _BY_HANDLE:
        raise InvalidArgumentError(f"unknown iterator handle {handle!r}; use the value of string_handle()")
    return _BY_HANDLE[handle]


def store_eager_element(value: Any) -> Any:
    """Return an element. Store its leaves, so that `check_not_eager` recognizes them in the fetches of a session."""
    _LAST_EAGER[:] = leaves(value)
    return value


def check_not_eager(fetches: Iterable[Any]) -> None:
    """Raise RuntimeError if a fetch belongs to the last element that an eager iterator returned."""
    if any(one is other for one in fetches for other in _LAST_EAGER):
        raise RuntimeError(
            "The Session graph is empty. The iterator returned this element eagerly, so every run would return the "
            "same element. Call tf.compat.v1.disable_eager_execution() first, create the iterator in "
            "`with tf.Graph().as_default()`, or iterate over the dataset without a session."
        )


class PlaceholderSource(Node):
    """Source node of a dataset created from symbolic tensors. Initializing an iterator computes the tensors."""

    def __init__(self, value: Any, kind: type[TensorSlices | SingleElement]) -> None:
        super().__init__()
        self._value, self._kind = value, kind
        self._source: Node | None = None

    def create_source_from_fed_values(self) -> None:
        """Compute the symbolic tensors from the fed values, and create a source node with the results."""
        numbers = [one.number for one in find_symbolic(self._value)]
        self._source = self._kind(substitute_symbols(self._value, GRAPH.compute_values(numbers, GRAPH.fed)))

    def _get_or_create_source(self) -> Node:
        if self._source is None:
            self.create_source_from_fed_values()
        return self._source  # type: ignore[return-value]

    def iterate(self, execution: ExecutionOptions) -> Iterator[Step]:
        return self._get_or_create_source().iterate(execution)

    def spec(self) -> Any:
        spec = map_structure(_infer_leaf_spec, self._value)
        return drop_batch_axis(spec) if self._kind is TensorSlices else spec

    def iterate_sample_values(self) -> Iterator[Any]:
        return self._get_or_create_source().iterate_sample_values()


def _create_fed_sources(node: Node) -> None:
    if isinstance(node, PlaceholderSource):
        node.create_source_from_fed_values()
    for one in node.inputs:
        _create_fed_sources(one)


def _infer_leaf_spec(leaf: Any) -> Any:
    if isinstance(leaf, Symbol) and leaf.spec is None:
        raise NotImplementedError(
            "a dataset cannot be created from a symbolic tensor of unknown dtype; create it from a tf.placeholder"
        )
    return TensorSpec(leaf.shape, leaf.dtype) if isinstance(leaf, Symbol) else spec_of(leaf)

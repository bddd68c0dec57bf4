"""Iterators whose elements are values of a graph."""

from __future__ import annotations

import itertools
from typing import Any

from recordmill.compat.tensorflow.core.errors import FailedPreconditionError, InvalidArgumentError, OutOfRangeError
from recordmill.compat.tensorflow.core.tensor import as_tensor
from recordmill.compat.tensorflow.data.making import signature_of
from recordmill.compat.tensorflow.data.structures import filled, leaves
from recordmill.compat.tensorflow.graphs.at_once import AtOnce
from recordmill.compat.tensorflow.graphs.feeding import feed
from recordmill.compat.tensorflow.graphs.graph import GRAPH
from recordmill.compat.tensorflow.graphs.modes import are_eager
from recordmill.compat.tensorflow.graphs.symbols import Operation, Symbol
from recordmill.compat.tensorflow.ops.specs import TensorSpec
from recordmill.dataclass import dataclass

_NAMED: dict[bytes, GraphIterator] = {}  # by the handle that programs feed
_COUNT = itertools.count()


@dataclass(frozen=True, eq=False, slots=True)
class Draw:
    """One element of an iterator in each run."""

    iterator: GraphIterator | None
    numbers: tuple[int, ...]
    handle: Symbol | None = None

    def inputs(self) -> set[int]:
        """The handle."""
        return set() if self.handle is None else {self.handle.number}

    def make(self, known: dict[int, Any]) -> None:
        """Draw."""
        chosen = self.iterator or _by_handle(known[self.handle.number].numpy())  # type: ignore[union-attr]
        found = leaves(chosen.draw())
        known.update(zip(self.numbers, found, strict=True))


class GraphIterator:
    """Iterator over a data set, or over one that it is given later; each session has a pass of its own."""

    def __init__(self, spec: Any, dataset: Any = None, *, starts: bool = False, handle: Symbol | None = None) -> None:
        self.element_spec, self.dataset = spec, dataset
        self._starts, self._handle = starts, handle
        self._name = f"iterator_{next(_COUNT)}".encode()

    @property
    def initializer(self) -> Operation:
        """What begins a pass."""
        if self.dataset is None:
            raise ValueError("Iterator does not have an initializer.")
        return self.make_initializer(self.dataset)

    def make_initializer(self, dataset: Any, name: Any = None) -> Operation:
        """What begins a pass over a data set."""
        del name
        return Operation(lambda: self._begin(dataset))

    def _begin(self, dataset: Any) -> None:
        feed(dataset.node)
        GRAPH.passes[self] = iter(dataset)

    def get_next(self, name: Any = None) -> Any:
        """Values of the next element: each run that needs them draws one."""
        del name
        specs = list(leaves(self.element_spec))
        first = len(GRAPH.steps)
        source = None if self._handle is not None else self
        made = GRAPH.add(Draw(source, tuple(range(first, first + len(specs))), self._handle), specs)
        for symbol, spec in zip(made, specs, strict=True):
            symbol.spec = spec if isinstance(spec, TensorSpec) else None
        return filled(self.element_spec, iter(made))

    def draw(self) -> Any:
        """Next element."""
        if self not in GRAPH.passes and self._starts:
            self._begin(self.dataset)
        if self not in GRAPH.passes:
            raise FailedPreconditionError(
                "GetNext() failed because the iterator has not been initialized. Ensure that you have run the "
                "initializer operation for this iterator before getting the next element."
            )
        try:
            return next(GRAPH.passes[self])
        except StopIteration:
            raise OutOfRangeError("End of sequence") from None

    def string_handle(self, name: Any = None) -> Any:
        """Name of the iterator, to be fed."""
        del name
        _NAMED[self._name] = self
        return as_tensor(self._name)


def one_shot(dataset: Any) -> Any:
    """Iterator that needs no initializer."""
    return (
        AtOnce(dataset.node)
        if are_eager(otherwise=False)
        else GraphIterator(dataset.element_spec, dataset, starts=True)
    )


def initializable(dataset: Any) -> GraphIterator:
    """Iterator that begins when its initializer runs."""
    if are_eager(otherwise=False):
        raise RuntimeError(
            "dataset.make_initializable_iterator is not supported when eager execution is enabled. Use `for element in "
            "dataset` instead."
        )
    return GraphIterator(dataset.element_spec, dataset)


def from_structure(output_types: Any, output_shapes: Any = None, *unused: Any, **others: Any) -> GraphIterator:
    """Iterator that is given its data set by `GraphIterator.make_initializer`."""
    del unused, others
    return GraphIterator(signature_of(output_types, output_shapes))


def from_string_handle(
    string_handle: Any, output_types: Any, output_shapes: Any = None, output_classes: Any = None
) -> GraphIterator:
    """Iterator whose handle is a value."""
    del output_classes
    if isinstance(string_handle, Symbol):
        return GraphIterator(signature_of(output_types, output_shapes), handle=string_handle)
    return _by_handle(as_tensor(string_handle).numpy())


def _by_handle(name: bytes) -> GraphIterator:
    if name not in _NAMED:
        raise InvalidArgumentError(f"there is no iterator of the handle {name!r}: feed what string_handle() gave")
    return _NAMED[name]

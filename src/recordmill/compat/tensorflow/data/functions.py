"""Functions of the user, as steps call them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.errors import (
    InvalidArgumentError,
    OpError,
    ResourceExhaustedError,
    UnimplementedError,
    UnknownError,
)
from recordmill.compat.tensorflow.core.graph_sizes import UNKNOWN
from recordmill.compat.tensorflow.core.tensor import Tensor, as_tensor
from recordmill.compat.tensorflow.core.variable import Variable
from recordmill.compat.tensorflow.data.elements import Element, Failed, Node
from recordmill.compat.tensorflow.data.known_shapes import are_fixed
from recordmill.compat.tensorflow.data.ragged_rows import RaggedRow
from recordmill.compat.tensorflow.data.recorded import Recorded, Untraceable
from recordmill.compat.tensorflow.data.recording import Program, Replay
from recordmill.compat.tensorflow.data.structures import TENSORS, mapped
from recordmill.compat.tensorflow.data.tracing import record
from recordmill.errors import RecordmillError


class Function:
    """A function of the elements of a node: recorded once, or called as Python."""

    def __init__(self, function: Callable[..., Any], node: Node) -> None:
        self._function, self._node = function, node
        self._recorded: Program | str | None = None
        self._replay: Replay | None = None
        self._fixed: bool | None = None

    @property
    def name(self) -> str:
        """Of the function."""
        return str(getattr(self._function, "__name__", type(self._function).__name__))

    def program(self) -> Program | str:
        """What it does, or why that cannot be told."""
        if self._recorded is None:
            try:
                self._recorded = record(self.direct, self._node.spec())
            except Untraceable as reason:
                self._recorded = str(reason)
            except (RecordmillError, ValueError, TypeError, OSError) as error:
                self._recorded = f"the first elements cannot be had: {error}"
        return self._recorded

    def direct(self, value: Any) -> Any:
        """Call it."""
        return to_result(self._function(*value) if type(value) is tuple else self._function(value))

    def __call__(self, value: Any) -> Any:
        """Do what it does to the value of an element."""
        program = self.program()
        if isinstance(program, Program):
            if self._replay is None:
                self._replay = Replay(program)
            return to_result(self._replay(value))  # what stood for one value may be several
        token = UNKNOWN.set(not self._takes_fixed())
        try:
            return self.direct(value)
        finally:
            UNKNOWN.reset(token)

    def _takes_fixed(self) -> bool:
        """Whether all elements have one size."""
        if self._fixed is None:
            try:
                self._fixed = are_fixed(self._node.spec())
            except Exception:  # noqa: BLE001 (the elements themselves tell what is wrong)
                self._fixed = False
        return self._fixed


def to_result(value: Any) -> Any:
    """Structure of tensors that a function returned: lists count as tuples."""
    if isinstance(value, list):
        value = tuple(value)
    return mapped(_leaf, value)


def _leaf(value: Any) -> Any:
    if isinstance(value, Variable):
        return value.read_value()
    if isinstance(value, RaggedRow):
        return Tensor(value.values)
    if isinstance(value, Recorded) and value.of_graph:
        return np.asarray(value)  # which says that it has no value yet
    if isinstance(value, (Recorded, *TENSORS)) or hasattr(type(value), "element_spec"):
        return value
    if value is None:
        raise TypeError("Unsupported return value from function passed to a data set: None.")
    return as_tensor(value)


def attempt(function: Callable[[Any], Any], element: Element) -> Element | Failed:
    """Element of what a function gives; errors tell the record."""
    try:
        return Element(function(element.value), element.place)
    except Exception as error:  # noqa: BLE001 (it is told to the caller)
        return Failed(placed(error, element))


def placed(error: Exception, element: Element) -> Exception:
    """Error that names the record of an element."""
    place = element.place
    if isinstance(error, RecordmillError):
        if place is not None:
            error.shard, error.record, error.offset = place
        return error
    told = _also(type(error))(f"{type(error).__name__}: {error}", hint="it was raised by a function of the pipeline")
    if place is not None:
        told.shard, told.record, told.offset = place
    told.__cause__ = error
    return told


_KNOWN: dict[type[Exception], type[OpError]] = {}
# What TensorFlow makes of errors of Python functions; of all others an UnknownError.
_FAMILIES: tuple[tuple[type[Exception], type[OpError]], ...] = (
    (NotImplementedError, UnimplementedError),
    (ValueError, InvalidArgumentError),
    (TypeError, InvalidArgumentError),
    (MemoryError, ResourceExhaustedError),
)


def _also(kind: type[Exception]) -> type[OpError]:
    """TensorFlow's error that is caught as what the function raised, too, where Python can tell so."""
    if kind not in _KNOWN:
        family = next((ours for theirs, ours in _FAMILIES if issubclass(kind, theirs)), UnknownError)
        try:
            name = family.__name__.removesuffix("Error") + kind.__name__
            made = type(name, (family, kind), {"__reduce__": _as_family})
            made("")
        except TypeError:
            made = family
        _KNOWN[kind] = made
    return _KNOWN[kind]


def _as_family(error: OpError) -> tuple[Any, ...]:
    return _again, (type(error).__mro__[1], error.message, error.parts())


def _again(family: type[OpError], message: str, parts: dict[str, Any]) -> OpError:
    return family(message, **parts)

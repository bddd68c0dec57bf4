"""User functions of a pipeline: trace and call them, and convert the errors that they raise."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.dispatch import SIZES_UNKNOWN
from recordmill.compat.tensorflow.core.errors import (
    InvalidArgumentError,
    OpError,
    ResourceExhaustedError,
    UnimplementedError,
    UnknownError,
)
from recordmill.compat.tensorflow.core.tensor import Tensor, as_tensor
from recordmill.compat.tensorflow.core.variable import Variable
from recordmill.compat.tensorflow.data.elements import Element, FailedElement, Node
from recordmill.compat.tensorflow.data.native_map import NativeMap
from recordmill.compat.tensorflow.data.ragged_rows import RaggedRow
from recordmill.compat.tensorflow.data.structures import TENSORS, map_structure
from recordmill.compat.tensorflow.data.symbolic import SymbolicTensor, Untraceable
from recordmill.compat.tensorflow.data.trace import Trace, has_fixed_size, trace
from recordmill.errors import RecordmillError


class UserFunction:
    """User function that is applied to the elements of a node; the function is traced at most once."""

    def __init__(self, function: Callable[..., Any], node: Node) -> None:
        self._function, self._node = function, node
        self._trace: Trace | str | None = None
        self._native: NativeMap | str | None = None

    @property
    def name(self) -> str:
        """Name of the function."""
        return str(getattr(self._function, "__name__", type(self._function).__name__))

    def trace(self) -> Trace | str:
        """Return the operations of the function, or the reason why it cannot be traced."""
        if self._trace is None:
            try:
                self._trace = trace(self.call_python, self._node.spec())
            except Untraceable as reason:
                self._trace = str(reason)
            except (RecordmillError, ValueError, TypeError, OSError) as error:
                self._trace = f"the first elements cannot be read: {error}"
        return self._trace

    def plan_native(self) -> NativeMap | str:
        """Return the plan to run the function on whole batches, or the reason why there is none."""
        if self._native is None:
            result = self.trace()
            self._native = NativeMap.plan(result) if isinstance(result, Trace) else result
        return self._native

    def call_python(self, value: Any) -> Any:
        """Call the Python function itself, even if it has a trace."""
        return convert_function_result(self._function(*value) if type(value) is tuple else self._function(value))

    def __call__(self, value: Any) -> Any:
        """Run the function on one element: the trace if there is one, otherwise the Python function."""
        result = self.trace()
        if isinstance(result, Trace):
            # If an operation returned a list, the list becomes a tuple.
            return convert_function_result(result(value))
        token = SIZES_UNKNOWN.set(not self._has_elements_of_fixed_size)
        try:
            return self.call_python(value)
        finally:
            SIZES_UNKNOWN.reset(token)

    @cached_property
    def _has_elements_of_fixed_size(self) -> bool:
        try:
            return has_fixed_size(self._node.spec())
        except Exception:  # noqa: BLE001 (iterating raises the same error)
            return False


def convert_function_result(value: Any) -> Any:
    """Convert the result of a user function to a structure of tensors; a list becomes a tuple, as in TensorFlow."""
    if isinstance(value, list):
        value = tuple(value)
    return map_structure(_to_tensor_leaf, value)


def _to_tensor_leaf(value: Any) -> Any:
    if isinstance(value, Variable):
        return value.read_value()
    if isinstance(value, RaggedRow):
        return Tensor(value.values)
    if isinstance(value, SymbolicTensor) and value.of_graph:
        return np.asarray(value)  # Raises an error, because the symbolic tensor has no value yet.
    if isinstance(value, (SymbolicTensor, *TENSORS)) or hasattr(type(value), "element_spec"):
        return value
    if value is None:
        raise TypeError("Unsupported return value from function passed to a dataset: None.")
    return as_tensor(value)


def call_or_return_error(function: Callable[[Any], Any], element: Element) -> Element | FailedElement:
    """Run a function on an element; if it fails, return the error with the location of the element's record."""
    try:
        return Element(function(element.value), element.record)
    except Exception as error:  # noqa: BLE001 (raised when the caller reads this element)
        return FailedElement(to_op_error(error, element))


def to_op_error(error: Exception, element: Element) -> Exception:
    """Convert a user function's error to TensorFlow's error class, and add the location of the element's record."""
    if isinstance(error, RecordmillError):
        if element.record is not None:
            error.shard, error.record, error.offset = element.record
        return error
    wrapped = _make_error_class(type(error))(
        f"{type(error).__name__}: {error}", hint="a user function of the pipeline raised this error"
    )
    if element.record is not None:
        wrapped.shard, wrapped.record, wrapped.offset = element.record
    wrapped.__cause__ = error
    return wrapped


_CLASSES: dict[type[Exception], type[OpError]] = {}
# Maps Python's error classes to TensorFlow's. All other Python errors become UnknownError.
_FAMILIES: tuple[tuple[type[Exception], type[OpError]], ...] = (
    (NotImplementedError, UnimplementedError),
    (ValueError, InvalidArgumentError),
    (TypeError, InvalidArgumentError),
    (MemoryError, ResourceExhaustedError),
)


def _make_error_class(kind: type[Exception]) -> type[OpError]:
    """Return a class that inherits from TensorFlow's error class and, if possible, from the Python class `kind`."""
    if kind not in _CLASSES:
        family = next((family for base, family in _FAMILIES if issubclass(kind, base)), UnknownError)
        try:
            name = family.__name__.removesuffix("Error") + kind.__name__
            combined = type(name, (family, kind), {"__reduce__": _reduce_error_for_pickle})
            combined("")
        except TypeError:
            combined = family
        _CLASSES[kind] = combined
    return _CLASSES[kind]


def _reduce_error_for_pickle(error: OpError) -> tuple[Any, ...]:
    return _unpickle_error, (type(error).__mro__[1], error.message, error.parts())


def _unpickle_error(family: type[OpError], message: str, parts: dict[str, Any]) -> OpError:
    return family(message, **parts)

"""Symbolic tensors, which stand for values while a function is traced, and helpers to find and replace them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from operator import itemgetter
from typing import Any, NoReturn, TypeAlias, TypeVar

from recordmill.compat.tensorflow.core.dtypes import DType
from recordmill.compat.tensorflow.core.operators import TensorOperators
from recordmill.compat.tensorflow.core.shapes import TensorShape
from recordmill.compat.tensorflow.ops.specs import TensorSpec

Kind = TypeVar("Kind")
# Largest number of rows that a traced function may iterate over, because each row adds an operation to the trace.
_MAX_ROWS = 64


class Untraceable(Exception):  # noqa: N818 (not an error: the function then runs as Python)
    """Raised if a function cannot be traced; the message says why, as in "the function passes a tensor to NumPy"."""


class SymbolicTensor(TensorOperators):
    """Tensor without a value; a function receives such tensors as arguments while it is traced."""

    __slots__ = ("number", "spec")
    of_graph = False  # True if the tensor belongs to a TensorFlow 1 graph. A session then computes its value.

    def __init__(self, number: int, spec: TensorSpec | None) -> None:
        self.number, self.spec = number, spec

    @property
    def dtype(self) -> DType:
        """Dtype; raises Untraceable if it is not known."""
        if self.spec is None:
            raise Untraceable("the function reads the dtype of a tensor, but the dtype is not known during tracing")
        return self.spec.dtype

    @property
    def shape(self) -> TensorShape:
        """Shape; raises Untraceable if it is not known."""
        if self.spec is None:
            raise Untraceable("the function reads the shape of a tensor, but the shape is not known during tracing")
        return self.spec.shape

    def get_shape(self) -> TensorShape:
        """Return the shape; raise Untraceable if it is not known."""
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Declare the shape; values are not checked, as in TensorFlow's graphs."""
        if self.spec is not None:
            self.spec = TensorSpec(shape, self.spec.dtype)

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        raise Untraceable(f"the function reads tensor.{name}, which is not supported during tracing")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        raise Untraceable("the function passes a tensor to NumPy")

    def __bool__(self) -> bool:
        raise Untraceable("the function's control flow (if, while, and, or) depends on a value")

    def __iter__(self) -> Iterator[Any]:
        num_rows = self._require_known_length("the function iterates over a tensor of unknown or large length")
        return iter([self[row] for row in range(num_rows)])

    def __len__(self) -> int:
        return self._require_known_length("the function calls len() on a tensor of unknown or large length")

    def _require_known_length(self, reason: str) -> int:
        shape = None if self.spec is None else self.spec.shape
        if shape is None or not shape.rank or shape[0] is None or shape[0] > _MAX_ROWS:
            raise Untraceable(reason)
        return int(shape[0])

    def __int__(self) -> NoReturn:
        raise Untraceable("the function converts a tensor to a Python number")

    __float__ = __index__ = __int__

    def __repr__(self) -> str:
        return f"<value {self.number} of a traced function>"


def find_symbolic(value: Any) -> Iterator[SymbolicTensor]:
    """Yield the symbolic tensors in a nested argument."""
    yield from find_instances(value, SymbolicTensor)


def find_instances(value: Any, kind: type[Kind]) -> Iterator[Kind]:
    """Yield every instance of the class `kind` in the nested argument `value`."""
    if isinstance(value, kind):
        yield value
    elif isinstance(value, slice):
        yield from find_instances((value.start, value.stop, value.step), kind)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from find_instances(one, kind)
    elif isinstance(value, Mapping):
        yield from find_instances(list(value.values()), kind)


def substitute_symbols(value: Any, known: Mapping[int, Any]) -> Any:
    """Replace the symbolic tensors in a nested argument by their values in `known`."""
    if isinstance(value, SymbolicTensor):
        return known[value.number]
    if next(find_symbolic(value), None) is None:
        return value
    if isinstance(value, slice):
        return slice(
            substitute_symbols(value.start, known),
            substitute_symbols(value.stop, known),
            substitute_symbols(value.step, known),
        )
    if isinstance(value, Mapping):
        return {key: substitute_symbols(one, known) for key, one in value.items()}
    rows = [substitute_symbols(one, known) for one in value]
    return rows if isinstance(value, list) else type(value)(*rows) if hasattr(value, "_fields") else tuple(rows)


def prepare_substitution(value: Any) -> Callable[[Mapping[int, Any]], Any]:
    """Return a function that does the same as ``partial(substitute_symbols, value)``, but is faster."""
    if isinstance(value, SymbolicTensor):
        return itemgetter(value.number)
    if next(find_symbolic(value), None) is None:
        return lambda _: value
    return partial(substitute_symbols, value)


# Keys and indices that select one value in a nested result, outermost first.
Path: TypeAlias = tuple[Any, ...]


def value_at_path(result: Any, path: Path) -> Any:
    """Return the value at a path of a nested result."""
    for key in path:
        result = result[key]
    return result


def copy_containers(value: Any) -> Any:
    """Copy the lists, tuples and dicts of an argument, because the traced function may change them after the call."""
    if isinstance(value, dict):
        return {key: copy_containers(one) for key, one in value.items()}
    if isinstance(value, list):
        return [copy_containers(one) for one in value]
    return tuple(copy_containers(one) for one in value) if type(value) is tuple else value

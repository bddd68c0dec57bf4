"""Symbolic values that stand for tensors while a function is traced, and helpers to find and replace them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from operator import itemgetter
from typing import Any, NoReturn, TypeVar

from recordmill.compat.tensorflow.core.dtypes import DType
from recordmill.compat.tensorflow.core.operators import Operators
from recordmill.compat.tensorflow.core.shapes import TensorShape
from recordmill.compat.tensorflow.ops.specs import TensorSpec

Kind = TypeVar("Kind")
# Largest first axis that is iterated over while tracing; each row becomes an operation of the trace.
_MAX_ROWS = 64


class Untraceable(Exception):  # noqa: N818 (not an error: the function then runs as Python)
    """The function needs something that only real values have."""


class Recorded(Operators):
    """Stands for a value while a function is traced."""

    __slots__ = ("number", "spec")
    of_graph = False  # True for the values of TensorFlow 1 graphs, which sessions fetch

    def __init__(self, number: int, spec: TensorSpec | None) -> None:
        self.number, self.spec = number, spec

    @property
    def dtype(self) -> DType:
        """Dtype, if it is known."""
        if self.spec is None:
            raise Untraceable("it asks for the dtype of a value")
        return self.spec.dtype

    @property
    def shape(self) -> TensorShape:
        """Shape, if it is known."""
        if self.spec is None:
            raise Untraceable("it asks for the shape of a value")
        return self.spec.shape

    def get_shape(self) -> TensorShape:
        """Shape, if it is known."""
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Declare the shape; values are not checked, as in TensorFlow's graphs."""
        if self.spec is not None:
            self.spec = TensorSpec(shape, self.spec.dtype)

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        raise Untraceable(f"it asks for .{name} of a value")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        raise Untraceable("it gives a value to NumPy")

    def __bool__(self) -> bool:
        raise Untraceable("what it does depends on a value (if, while, and, or)")

    def __iter__(self) -> Iterator[Any]:
        return iter([self[row] for row in range(self._length("it iterates over a value"))])

    def __len__(self) -> int:
        return self._length("it asks for the len of a value")

    def _length(self, reason: str) -> int:
        shape = None if self.spec is None else self.spec.shape
        if shape is None or not shape.rank or shape[0] is None or shape[0] > _MAX_ROWS:
            raise Untraceable(reason)
        return int(shape[0])

    def __int__(self) -> NoReturn:
        raise Untraceable("it makes a Python number of a value")

    __float__ = __index__ = __int__

    def __repr__(self) -> str:
        return f"<value {self.number} of a traced function>"


def recorded_in(value: Any) -> Iterator[Recorded]:
    """Find the symbolic values in an argument."""
    yield from instances(value, Recorded)


def instances(value: Any, kind: type[Kind]) -> Iterator[Kind]:
    """Find the objects of a class in an argument."""
    if isinstance(value, kind):
        yield value
    elif isinstance(value, slice):
        yield from instances((value.start, value.stop, value.step), kind)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from instances(one, kind)
    elif isinstance(value, Mapping):
        yield from instances(list(value.values()), kind)


def put(value: Any, known: Mapping[int, Any]) -> Any:
    """Replace the symbolic values in an argument by real ones."""
    if isinstance(value, Recorded):
        return known[value.number]
    if next(recorded_in(value), None) is None:
        return value
    if isinstance(value, slice):
        return slice(put(value.start, known), put(value.stop, known), put(value.step, known))
    if isinstance(value, Mapping):
        return {key: put(one, known) for key, one in value.items()}
    rows = [put(one, known) for one in value]
    return rows if isinstance(value, list) else type(value)(*rows) if hasattr(value, "_fields") else tuple(rows)


def putter(value: Any) -> Callable[[Mapping[int, Any]], Any]:
    """Return a function that does the same as `put` for one argument, prepared for many calls."""
    if isinstance(value, Recorded):
        return itemgetter(value.number)
    if next(recorded_in(value), None) is None:
        return lambda _: value
    return partial(put, value)


class Path(tuple[Any, ...]):
    """Keys that lead to one value in a nested result."""

    __slots__ = ()


def picked(result: Any, path: Any) -> Any:
    """Return the value at a path of a nested result."""
    for key in path:
        result = result[key]
    return result


def frozen(value: Any) -> Any:
    """Copy the containers of an argument, which the function may change after the call."""
    if isinstance(value, dict):
        return {key: frozen(one) for key, one in value.items()}
    if isinstance(value, list):
        return [frozen(one) for one in value]
    return tuple(frozen(one) for one in value) if type(value) is tuple else value

"""Values that stand for others while a map function is recorded, and arguments in which they may lie."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from operator import itemgetter
from typing import Any, NoReturn, TypeVar

from recordmill.compat.tensorflow.core.dispatch import RECORDING
from recordmill.compat.tensorflow.core.dtypes import DType
from recordmill.compat.tensorflow.core.operators import Operators
from recordmill.compat.tensorflow.core.shapes import TensorShape
from recordmill.compat.tensorflow.ops.specs import TensorSpec

Kind = TypeVar("Kind")
# Rows that are noted one by one, at most.
_MOST_ROWS = 64


class Untraceable(Exception):  # noqa: N818 (no error: the function then runs as Python)
    """The function asks for something that only values have."""


class Recorded(Operators):
    """Stands for a value while a function is recorded."""

    __slots__ = ("number", "spec")
    of_graph = False  # whether it is one of TensorFlow 1's, which sessions fetch

    def __init__(self, number: int, spec: TensorSpec | None) -> None:
        self.number, self.spec = number, spec

    @property
    def dtype(self) -> DType:
        """Dtype, where it is known."""
        if self.spec is None:
            raise Untraceable("it asks for the dtype of a value")
        return self.spec.dtype

    @property
    def shape(self) -> TensorShape:
        """Shape, where it is known."""
        if self.spec is None:
            raise Untraceable("it asks for the shape of a value")
        return self.spec.shape

    def get_shape(self) -> TensorShape:
        """Shape, where it is known."""
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Note what the caller knows of the shape; nothing is done to the value, as in TensorFlow's graphs."""
        if self.spec is not None:
            self.spec = TensorSpec(shape, self.spec.dtype)

    def __getattr__(self, name: str) -> NoReturn:
        """Whatever else a value has."""
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        raise Untraceable(f"it asks for .{name} of a value")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        """Refused: NumPy does not wait."""
        raise Untraceable("it gives a value to NumPy")

    def __bool__(self) -> bool:
        """Either, one after the other, while a function is noted; refused elsewhere."""
        notes = RECORDING.get()
        if notes is None or self.of_graph:
            raise Untraceable("what it does depends on a value (if, while, and, or)")
        return notes.decide(self)

    def __iter__(self) -> Iterator[Any]:
        """Rows, where it is known how many there are."""
        return iter([self[row] for row in range(self._length("it iterates over a value"))])

    def __len__(self) -> int:
        """Rows, where it is known how many there are."""
        return self._length("it asks for the len of a value")

    def _length(self, otherwise: str) -> int:
        shape = None if self.spec is None else self.spec.shape
        if shape is None or not shape.rank or shape[0] is None or shape[0] > _MOST_ROWS:
            raise Untraceable(otherwise)
        return int(shape[0])

    def __int__(self) -> NoReturn:
        """Refused."""
        raise Untraceable("it makes a Python number of a value")

    __float__ = __index__ = __int__

    def __repr__(self) -> str:
        """Readable form."""
        return f"<value {self.number} of a recorded function>"


def recorded_in(value: Any) -> Iterator[Recorded]:
    """Recorded values in an argument."""
    yield from instances(value, Recorded)


def instances(value: Any, kind: type[Kind]) -> Iterator[Kind]:
    """What is of a kind in an argument."""
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
    """Argument with values in the places of recorded ones."""
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
    """Function that does `put` to one argument, with as little as that takes."""
    if isinstance(value, Recorded):
        return itemgetter(value.number)
    if next(recorded_in(value), None) is None:
        return lambda _: value
    return partial(put, value)


class Path(tuple[Any, ...]):
    """Keys that lead to one value of a result that holds others in others."""

    __slots__ = ()


def picked(made: Any, key: Any) -> Any:
    """One value of a result."""
    if isinstance(key, Path):
        for one in key:
            made = made[one]
        return made
    return made if key is None else made[key]


def frozen(value: Any) -> Any:
    """Copy of the containers of an argument, which the function may change after the call."""
    if isinstance(value, list | dict):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        made = [(key, frozen(one)) for key, one in items]
        return dict(made) if isinstance(value, dict) else [one for _, one in made]
    return tuple(frozen(one) for one in value) if type(value) is tuple else value

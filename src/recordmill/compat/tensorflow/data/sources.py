"""Where elements come from: values in memory, ranges, generators, names of files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core import dtypes
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError, UnknownError
from recordmill.compat.tensorflow.core.sparse import SparseTensor
from recordmill.compat.tensorflow.core.tensor import Tensor, as_tensor
from recordmill.compat.tensorflow.data.elements import (
    INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY,
    Element,
    Failed,
    Node,
    Step,
    Way,
)
from recordmill.compat.tensorflow.data.ragged_rows import ragged_row
from recordmill.compat.tensorflow.data.specs import spec_of, without_axis
from recordmill.compat.tensorflow.data.structures import leaves, mapped, row_of, same_form, to_tensors
from recordmill.compat.tensorflow.data.tables import Row, Table
from recordmill.compat.tensorflow.ops.specs import TensorSpec


class Single(Node):
    """One element."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self._value = to_tensors(value)

    def iterate(self, way: Way) -> Iterator[Step]:  # noqa: ARG002
        """Give the element."""
        yield Element(self._value)

    def cardinality(self) -> int:
        """One."""
        return 1

    def spec(self) -> Any:
        """Specs of the element."""
        return spec_of(self._value)

    def sample(self) -> Iterator[Any]:
        """The element."""
        yield self._value


class Slices(Node):
    """Rows of tensors."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self._value = to_tensors(value)
        shapes = [leaf.shape for leaf in leaves(self._value)]
        if any(not shape.rank for shape in shapes):
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        lengths = [shape[0] for shape in shapes]
        for length in lengths:
            if length != lengths[0]:
                raise ValueError(f"Dimensions {lengths[0]} and {length} are not compatible")
        self._length = int(lengths[0]) if lengths else 0

    def iterate(self, way: Way) -> Iterator[Step]:  # noqa: ARG002
        """Give the rows; those of tensors are made when somebody looks at them."""
        if not all(type(leaf) is Tensor for leaf in leaves(self._value)):
            return (Element(value) for value in self.sample())
        table = Table(self._value)
        return (Row(table, position) for position in range(self._length))

    def cardinality(self) -> int:
        """Number of rows."""
        return self._length

    def spec(self) -> Any:
        """Specs of a row."""
        return without_axis(spec_of(self._value))

    def sample(self) -> Iterator[Any]:
        """The rows."""
        for position in range(self._length):
            yield mapped(lambda leaf, at=position: _row(leaf, at), self._value)


def _row(leaf: Any, position: int) -> Any:
    if isinstance(leaf, SparseTensor):
        indices = leaf.indices.values
        inside = indices[:, 0] == position
        parts = indices[inside, 1:], leaf.values.values[inside], leaf.dense_shape.values[1:]
        return SparseTensor(*map(Tensor, parts))
    return row_of(leaf.values, position) if isinstance(leaf, Tensor) else ragged_row(leaf, position)


class Range(Node):
    """Whole numbers from a start to a stop."""

    def __init__(self, *bounds: int, output_type: Any = dtypes.int64) -> None:
        super().__init__()
        if len(bounds) == 3 and bounds[2] == 0:
            raise InvalidArgumentError("step must be a non-zero integer.")
        self._range, self._dtype = range(*bounds), dtypes.as_dtype(output_type)

    def iterate(self, way: Way) -> Iterator[Step]:  # noqa: ARG002
        """Give the numbers."""
        return (Element(value) for value in self.sample())

    def cardinality(self) -> int:
        """How many they are."""
        return len(self._range)

    def spec(self) -> Any:
        """A number."""
        return TensorSpec([], self._dtype)

    def sample(self) -> Iterator[Any]:
        """The numbers."""
        numpy = self._dtype.numpy_dtype
        for number in self._range:
            yield Tensor(np.array(number, numpy))


class Random(Node):
    """Whole numbers of 32 bits without end; NumPy's generator, not TensorFlow's."""

    def __init__(self, seed: int | None = None) -> None:
        super().__init__()
        self._seed = np.random.SeedSequence(seed).entropy

    def iterate(self, way: Way) -> Iterator[Step]:  # noqa: ARG002
        """Give the numbers."""
        return (Element(value) for value in self.sample())

    def cardinality(self) -> int:
        """Without end."""
        return INFINITE_CARDINALITY

    def spec(self) -> Any:
        """A number."""
        return TensorSpec([], dtypes.int64)

    def sample(self) -> Iterator[Any]:
        """The numbers."""
        drawn = np.random.default_rng(self._seed)
        while True:
            yield Tensor(np.array(drawn.integers(2**32), np.int64))


class FromGenerator(Node):
    """What a function of the user yields."""

    runs_python = True

    def __init__(self, function: Callable[..., Any], signature: Any, args: tuple[Any, ...]) -> None:
        super().__init__()
        self._function, self._signature = function, signature
        self._args = tuple(as_tensor(one).numpy() for one in args)

    def iterate(self, way: Way) -> Iterator[Step]:  # noqa: ARG002
        """Give what it yields, converted and checked."""
        try:
            for value in iter(self._function(*self._args)):
                yield self._step(value)
        except Exception as error:  # noqa: BLE001 (it is told to the caller, as TensorFlow does)
            kind = InvalidArgumentError if isinstance(error, TypeError | ValueError) else UnknownError
            told = kind(f"{type(error).__name__}: {error}", hint="it was raised by the generator")
            told.__cause__ = error
            yield Failed(told)

    def _step(self, value: Any) -> Step:
        """Element of a value; one that is not as declared fails, and the generator goes on."""
        try:
            return Element(self._checked(value))
        except InvalidArgumentError as error:
            return Failed(error)

    def cardinality(self) -> int:
        """Not known."""
        return UNKNOWN_CARDINALITY

    def spec(self) -> Any:
        """What was declared."""
        return self._signature

    def sample(self) -> Iterator[Any]:
        """What it yields."""
        return (self._checked(value) for value in iter(self._function(*self._args)))

    def _checked(self, value: Any) -> Any:
        if isinstance(self._signature, TensorSpec):
            return _as_declared(self._signature, value)  # a tuple, too, is one tensor
        if isinstance(value, list) and isinstance(self._signature, tuple):
            value = tuple(value)
        if not same_form(self._signature, value):
            expected = mapped(lambda leaf: leaf.dtype, self._signature)
            raise InvalidArgumentError(
                "TypeError: `generator` yielded an element that did not match the expected structure. "
                f"The expected structure was {expected}, but the yielded element was {value}."
            )
        return mapped(_as_declared, self._signature, value)


def _as_declared(spec: Any, value: Any) -> Any:
    if not isinstance(spec, TensorSpec):
        return value
    try:
        array: Any = as_tensor(value, None if isinstance(value, Tensor) else spec.dtype).values
    except (TypeError, ValueError, OverflowError):
        array = None
    if array is None or array.dtype != spec.dtype.numpy_dtype:
        raise InvalidArgumentError(
            "TypeError: `generator` yielded an element that could not be converted to the expected type. "
            f"The expected type was {spec.dtype.name}, but the yielded element was {value}."
        )
    if not spec.shape.is_compatible_with(array.shape):
        raise InvalidArgumentError(
            f"TypeError: `generator` yielded an element of shape {array.shape} where an element of shape "
            f"{spec.shape} was expected."
        )
    return Tensor(array)

"""Pipeline nodes without inputs: values in memory, slices of tensors, ranges, random numbers and generators."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core import dtypes
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError, UnknownError
from recordmill.compat.tensorflow.core.shapes import TensorShape
from recordmill.compat.tensorflow.core.sparse import SparseTensor
from recordmill.compat.tensorflow.core.tensor import Tensor, as_tensor
from recordmill.compat.tensorflow.data.collate import ElementTable, TableRow
from recordmill.compat.tensorflow.data.elements import (
    INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY,
    Element,
    ExecutionOptions,
    FailedElement,
    Node,
    Step,
)
from recordmill.compat.tensorflow.data.ragged_rows import take_ragged_row
from recordmill.compat.tensorflow.data.structures import (
    drop_batch_axis,
    has_same_structure,
    leaves,
    map_structure,
    spec_of,
    take_row,
    to_tensors,
)
from recordmill.compat.tensorflow.ops.specs import TensorSpec


class Source(Node):
    """Base class of nodes without inputs. `iterate_sample_values` yields the values of all elements."""

    def iterate(self, execution: ExecutionOptions) -> Iterator[Step]:  # noqa: ARG002
        return map(Element, self.iterate_sample_values())


class ValueList(Source):
    """Elements from a list of values with a common spec."""

    def __init__(self, values: list[Any], spec: Any) -> None:
        super().__init__()
        self._values, self._spec = values, spec

    def iterate_sample_values(self) -> Iterator[Any]:
        return iter(self._values)

    def cardinality(self) -> int:
        return len(self._values)

    def spec(self) -> Any:
        return self._spec


class SingleElement(ValueList):
    """Node of ``Dataset.from_tensors``: a single element."""

    def __init__(self, value: Any) -> None:
        element = to_tensors(value)
        super().__init__([element], spec_of(element))


class TensorSlices(Source):
    """Slices of tensors along the first axis."""

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

    def iterate(self, execution: ExecutionOptions) -> Iterator[Step]:
        """Yield the slices; a slice of a dense tensor is copied only when its value is read."""
        if not all(type(leaf) is Tensor for leaf in leaves(self._value)):
            return super().iterate(execution)
        table = ElementTable(self._value)
        return (TableRow(table, position) for position in range(self._length))

    def cardinality(self) -> int:
        return self._length

    def spec(self) -> Any:
        return drop_batch_axis(spec_of(self._value))

    def iterate_sample_values(self) -> Iterator[Any]:
        for position in range(self._length):
            yield map_structure(lambda leaf, at=position: _slice_leaf(leaf, at), self._value)


def _slice_leaf(leaf: Any, position: int) -> Any:
    if isinstance(leaf, Tensor):
        return take_row(leaf.values, position)
    if not isinstance(leaf, SparseTensor):
        return take_ragged_row(leaf, position)
    indices = leaf.indices.values
    inside = indices[:, 0] == position
    parts = indices[inside, 1:], leaf.values.values[inside], leaf.dense_shape.values[1:]
    return SparseTensor(*map(Tensor, parts))


class Range(Source):
    """The integers of a range, as in Python's `range`."""

    def __init__(self, *bounds: int, output_type: Any = dtypes.int64) -> None:
        super().__init__()
        if len(bounds) == 3 and bounds[2] == 0:
            raise InvalidArgumentError("step must be a non-zero integer")
        self._range, self._dtype = range(*bounds), dtypes.as_dtype(output_type)

    def cardinality(self) -> int:
        return len(self._range)

    def spec(self) -> Any:
        return TensorSpec([], self._dtype)

    def iterate_sample_values(self) -> Iterator[Any]:
        dtype = self._dtype.numpy_dtype
        return (Tensor(np.array(number, dtype)) for number in self._range)


class RandomChoices(Source):
    """Endless sequence of random input indices for `ChooseInput`; `weights` are the probabilities of the inputs."""

    def __init__(self, weights: Any, seed: int | None, *, reshuffle: bool) -> None:
        super().__init__()
        self._weights = weights
        self._seed: Any = np.random.SeedSequence(None if seed is None else abs(seed)).entropy
        self._reshuffle = reshuffle

    def iterate_sample_values(self) -> Iterator[Any]:
        generator = np.random.default_rng([self._seed, self.begin_pass() if self._reshuffle else 0])
        while True:
            yield Tensor(np.array(generator.choice(len(self._weights), p=self._weights), np.int64))

    def cardinality(self) -> int:
        return INFINITE_CARDINALITY

    def spec(self) -> Any:
        return TensorSpec([], dtypes.int64)


class FromGenerator(Node):
    """Values that a user's generator function yields, converted to the dtypes of a signature."""

    runs_python = True

    def __init__(self, function: Callable[..., Any], signature: Any, args: tuple[Any, ...]) -> None:
        super().__init__()
        self._function, self._signature = function, signature
        self._args = tuple(as_tensor(one).numpy() for one in args)

    def iterate(self, execution: ExecutionOptions) -> Iterator[Step]:  # noqa: ARG002
        """Yield the converted values; if the generator raises an error, the error is the last element."""
        try:
            for value in iter(self._function(*self._args)):
                yield self._convert_to_element(value)
        except Exception as error:  # noqa: BLE001 (raised where the element is requested)
            kind = InvalidArgumentError if isinstance(error, TypeError | ValueError) else UnknownError
            translated = kind(f"{type(error).__name__}: {error}", hint="the generator raised this error")
            translated.__cause__ = error
            yield FailedElement(translated)

    def _convert_to_element(self, value: Any) -> Step:
        try:
            return Element(self._convert_yielded(value))
        except InvalidArgumentError as error:  # An invalid value does not stop the generator.
            return FailedElement(error)

    def cardinality(self) -> int:
        return UNKNOWN_CARDINALITY

    def spec(self) -> Any:
        return self._signature

    def iterate_sample_values(self) -> Iterator[Any]:
        return map(self._convert_yielded, iter(self._function(*self._args)))

    def _convert_yielded(self, value: Any) -> Any:
        if isinstance(self._signature, TensorSpec):  # Even if the value is a tuple, it becomes one tensor.
            return _convert_leaf_by_spec(self._signature, value)
        if isinstance(value, list) and isinstance(self._signature, tuple):
            value = tuple(value)
        if not has_same_structure(self._signature, value):
            raise InvalidArgumentError(
                f"`generator` must yield values with the declared structure {self._signature}, got {value}"
            )
        return map_structure(_convert_leaf_by_spec, self._signature, value)


def _convert_leaf_by_spec(spec: Any, value: Any) -> Any:
    if not isinstance(spec, TensorSpec):
        return value
    try:
        array: Any = as_tensor(value, None if isinstance(value, Tensor) else spec.dtype).values
    except (TypeError, ValueError, OverflowError):
        array = None
    if array is None or array.dtype != spec.dtype.numpy_dtype:
        raise InvalidArgumentError(f"`generator` yielded {value}, which could not be converted to {spec.dtype.name}")
    if not spec.shape.is_compatible_with(array.shape):
        raise InvalidArgumentError(f"`generator` yielded a value of shape {array.shape}, expected shape {spec.shape}")
    return Tensor(array)


def build_signature(types: Any, shapes: Any = None) -> Any:
    """Combine structures of dtypes and of shapes into a structure of specs."""
    if shapes is None:
        return map_structure(lambda dtype: TensorSpec(None, dtype), types)
    if isinstance(types, tuple):
        return tuple(build_signature(dtype, shape) for dtype, shape in zip(types, shapes, strict=True))
    if isinstance(types, dict):
        return {key: build_signature(types[key], shapes[key]) for key in types}
    return TensorSpec(TensorShape(shapes), types)

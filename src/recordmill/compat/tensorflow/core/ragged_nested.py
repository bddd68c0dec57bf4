"""What ragged tensors of several ragged axes are made of, and their axes put together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from recordmill.compat.tensorflow.core.dtypes import as_dtype
from recordmill.compat.tensorflow.core.tensor import Tensor, array_of, wrap


class Nested:
    """Methods of `RaggedTensor` that look at all of its ragged axes."""

    __slots__ = ()

    @classmethod
    def from_nested_row_splits(
        cls, flat_values: Any, nested_row_splits: Sequence[Any], name: Any = None, validate: bool = True
    ) -> Any:
        """Rows of rows, of splits from the outermost to the innermost."""
        return cls._nested("from_row_splits", flat_values, nested_row_splits, name, validate)

    @classmethod
    def from_nested_row_lengths(
        cls, flat_values: Any, nested_row_lengths: Sequence[Any], name: Any = None, validate: bool = True
    ) -> Any:
        """Rows of rows, of lengths from the outermost to the innermost."""
        return cls._nested("from_row_lengths", flat_values, nested_row_lengths, name, validate)

    @classmethod
    def _nested(cls, way: str, values: Any, levels: Any, name: Any, validate: bool) -> Any:
        if isinstance(levels, Tensor):
            raise TypeError(
                f"Argument `nested_{way.removeprefix('from_')}` must be a list of Tensors. Received {levels.numpy()}."
            )
        found = values
        for level in reversed(levels):
            found = getattr(cls, way)(found, level, name, validate)
        return found

    def nested_value_rowids(self: Any, name: Any = None) -> tuple[Tensor, ...]:
        """Row number of each value, for every ragged axis from the outermost on."""
        del name
        return tuple(
            wrap(np.repeat(np.arange(len(one.values) - 1, dtype=one.values.dtype), np.diff(one.values)))
            for one in self.nested_row_splits
        )

    def with_row_splits_dtype(self: Any, dtype: Any) -> Any:
        """The same rows, with splits of another dtype."""
        kind = as_dtype(dtype).numpy_dtype
        if kind not in (np.int32, np.int64):
            raise ValueError(f"Argument `row_splits` dtype must be int32 or int64. Received {kind}.")
        inner = self.values.with_row_splits_dtype(dtype) if isinstance(self.values, Nested) else self.values
        return type(self)(inner, self.row_splits.values.astype(kind), self.uniform_row_length)

    def merge_dims(self: Self, outer_axis: int, inner_axis: int) -> Any:
        """Axes from one to another as a single one."""
        this: Any = self
        rank = len(this.shape.as_list())
        first, last = (int(array_of(one)) for one in (outer_axis, inner_axis))
        for name, one in (("outer_axis", first), ("inner_axis", last)):
            if not -rank <= one < rank:
                raise ValueError(f"{name}={one} out of bounds: expected {-rank}<={name}<{rank}")
        first, last = first % rank, last % rank
        if first > last:
            told = f"outer_axis ({outer_axis}) to be less than or equal to inner_axis ({inner_axis})"
            raise ValueError(f"Expected {told}.")
        return _merged(this, first, last)


def _merged(given: Any, first: int, last: int) -> Any:
    if first == last:
        return given
    if isinstance(given, Tensor):
        shape = given.values.shape
        return wrap(given.values.reshape(*shape[:first], -1, *shape[last + 1 :]))
    if first > 1:
        return given.with_values(_merged(given.values, first - 1, last - 1))
    splits, inner = given.row_splits.values, given.values
    for _ in range(last - 1):
        if isinstance(inner, Tensor):
            splits = splits * inner.values.shape[1]
            inner = wrap(inner.values.reshape(-1, *inner.values.shape[2:]))
        else:
            splits, inner = inner.row_splits.values[splits], inner.values
    return type(given)(inner, splits) if first else inner

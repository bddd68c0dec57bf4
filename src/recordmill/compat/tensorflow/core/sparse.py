"""Sparse tensors: the values that are there, and where."""

from __future__ import annotations

from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core import dtypes
from recordmill.compat.tensorflow.core.dispatch import op, run
from recordmill.compat.tensorflow.core.dtypes import DType
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.no_arithmetic import NoArithmetic
from recordmill.compat.tensorflow.core.shapes import TensorShape
from recordmill.compat.tensorflow.core.tensor import Tensor, array_of, as_tensor


class SparseTensor(NoArithmetic):
    """Values at indices of a larger array that is otherwise empty."""

    __slots__ = ("_dense_shape", "_indices", "_values")

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        self._indices = as_tensor(indices, None if isinstance(indices, Tensor) else dtypes.int64)
        self._values = as_tensor(values)
        self._dense_shape = as_tensor(dense_shape, None if isinstance(dense_shape, Tensor) else dtypes.int64)
        shapes = self._indices.shape, self._values.shape, self._dense_shape.shape
        if [shape.rank for shape in shapes] != [2, 1, 1] or shapes[0].as_list() != [shapes[1][0], shapes[2][0]]:
            raise ValueError(
                f"indices of shape (n, rank), values of shape (n,) and a dense_shape of shape (rank,) belong together, "
                f"not {shapes[0]}, {shapes[1]} and {shapes[2]}"
            )

    @property
    def indices(self) -> Tensor:
        """Places of the values; int64, shape (n, rank)."""
        return self._indices

    @property
    def values(self) -> Tensor:
        """Values; shape (n,)."""
        return self._values

    @property
    def dense_shape(self) -> Tensor:
        """Shape of the whole; int64, shape (rank,)."""
        return self._dense_shape

    @property
    def shape(self) -> TensorShape:
        """Shape of the whole."""
        return TensorShape(self.dense_shape.values.tolist())

    @property
    def dtype(self) -> DType:
        """Of the values."""
        return self._values.dtype

    def get_shape(self) -> TensorShape:
        """Shape of the whole."""
        return self.shape

    def with_values(self, new_values: Any) -> SparseTensor:
        """Other values at the same places."""
        return SparseTensor(self.indices, new_values, self.dense_shape)

    def __mul__(self, other: Any) -> Any:
        """Product with a dense tensor that broadcasts to the shape, where there are values."""
        return run("math.multiply", self, other)

    def __truediv__(self, other: Any) -> Any:
        """Quotient by a dense tensor that broadcasts to the shape, where there are values."""
        return run("math.truediv", self, other)

    def __repr__(self) -> str:
        """TensorFlow's spelling."""
        parts = self.indices, self.values, self.dense_shape
        return "SparseTensor(indices={!s}, values={!s}, dense_shape={!s})".format(*parts)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the parts."""
        return SparseTensor, (self.indices, self.values, self.dense_shape)


class FullVector(SparseTensor):
    """Sparse tensor of one axis that has a value at each place, in order."""

    __slots__ = ()

    def __init__(self, values: Tensor) -> None:
        self._values = values

    @property
    def indices(self) -> Tensor:
        """All places; int64, shape (n, 1)."""
        return Tensor(np.arange(len(self._values.values), dtype=np.int64)[:, None])

    @property
    def dense_shape(self) -> Tensor:
        """Number of the values; int64, shape (1,)."""
        return Tensor(np.array(self._values.values.shape, np.int64))


@op("sparse.to_dense")
def to_dense(
    sp_input: SparseTensor, default_value: Any = None, validate_indices: bool = True, name: Any = None
) -> Tensor:
    """Make a whole array of a sparse tensor."""
    del name
    if not isinstance(sp_input, SparseTensor):
        raise TypeError(f"Input must be a SparseTensor, not {type(sp_input).__name__}.")
    if isinstance(sp_input, FullVector):
        return sp_input.values
    shape = tuple(sp_input.dense_shape.values.tolist())
    indices, values = sp_input.indices.values, sp_input.values.values
    _check_places(indices, shape, validate_indices)
    if default_value is None:
        default_value = b"" if values.dtype == object else 0
    dense = np.empty(shape, values.dtype)
    dense[...] = array_of(default_value, sp_input.dtype)[()]
    dense[tuple(indices.T)] = values
    return Tensor(dense)


def _check_places(indices: Any, shape: tuple[int, ...], ordered: bool) -> None:
    outside = np.flatnonzero(((indices < 0) | (indices >= np.array(shape, np.int64))).any(axis=1))
    if len(outside):
        place = outside[0]
        raise InvalidArgumentError(
            f"indices[{place}] = {indices[place].tolist()} is out of bounds: need 0 <= index < {list(shape)}"
        )
    if ordered and len(indices) > 1:
        flat = np.ravel_multi_index(tuple(indices.T), shape) if shape else np.zeros(len(indices), np.int64)
        wrong = np.flatnonzero(np.diff(flat) <= 0)
        if len(wrong):
            place = wrong[0] + 1
            reason = "is repeated" if flat[place] == flat[place - 1] else "is out of order"
            raise InvalidArgumentError(f"indices[{place}] = {indices[place].tolist()} {reason}")

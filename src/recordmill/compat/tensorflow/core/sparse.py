"""``tf.SparseTensor``: values with their indices in a dense array; conversion to and from dense tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core import dtypes
from recordmill.compat.tensorflow.core.composite import CompositeTensor
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import DType
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.shapes import TensorShape
from recordmill.compat.tensorflow.core.tensor import Tensor, array_of, as_tensor


class SparseTensor(CompositeTensor):
    """``tf.SparseTensor``: values, and their indices in a dense array; arithmetic is not supported."""

    __slots__ = ("_dense_shape", "_indices", "_values")

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        self._indices = as_tensor(indices, None if isinstance(indices, Tensor) else dtypes.int64)
        self._values = as_tensor(values)
        self._dense_shape = as_tensor(dense_shape, None if isinstance(dense_shape, Tensor) else dtypes.int64)
        shapes = self._indices.shape, self._values.shape, self._dense_shape.shape
        if [shape.rank for shape in shapes] != [2, 1, 1] or shapes[0].as_list() != [shapes[1][0], shapes[2][0]]:
            raise ValueError(
                "indices, values and dense_shape must have the shapes (n, rank), (n,) and (rank,), "
                f"got {shapes[0]}, {shapes[1]} and {shapes[2]}"
            )

    @property
    def indices(self) -> Tensor:
        """Indices of the values: int64, shape (n, rank)."""
        return self._indices

    @property
    def values(self) -> Tensor:
        """Values: shape (n,)."""
        return self._values

    @property
    def dense_shape(self) -> Tensor:
        """Shape of the dense array that the tensor stands for: int64, shape (rank,)."""
        return self._dense_shape

    @property
    def shape(self) -> TensorShape:
        """Shape of the dense array that the tensor stands for."""
        return TensorShape(self.dense_shape.values.tolist())

    @property
    def dtype(self) -> DType:
        """Dtype of the values."""
        return self._values.dtype

    def get_shape(self) -> TensorShape:
        """Return the shape of the dense array that the tensor stands for."""
        return self.shape

    def with_values(self, new_values: Any) -> SparseTensor:
        """Return a sparse tensor with the same indices and the given values."""
        return SparseTensor(self.indices, new_values, self.dense_shape)

    def __repr__(self) -> str:
        return f"SparseTensor(indices={self.indices!s}, values={self.values!s}, dense_shape={self.dense_shape!s})"

    def __reduce__(self) -> tuple[Any, ...]:
        return SparseTensor, (self.indices, self.values, self.dense_shape)


class FullSparseVector(SparseTensor):
    """One-dimensional sparse tensor that has a value at every index; the values are sorted by index."""

    __slots__ = ()

    def __init__(self, values: Tensor) -> None:
        self._values = values

    @property
    def indices(self) -> Tensor:
        """Indices of the values, from 0 to n - 1: int64, shape (n, 1)."""
        return Tensor(np.arange(len(self._values.values), dtype=np.int64)[:, None])

    @property
    def dense_shape(self) -> Tensor:
        """Shape of the dense array: an int64 vector whose only element is the number of values."""
        return Tensor(np.array(self._values.values.shape, np.int64))


@op("sparse.to_dense")
def to_dense(
    sp_input: SparseTensor, default_value: Any = None, validate_indices: bool = True, name: Any = None
) -> Tensor:
    """Convert a sparse tensor to a dense one; fill the gaps with `default_value`."""
    del name
    _check_sparse(sp_input)
    if isinstance(sp_input, FullSparseVector):
        return sp_input.values
    shape = tuple(sp_input.dense_shape.values.tolist())
    indices, values = sp_input.indices.values, sp_input.values.values
    _check_indices(indices, shape, validate_indices)
    if default_value is None:
        default_value = b"" if values.dtype == object else 0
    dense = np.empty(shape, values.dtype)
    dense[...] = array_of(default_value, sp_input.dtype)[()]
    dense[tuple(indices.T)] = values
    return Tensor(dense)


@op("sparse.from_dense")
def from_dense(tensor: Any, name: Any = None) -> SparseTensor:
    """Convert a dense tensor to a sparse tensor, which omits zeros and empty strings."""
    del name
    array = array_of(tensor)
    present: Any = array != (b"" if array.dtype == object else 0)
    indices = np.argwhere(present).astype(np.int64)
    return SparseTensor(Tensor(indices), Tensor(array[present]), Tensor(np.array(array.shape, np.int64)))


@op("sparse.reorder")
def reorder(sp_input: SparseTensor, name: Any = None) -> SparseTensor:
    """Sort the values of a sparse tensor by their indices, in row-major order."""
    del name
    _check_sparse(sp_input)
    indices = sp_input.indices.values
    order = np.lexsort(indices.T[::-1])
    return SparseTensor(Tensor(indices[order]), Tensor(sp_input.values.values[order]), sp_input.dense_shape)


def _check_sparse(value: Any) -> None:
    if not isinstance(value, SparseTensor):
        raise TypeError(f"expected a SparseTensor, got {type(value).__name__}")


def _check_indices(indices: NDArray[Any], shape: tuple[int, ...], ordered: bool) -> None:
    outside = np.flatnonzero(((indices < 0) | (indices >= np.array(shape, np.int64))).any(axis=1))
    if len(outside):
        first = outside[0]
        raise InvalidArgumentError(
            f"indices[{first}] = {indices[first].tolist()} is out of bounds for shape {list(shape)}"
        )
    if ordered and len(indices) > 1:
        flat = np.ravel_multi_index(tuple(indices.T), shape) if shape else np.zeros(len(indices), np.int64)
        wrong = np.flatnonzero(np.diff(flat) <= 0)
        if len(wrong):
            first = wrong[0] + 1
            reason = "is repeated" if flat[first] == flat[first - 1] else "is out of order"
            raise InvalidArgumentError(f"indices[{first}] = {indices[first].tolist()} {reason}")

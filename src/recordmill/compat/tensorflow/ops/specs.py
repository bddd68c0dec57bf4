"""``tf.TensorSpec``, ``tf.SparseTensorSpec`` and ``tf.RaggedTensorSpec``: shapes and dtypes of tensors."""

from __future__ import annotations

from typing import Any

from recordmill.compat.tensorflow.core.dtypes import DType, as_dtype, float32, int64
from recordmill.compat.tensorflow.core.ragged import RaggedTensor
from recordmill.compat.tensorflow.core.shapes import TensorShape
from recordmill.compat.tensorflow.core.sparse import SparseTensor
from recordmill.compat.tensorflow.core.tensor import Tensor, as_tensor


class _TypeSpec:
    """Base class of specs. Specs are equal if their classes and all their constructor arguments are equal."""

    _parts: tuple[Any, ...]
    value_type: type

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other._parts == self._parts

    def __hash__(self) -> int:
        return hash((type(self), self._parts))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._parts

    @property
    def shape(self) -> TensorShape:
        """Lengths of the axes."""
        shape: TensorShape = self._parts[0]
        return shape

    @property
    def dtype(self) -> DType:
        """Dtype of the values."""
        dtype: DType = self._parts[1]
        return dtype

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Return whether a tensor or spec has the same tensor class, dtype and ragged rank, and a compatible shape."""
        other: Any = spec_or_value
        kind: Any = type(self) if isinstance(other, _TypeSpec) else self.value_type
        return (
            isinstance(other, kind)
            and bool(other.dtype == self.dtype)
            and self.shape.is_compatible_with(other.shape)
            and getattr(other, "ragged_rank", None) == getattr(self, "ragged_rank", None)
        )


class TensorSpec(_TypeSpec):
    """Shape and dtype of a tensor."""

    value_type = Tensor

    def __init__(self, shape: Any, dtype: Any = float32, name: str | None = None) -> None:
        self._parts = (TensorShape(shape), as_dtype(dtype), name)

    @property
    def name(self) -> str | None:
        """Name of the tensor, or None."""
        name: str | None = self._parts[2]
        return name

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> TensorSpec:
        """Return the spec of a tensor."""
        return cls(tensor.shape, tensor.dtype, name)

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> TensorSpec:
        """Return a copy of a spec. If `name` is given, the copy has this name."""
        return cls(spec.shape, spec.dtype, name or spec.name)

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r})"


class SparseTensorSpec(_TypeSpec):
    """Shape and dtype of a sparse tensor."""

    value_type = SparseTensor

    def __init__(self, shape: Any = None, dtype: Any = float32) -> None:
        self._parts = (TensorShape(shape), as_dtype(dtype))

    def __repr__(self) -> str:
        return f"SparseTensorSpec({self.shape!r}, {self.dtype!r})"


class RaggedTensorSpec(_TypeSpec):
    """Shape, dtype and ragged rank of a ragged tensor."""

    value_type = RaggedTensor

    def __init__(
        self, shape: Any = None, dtype: Any = float32, ragged_rank: int | None = None, row_splits_dtype: Any = int64
    ) -> None:
        lengths = TensorShape(shape)
        if ragged_rank is None:
            if lengths.rank is None:
                raise ValueError("ragged_rank must be given if the rank of the shape is unknown")
            ragged_rank = lengths.rank - 1
        self._parts = (lengths, as_dtype(dtype), ragged_rank, as_dtype(row_splits_dtype))

    @property
    def ragged_rank(self) -> int:
        """Number of ragged axes."""
        rank: int = self._parts[2]
        return rank

    @property
    def row_splits_dtype(self) -> DType:
        """Dtype of the row splits."""
        dtype: DType = self._parts[3]
        return dtype

    def __repr__(self) -> str:
        return f"RaggedTensorSpec({self.shape!r}, {self.dtype!r}, {self.ragged_rank}, {self.row_splits_dtype!r})"


def type_spec_from_value(value: Any) -> TensorSpec | SparseTensorSpec | RaggedTensorSpec:
    """``tf.type_spec_from_value``: return the spec of a dense, sparse or ragged tensor."""
    if isinstance(value, SparseTensor):
        return SparseTensorSpec(value.shape, value.dtype)
    if isinstance(value, RaggedTensor):
        return RaggedTensorSpec(value.shape, value.dtype, value.ragged_rank, value.row_splits.dtype)
    return TensorSpec.from_tensor(as_tensor(value))

"""``tf.Tensor``: an immutable wrapper of a NumPy array, with TensorFlow's dtypes, shapes and operators."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.allocator import keep_freed_memory
from recordmill.compat.tensorflow.core import dtypes
from recordmill.compat.tensorflow.core.arrays import array_of, wrap_scalar_in_array
from recordmill.compat.tensorflow.core.dtypes import DType
from recordmill.compat.tensorflow.core.operators import TensorOperators
from recordmill.compat.tensorflow.core.shapes import TensorShape

# Every operation allocates an array. Allocation is faster if the allocator keeps freed memory and reuses it.
keep_freed_memory()

__all__ = ["AnyTensor", "Tensor", "array_of", "as_tensor", "wrap"]


class Tensor(TensorOperators):
    """Array of values of one dtype; byte strings are stored in an array of objects."""

    __slots__ = ("_values",)

    def __init__(self, values: NDArray[Any]) -> None:
        self._values = values

    def numpy(self) -> Any:
        """Return the array, or a NumPy scalar if there are no axes."""
        return self._values if self._values.ndim else self._values[()]

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """Return the same value as the method `numpy`, for TensorFlow 1 programs."""
        del feed_dict, session
        return self.numpy()

    @property
    def values(self) -> NDArray[Any]:
        """Array of the values; for a scalar tensor, an array of shape ()."""
        return self._values

    @property
    def dtype(self) -> DType:
        """Dtype of the values."""
        return dtypes.as_dtype(self._values.dtype)

    @property
    def shape(self) -> TensorShape:
        """Lengths of the axes."""
        return TensorShape(self._values.shape)

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self._values.ndim

    def get_shape(self) -> TensorShape:
        """Return the lengths of the axes."""
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Raise ValueError unless the tensor has this shape."""
        if not self.shape.is_compatible_with(shape):
            raise ValueError(f"expected a tensor of shape {TensorShape(shape)}, got shape {self.shape}")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is None:  # NumPy 1 does not accept copy=None
            return np.asarray(self._values, dtype)
        return np.array(self._values, dtype, copy=copy)

    def __len__(self) -> int:
        if not self._values.ndim:
            raise TypeError("Scalar tensor has no `len()`")
        return len(self._values)

    def __iter__(self) -> Iterator[Tensor]:
        if not self._values.ndim:
            raise TypeError("Cannot iterate over a scalar tensor.")
        return (Tensor(wrap_scalar_in_array(row, self._values.dtype)) for row in self._values)

    def __bool__(self) -> bool:
        return bool(self._values)

    def __int__(self) -> int:
        return int(self._values)

    def __float__(self) -> float:
        return float(self._values)

    def __index__(self) -> int:
        return self._values.__index__()

    def __format__(self, spec: str) -> str:
        return format(self.numpy(), spec)

    def __repr__(self) -> str:
        text = repr(self._values) if self._values.ndim else repr(self._values.item())
        separator = "\n" if "\n" in text else ""
        return f"<tf.Tensor: shape={self.shape}, dtype={self.dtype.name}, numpy={separator}{text}>"

    def __str__(self) -> str:
        text = str(self.numpy())
        separator = "\n" if "\n" in text else ""
        return f"tf.Tensor({separator}{text}, shape={self.shape}, dtype={self.dtype.name})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Tensor, (self._values,)


class _AnyTensorType(type):
    """Metaclass of `AnyTensor`: makes every tensor an instance of `AnyTensor`, including symbolic tensors."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return Tensor(*args, **kwargs) if cls is AnyTensor else super().__call__(*args, **kwargs)

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, TensorOperators) if cls is AnyTensor else super().__instancecheck__(value)

    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(kind, TensorOperators) if cls is AnyTensor else super().__subclasscheck__(kind)


class AnyTensor(Tensor, metaclass=_AnyTensorType):
    """``tf.Tensor``: ``tf.Tensor(x)`` creates a `Tensor`; ``isinstance(x, tf.Tensor)`` accepts every kind of tensor."""

    __slots__ = ()


def as_tensor(value: Any, dtype: Any = None) -> Tensor:
    """Convert a value to a tensor."""
    return value if isinstance(value, Tensor) and dtype is None else Tensor(array_of(value, dtype))


def wrap(result: Any, dtype: Any = None) -> Tensor:
    """Convert the result of a NumPy function (an array or a scalar) to a tensor."""
    if isinstance(result, bytes):
        return Tensor(wrap_scalar_in_array(result, np.dtype(object)))
    return Tensor(np.asarray(result, dtype))

"""Tensors: NumPy arrays that are not changed, with TensorFlow's dtypes and shapes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.allocator import keep_freed_memory
from recordmill.compat.tensorflow.core import dtypes
from recordmill.compat.tensorflow.core.arrays import array_of, scalar_array
from recordmill.compat.tensorflow.core.dtypes import DType
from recordmill.compat.tensorflow.core.operators import Operators
from recordmill.compat.tensorflow.core.shapes import TensorShape

# Each operation makes a tensor, and lets go of some.
keep_freed_memory()

__all__ = ["Tensor", "array_of", "as_tensor", "wrap"]


class Tensor(Operators):
    """Values of one dtype in an array; byte strings lie in an array of objects."""

    __slots__ = ("_values",)

    def __init__(self, values: NDArray[Any]) -> None:
        self._values = values

    def numpy(self) -> Any:
        """Values as NumPy's."""
        return self._values if self._values.ndim else self._values[()]

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """Values as NumPy's: sessions of TensorFlow 1 have nothing to compute."""
        del feed_dict, session
        return self.numpy()

    @property
    def values(self) -> NDArray[Any]:
        """The array, also of a tensor without axes."""
        return self._values

    @property
    def dtype(self) -> DType:
        """TensorFlow's dtype."""
        return dtypes.as_dtype(self._values.dtype)

    @property
    def shape(self) -> TensorShape:
        """Lengths of the axes."""
        return TensorShape(self._values.shape)

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self._values.ndim

    @property
    def device(self) -> str:
        """Where it is: with the first processor."""
        return "/job:localhost/replica:0/task:0/device:CPU:0"

    def ref(self) -> Reference:
        """Something that is equal for the same tensor, and can be a key."""
        return Reference(self)

    def get_shape(self) -> TensorShape:
        """Lengths of the axes."""
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Assert a shape."""
        if not self.shape.is_compatible_with(shape):
            raise ValueError(f"Tensor's shape {self.shape} is not compatible with supplied shape {TensorShape(shape)}.")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Values for NumPy."""
        if copy is None:  # NumPy 1 does not know it
            return np.asarray(self._values, dtype)
        return np.array(self._values, dtype, copy=copy)

    def __len__(self) -> int:
        """Return the length of the first axis."""
        if not self._values.ndim:
            raise TypeError("Scalar tensor has no `len()`")
        return len(self._values)

    def __iter__(self) -> Iterator[Tensor]:
        """Iterate over the first axis."""
        if not self._values.ndim:
            raise TypeError("Cannot iterate over a scalar tensor.")
        return (Tensor(scalar_array(row, self._values.dtype)) for row in self._values)

    def __bool__(self) -> bool:
        """Truth of a single value."""
        return bool(self._values)

    def __int__(self) -> int:
        """Single value as a whole number."""
        return int(self._values)

    def __float__(self) -> float:
        """Single value as a floating-point number."""
        return float(self._values)

    def __index__(self) -> int:
        """Single whole number."""
        return self._values.__index__()

    def __format__(self, spec: str) -> str:
        """Format the values as NumPy does."""
        return format(self.numpy(), spec)

    def __repr__(self) -> str:
        """TensorFlow's spelling."""
        return f"<tf.Tensor: shape={self.shape}, dtype={self.dtype.name}, numpy={self._told()}>"

    def __str__(self) -> str:
        """TensorFlow's spelling."""
        text = str(self.numpy())
        return f"tf.Tensor({chr(10) * (chr(10) in text)}{text}, shape={self.shape}, dtype={self.dtype.name})"

    def _told(self) -> str:
        if not self._values.ndim:
            return repr(self._values.item())
        text = repr(self._values)
        return f"\n{text}" if "\n" in text else text

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the array."""
        return Tensor, (self._values,)


class Reference:
    """A tensor by its identity."""

    __slots__ = ("_tensor",)

    def __init__(self, tensor: Tensor) -> None:
        self._tensor = tensor

    def deref(self) -> Tensor:
        """Return the tensor."""
        return self._tensor

    def __eq__(self, other: object) -> bool:
        """Whether it is the same tensor."""
        return isinstance(other, Reference) and self._tensor is other._tensor

    def __hash__(self) -> int:
        """Hash of the identity."""
        return id(self._tensor)


def as_tensor(value: Any, dtype: Any = None) -> Tensor:
    """Make a tensor of a value."""
    return value if isinstance(value, Tensor) and dtype is None else Tensor(array_of(value, dtype))


def wrap(result: Any, dtype: Any = None) -> Tensor:
    """Make a tensor of what NumPy gave, which is no array where a result has no axes."""
    if isinstance(result, bytes):
        return Tensor(scalar_array(result, np.dtype(object)))
    return Tensor(np.asarray(result, dtype))

"""Tensors: NumPy arrays that are not changed, with TensorFlow's dtypes and shapes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core import dtypes
from recordmill.compat.tensorflow.core.dtypes import DType
from recordmill.compat.tensorflow.core.operators import Operators
from recordmill.compat.tensorflow.core.shapes import TensorShape


class Tensor(Operators):
    """Values of one dtype in an array; byte strings lie in an array of objects.

    Parameters
    ----------
    values : numpy.ndarray
        Used as it is, not copied; use `as_tensor` for anything else.
    """

    __slots__ = ("_values",)

    def __init__(self, values: NDArray[Any]) -> None:
        self._values = values

    def numpy(self) -> Any:
        """Values as NumPy's.

        Returns
        -------
        numpy.ndarray, numpy scalar or bytes
            A tensor without axes gives a scalar.
        """
        return self._values if self._values.ndim else self._values[()]

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

    def get_shape(self) -> TensorShape:
        """Lengths of the axes.

        Returns
        -------
        TensorShape
        """
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Assert a shape.

        Parameters
        ----------
        shape : TensorShape or what makes one

        Raises
        ------
        ValueError
            The tensor has another one.
        """
        if not self.shape.is_compatible_with(shape):
            raise ValueError(f"Tensor's shape {self.shape} is not compatible with supplied shape {TensorShape(shape)}.")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Values for NumPy."""
        return np.array(self._values, dtype=dtype, copy=copy)

    def __len__(self) -> int:
        """Return the length of the first axis."""
        if not self._values.ndim:
            raise TypeError("Scalar tensor has no `len()`")
        return len(self._values)

    def __iter__(self) -> Iterator[Tensor]:
        """Iterate over the first axis."""
        if not self._values.ndim:
            raise TypeError("Cannot iterate over a scalar tensor.")
        return (Tensor(_array_of(row, self._values.dtype)) for row in self._values)

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
        """Format a single value; anything else by its text."""
        return format(self.numpy(), spec) if not self._values.ndim else format(str(self), spec)

    def __repr__(self) -> str:
        """TensorFlow's spelling."""
        return f"<tf.Tensor: shape={self.shape}, dtype={self.dtype.name}, numpy={self.numpy()!r}>"

    def __str__(self) -> str:
        """TensorFlow's spelling."""
        return f"tf.Tensor({self.numpy()}, shape={self.shape}, dtype={self.dtype.name})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the array."""
        return Tensor, (self._values,)


def _array_of(value: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    if isinstance(value, np.ndarray):
        return value
    array: NDArray[Any] = np.empty((), dtype)
    array[()] = value
    return array


def array_of(value: Any, dtype: Any = None) -> NDArray[Any]:
    """Make the array that a tensor of a value holds.

    Parameters
    ----------
    value : array_like
        Numbers, truth values, strings, tensors, and nested lists of them. Python's floats are float32 and its whole
        numbers int32, or int64 if they need it, as TensorFlow reads them.
    dtype : DType or what names one, optional

    Returns
    -------
    numpy.ndarray
        Not copied where it need not be.

    Raises
    ------
    TypeError
        The values are not of that dtype, and no whole numbers that fit into it.
    ValueError
        Lists of different lengths, or no dtype of TensorFlow's.
    """
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    array = value.values if isinstance(value, Tensor) else _plain(value)
    return array if wanted is None or array.dtype == wanted.numpy_dtype else _converted(value, array, wanted)


def as_tensor(value: Any, dtype: Any = None) -> Tensor:
    """Make a tensor of a value.

    Parameters
    ----------
    value : array_like
    dtype : DType or what names one, optional

    Returns
    -------
    Tensor

    Raises
    ------
    TypeError, ValueError
        As `array_of`.
    """
    return value if isinstance(value, Tensor) and dtype is None else Tensor(array_of(value, dtype))


def _plain(value: Any) -> NDArray[Any]:
    if isinstance(value, np.ndarray | np.generic):
        array: NDArray[Any] = np.asarray(value)
        return _strings(array) if array.dtype.kind in "OSU" else array
    if isinstance(value, str | bytes):
        return _array_of(value.encode() if isinstance(value, str) else value, np.dtype(object))
    try:
        array = np.asarray(value)
    except ValueError:
        raise ValueError("Can't convert non-rectangular Python sequence to Tensor.") from None
    return _strings(array, value) if array.dtype.kind in "OSU" else _narrow(value, array)


def _narrow(value: Any, array: NDArray[Any]) -> NDArray[Any]:
    if _has_numpy_inside(value):
        return array
    if array.dtype == np.float64:
        return array.astype(np.float32)
    if array.dtype == np.int64 and (not array.size or np.iinfo(np.int32).min <= array.min() <= array.max() < 2**31):
        return array.astype(np.int32)
    return array


def _has_numpy_inside(value: Any) -> bool:
    while isinstance(value, list | tuple) and value:
        value = value[0]
    return isinstance(value, np.ndarray | np.generic | Tensor) or hasattr(value, "__array__")


def _strings(array: NDArray[Any], value: Any = None) -> NDArray[Any]:
    """Array of bytes objects; NumPy's own conversion would drop zero bytes at the ends of byte strings."""
    if value is not None:
        array = np.array(value, dtype=object)
    out: NDArray[Any] = np.empty(array.shape, dtype=object)
    for place, one in zip(np.ndindex(array.shape), array.ravel().tolist(), strict=True):
        out[place] = _string(one.numpy() if isinstance(one, Tensor) else one)
    return out


def _string(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode()
    if not isinstance(value, bytes):
        raise ValueError(  # noqa: TRY004 (TensorFlow's class)
            f"Attempt to convert a value ({value!r}) with an unsupported type ({type(value)}) to a Tensor."
        )
    return value


def _converted(value: Any, array: NDArray[Any], wanted: DType) -> NDArray[Any]:
    """Another dtype: only where TensorFlow converts by itself, from Python's numbers and NumPy's arrays."""
    if isinstance(value, Tensor):
        raise ValueError(  # noqa: TRY004 (TensorFlow's class)
            f"Tensor conversion requested dtype {wanted.name} for Tensor with dtype {value.dtype.name}: {value!r}"
        )
    refusal = f"Cannot convert {value!r} to EagerTensor of dtype {wanted.name}"
    if not wanted.is_numeric or array.dtype.kind not in ("iuf" if wanted.is_floating else "iu"):
        raise TypeError(refusal)
    converted = array.astype(wanted.numpy_dtype)
    if wanted.is_integer and not np.array_equal(converted, array):
        raise TypeError(refusal)
    return converted

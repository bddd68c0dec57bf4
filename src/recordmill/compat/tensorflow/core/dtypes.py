"""TensorFlow's names of dtypes, over NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np


class DType:
    """A dtype by TensorFlow's name.

    Equal to whatever names the same dtype: another DType, a NumPy dtype, a Python type or a string.
    """

    __slots__ = ("_numpy", "name")

    def __init__(self, name: str, numpy: Any) -> None:
        self.name = name
        self._numpy: np.dtype[Any] = np.dtype(numpy)

    @property
    def as_numpy_dtype(self) -> Any:
        """NumPy's scalar type; ``object`` for byte strings."""
        return object if self._numpy.kind == "O" else self._numpy.type

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """Dtype of the arrays that hold such values."""
        return self._numpy

    @property
    def base_dtype(self) -> DType:
        """Itself: there are no reference dtypes here."""
        return self

    @property
    def real_dtype(self) -> DType:
        """Of the parts of complex numbers; itself of others."""
        return {"complex64": float32, "complex128": float64}.get(self.name, self)

    @property
    def is_complex(self) -> bool:
        """Whether values are complex numbers."""
        return self._numpy.kind == "c"

    @property
    def limits(self) -> tuple[Any, Any]:
        """Range of pixels: 0 to 1 for floating-point numbers, else the whole range from 0."""
        return (0, 1) if self.is_floating else (0, self.max)

    @property
    def is_floating(self) -> bool:
        """Whether values are floating-point numbers."""
        return self._numpy.kind == "f"

    @property
    def is_integer(self) -> bool:
        """Whether values are whole numbers."""
        return self._numpy.kind in "iu"

    @property
    def is_unsigned(self) -> bool:
        """Whether values are whole numbers without a sign."""
        return self._numpy.kind == "u"

    @property
    def is_bool(self) -> bool:
        """Whether values are truth values."""
        return self._numpy.kind == "b"

    @property
    def is_numeric(self) -> bool:
        """Whether values are numbers."""
        return self._numpy.kind in "iuf"

    @property
    def size(self) -> int:
        """Bytes of a value; 1 for byte strings, as TensorFlow says."""
        return 1 if self._numpy.kind == "O" else self._numpy.itemsize

    @property
    def min(self) -> Any:
        """Smallest value of a number."""
        return np.finfo(self._numpy).min if self.is_floating else np.iinfo(self._numpy).min

    @property
    def max(self) -> Any:
        """Largest value of a number."""
        return np.finfo(self._numpy).max if self.is_floating else np.iinfo(self._numpy).max

    def __eq__(self, other: object) -> bool:
        """Compare by name, after finding out which dtype the other one is."""
        if other is None:
            return False
        try:
            return self.name == as_dtype(other).name
        except TypeError:
            return False

    def __hash__(self) -> int:
        """Hash of the name."""
        return hash(self.name)

    def __repr__(self) -> str:
        """TensorFlow's spelling."""
        return f"tf.{self.name}"

    def __str__(self) -> str:
        """TensorFlow's spelling in messages."""
        return f"<dtype: '{self.name}'>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by name."""
        return as_dtype, (self.name,)


float16 = half = DType("float16", np.float16)
float32 = DType("float32", np.float32)
float64 = double = DType("float64", np.float64)
int8 = DType("int8", np.int8)
int16 = DType("int16", np.int16)
int32 = DType("int32", np.int32)
int64 = DType("int64", np.int64)
uint8 = DType("uint8", np.uint8)
uint16 = DType("uint16", np.uint16)
uint32 = DType("uint32", np.uint32)
uint64 = DType("uint64", np.uint64)
complex64 = DType("complex64", np.complex64)
complex128 = DType("complex128", np.complex128)
bool_ = DType("bool", np.bool_)
string = DType("string", object)

_REAL = (float16, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64)
ALL = (*_REAL, complex64, complex128, bool_, string)
_BY_NAME = {dtype.name: dtype for dtype in ALL} | {"half": float16, "float": float32, "double": float64, "str": string}
_BY_TYPE: dict[Any, DType] = {float: float32, int: int32, bool: bool_, str: string, bytes: string, object: string}
_BY_NUMPY = {dtype.numpy_dtype: dtype for dtype in ALL}


def as_dtype(value: Any) -> DType:
    """Find the dtype that a value names."""
    if isinstance(value, DType):
        return value
    try:
        found = _BY_NAME.get(value) or _BY_TYPE.get(value)
    except TypeError:
        found = None
    return found or _of_numpy(value)


def _of_numpy(value: Any) -> DType:
    try:
        numpy: np.dtype[Any] = np.dtype(value)
    except TypeError:
        raise _no_dtype(value) from None
    if numpy.kind in "OSU":
        return string
    found = _BY_NUMPY.get(numpy) or _BY_NAME.get(numpy.name)  # names are slow, but tell also of other byte orders
    if found is None:
        raise _no_dtype(value)
    return found


def _no_dtype(value: Any) -> TypeError:
    return TypeError(f"Cannot convert the argument `type_value`: {value!r} to a TensorFlow DType.")

"""TensorFlow's dtypes, each of which wraps a NumPy dtype."""

from __future__ import annotations

from typing import Any

import numpy as np


class DType:
    """``tf.DType``: data type of a tensor; equal to NumPy dtypes, Python types and strings for the same type."""

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
        """NumPy dtype of the arrays that store values of this dtype."""
        return self._numpy

    @property
    def base_dtype(self) -> DType:
        """The dtype itself. Only TensorFlow's reference dtypes (like ``float32_ref``) have another base dtype."""
        return self

    @property
    def real_dtype(self) -> DType:
        """Dtype of the real and imaginary parts of complex numbers; for other numbers, the dtype itself."""
        return {"complex64": float32, "complex128": float64}.get(self.name, self)

    @property
    def is_complex(self) -> bool:
        """Whether values are complex numbers."""
        return self._numpy.kind == "c"

    @property
    def is_floating(self) -> bool:
        """Whether values are floating-point numbers."""
        return self._numpy.kind == "f" or self.name == "bfloat16"

    @property
    def is_integer(self) -> bool:
        """Whether values are integers."""
        return self._numpy.kind in "iu"

    @property
    def is_unsigned(self) -> bool:
        """Whether values are unsigned integers."""
        return self._numpy.kind == "u"

    @property
    def is_bool(self) -> bool:
        """Whether values are booleans."""
        return self._numpy.kind == "b"

    @property
    def is_numeric(self) -> bool:
        """Whether values are real numbers."""
        return self.is_floating or self.is_integer

    @property
    def size(self) -> int:
        """Number of bytes of a value, or 1 for byte strings."""
        return 1 if self._numpy.kind == "O" else self._numpy.itemsize

    @property
    def limits(self) -> tuple[Any, Any]:
        """Range of pixel values: (0, 1) for floating-point dtypes, (0, `max`) for integer dtypes."""
        return (0, 1) if self.is_floating else (0, self.max)

    @property
    def min(self) -> Any:
        """Smallest finite value of the dtype."""
        return self._value_range().min

    @property
    def max(self) -> Any:
        """Largest finite value of the dtype."""
        return self._value_range().max

    def _value_range(self) -> Any:
        if self.name == "bfloat16":
            import ml_dtypes

            return ml_dtypes.finfo(self._numpy)
        return np.finfo(self._numpy) if self.is_floating else np.iinfo(self._numpy)

    def __eq__(self, other: object) -> bool:
        if other is None:
            return False
        try:
            return self.name == as_dtype(other).name
        except TypeError:
            return False

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __str__(self) -> str:
        return f"<dtype: '{self.name}'>"

    def __reduce__(self) -> tuple[Any, ...]:
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


def __getattr__(name: str) -> DType:
    """Return ``bfloat16``, which needs the package ml_dtypes."""
    if name != "bfloat16":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        import ml_dtypes
    except ImportError:
        raise AttributeError("tf.bfloat16 requires the package ml_dtypes: pip install ml-dtypes", name=name) from None
    if name not in _BY_NAME:
        dtype = DType(name, ml_dtypes.bfloat16)
        _BY_NUMPY[dtype.numpy_dtype] = dtype
        _BY_NAME[name] = dtype
    return _BY_NAME[name]


def as_dtype(value: Any) -> DType:
    """``tf.as_dtype``: convert a NumPy dtype, a Python type or a name to a DType."""
    if isinstance(value, DType):
        return value
    try:
        found = _BY_NAME.get(value) or _BY_TYPE.get(value)
    except TypeError:
        found = None
    return found or _dtype_from_numpy(value)


def _dtype_from_numpy(value: Any) -> DType:
    if isinstance(value, str) and value == "bfloat16":
        return __getattr__("bfloat16")
    try:
        numpy: np.dtype[Any] = np.dtype(value)
    except TypeError:
        raise TypeError(f"Cannot convert the argument `type_value`: {value!r} to a TensorFlow DType.") from None
    if numpy in _BY_NUMPY:
        return _BY_NUMPY[numpy]
    if numpy.kind in "OSU":
        return string
    if numpy.name == "bfloat16":
        return __getattr__("bfloat16")
    found = _BY_NAME.get(numpy.name)  # Both byte orders have the same name.
    if found is None:
        raise TypeError(f"Cannot convert the argument `type_value`: {value!r} to a TensorFlow DType.")
    return found

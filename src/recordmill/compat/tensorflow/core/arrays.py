"""Conversion of Python and NumPy values to arrays, with the dtypes that TensorFlow gives them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core import dtypes
from recordmill.compat.tensorflow.core.composite import CompositeTensor
from recordmill.compat.tensorflow.core.dtypes import DType
from recordmill.compat.tensorflow.core.operators import TensorOperators
from recordmill.compat.tensorflow.core.shapes import TensorShape

_PYTHON_SCALARS = frozenset({bool, int, float, str, bytes})
_NUMBERS = {bool: np.dtype(np.bool_), int: np.dtype(np.int32), float: np.dtype(np.float32)}
_FLOAT32_MAX = float(np.finfo(np.float32).max)
# Maps each kind of NumPy dtype to the kinds of Python values that can be converted to it. Kinds are the letters of
# NumPy's `dtype.kind`; "V" stands for bfloat16.
_CONVERTIBLE = {"c": "ciuf", "f": "iufb", "V": "iufb", "i": "iub", "u": "iub", "b": "b"}


def array_of(value: Any, dtype: Any = None) -> NDArray[Any]:
    """Convert a value to an array. If `dtype` is None, the array has the dtype that TensorFlow would choose."""
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    if type(value) in _NUMBERS and (number := _array_from_number(value, wanted)) is not None:
        return number
    if isinstance(value, TensorOperators):
        return _array_from_tensor(value, wanted)
    if isinstance(value, np.ndarray | np.generic):
        return _array_from_numpy(value, wanted)
    if isinstance(value, TensorShape):
        value = value.as_list()
    _reject_composite(value)
    if hasattr(value, "__array__"):
        return _array_from_numpy(np.asarray(value), wanted)
    return _array_from_python(value, wanted)


def wrap_scalar_in_array(value: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Wrap a scalar in a 0-dimensional array; return an array unchanged."""
    if isinstance(value, np.ndarray):
        return value
    array: NDArray[Any] = np.empty((), dtype)
    array[()] = value
    return array


def _array_from_number(value: Any, wanted: DType | None) -> NDArray[Any] | None:
    """Convert a Python number to an array; return None if the number might not fit into the dtype."""
    kind = type(value)
    dtype = _NUMBERS[kind] if wanted is None else wanted.numpy_dtype
    if kind is float:
        fits = dtype.kind == "f" and dtype.itemsize > 2 and not _FLOAT32_MAX < abs(value) < math.inf
    elif kind is int:
        fits = dtype.itemsize > 2 and (dtype.kind == "i" or (dtype.kind in "uf" and value >= 0)) and abs(value) < 2**31
    else:
        fits = dtype.kind == "b"
    return np.array(value, dtype) if fits else None


def _reject_composite(value: Any) -> None:
    if isinstance(value, CompositeTensor):
        name = type(value).__name__
        raise ValueError(  # noqa: TRY004 (TensorFlow's class)
            f"expected a dense tensor, got a {name}: call to_tensor() or tf.sparse.to_dense(), or use .values"
        )


def _array_from_tensor(value: Any, wanted: DType | None) -> NDArray[Any]:
    found = value.values
    # Converting a symbolic tensor raises an error that explains why it has no value.
    array: NDArray[Any] = found if isinstance(found, np.ndarray) else np.asarray(value)
    if wanted is not None and array.dtype != wanted.numpy_dtype:
        raise ValueError(
            f"Tensor conversion requested dtype {wanted.name} for Tensor with dtype {value.dtype.name}: {value!r}"
        )
    return array


def _array_from_numpy(value: Any, wanted: DType | None) -> NDArray[Any]:
    array: NDArray[Any] = np.asarray(value)
    if array.dtype.kind in "OSU":
        array = _to_bytes_objects(array)
    elif wanted is None:
        dtypes.as_dtype(array.dtype)
    if wanted is None or array.dtype == wanted.numpy_dtype:
        return array
    if array.dtype.kind == "O" or wanted == dtypes.string:
        raise _inconvertible_error(value, wanted)
    with np.errstate(all="ignore"):
        return array.astype(wanted.numpy_dtype)


def _array_from_python(value: Any, wanted: DType | None) -> NDArray[Any]:
    if isinstance(value, str | bytes):
        return _cast_python_values(value, wrap_scalar_in_array(_encode_to_bytes(value), np.dtype(object)), wanted)
    nested = _find_tensor_dtype(value)
    if nested is not None:
        return _stack_nested_tensors(value, wanted or nested)
    try:
        array: NDArray[Any] = np.asarray(value)
    except UnicodeDecodeError:  # NumPy cannot combine str with bytes that are not ASCII.
        array = np.array(value, dtype=object)
    except ValueError:
        raise ValueError("Can't convert non-rectangular Python sequence to Tensor.") from None
    except OverflowError:
        raise ValueError("Can't convert Python sequence with out-of-range integer to Tensor.") from None
    if array.dtype.kind in "OSU":
        return _cast_python_values(value, _to_bytes_objects(np.array(value, dtype=object)), wanted)
    return _cast_python_values(value, array if wanted else _narrow_to_default_dtype(value, array), wanted)


def _narrow_to_default_dtype(value: Any, array: NDArray[Any]) -> NDArray[Any]:
    """Convert Python floats to float32, and ints to int32 or int64, as TensorFlow does."""
    first = value
    while isinstance(first, list | tuple) and first:
        first = first[0]
    if isinstance(first, bool) and array.dtype.kind != "b":
        raise ValueError("Can't convert Python sequence with mixed types to Tensor.")
    if array.dtype.kind == "f":
        return array if isinstance(first, np.generic | np.ndarray) else _to_float32(array)
    if array.dtype.kind in "iu":
        return _to_int32_or_int64(array)
    if array.dtype.kind not in "bc":
        raise _unsupported_type_error(value)
    return array


def _to_float32(array: NDArray[Any]) -> NDArray[Any]:
    with np.errstate(over="ignore"):
        narrow = array.astype(np.float32)
    if np.isinf(narrow).any() and (np.isinf(narrow) & ~np.isinf(array)).any():
        raise ValueError("Can't convert Python sequence with a value out of range for a double-precision float.")
    return narrow


def _to_int32_or_int64(array: NDArray[Any]) -> NDArray[Any]:
    if not array.size or (array.min() >= -(2**31) and array.max() < 2**31):
        return array.astype(np.int32)
    if array.max() >= 2**63:
        raise ValueError("Can't convert Python sequence with out-of-range integer to Tensor.")
    return array.astype(np.int64)


def _cast_python_values(value: Any, array: NDArray[Any], wanted: DType | None) -> NDArray[Any]:
    """Convert an array of Python values to a dtype; raise TypeError if TensorFlow forbids this conversion."""
    if wanted is None or array.dtype == wanted.numpy_dtype:
        return array
    if array.size and array.dtype.kind not in _CONVERTIBLE.get(wanted.numpy_dtype.kind, ""):
        raise _inconvertible_error(value, wanted)
    with np.errstate(all="ignore"):
        return array.astype(wanted.numpy_dtype)


def _find_tensor_dtype(value: Any) -> DType | None:
    """Return the dtype of the first tensor in nested lists, or None if they contain no tensor."""
    if isinstance(value, TensorOperators):
        found: DType = value.dtype  # type: ignore[attr-defined]
        return found
    if isinstance(value, list | tuple):
        for item in value:
            if type(item) not in _PYTHON_SCALARS and (dtype := _find_tensor_dtype(item)) is not None:
                return dtype
        return None
    _reject_composite(value)
    return None


def _stack_nested_tensors(value: Any, dtype: DType) -> NDArray[Any]:
    if not isinstance(value, list | tuple):
        return array_of(value, dtype)
    rows = [_stack_nested_tensors(item, dtype) for item in value]
    if any(row.shape != rows[0].shape for row in rows):
        raise ValueError("Can't convert non-rectangular Python sequence to Tensor.")
    return np.stack(rows) if rows else np.empty(0, dtype.numpy_dtype)


def _to_bytes_objects(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array of bytes objects; NumPy's own conversion would drop trailing zero bytes."""
    out: NDArray[Any] = np.empty(array.shape, dtype=object)
    items = array.reshape(-1).tolist()
    out.reshape(-1)[:] = [item if type(item) is bytes else _encode_to_bytes(item) for item in items]
    return out


def _encode_to_bytes(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bytes):
        return value
    if isinstance(value, bool | int | float):
        raise ValueError("Can't convert Python sequence with mixed types to Tensor.")  # noqa: TRY004 (TensorFlow's class)
    raise _unsupported_type_error(value)


def _unsupported_type_error(value: Any) -> ValueError:
    return ValueError(f"Attempt to convert a value ({value!r}) with an unsupported type ({type(value)}) to a Tensor.")


def _inconvertible_error(value: Any, wanted: DType) -> TypeError:
    return TypeError(f"Cannot convert {value!r} to EagerTensor of dtype {wanted.name}")

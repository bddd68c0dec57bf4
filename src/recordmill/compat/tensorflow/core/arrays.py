"""Arrays of Python's and NumPy's values, with the dtypes that TensorFlow reads in them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core import dtypes
from recordmill.compat.tensorflow.core.composite import Composite
from recordmill.compat.tensorflow.core.dtypes import DType
from recordmill.compat.tensorflow.core.operators import Operators
from recordmill.compat.tensorflow.core.shapes import TensorShape

_PLAIN = frozenset({bool, int, float, str, bytes})
_NUMBERS = {bool: np.dtype(np.bool_), int: np.dtype(np.int32), float: np.dtype(np.float32)}
_SINGLE = float(np.finfo(np.float32).max)
_RANGES = {"c": "ciuf", "f": "iufb", "i": "iub", "u": "iub", "b": "b"}


def array_of(value: Any, dtype: Any = None) -> NDArray[Any]:
    """Make the array that a tensor of a value holds."""
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    if type(value) in _NUMBERS and (number := _of_number(value, wanted)) is not None:
        return number
    if isinstance(value, Operators):
        return _of_tensor(value, wanted)
    if isinstance(value, np.ndarray | np.generic):
        return _of_numpy(value, wanted)
    if isinstance(value, TensorShape):
        value = value.as_list()
    _refuse_ragged(value)
    if hasattr(value, "__array__"):
        return _of_numpy(np.asarray(value), wanted)
    return _of_python(value, wanted)


def _of_number(value: Any, wanted: DType | None) -> NDArray[Any] | None:
    """Array of one of Python's numbers; None of one that its dtype may not hold."""
    kind = type(value)
    dtype = _NUMBERS[kind] if wanted is None else wanted.numpy_dtype
    if kind is float:
        holds = dtype.kind == "f" and dtype.itemsize > 2 and not _SINGLE < abs(value) < math.inf
    elif kind is int:
        holds = dtype.itemsize > 2 and (dtype.kind == "i" or (dtype.kind in "uf" and value >= 0)) and abs(value) < 2**31
    else:
        holds = dtype.kind == "b"
    return np.array(value, dtype) if holds else None


def _refuse_ragged(value: Any) -> None:
    if isinstance(value, Composite) and hasattr(value, "row_splits"):
        raise ValueError("a RaggedTensor is not taken here: make it dense with to_tensor(), or work on its flat_values")


def scalar_array(value: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Make an array without axes; an array is returned as it is."""
    if isinstance(value, np.ndarray):
        return value
    array: NDArray[Any] = np.empty((), dtype)
    array[()] = value
    return array


def _of_tensor(value: Any, wanted: DType | None) -> NDArray[Any]:
    found = value.values
    # A value of a graph says that it has none yet.
    array: NDArray[Any] = found if isinstance(found, np.ndarray) else np.asarray(value)
    if wanted is not None and array.dtype != wanted.numpy_dtype:
        raise ValueError(
            f"Tensor conversion requested dtype {wanted.name} for Tensor with dtype {value.dtype.name}: {value!r}"
        )
    return array


def _of_numpy(value: Any, wanted: DType | None) -> NDArray[Any]:
    array: NDArray[Any] = np.asarray(value)
    if array.dtype.kind in "OSU":
        array = _strings(array)
    elif wanted is None:
        dtypes.as_dtype(array.dtype)
    if wanted is None or array.dtype == wanted.numpy_dtype:
        return array
    if array.dtype.kind == "O" or wanted == dtypes.string:
        raise _refused(value, wanted)
    with np.errstate(all="ignore"):
        return array.astype(wanted.numpy_dtype)


def _of_python(value: Any, wanted: DType | None) -> NDArray[Any]:
    if isinstance(value, str | bytes):
        return _checked(value, scalar_array(_string(value), np.dtype(object)), wanted)
    inner = _dtype_inside(value)
    if inner is not None:
        return _stacked(value, wanted or inner)
    try:
        array: NDArray[Any] = np.asarray(value)
    except UnicodeDecodeError:  # text beside bytes that are none
        array = np.array(value, dtype=object)
    except ValueError:
        raise ValueError("Can't convert non-rectangular Python sequence to Tensor.") from None
    except OverflowError:
        raise ValueError("Can't convert Python sequence with out-of-range integer to Tensor.") from None
    if array.dtype.kind in "OSU":
        return _checked(value, _strings(np.array(value, dtype=object)), wanted)
    return _checked(value, array if wanted else _narrow(value, array), wanted)


def _narrow(value: Any, array: NDArray[Any]) -> NDArray[Any]:
    """float32 and int32 are TensorFlow's dtypes of Python's numbers."""
    first = _first(value)
    if isinstance(first, bool) and array.dtype.kind != "b":
        raise ValueError("Can't convert Python sequence with mixed types to Tensor.")
    if array.dtype.kind == "f":
        return array if isinstance(first, np.generic | np.ndarray) else _singles(array)
    if array.dtype.kind in "iu":
        return _whole(array)
    if array.dtype.kind not in "bc":
        raise _unsupported(value)
    return array


def _singles(array: NDArray[Any]) -> NDArray[Any]:
    with np.errstate(over="ignore"):
        narrow = array.astype(np.float32)
    if np.any(np.isinf(narrow) & ~np.isinf(array)):
        raise ValueError("Can't convert Python sequence with a value out of range for a double-precision float.")
    return narrow


def _whole(array: NDArray[Any]) -> NDArray[Any]:
    if not array.size or (array.min() >= -(2**31) and array.max() < 2**31):
        return array.astype(np.int32)
    if array.max() >= 2**63:
        raise ValueError("Can't convert Python sequence with out-of-range integer to Tensor.")
    return array.astype(np.int64)


def _checked(value: Any, array: NDArray[Any], wanted: DType | None) -> NDArray[Any]:
    """Array in the wanted dtype, if Python's values are of its kind."""
    if wanted is None or array.dtype == wanted.numpy_dtype:
        return array
    if array.size and array.dtype.kind not in _RANGES.get(wanted.numpy_dtype.kind, ""):
        raise _refused(value, wanted)
    with np.errstate(all="ignore"):
        return array.astype(wanted.numpy_dtype)


def _dtype_inside(value: Any) -> DType | None:
    """Dtype of the first tensor in nested lists."""
    if isinstance(value, Operators):
        found: DType = value.dtype  # type: ignore[attr-defined]
        return found
    if isinstance(value, list | tuple):
        for one in value:
            if type(one) not in _PLAIN and (dtype := _dtype_inside(one)) is not None:
                return dtype
        return None
    _refuse_ragged(value)
    return None


def _stacked(value: Any, dtype: DType) -> NDArray[Any]:
    if not isinstance(value, list | tuple):
        return array_of(value, dtype)
    rows = [_stacked(one, dtype) for one in value]
    if any(row.shape != rows[0].shape for row in rows):
        raise ValueError("Can't convert non-rectangular Python sequence to Tensor.")
    return np.stack(rows) if rows else np.empty(0, dtype.numpy_dtype)


def _first(value: Any) -> Any:
    while isinstance(value, list | tuple) and value:
        value = value[0]
    return value


def _strings(array: NDArray[Any]) -> NDArray[Any]:
    """Array of bytes objects; NumPy's own conversion would drop zero bytes at the ends of byte strings."""
    out: NDArray[Any] = np.empty(array.shape, dtype=object)
    out.reshape(-1)[:] = [one if type(one) is bytes else _string(one) for one in array.reshape(-1).tolist()]
    return out


def _string(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bytes):
        return value
    if isinstance(value, bool | int | float):
        raise ValueError("Can't convert Python sequence with mixed types to Tensor.")  # noqa: TRY004 (their class)
    raise _unsupported(value)


def _unsupported(value: Any) -> ValueError:
    return ValueError(f"Attempt to convert a value ({value!r}) with an unsupported type ({type(value)}) to a Tensor.")


def _refused(value: Any, wanted: DType) -> TypeError:
    return TypeError(f"Cannot convert {value!r} to EagerTensor of dtype {wanted.name}")

"""``tf.cast``, ``saturate_cast`` and ``bitcast``: conversions between dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import DType, as_dtype
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError, UnimplementedError
from recordmill.compat.tensorflow.core.tensor import Tensor, as_tensor, wrap
from recordmill.compat.tensorflow.ops.composites import elementwise_op


@op("array.cast")
def cast(x: Any, dtype: Any) -> Any:
    """``tf.cast``: convert a dense, ragged or sparse tensor to another dtype."""
    target = as_dtype(dtype)
    if hasattr(x, "with_values"):
        return x.with_values(cast(x.values, target))
    tensor = as_tensor(x)
    if tensor.dtype == target:
        return tensor
    if "O" in (tensor.values.dtype.kind, target.numpy_dtype.kind):
        raise UnimplementedError(f"cast from {tensor.dtype.name} to {target.name} is not supported")
    return Tensor(convert_numbers(tensor.values, target.numpy_dtype))


def convert_numbers(array: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Convert numbers to another dtype as C casts do."""
    with np.errstate(all="ignore"):
        if array.dtype.kind == "f" and dtype.kind in "iu" and dtype.itemsize < 4:
            # Like C compilers, convert floats to int32 before int8, uint8, int16 or uint16. For numbers out of range,
            # NumPy's direct conversion may give other results.
            array = array.astype(np.int32)
        return array.astype(dtype)


@elementwise_op("array.saturate_cast")
def saturate_cast(value: Any, dtype: Any) -> Tensor:
    """``tf.saturate_cast``: convert a tensor; for an integer dtype, clip values to the range of the dtype first."""
    target, array = as_dtype(dtype), array_of(value)
    if "b" in (array.dtype.kind, target.numpy_dtype.kind):
        raise TypeError("saturate_cast does not support booleans")
    if target.is_integer and array.dtype.kind in "iuf":
        array = _clip_to_dtype_limits(array, target)
    converted: Tensor = cast(Tensor(array), target)
    return converted


def _clip_to_dtype_limits(array: NDArray[Any], target: DType) -> NDArray[Any]:
    if array.dtype.kind != "f":
        own = np.iinfo(array.dtype)
        return np.asarray(np.clip(array, max(own.min, target.min), min(own.max, target.max)))
    low, high = (array.dtype.type(limit) for limit in (target.min, target.max))
    if float(high) > target.max:
        high = np.nextafter(high, array.dtype.type(0))
    return np.asarray(np.clip(array, low, high))


@op("array.bitcast")
def bitcast(input: Any, type: Any) -> Tensor:  # noqa: A002 (TensorFlow's names)
    """``tf.bitcast``: reinterpret the bytes of a tensor as another dtype."""
    array, dtype = array_of(input), as_dtype(type).numpy_dtype
    if "O" in (array.dtype.kind, dtype.kind):
        raise InvalidArgumentError("bitcast does not support strings")
    own, other = array.dtype.itemsize, dtype.itemsize
    if other > own and array.shape[-1:] != (other // own,):
        raise InvalidArgumentError(
            f"bitcast to {dtype}: the last axis must have length {other // own}, got shape {list(array.shape)}"
        )
    if other > own:
        return wrap(np.ascontiguousarray(array).view(dtype).reshape(array.shape[:-1]))
    shape = array.shape if other == own else (*array.shape, own // other)
    return wrap(np.ascontiguousarray(array).reshape(-1).view(dtype).reshape(shape))


def to_float(x: Any, name: Any = None) -> Any:
    """``tf.to_float`` of TensorFlow 1: cast to float32."""
    del name
    return cast(x, "float32")


def to_int32(x: Any, name: Any = None) -> Any:
    """``tf.to_int32`` of TensorFlow 1: cast to int32."""
    del name
    return cast(x, "int32")


def to_int64(x: Any, name: Any = None) -> Any:
    """``tf.to_int64`` of TensorFlow 1: cast to int64."""
    del name
    return cast(x, "int64")

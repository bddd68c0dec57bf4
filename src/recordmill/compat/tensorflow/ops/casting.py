"""Values of one dtype as those of another."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import as_dtype
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError, UnimplementedError
from recordmill.compat.tensorflow.core.tensor import Tensor, as_tensor, wrap


@op("array.cast")
def cast(x: Any, dtype: Any) -> Any:
    """Cast a tensor."""
    wanted = as_dtype(dtype)
    if hasattr(x, "with_values"):
        return x.with_values(cast(x.values, wanted))
    tensor = as_tensor(x)
    if tensor.dtype == wanted:
        return tensor
    if "O" in (tensor.values.dtype.kind, wanted.numpy_dtype.kind):
        raise UnimplementedError(f"Cast {tensor.dtype.name} to {wanted.name} is not supported [Op:Cast]")
    parts = tensor.values.real if tensor.dtype.is_complex and not wanted.is_complex else tensor.values
    return Tensor(converted(parts, wanted.numpy_dtype))


def converted(array: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Convert numbers as C does."""
    with np.errstate(all="ignore"):
        if array.dtype.kind == "f" and dtype.kind in "iu" and dtype.itemsize < 4:
            # By way of int32, as the processor does it; NumPy may take another way for whole vectors.
            array = array.astype(np.int32)
        return array.astype(dtype)


@op("array.saturate_cast")
def saturate_cast(value: Any, dtype: Any) -> Tensor:
    """Cast a tensor; values outside the range of the dtype become its limits.

    TensorFlow 2.21 makes the smallest number of every int64; here they stay what they are.
    """
    wanted = as_dtype(dtype)
    array = array_of(value)
    if "b" in (array.dtype.kind, wanted.numpy_dtype.kind):
        raise TypeError("Cannot find minimum value of <dtype: 'bool'> with type <dtype: 'bool'>")
    if "O" in (array.dtype.kind, wanted.numpy_dtype.kind):
        made: Tensor = cast(value, wanted)
        return made
    if wanted.is_integer and array.dtype.kind in "iuf":
        array = _clipped(array, wanted)
    return Tensor(converted(array, wanted.numpy_dtype)) if array.dtype != wanted.numpy_dtype else Tensor(array)


def _clipped(array: NDArray[Any], wanted: Any) -> NDArray[Any]:
    if array.dtype.kind == "f":
        low, high = (array.dtype.type(limit) for limit in (wanted.min, wanted.max))
        if float(high) > wanted.max:
            high = np.nextafter(high, array.dtype.type(0))
        return np.asarray(np.clip(array, low, high))
    own = np.iinfo(array.dtype)
    return np.asarray(np.clip(array, max(own.min, wanted.min), min(own.max, wanted.max)))


@op("array.bitcast")
def bitcast(input_: Any, type_: Any) -> Tensor:
    """The same bytes, read as another dtype."""
    array, wanted = array_of(input_), as_dtype(type_).numpy_dtype
    if "O" in (array.dtype.kind, wanted.kind):
        raise InvalidArgumentError("Value for attr 'T' of string is not in the list of allowed values [Op:Bitcast]")
    ratio = max(wanted.itemsize // array.dtype.itemsize, 1)
    if ratio > 1 and (not array.ndim or array.shape[-1] != ratio):
        raise InvalidArgumentError(
            f"Cannot bitcast from {as_dtype(array.dtype).name} to {as_dtype(wanted).name}: shape {list(array.shape)}"
        )
    smaller = array.dtype.itemsize > wanted.itemsize
    data = np.ascontiguousarray(array[..., None] if smaller or not array.ndim else array).view(wanted)
    return wrap(data.reshape(array.shape[:-1] if ratio > 1 else array.shape) if not smaller else data)


def to_float(x: Any) -> Any:
    """TensorFlow 1's name of a cast to float32."""
    return cast(x, "float32")


def to_double(x: Any) -> Any:
    """TensorFlow 1's name of a cast to float64."""
    return cast(x, "float64")


def to_int32(x: Any) -> Any:
    """TensorFlow 1's name of a cast to int32."""
    return cast(x, "int32")


def to_int64(x: Any) -> Any:
    """TensorFlow 1's name of a cast to int64."""
    return cast(x, "int64")

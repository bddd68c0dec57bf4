"""Operations that create tensors from values, shapes, ranges and indices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import as_dtype, float32
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor, as_tensor, wrap
from recordmill.compat.tensorflow.ops.composites import elementwise_op
from recordmill.compat.tensorflow.ops.inputs import NUMBERS, check_dtype, convert_shape, convert_to_common_dtype


@op("array.constant")
def constant(value: Any, dtype: Any = None, shape: Any = None) -> Tensor:
    """``tf.constant``: create a tensor of Python or NumPy values."""
    if isinstance(value, Tensor) and dtype is not None and value.dtype != dtype:
        raise TypeError(f"expected a tensor of dtype {as_dtype(dtype).name}, got {value.dtype.name}")
    array = array_of(value, dtype)
    if array is value:
        # Copy, because the tensor must not change when the caller writes to the array.
        array = array.copy()
    if shape is None:
        return Tensor(array)
    lengths = convert_shape(shape, "constant")
    if array.size not in (1, math.prod(lengths)):
        raise TypeError(f"constant: {array.size} values cannot be reshaped to {list(lengths)}")
    return Tensor(np.full(lengths, array.reshape(-1)[0]) if array.size == 1 else array.reshape(lengths))


@op("array.convert_to_tensor")
def convert_to_tensor(value: Any, dtype: Any = None, dtype_hint: Any = None) -> Tensor:
    """``tf.convert_to_tensor``: convert a value to a tensor; a tensor is returned unchanged."""
    if dtype is None and dtype_hint is not None:
        try:
            return as_tensor(value, dtype_hint)
        except (TypeError, ValueError):
            pass
    if isinstance(value, Tensor):
        array_of(value, dtype)
        return value
    return constant(value, dtype)


@op("array.zeros")
def zeros(shape: Any, dtype: Any = float32) -> Tensor:
    """``tf.zeros``: create a tensor of zeros, False or empty strings."""
    return _create_filled(shape, dtype, 0)


@op("array.ones")
def ones(shape: Any, dtype: Any = float32) -> Tensor:
    """``tf.ones``: create a tensor of ones or True."""
    return _create_filled(shape, dtype, 1)


@elementwise_op("array.zeros_like")
def zeros_like(input: Any, dtype: Any = None) -> Tensor:  # noqa: A002 (TensorFlow's name)
    """``tf.zeros_like``: create zeros with the shape and dtype of another tensor."""
    array = array_of(input)
    return _create_filled(array.shape, dtype or array.dtype, 0)


@elementwise_op("array.ones_like")
def ones_like(input: Any, dtype: Any = None) -> Tensor:  # noqa: A002 (TensorFlow's name)
    """``tf.ones_like``: create ones with the shape and dtype of another tensor."""
    array = array_of(input)
    return _create_filled(array.shape, dtype or array.dtype, 1)


def _create_filled(shape: Any, dtype: Any, value: int) -> Tensor:
    numpy_dtype = as_dtype(dtype).numpy_dtype
    is_string = numpy_dtype.kind == "O"
    if is_string and value:
        raise TypeError("ones() and ones_like() do not support strings")
    return Tensor(np.full(convert_shape(shape, "fill"), b"" if is_string else value, numpy_dtype))


@op("array.fill")
def fill(dims: Any, value: Any) -> Tensor:
    """``tf.fill``: create a tensor filled with one value."""
    array = array_of(value)
    if array.ndim:
        raise InvalidArgumentError(f"fill: value must be a scalar, got shape {list(array.shape)}")
    out = np.empty(convert_shape(dims, "fill"), array.dtype)
    out[...] = array[()]
    return Tensor(out)


@op("array.range")
def range(start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None) -> Tensor:  # noqa: A001 (TensorFlow's name)
    """``tf.range``: return the numbers from `start` to `limit` (exclusive) in steps of `delta`."""
    start, limit = (0, start) if limit is None else (start, limit)
    bounds = [array_of(one) for one in (start, limit, delta)]
    order = ["int32", "int64", "float32", "float64"]
    if dtype is not None:
        common = as_dtype(dtype).numpy_dtype
    elif all(one.dtype.name in order for one in bounds):
        common = max((one.dtype for one in bounds), key=lambda one: order.index(one.name))
    else:
        common = bounds[0].dtype
    check_dtype(np.empty(0, common), NUMBERS, "range")
    first, last, step = (one.astype(common)[()] for one in bounds)
    if step == 0 or (step > 0 and first > last) or (step < 0 and first < last):
        raise InvalidArgumentError(
            f"range: delta must be nonzero and lead from start={first} to limit={last}, got delta={step}"
        )
    if common.kind != "f":
        return Tensor(np.arange(int(first), int(last), int(step), dtype=common))
    count = math.ceil(abs((float(last) - float(first)) / float(step)))
    return Tensor((first + np.arange(count, dtype=common) * step).astype(common))


@op("array.linspace")
def linspace(start: Any, stop: Any, num: Any) -> Tensor:
    """``tf.linspace``: return `num` evenly spaced numbers, including both ends."""
    first, last = convert_to_common_dtype((start, stop), "linspace")
    if first.dtype.kind in "iu":
        first, last = first.astype(np.float64), last.astype(np.float64)
    if int(num) <= 0:
        raise InvalidArgumentError(f"linspace: num must be positive, got {int(num)}")
    return wrap(np.linspace(first, last, int(num), dtype=first.dtype))


@op("array.meshgrid")
def meshgrid(*args: Any, indexing: str = "xy") -> list[Tensor]:
    """``tf.meshgrid``: return one grid of coordinates per argument."""
    return [wrap(one) for one in np.meshgrid(*(array_of(one) for one in args), indexing=indexing)]  # type: ignore[call-overload]


@elementwise_op("array.one_hot")
def one_hot(
    indices: Any, depth: Any, on_value: Any = None, off_value: Any = None, axis: Any = None, dtype: Any = None
) -> Tensor:
    """``tf.one_hot``: add an axis with `on_value` at each index and `off_value` elsewhere."""
    array, count = array_of(indices), int(depth)
    check_dtype(array, "bBilq", "one_hot")
    on, off = _convert_on_and_off_values(on_value, off_value, dtype)
    if count < 0:
        raise InvalidArgumentError(f"one_hot: depth must be non-negative, got {count}")
    position = -1 if axis is None else int(axis)
    if not -1 <= position <= array.ndim:
        raise InvalidArgumentError(f"one_hot: axis must be in [-1, {array.ndim}], got {position}")
    hot = np.where(array[..., None] == np.arange(count), on, off)
    return wrap(np.moveaxis(hot, -1, position), on.dtype)


def _convert_on_and_off_values(on_value: Any, off_value: Any, dtype: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    given = [None if one is None else array_of(one) for one in (on_value, off_value)]
    dtypes = [one.dtype for one in given if one is not None]
    target = as_dtype(dtype).numpy_dtype if dtype is not None else (dtypes or [np.dtype(np.float32)])[0]
    try:
        on, off = (
            np.array(default, target) if value is None else array_of(value, target)
            for value, default in ((on_value, 1), (off_value, 0))
        )
    except (TypeError, ValueError):
        name = as_dtype(target).name
        raise TypeError(
            f"one_hot: on_value and off_value must be of dtype {name}, got {on_value!r} and {off_value!r}"
        ) from None
    if dtype is None and len(set(dtypes)) > 1:
        raise TypeError(f"one_hot: on_value and off_value must have the same dtype, got {dtypes[0]} and {dtypes[1]}")
    return on, off


@op("array.sequence_mask")
def sequence_mask(lengths: Any, maxlen: Any = None, dtype: Any = "bool") -> Tensor:
    """``tf.sequence_mask``: return one row per length, with that many True elements followed by False elements."""
    array = array_of(lengths)
    check_dtype(array, NUMBERS, "sequence_mask")
    count = math.ceil(array.max(initial=0)) if maxlen is None else int(maxlen)
    return Tensor((np.arange(count) < array[..., None]).astype(as_dtype(dtype).numpy_dtype))

"""Tensors made of values, of a shape, or of a range."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import as_dtype, float32
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor, as_tensor, wrap
from recordmill.compat.tensorflow.ops.matching import NUMBERS, allow, as_ints, bracketed, matched


@op("array.constant")
def constant(value: Any, dtype: Any = None, shape: Any = None) -> Tensor:
    """Make a tensor of Python's values."""
    if isinstance(value, Tensor) and dtype is not None and value.dtype != dtype:
        raise TypeError(
            f"Expected tensor {value.numpy()} with dtype {as_dtype(dtype)!r}, but got dtype {value.dtype!r}."
        )
    array = array_of(value, dtype)
    if isinstance(value, np.ndarray) and array is value:
        array = array.copy()  # a constant stays as it is when the array is written to
    if shape is None:
        return Tensor(array)
    lengths = tuple(as_ints(shape, "shape", "Const"))
    if array.size not in (1, math.prod(lengths)):
        raise TypeError(
            f"Eager execution of tf.constant with unsupported shape. Tensor {array} (converted from {value!r}) has "
            f"{array.size} elements, but got `shape` {lengths} with {math.prod(lengths)} elements)."
        )
    return Tensor(np.full(lengths, array.reshape(-1)[0]) if array.size == 1 else array.reshape(lengths))


@op("array.convert_to_tensor")
def convert_to_tensor(value: Any, dtype: Any = None, dtype_hint: Any = None) -> Tensor:
    """Make a tensor of a value, or give the tensor that it is."""
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
    """Tensor of zeros, False or empty strings."""
    return Tensor(_filled(shape, dtype, 0))


@op("array.ones")
def ones(shape: Any, dtype: Any = float32) -> Tensor:
    """Tensor of ones or True."""
    return Tensor(_filled(shape, dtype, 1))


@op("array.zeros_like")
def zeros_like(input_: Any, dtype: Any = None) -> Tensor:
    """Zeros in the shape and dtype of another tensor."""
    array = array_of(input_)
    return Tensor(_filled(array.shape, dtype or array.dtype, 0))


@op("array.ones_like")
def ones_like(input_: Any, dtype: Any = None) -> Tensor:
    """Ones in the shape and dtype of another tensor."""
    array = array_of(input_)
    return Tensor(_filled(array.shape, dtype or array.dtype, 1))


def _filled(shape: Any, dtype: Any, value: int) -> Any:
    wanted = as_dtype(dtype).numpy_dtype
    if wanted.kind == "O" and value:
        raise TypeError("Cannot convert 1 to EagerTensor of dtype string")
    return np.full(_lengths(shape, "Fill"), b"" if wanted.kind == "O" else value, wanted)


def _lengths(shape: Any, name: str) -> tuple[int, ...]:
    lengths = tuple(as_ints(shape, "index_type", name))
    if any(length < 0 for length in lengths):
        raise InvalidArgumentError(f"Dimension {min(lengths)} must be >= 0 [Op:{name}]")
    return lengths


@op("array.fill")
def fill(dims: Any, value: Any) -> Tensor:
    """Tensor of one value."""
    array = array_of(value)
    if array.ndim:
        raise InvalidArgumentError(f"value must represent a scalar, got shape {bracketed(array.shape)} [Op:Fill]")
    out = np.empty(_lengths(dims, "Fill"), array.dtype)
    out[...] = array[()]
    return Tensor(out)


@op("array.range")
def range(start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None) -> Tensor:  # noqa: A001 (TensorFlow's name)
    """Sequence of numbers."""
    start, limit = (0, start) if limit is None else (start, limit)
    given = [array_of(one) for one in (start, limit, delta)]
    names = ["int32", "int64", "float32", "float64"]
    if dtype is None:
        ranks = [names.index(one.dtype.name) if one.dtype.name in names else -1 for one in given]
        widest = given[int(np.argmax(ranks))].dtype if min(ranks) >= 0 else given[0].dtype
    else:
        widest = as_dtype(dtype).numpy_dtype
    allow(np.empty(0, widest), NUMBERS, "Range")
    first, last, step = (one.astype(widest)[()] for one in given)
    return Tensor(_steps(first, last, step, widest))


def _steps(first: Any, last: Any, step: Any, dtype: np.dtype[Any]) -> Any:
    if step == 0:
        raise InvalidArgumentError("Requires delta != 0: 0 [Op:Range]")
    if (step > 0 and first > last) or (step < 0 and first < last):
        sign = "<=" if step > 0 else ">="
        word = ">" if step > 0 else "<"
        raise InvalidArgumentError(f"Requires start {sign} limit when delta {word} 0: {first}/{last} [Op:Range]")
    if dtype.kind != "f":
        return np.arange(int(first), int(last), int(step), dtype=dtype)
    count = max(math.ceil(abs((float(last) - float(first)) / float(step))), 0)
    return (first + np.arange(count, dtype=dtype) * step).astype(dtype)


@op("array.linspace")
def linspace(start: Any, stop: Any, num: Any) -> Tensor:
    """Numbers at equal distances, both ends included."""
    first, last = matched((start, stop), "LinSpace")
    if first.dtype.kind in "iu":
        first, last = first.astype(np.float64), last.astype(np.float64)
    allow(first, "efd", "LinSpace")
    count = int(num)
    if count <= 0:
        raise InvalidArgumentError(f"Requires num > 0: {count} [Op:LinSpace]")
    return wrap(np.linspace(first, last, count, dtype=first.dtype))


@op("array.eye")
def eye(num_rows: Any, num_columns: Any = None, batch_shape: Any = None, dtype: Any = float32) -> Tensor:
    """Matrix with ones on its diagonal."""
    columns = num_rows if num_columns is None else num_columns
    matrix = np.eye(int(num_rows), int(columns), dtype=as_dtype(dtype).numpy_dtype)
    batch = () if batch_shape is None else tuple(as_ints(batch_shape, "shape", "Eye"))
    return Tensor(np.broadcast_to(matrix, (*batch, *matrix.shape)))

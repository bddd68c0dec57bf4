"""Elementwise operations of ``tf.math``; most of them apply a single NumPy function.

Exponentials, logarithms and angles may differ from TensorFlow's in the last bit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import DType, as_dtype
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor, as_tensor, wrap
from recordmill.compat.tensorflow.ops.composites import elementwise_op
from recordmill.compat.tensorflow.ops.inputs import (
    BOOL,
    COMPLEX,
    FLOATS,
    INTEGERS,
    NUMBERS,
    SIGNED,
    STRINGS,
    can_broadcast,
    check_dtype,
    convert_bools,
    convert_input,
    convert_pair,
    convert_to_common_dtype,
    normalize_axis,
)

# Maps the name of each operation on one tensor to its NumPy function and its supported dtypes. Results have the dtype
# of the input.
UNARY: dict[str, tuple[Callable[..., Any], str]] = {
    "ceil": (np.ceil, FLOATS),
    "cos": (np.cos, FLOATS),
    "exp": (np.exp, FLOATS),
    "floor": (np.floor, FLOATS),
    "invert": (np.invert, INTEGERS + BOOL),
    "log": (np.log, FLOATS),
    "log1p": (np.log1p, FLOATS),
    "negative": (np.negative, SIGNED),
    "reciprocal": (np.reciprocal, FLOATS),
    "round": (np.rint, NUMBERS),
    "rsqrt": (lambda array: 1 / np.sqrt(array), FLOATS),
    "sigmoid": (lambda array: 1 / (1 + np.exp(-array)), FLOATS),
    "sign": (np.sign, SIGNED),
    "sin": (np.sin, FLOATS),
    "sqrt": (np.sqrt, FLOATS),
    "square": (np.square, NUMBERS),
    "tan": (np.tan, FLOATS),
    "tanh": (np.tanh, FLOATS),
}
# Maps the name of each operation on two tensors to its NumPy function and its supported dtypes.
BINARY: dict[str, tuple[np.ufunc, str]] = {
    "add": (np.add, NUMBERS + STRINGS),
    "and": (np.bitwise_and, INTEGERS + BOOL),
    "maximum": (np.maximum, NUMBERS),
    "minimum": (np.minimum, NUMBERS),
    "or": (np.bitwise_or, INTEGERS + BOOL),
    "subtract": (np.subtract, NUMBERS),
    "xor": (np.bitwise_xor, INTEGERS + BOOL),
    "equal": (np.equal, NUMBERS + STRINGS + BOOL),
    "greater": (np.greater, NUMBERS),
    "greater_equal": (np.greater_equal, NUMBERS),
    "less": (np.less, NUMBERS),
    "less_equal": (np.less_equal, NUMBERS),
    "not_equal": (np.not_equal, NUMBERS + STRINGS + BOOL),
}
PREDICATES: dict[str, np.ufunc] = {"is_finite": np.isfinite, "is_inf": np.isinf, "is_nan": np.isnan}
LOGICAL: dict[str, np.ufunc] = {
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
}

# To combine an image with a vector of per-channel values, NumPy's broadcasting starts an inner loop for each pixel.
# Repeating the vector along an image row is faster, because NumPy then starts an inner loop for each row. This is done
# for images of at least _MIN_PIXEL_VALUES values and vectors of at most _MAX_CHANNELS values.
_MIN_PIXEL_VALUES, _MAX_CHANNELS = 4096, 32


def apply_binary_ufunc(function: np.ufunc, a: NDArray[Any], b: NDArray[Any]) -> Any:
    """Apply a NumPy function to two arrays, with a fast path for an image and a vector of per-channel values."""
    if _are_channel_values(b, a):
        return function(_flatten_image_rows(a), np.tile(b, a.shape[-2])).reshape(a.shape)
    if _are_channel_values(a, b):
        return function(np.tile(a, b.shape[-2]), _flatten_image_rows(b)).reshape(b.shape)
    return function(a, b)


def _are_channel_values(row: NDArray[Any], pixels: NDArray[Any]) -> bool:
    return (
        pixels.size >= _MIN_PIXEL_VALUES
        and pixels.ndim > 2
        and row.shape == pixels.shape[-1:]
        and 1 < row.size <= _MAX_CHANNELS
        and pixels.flags.c_contiguous
    )


def _flatten_image_rows(pixels: NDArray[Any]) -> NDArray[Any]:
    return pixels.reshape(-1, pixels.shape[-2] * pixels.shape[-1])


def _define_unary_operation(name: str, function: Callable[..., Any], allowed: str) -> None:
    @elementwise_op(f"math.{name}")
    def apply_unary(x: Any) -> Tensor:
        array = convert_input(x, allowed, name)
        with np.errstate(all="ignore"):
            return wrap(function(array), array.dtype)

    apply_unary.__name__, apply_unary.__doc__ = name, f"``tf.math.{name}``, elementwise."


def _define_binary_operation(name: str, function: np.ufunc, allowed: str) -> None:
    @elementwise_op(f"math.{name}")
    def apply_binary(x: Any, y: Any) -> Tensor:
        a, b = convert_pair(x, y, allowed, name)
        with np.errstate(all="ignore"):
            return wrap(apply_binary_ufunc(function, a, b))

    apply_binary.__name__, apply_binary.__doc__ = name, f"``tf.math.{name}``, elementwise."


def _define_predicate_operation(name: str, function: np.ufunc) -> None:
    @elementwise_op(f"math.{name}")
    def apply_predicate(x: Any) -> Tensor:
        return wrap(function(convert_input(x, FLOATS, name)))

    apply_predicate.__name__, apply_predicate.__doc__ = name, f"``tf.math.{name}``, elementwise."


def _define_logical_operation(name: str, function: np.ufunc) -> None:
    @elementwise_op(f"math.{name}")
    def apply_logical(x: Any, y: Any) -> Tensor:
        a, b = convert_pair(Tensor(convert_bools(x, name)), Tensor(convert_bools(y, name)), BOOL, name)
        return wrap(function(a, b))

    apply_logical.__name__, apply_logical.__doc__ = name, f"``tf.math.{name}``, elementwise."


for _name, (_function, _allowed) in UNARY.items():
    _define_unary_operation(_name, _function, _allowed)
for _name, (_ufunc, _allowed) in BINARY.items():
    _define_binary_operation(_name, _ufunc, _allowed)
for _name, _ufunc in PREDICATES.items():
    _define_predicate_operation(_name, _ufunc)
for _name, _ufunc in LOGICAL.items():
    _define_logical_operation(_name, _ufunc)


@elementwise_op("math.abs")
def absolute(x: Any) -> Tensor:
    """``tf.abs``: return absolute values of real or complex numbers."""
    return wrap(np.abs(convert_input(x, SIGNED + COMPLEX, "abs")))


@elementwise_op("math.logical_not")
def logical_not(x: Any) -> Tensor:
    """``tf.logical_not``: return the negation of each boolean."""
    return wrap(np.logical_not(convert_bools(x, "logical_not")))


@elementwise_op("math.equal_or_false")
def equal_or_false(x: Any, y: Any) -> Tensor:
    """Compare ``x == y`` elementwise; return a single False if the shapes do not broadcast."""
    return _compare_if_broadcastable(np.equal, x, y, otherwise=False)


@elementwise_op("math.not_equal_or_true")
def not_equal_or_true(x: Any, y: Any) -> Tensor:
    """Compare ``x != y`` elementwise; return a single True if the shapes do not broadcast."""
    return _compare_if_broadcastable(np.not_equal, x, y, otherwise=True)


def _compare_if_broadcastable(function: np.ufunc, x: Any, y: Any, *, otherwise: bool) -> Tensor:
    a, b = convert_to_common_dtype((x, y), "equal")
    return wrap(apply_binary_ufunc(function, a, b) if can_broadcast(a.shape, b.shape) else otherwise)


@elementwise_op("math.multiply")
def multiply(x: Any, y: Any) -> Tensor:
    """``tf.multiply``: return ``x * y``; for booleans, ``x and y``."""
    if any(isinstance(one, Tensor) and one.values.dtype == np.bool_ for one in (x, y)):
        x, y = (Tensor(as_tensor(one).values.astype(np.bool_)) for one in (x, y))
    a, b = convert_pair(x, y, NUMBERS + BOOL, "multiply")
    with np.errstate(all="ignore"):
        return wrap(apply_binary_ufunc(np.multiply, a, b))


@elementwise_op("math.squared_difference")
def squared_difference(x: Any, y: Any) -> Tensor:
    """``tf.math.squared_difference``: return ``(x - y) ** 2``."""
    a, b = convert_pair(x, y, FLOATS + "ilq", "squared_difference")
    with np.errstate(all="ignore"):
        return wrap(np.square(apply_binary_ufunc(np.subtract, a, b)))


@elementwise_op("math.truediv")
def truediv(x: Any, y: Any) -> Tensor:
    """``tf.truediv``: divide; integers of up to 16 bits are divided as float32, wider integers as float64."""
    if isinstance(y, Tensor) and not isinstance(x, Tensor):
        b = y.values
        a = array_of(x, as_dtype(b.dtype))
    else:
        a = array_of(x)
        b = array_of(y, None if isinstance(y, Tensor) else _find_convertible_dtype(y, as_dtype(a.dtype)))
    if a.dtype != b.dtype or a.dtype.char not in NUMBERS:
        raise TypeError(
            f"x and y must be numbers of the same dtype, got {as_dtype(a.dtype).name} and {as_dtype(b.dtype).name}"
        )
    if a.dtype.kind in "iu":
        wide = np.float32 if a.dtype.itemsize <= 2 else np.float64
        a, b = a.astype(wide), b.astype(wide)
    a, b = convert_pair(Tensor(a), Tensor(b), FLOATS, "truediv")
    with np.errstate(all="ignore"):
        return wrap(apply_binary_ufunc(np.divide, a, b))


def _find_convertible_dtype(value: Any, dtype: DType) -> DType | None:
    """Return `dtype` if `value` can be converted to `dtype`, else None."""
    try:
        array_of(value, dtype)
    except TypeError:
        return None
    return dtype


@elementwise_op("math.divide")
def divide(x: Any, y: Any) -> Tensor:
    """``tf.divide``: return ``x / y``."""
    return truediv(x if isinstance(y, Tensor) else as_tensor(x), y)


@op("math.divide_no_nan")
def divide_no_nan(x: Any, y: Any) -> Tensor:
    """``tf.math.divide_no_nan``: divide; the quotient is 0 where the divisor is 0."""
    a, b = convert_pair(x, y, NUMBERS, "divide_no_nan")
    quotient = truediv(Tensor(a), Tensor(b)).values
    return wrap(np.where(b == 0, np.zeros((), quotient.dtype), quotient))


def div(x: Any, y: Any, name: Any = None) -> Any:
    """``tf.div`` of TensorFlow 1: divide; quotients of integers are rounded down."""
    del name
    dtype = getattr(x, "dtype", None) or getattr(y, "dtype", None) or as_tensor(x).dtype
    return truediv(x, y) if dtype.is_floating else floordiv(x, y)


@elementwise_op("math.floordiv")
def floordiv(x: Any, y: Any) -> Tensor:
    """``tf.math.floordiv``: divide and round down."""
    a, b = _convert_and_check_divisor(x, y, "floordiv")
    with np.errstate(all="ignore"):
        return wrap(np.floor(np.divide(a, b)) if a.dtype.kind == "f" else np.floor_divide(a, b), a.dtype)


@elementwise_op("math.floormod")
def floormod(x: Any, y: Any) -> Tensor:
    """``tf.math.floormod``: return the remainder, with the sign of the divisor."""
    a, b = _convert_and_check_divisor(x, y, "floormod")
    with np.errstate(all="ignore"):
        if a.dtype.kind != "f":
            return wrap(np.mod(a, b))
        remainder = np.fmod(a, b)
        return wrap(np.where((remainder != 0) & ((b < 0) != (remainder < 0)), remainder + b, remainder))


def _convert_and_check_divisor(x: Any, y: Any, name: str) -> tuple[NDArray[Any], NDArray[Any]]:
    a, b = convert_pair(x, y, NUMBERS, name)
    if b.dtype.kind != "f" and a.size and not np.all(b):
        raise InvalidArgumentError(f"{name}: integer division by zero")
    return a, b


@elementwise_op("math.pow")
def power(x: Any, y: Any) -> Tensor:
    """``tf.pow``: return ``x ** y``."""
    a, b = convert_pair(x, y, NUMBERS, "pow")
    if b.dtype.kind == "i" and np.any(b < 0):
        raise InvalidArgumentError("pow: integers cannot be raised to negative powers")
    with np.errstate(all="ignore"):
        return wrap(np.power(a, b))


@op("math.add_n")
def add_n(inputs: Any) -> Tensor:
    """``tf.add_n``: add tensors of equal shape."""
    values = list(inputs) if isinstance(inputs, list | tuple) else [inputs]
    if not values:
        raise ValueError("add_n: inputs must not be empty")
    arrays = convert_to_common_dtype(values, "add_n")
    check_dtype(arrays[0], NUMBERS, "add_n")
    if any(one.shape != arrays[0].shape for one in arrays):
        raise InvalidArgumentError(f"add_n: inputs must have the same shape, got {[one.shape for one in arrays]}")
    return wrap(np.add.reduce(arrays, dtype=arrays[0].dtype))


@elementwise_op("math.clip_by_value")
def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any) -> Tensor:
    """``tf.clip_by_value``: limit values to [clip_value_min, clip_value_max]."""
    values, low, high = convert_to_common_dtype((t, clip_value_min, clip_value_max), "clip_by_value")
    for limit in (low, high):
        if not can_broadcast(values.shape, limit.shape):
            raise InvalidArgumentError(
                f"clip_by_value: limits of shape {limit.shape} cannot be broadcast to {values.shape}"
            )
        if np.broadcast_shapes(values.shape, limit.shape) != values.shape:
            raise ValueError(f"clip_by_value: limits of shape {limit.shape} cannot be broadcast to {values.shape}")
    return wrap(np.maximum(np.minimum(values, high), low))


@op("math.cumsum")
def cumsum(x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False) -> Tensor:
    """``tf.cumsum``: return the cumulative sum along an axis."""
    array = convert_input(x, NUMBERS, "cumsum")
    rows = np.moveaxis(array, normalize_axis(axis, array.ndim, "cumsum"), 0)
    rows = rows[::-1] if reverse else rows
    with np.errstate(all="ignore"):
        sums = np.add.accumulate(rows, 0, dtype=array.dtype)
    if exclusive:
        sums = np.concatenate([np.zeros_like(rows[:1]), sums[:-1]])[: len(rows)]
    return wrap(np.moveaxis(sums[::-1] if reverse else sums, 0, int(axis)))

"""Functions of one tensor, element by element.

Roots, rounding and products are exact in float32; exponentials, logarithms and angles may differ from TensorFlow's in
the last bit, as both libraries compute them by their own approximations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor, wrap
from recordmill.compat.tensorflow.ops.matching import (
    COMPLEX,
    FLOATS,
    NUMBERS,
    SIGNED,
    bracketed,
    broadcastable,
    matched,
    one_of,
)


def _function(value: Any, allowed: str, name: str, compute: Callable[..., Any]) -> Tensor:
    array = one_of(value, allowed, name)
    with np.errstate(all="ignore"):
        return wrap(compute(array), array.dtype)


@op("math.sqrt")
def sqrt(x: Any) -> Tensor:
    """Square root."""
    return _function(x, FLOATS, "Sqrt", np.sqrt)


@op("math.rsqrt")
def rsqrt(x: Any) -> Tensor:
    """One over the square root."""
    return _function(x, FLOATS, "Rsqrt", lambda array: 1 / np.sqrt(array))


@op("math.square")
def square(x: Any) -> Tensor:
    """Product with itself."""
    return _function(x, NUMBERS + COMPLEX, "Square", lambda array: np.multiply(array, array))


@op("math.reciprocal")
def reciprocal(x: Any) -> Tensor:
    """One over the value."""
    return _function(x, FLOATS, "Reciprocal", lambda array: np.divide(array.dtype.type(1), array))


@op("math.exp")
def exp(x: Any) -> Tensor:
    """Exponential."""
    return _function(x, FLOATS + COMPLEX, "Exp", np.exp)


@op("math.expm1")
def expm1(x: Any) -> Tensor:
    """Exponential less 1."""
    return _function(x, FLOATS, "Expm1", np.expm1)


@op("math.log")
def log(x: Any) -> Tensor:
    """Natural logarithm."""
    return _function(x, FLOATS, "Log", np.log)


@op("math.log1p")
def log1p(x: Any) -> Tensor:
    """Natural logarithm of 1 and the value."""
    return _function(x, FLOATS, "Log1p", np.log1p)


@op("math.sin")
def sin(x: Any) -> Tensor:
    """Sine of radians."""
    return _function(x, FLOATS, "Sin", np.sin)


@op("math.cos")
def cos(x: Any) -> Tensor:
    """Cosine of radians."""
    return _function(x, FLOATS, "Cos", np.cos)


@op("math.tan")
def tan(x: Any) -> Tensor:
    """Tangent of radians."""
    return _function(x, FLOATS, "Tan", np.tan)


@op("math.asin")
def asin(x: Any) -> Tensor:
    """Angle of a sine, in radians."""
    return _function(x, FLOATS, "Asin", np.arcsin)


@op("math.acos")
def acos(x: Any) -> Tensor:
    """Angle of a cosine, in radians."""
    return _function(x, FLOATS, "Acos", np.arccos)


@op("math.atan")
def atan(x: Any) -> Tensor:
    """Angle of a tangent, in radians."""
    return _function(x, FLOATS, "Atan", np.arctan)


@op("math.sinh")
def sinh(x: Any) -> Tensor:
    """Hyperbolic sine."""
    return _function(x, FLOATS, "Sinh", np.sinh)


@op("math.cosh")
def cosh(x: Any) -> Tensor:
    """Hyperbolic cosine."""
    return _function(x, FLOATS, "Cosh", np.cosh)


@op("math.tanh")
def tanh(x: Any) -> Tensor:
    """Hyperbolic tangent."""
    return _function(x, FLOATS, "Tanh", np.tanh)


@op("math.sigmoid")
def sigmoid(x: Any) -> Tensor:
    """Logistic function."""
    return _function(x, FLOATS, "Sigmoid", lambda array: 1 / (1 + np.exp(-array)))


@op("math.floor")
def floor(x: Any) -> Tensor:
    """Next whole number below; whole numbers stay as they are."""
    return _function(x, FLOATS, "Floor", np.floor)


@op("math.ceil")
def ceil(x: Any) -> Tensor:
    """Next whole number above."""
    return _function(x, FLOATS, "Ceil", np.ceil)


@op("math.rint")
def rint(x: Any) -> Tensor:
    """Nearest whole number, the even one of two."""
    return _function(x, FLOATS, "Rint", np.rint)


@op("math.round")
def round(x: Any) -> Tensor:  # noqa: A001 (TensorFlow's name)
    """Nearest whole number, the even one of two; whole numbers stay as they are."""
    return _function(x, NUMBERS, "Round", np.rint)


@op("math.sign")
def sign(x: Any) -> Tensor:
    """-1, 0 or 1."""
    return _function(x, SIGNED, "Sign", np.sign)


@op("math.clip_by_value")
def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any) -> Tensor:
    """Values outside a range as its nearest end."""
    values, low, high = matched((t, clip_value_min, clip_value_max), "Minimum")
    for limit in (low, high):
        if not broadcastable(values.shape, limit.shape):
            raise InvalidArgumentError(
                f"Incompatible shapes: {bracketed(values.shape)} vs. {bracketed(limit.shape)} [Op:Minimum]"
            )
        wide = np.broadcast_shapes(values.shape, limit.shape)
        if wide != values.shape:
            raise ValueError(f"Shapes {values.shape} and {wide} are incompatible")
    return wrap(np.maximum(np.minimum(values, high), low))


@op("math.cumsum")
def cumsum(x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False) -> Tensor:
    """Sums of all values up to each one."""
    return _running(x, axis, exclusive, reverse, np.add, "Cumsum")


@op("math.cumprod")
def cumprod(x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False) -> Tensor:
    """Products of all values up to each one."""
    return _running(x, axis, exclusive, reverse, np.multiply, "Cumprod")


def _running(x: Any, axis: Any, exclusive: bool, reverse: bool, compute: np.ufunc, name: str) -> Tensor:
    array, at = one_of(x, NUMBERS, name), int(array_of(axis))
    if not -array.ndim <= at < array.ndim:
        raise InvalidArgumentError(
            f"ScanOp: Expected scan axis in the range [{-array.ndim}, {array.ndim}), but got {at} [Op:{name}]"
        )
    rows = np.moveaxis(array, at, 0)
    rows = rows[::-1] if reverse else rows
    with np.errstate(all="ignore"):
        found = compute.accumulate(rows, 0, dtype=array.dtype)
    if exclusive:
        first = np.full_like(rows[:1], compute.identity)
        found = np.concatenate([first, found[:-1]])[: len(rows)]
    return wrap(np.moveaxis(found[::-1] if reverse else found, 0, at))

"""Arithmetic of two tensors, element by element."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.short_axes import combined
from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import as_dtype
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor, as_tensor, wrap
from recordmill.compat.tensorflow.ops.comparing import logical_and
from recordmill.compat.tensorflow.ops.matching import (
    COMPLEX,
    FLOATS,
    NUMBERS,
    SIGNED,
    STRINGS,
    bracketed,
    matched,
    one_of,
    pair_of,
)

_QUIET: dict[str, Any] = {"divide": "ignore", "over": "ignore", "under": "ignore", "invalid": "ignore"}


_DIVISIBLE = ", ".join(
    f"tf.{name}"
    for name in (
        "uint8",
        "int8",
        "uint16",
        "int16",
        "uint32",
        "int32",
        "uint64",
        "int64",
        "float16",
        "float32",
        "float64",
    )
)


@op("math.add")
def add(x: Any, y: Any) -> Tensor:
    """Sum; strings are joined."""
    text = isinstance(x, Tensor) and x.values.dtype.kind in STRINGS
    a, b = pair_of(x, y, NUMBERS + COMPLEX + STRINGS, "Add" if text else "AddV2", hint=True)
    with np.errstate(**_QUIET):
        return wrap(combined(np.add, a, b))


@op("math.subtract")
def subtract(x: Any, y: Any) -> Tensor:
    """Difference."""
    a, b = pair_of(x, y, NUMBERS + COMPLEX, "Sub")
    with np.errstate(**_QUIET):
        return wrap(combined(np.subtract, a, b))


@op("math.multiply")
def multiply(x: Any, y: Any) -> Tensor:
    """Product; of truth values, whether both are true."""
    if any(isinstance(one, Tensor) and one.values.dtype == np.bool_ for one in (x, y)):
        return logical_and(*(as_tensor(one).values.astype(np.bool_) for one in (x, y)))
    a, b = pair_of(x, y, NUMBERS + COMPLEX, "Mul")
    with np.errstate(**_QUIET):
        return wrap(combined(np.multiply, a, b))


@op("math.truediv")
def truediv(x: Any, y: Any) -> Tensor:
    """Quotient; whole numbers of up to 16 bits are divided as float32, wider ones as float64."""
    a, b = (array_of(one) for one in (x, y))
    if isinstance(x, Tensor) or not isinstance(y, Tensor):
        a = array_of(x)
        b = array_of(y, None if isinstance(y, Tensor) else _hinted(y, a))
    else:
        a = array_of(x, as_dtype(b.dtype))
    if a.dtype != b.dtype:
        raise TypeError(f"`x` and `y` must have the same dtype, got {as_dtype(a.dtype)!r} != {as_dtype(b.dtype)!r}.")
    if a.dtype.char not in NUMBERS + COMPLEX:
        raise TypeError(f"Invalid dtype {as_dtype(a.dtype)!r} in __truediv__. Expected one of {{{_DIVISIBLE}}}.")
    if a.dtype.kind in "iu":
        wide = np.float32 if a.dtype.itemsize <= 2 else np.float64
        a, b = a.astype(wide), b.astype(wide)
    a, b = pair_of(Tensor(a), Tensor(b), FLOATS + COMPLEX, "RealDiv")
    with np.errstate(**_QUIET):
        return wrap(combined(np.divide, a, b))


def _hinted(value: Any, other: NDArray[Any]) -> Any:
    """Dtype of the other input if a value fits into it, or None."""
    dtype = as_dtype(other.dtype)
    try:
        array_of(value, dtype)
    except TypeError:
        return None
    return dtype


@op("math.divide")
def divide(x: Any, y: Any) -> Tensor:
    """Quotient, by Python's rules of ``/``."""
    return truediv(x if isinstance(y, Tensor) else as_tensor(x), y)


@op("math.divide_no_nan")
def divide_no_nan(x: Any, y: Any) -> Tensor:
    """Quotient, and 0 where the divisor is 0; whole numbers are divided as by `truediv`."""
    a, b = pair_of(x, y, NUMBERS, "DivNoNan")
    quotient = truediv(Tensor(a), Tensor(b)).values
    return wrap(np.where(b == 0, np.zeros((), quotient.dtype), quotient))


@op("math.multiply_no_nan")
def multiply_no_nan(x: Any, y: Any) -> Tensor:
    """Product, and 0 where the second factor is 0."""
    a, b = pair_of(x, y, FLOATS, "MulNoNan")
    with np.errstate(**_QUIET):
        return wrap(np.where(b == 0, np.zeros((), a.dtype), np.multiply(a, b)))


@op("math.floordiv")
def floordiv(x: Any, y: Any) -> Tensor:
    """Quotient rounded down."""
    a, b = _divided(x, y, "FloorDiv")
    with np.errstate(**_QUIET):
        return wrap(np.floor(np.divide(a, b)) if a.dtype.kind == "f" else np.floor_divide(a, b), a.dtype)


@op("math.floormod")
def floormod(x: Any, y: Any) -> Tensor:
    """Rest that has the divisor's sign."""
    a, b = _divided(x, y, "FloorMod")
    with np.errstate(**_QUIET):
        if a.dtype.kind != "f":
            return wrap(np.mod(a, b))
        rest = np.fmod(a, b)
        return wrap(np.where((rest != 0) & ((b < 0) != (rest < 0)), rest + b, rest))


@op("math.truncatediv")
def truncatediv(x: Any, y: Any) -> Tensor:
    """Quotient rounded towards 0."""
    a, b = _divided(x, y, "TruncateDiv")
    with np.errstate(**_QUIET):
        if a.dtype.kind == "f":
            return wrap(np.trunc(np.divide(a, b)))
        return wrap(np.floor_divide(a - np.fmod(a, b), b))


@op("math.truncatemod")
def truncatemod(x: Any, y: Any) -> Tensor:
    """Rest that has the dividend's sign."""
    a, b = _divided(x, y, "TruncateMod", FLOATS + "ilq")
    with np.errstate(**_QUIET):
        return wrap(np.fmod(a, b))


def _divided(x: Any, y: Any, name: str, allowed: str = NUMBERS) -> tuple[NDArray[Any], NDArray[Any]]:
    a, b = pair_of(x, y, allowed, name)
    if b.dtype.kind != "f" and a.size and not np.all(b):
        raise InvalidArgumentError(f"Integer division by zero [Op:{name}]")
    return a, b


@op("math.pow")
def pow(x: Any, y: Any) -> Tensor:  # noqa: A001 (TensorFlow's name)
    """Power."""
    a, b = pair_of(x, y, NUMBERS, "Pow")
    if b.dtype.kind == "i" and np.any(b < 0):
        raise InvalidArgumentError("Integers to negative integer powers are not allowed [Op:Pow]")
    with np.errstate(**_QUIET):
        return wrap(np.power(a, b))


@op("math.maximum")
def maximum(x: Any, y: Any) -> Tensor:
    """Larger one of two values."""
    return wrap(combined(np.maximum, *pair_of(x, y, NUMBERS, "Maximum")))


@op("math.minimum")
def minimum(x: Any, y: Any) -> Tensor:
    """Smaller one of two values."""
    return wrap(combined(np.minimum, *pair_of(x, y, NUMBERS, "Minimum")))


@op("math.squared_difference")
def squared_difference(x: Any, y: Any) -> Tensor:
    """Square of the difference."""
    a, b = pair_of(x, y, FLOATS + "ilq", "SquaredDifference")
    with np.errstate(**_QUIET):
        difference = combined(np.subtract, a, b)
        return wrap(np.multiply(difference, difference))


@op("math.atan2")
def atan2(y: Any, x: Any) -> Tensor:
    """Angle of a point, in radians."""
    return wrap(np.arctan2(*pair_of(y, x, FLOATS, "Atan2")))


@op("math.negative")
def negative(x: Any) -> Tensor:
    """Value of the other sign."""
    return wrap(np.negative(one_of(x, SIGNED + COMPLEX, "Neg")))


@op("math.abs")
def abs(x: Any) -> Tensor:  # noqa: A001 (TensorFlow's name)
    """Value without its sign."""
    return wrap(np.abs(one_of(x, SIGNED + COMPLEX, "Abs")))


@op("math.add_n")
def add_n(inputs: Any) -> Tensor:
    """Sum of several tensors of one shape."""
    values = inputs if isinstance(inputs, list | tuple) else [inputs]
    if not values:
        raise ValueError(
            "Inputs must be an iterable of at least one Tensor/IndexedSlices with the same dtype and shape."
        )
    arrays = matched(values, "AddN")
    for place, one in enumerate(arrays):
        if one.shape != arrays[0].shape:
            raise InvalidArgumentError(
                "Inputs to operation AddN of type AddN must have the same size and shape. Input 0: "
                f"{bracketed(arrays[0].shape)} != input {place}: {bracketed(one.shape)} [Op:AddN]"
            )
    total = arrays[0]
    for one in arrays[1:]:
        total = np.add(total, one)
    return wrap(total)

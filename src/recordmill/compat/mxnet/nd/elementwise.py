"""Operations value by value, and values picked by numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from recordmill.compat.mxnet.nd.arrays import NDArray, wrap
from recordmill.compat.mxnet.nd.refusing import named


def _unary(compute: Any, says: str) -> Any:
    def operation(data: Any) -> NDArray:
        found: NDArray = compute(wrap(data))
        return found

    operation.__name__, operation.__doc__ = compute.__name__, says
    return named(operation)


def _binary(ufunc: Any, says: str) -> Any:
    def operation(lhs: Any, rhs: Any) -> Any:
        return ufunc(lhs, rhs)

    operation.__name__, operation.__doc__ = ufunc.__name__, says
    return named(operation)


def _logical(ufunc: Any, says: str) -> Any:
    def operation(*sides: Any) -> Any:
        kind = next(one.dtype for one in sides if isinstance(one, NDArray))
        return wrap(ufunc(*(np.asarray(one) for one in sides)).astype(kind))

    operation.__name__, operation.__doc__ = ufunc.__name__, says
    return named(operation)


abs = _unary(np.absolute, "Values without their sign.")  # noqa: A001 (MXNet's)
sqrt = _unary(np.sqrt, "Square roots.")
square = _unary(np.square, "Squares.")
exp = _unary(np.exp, "Powers of e.")
log = _unary(np.log, "Natural logarithms.")
floor = _unary(np.floor, "Next whole number below.")
ceil = _unary(np.ceil, "Next whole number above.")
sign = _unary(np.sign, "Minus one, zero or one.")
sin = _unary(np.sin, "Sines.")
cos = _unary(np.cos, "Cosines.")
tanh = _unary(np.tanh, "Hyperbolic tangents.")
log2 = _unary(np.log2, "Logarithms to the base 2.")
log10 = _unary(np.log10, "Logarithms to the base 10.")
log1p = _unary(np.log1p, "Natural logarithms of values one above.")
expm1 = _unary(np.expm1, "Powers of e, less one.")
cbrt = _unary(np.cbrt, "Cube roots.")
trunc = fix = _unary(np.trunc, "Next whole number towards zero.")
negative = _unary(np.negative, "Values with the other sign.")
reciprocal = _unary(lambda data: 1 / data, "One by the values.")
rsqrt = _unary(lambda data: 1 / np.sqrt(data), "One by the square roots.")
relu = _unary(lambda data: np.maximum(data, 0), "Values, and zero for those below.")
sigmoid = _unary(lambda data: 1 / (1 + np.exp(-data)), "One by one and a power of e.")
logical_not = _logical(np.logical_not, "Ones where values are zero.")

add = broadcast_add = elemwise_add = _binary(np.add, "Sums.")
subtract = broadcast_sub = elemwise_sub = _binary(np.subtract, "Differences.")
multiply = broadcast_mul = elemwise_mul = _binary(np.multiply, "Products.")
divide = broadcast_div = elemwise_div = _binary(np.true_divide, "Quotients.")
power = broadcast_power = _binary(np.power, "Powers.")
maximum = broadcast_maximum = _binary(np.maximum, "Larger values.")
minimum = broadcast_minimum = _binary(np.minimum, "Smaller values.")
equal = broadcast_equal = _binary(np.equal, "Ones where values are equal.")
not_equal = broadcast_not_equal = _binary(np.not_equal, "Ones where values differ.")
greater = broadcast_greater = _binary(np.greater, "Ones where the first values are larger.")
greater_equal = broadcast_greater_equal = _binary(np.greater_equal, "Ones where the first values are not smaller.")
lesser = broadcast_lesser = _binary(np.less, "Ones where the first values are smaller.")
lesser_equal = broadcast_lesser_equal = _binary(np.less_equal, "Ones where the first values are not larger.")
modulo = broadcast_mod = _binary(np.mod, "What division leaves.")
true_divide = divide
logical_and = broadcast_logical_and = _logical(np.logical_and, "Ones where both values are not zero.")
logical_or = broadcast_logical_or = _logical(np.logical_or, "Ones where one of the values is not zero.")
logical_xor = broadcast_logical_xor = _logical(np.logical_xor, "Ones where one of the values alone is not zero.")


def round(data: Any) -> NDArray:  # noqa: A001 (MXNet's)
    """Nearest whole numbers; halves go away from zero."""
    values = np.asarray(data)
    return wrap((np.sign(values) * np.floor(np.abs(values) + values.dtype.type(0.5))).astype(values.dtype))


@named
def add_n(*args: Any) -> Any:
    """Sum of several arrays."""
    total = wrap(args[0]).copy()
    for one in args[1:]:
        total += one
    return total


@named
def clip(data: Any, a_min: float | None, a_max: float | None) -> NDArray:
    """Values brought into a range."""
    if a_min is None or a_max is None:
        raise ValueError(f"Invalid Parameter format: a_min and a_max are numbers, not {a_min} and {a_max}")
    values = np.asarray(data)
    return wrap(np.minimum(np.maximum(values, values.dtype.type(a_min)), values.dtype.type(a_max)))


@named
def cast(data: Any, dtype: Any) -> NDArray:
    """Values of another dtype."""
    with np.errstate(all="ignore"):
        return wrap(np.asarray(data).astype(dtype))


@named
def where(condition: Any, x: Any, y: Any) -> NDArray:
    """Values of one array where a condition is not zero, of another elsewhere."""
    return wrap(np.where(np.asarray(condition) != 0, np.asarray(x), np.asarray(y)))


@named
def take(a: Any, indices: Any, axis: int = 0, mode: str = "clip") -> NDArray:
    """Rows, or other parts, by their numbers; ``mode`` says what becomes of numbers behind the end."""
    return wrap(np.take(np.asarray(a), np.asarray(indices).astype(np.int64), axis, mode=mode))  # type: ignore[call-overload]


@named
def pick(data: Any, index: Any, axis: int = -1, keepdims: bool = False) -> NDArray:
    """One value of each row, by its number."""
    values = np.asarray(data)
    places = np.clip(np.asarray(index).astype(np.int64), 0, values.shape[axis] - 1)
    if places.ndim < values.ndim:
        places = np.expand_dims(places, axis)
    found = np.take_along_axis(values, places, axis)
    return wrap(found if keepdims else np.squeeze(found, axis))


@named
def one_hot(indices: Any, depth: int, on_value: float = 1.0, off_value: float = 0.0, dtype: Any = "float32") -> NDArray:
    """A row for each number, with one value at its place; outside of the row there is none."""
    numbers = np.asarray(indices).astype(np.int64)
    rows = np.full((numbers.size, depth), off_value, dtype)
    [there] = np.nonzero((numbers.reshape(-1) >= 0) & (numbers.reshape(-1) < depth))
    rows[there, numbers.reshape(-1)[there]] = on_value
    return wrap(rows.reshape(*numbers.shape, depth))


@named
def dot(lhs: Any, rhs: Any, transpose_a: bool = False, transpose_b: bool = False) -> NDArray:
    """Product of matrices; of the last axis and the first one."""
    first, second = np.asarray(lhs), np.asarray(rhs)
    first, second = first.T if transpose_a else first, second.T if transpose_b else second
    return wrap(np.atleast_1d(np.tensordot(first, second, 1)))


@named
def batch_dot(lhs: Any, rhs: Any, transpose_a: bool = False, transpose_b: bool = False) -> NDArray:
    """Products of matrices, sample by sample."""
    first, second = np.asarray(lhs), np.asarray(rhs)
    first = first.swapaxes(1, 2) if transpose_a else first
    return wrap(np.matmul(first, second.swapaxes(1, 2) if transpose_b else second))


def waitall() -> None:
    """Return at once: values are there when an array is."""

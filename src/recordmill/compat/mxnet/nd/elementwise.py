"""Operations value by value, and values picked by numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from recordmill.compat.mxnet.nd.arrays import NDArray, wrap
from recordmill.compat.mxnet.nd.refusing import named


def _unary(ufunc: Any, says: str) -> Any:
    def operation(data: Any) -> NDArray:
        found: NDArray = ufunc(wrap(data))
        return found

    operation.__name__, operation.__doc__ = ufunc.__name__, says
    return operation


def _binary(ufunc: Any, says: str) -> Any:
    def operation(lhs: Any, rhs: Any) -> Any:
        return ufunc(lhs, rhs)

    operation.__name__, operation.__doc__ = ufunc.__name__, says
    return operation


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

add = broadcast_add = elemwise_add = _binary(np.add, "Sums.")
subtract = broadcast_sub = elemwise_sub = _binary(np.subtract, "Differences.")
multiply = broadcast_mul = elemwise_mul = _binary(np.multiply, "Products.")
divide = broadcast_div = elemwise_div = _binary(np.true_divide, "Quotients.")
power = broadcast_power = _binary(np.power, "Powers.")
maximum = broadcast_maximum = _binary(np.maximum, "Larger values.")
minimum = broadcast_minimum = _binary(np.minimum, "Smaller values.")
equal = broadcast_equal = _binary(np.equal, "Ones where values are equal.")


def round(data: Any) -> NDArray:  # noqa: A001 (MXNet's)
    """Nearest whole numbers; halves go away from zero."""
    values = np.asarray(data)
    return wrap((np.sign(values) * np.floor(np.abs(values) + values.dtype.type(0.5))).astype(values.dtype))


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
    return wrap(np.where(numbers[..., None] == np.arange(depth), on_value, off_value).astype(dtype))


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

"""Comparisons of two tensors, and logic of truth values, element by element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from recordmill.compat.short_axes import combined
from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor, wrap
from recordmill.compat.tensorflow.ops.matching import (
    BOOL,
    FLOATS,
    NUMBERS,
    STRINGS,
    broadcastable,
    matched,
    one_of,
    pair_of,
    told,
)

_ALL = NUMBERS + STRINGS + BOOL


@op("math.equal")
def equal(x: Any, y: Any) -> Tensor:
    """Whether values are equal."""
    a, b = pair_of(x, y, _ALL, "Equal")
    return wrap(combined(np.equal, a, b))


@op("math.not_equal")
def not_equal(x: Any, y: Any) -> Tensor:
    """Whether values differ."""
    a, b = pair_of(x, y, _ALL, "NotEqual")
    return wrap(combined(np.not_equal, a, b))


@op("math.equal_or_false")
def equal_or_false(x: Any, y: Any) -> Tensor:
    """Whether values are equal; a single False for shapes that do not broadcast."""
    a, b = matched((x, y), "Equal")
    return wrap(combined(np.equal, a, b)) if broadcastable(a.shape, b.shape) else wrap(np.False_)


@op("math.not_equal_or_true")
def not_equal_or_true(x: Any, y: Any) -> Tensor:
    """Whether values differ; a single True for shapes that do not broadcast."""
    a, b = matched((x, y), "NotEqual")
    return wrap(combined(np.not_equal, a, b)) if broadcastable(a.shape, b.shape) else wrap(np.True_)


@op("math.less")
def less(x: Any, y: Any) -> Tensor:
    """Whether the first value is smaller."""
    return wrap(combined(np.less, *pair_of(x, y, NUMBERS, "Less")))


@op("math.less_equal")
def less_equal(x: Any, y: Any) -> Tensor:
    """Whether the first value is not larger."""
    return wrap(combined(np.less_equal, *pair_of(x, y, NUMBERS, "LessEqual")))


@op("math.greater")
def greater(x: Any, y: Any) -> Tensor:
    """Whether the first value is larger."""
    return wrap(combined(np.greater, *pair_of(x, y, NUMBERS, "Greater")))


@op("math.greater_equal")
def greater_equal(x: Any, y: Any) -> Tensor:
    """Whether the first value is not smaller."""
    return wrap(combined(np.greater_equal, *pair_of(x, y, NUMBERS, "GreaterEqual")))


@op("math.logical_and")
def logical_and(x: Any, y: Any) -> Tensor:
    """Whether both are true."""
    return _logical(np.logical_and, x, y, "LogicalAnd")


@op("math.logical_or")
def logical_or(x: Any, y: Any) -> Tensor:
    """Whether one of them is true."""
    return _logical(np.logical_or, x, y, "LogicalOr")


@op("math.logical_xor")
def logical_xor(x: Any, y: Any) -> Tensor:
    """Whether exactly one of them is true."""
    return _logical(np.logical_xor, x, y, "LogicalXor")


@op("math.logical_not")
def logical_not(x: Any) -> Tensor:
    """Whether it is false."""
    return wrap(np.logical_not(truths(x, 0, "LogicalNot")))


def _logical(compute: Callable[..., Any], x: Any, y: Any, name: str) -> Tensor:
    a, b = pair_of(Tensor(truths(x, 0, name)), Tensor(truths(y, 1, name)), BOOL, name)
    return wrap(compute(a, b))


def truths(value: Any, index: int, name: str) -> Any:
    """Make the array of an input that has to hold truth values."""
    if not isinstance(value, Tensor):
        return array_of(value, "bool")
    array = value.values
    if array.dtype != np.bool_:
        raise InvalidArgumentError(
            f"cannot compute {name} as input #{index}(zero-based) was expected to be a bool tensor "
            f"but is a {told(value.dtype)} tensor [Op:{name}]"
        )
    return array


@op("math.is_nan")
def is_nan(x: Any) -> Tensor:
    """Whether it is not a number."""
    return wrap(np.isnan(one_of(x, FLOATS, "IsNan")))


@op("math.is_inf")
def is_inf(x: Any) -> Tensor:
    """Whether it is infinite."""
    return wrap(np.isinf(one_of(x, FLOATS, "IsInf")))


@op("math.is_finite")
def is_finite(x: Any) -> Tensor:
    """Whether it is a finite number."""
    return wrap(np.isfinite(one_of(x, FLOATS, "IsFinite")))

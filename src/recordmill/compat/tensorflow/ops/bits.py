"""Operators of Python that are logic for truth values and bitwise for whole numbers; ``tf.bitwise``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.operators import Operators
from recordmill.compat.tensorflow.core.tensor import Tensor, wrap
from recordmill.compat.tensorflow.ops.comparing import logical_and, logical_not, logical_or, logical_xor
from recordmill.compat.tensorflow.ops.matching import WHOLE, one_of, pair_of


def _is_logic(x: Any, y: Any) -> bool:
    first = x if isinstance(x, Operators) or not isinstance(y, Operators) else y
    return array_of(first).dtype == np.bool_


@op("math.and")
def and_(x: Any, y: Any) -> Tensor:
    """``x & y``."""
    return logical_and(x, y) if _is_logic(x, y) else bitwise_and(x, y)


@op("math.or")
def or_(x: Any, y: Any) -> Tensor:
    """``x | y``."""
    return logical_or(x, y) if _is_logic(x, y) else bitwise_or(x, y)


@op("math.xor")
def xor(x: Any, y: Any) -> Tensor:
    """``x ^ y``."""
    return logical_xor(x, y) if _is_logic(x, y) else bitwise_xor(x, y)


@op("math.invert")
def invert_or_not(x: Any) -> Tensor:
    """``~x``."""
    return logical_not(x) if _is_logic(x, x) else invert(x)


@op("bitwise.and")
def bitwise_and(x: Any, y: Any) -> Tensor:
    """Bits that are set in both."""
    return _bitwise(np.bitwise_and, x, y, "BitwiseAnd")


@op("bitwise.or")
def bitwise_or(x: Any, y: Any) -> Tensor:
    """Bits that are set in one of them."""
    return _bitwise(np.bitwise_or, x, y, "BitwiseOr")


@op("bitwise.xor")
def bitwise_xor(x: Any, y: Any) -> Tensor:
    """Bits that are set in exactly one of them."""
    return _bitwise(np.bitwise_xor, x, y, "BitwiseXor")


@op("bitwise.invert")
def invert(x: Any) -> Tensor:
    """Every bit turned."""
    return wrap(np.invert(one_of(x, WHOLE, "Invert")))


@op("bitwise.left_shift")
def left_shift(x: Any, y: Any) -> Tensor:
    """Bits moved up; a distance outside 0 to width - 1 counts as the nearest one, as TensorFlow does it."""
    return _shifted(np.left_shift, x, y, "LeftShift")


@op("bitwise.right_shift")
def right_shift(x: Any, y: Any) -> Tensor:
    """Bits moved down; signed numbers keep their sign. Distances as in `left_shift`."""
    return _shifted(np.right_shift, x, y, "RightShift")


def _bitwise(compute: Callable[..., Any], x: Any, y: Any, name: str) -> Tensor:
    return wrap(compute(*pair_of(x, y, WHOLE, name)))


def _shifted(compute: Callable[..., Any], x: Any, y: Any, name: str) -> Tensor:
    a, b = pair_of(x, y, WHOLE, name)
    distance = np.clip(b, 0, a.dtype.itemsize * 8 - 1).astype(b.dtype)
    return wrap(compute(a, distance))

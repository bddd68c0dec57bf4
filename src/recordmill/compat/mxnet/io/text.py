"""What iterators over numbers in text files share: shapes of their rows, and how digits become float32."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.mxnet.base import ParameterError

Doubles = NDArray[np.float64]
# The largest exponent, and what each multiplies by: eight digits at a time, and then one, each step rounded.
_LARGEST = 38


def _scales() -> NDArray[np.float32]:
    made = []
    for exponent in range(_LARGEST + 1):
        scale = np.float32(1)
        for step in [1e8] * (exponent // 8) + [10.0] * (exponent % 8):
            scale = np.float32(float(scale) * step)
        made.append(scale)
    return np.array(made)


_SCALES = _scales()


def read_lengths(name: str, value: Any) -> tuple[int, ...]:
    """Shape of a row, of the value of a parameter."""
    parts = value.strip("()[] ").rstrip(",").split(",") if isinstance(value, str) else value
    try:
        shape = tuple(int(part) for part in ((parts,) if isinstance(parts, int) else parts))
    except (TypeError, ValueError) as error:
        message = f"Invalid Parameter format for {name} expect Shape(tuple) but value='{value}'"
        raise ParameterError(message, kind="bad_parameter", expected="Shape(tuple)", found=repr(value)) from error
    if not shape or min(shape) < 1:
        raise ParameterError(f"{name} has lengths of 1 or more", kind="bad_parameter", found=str(shape))
    return shape


def rounded_apart(digits: Doubles, exponents: NDArray[np.int64]) -> NDArray[np.float32]:
    """Numbers whose digits in front of the point and behind it are rounded apart, and then together, as MXNet does."""
    whole = np.where(np.isfinite(digits), np.trunc(digits), 0)
    with np.errstate(over="ignore", under="ignore"):
        found: NDArray[np.float32] = whole.astype(np.float32) + (digits - whole).astype(np.float32)
        found = np.copysign(found, digits.astype(np.float32))  # of -0.0
        if exponents.any():
            scales = _SCALES[np.minimum(np.abs(exponents), _LARGEST)]
            found = np.where(exponents < 0, found / scales, found * scales)
            beyond = np.abs(exponents) > _LARGEST
            powers = 10.0 ** np.clip(exponents[beyond], -400, 308).astype(np.float64)
            found[beyond] = (digits[beyond] * powers).astype(np.float32)
    return found


def split_exponent(number: bytes) -> tuple[bytes, bytes]:
    """Digits of a number, and its exponent, which is 0 where there is none."""
    digits, mark, exponent = number.lower().partition(b"e")
    if b"e" in exponent:
        raise ValueError(f"no number: {number[:40]!r}")
    return digits, exponent if mark else b"0"

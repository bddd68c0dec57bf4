"""MXNet's rules of arithmetic: an array keeps its dtype, and numbers beside it are made to fit."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from recordmill.compat.mxnet.base import ParameterError
from recordmill.compat.short_axes import combined

_INTO = {np.add, np.subtract, np.multiply, np.true_divide}
# Functions whose last bits in single precision are NumPy's own; in double precision, rounded, they are the C library's.
_ROUNDED = {
    np.exp, np.expm1, np.log, np.log1p, np.log2, np.log10, np.sin, np.cos, np.tanh, np.power, np.cbrt
}  # fmt: skip
_COMPARISONS = {np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal}


def plain(values: Any) -> Any:
    """Arrays, and those inside lists, tuples and dicts, as NumPy's own."""
    if isinstance(values, np.ndarray):
        return values.view(np.ndarray)
    if type(values) in (list, tuple):
        return type(values)(plain(one) for one in values)
    if type(values) is dict:
        return {name: plain(one) for name, one in values.items()}
    return values


def apply(ufunc: Any, inputs: tuple[Any, ...], kind: np.dtype[Any] | None, out: Any = None) -> Any:
    """Result of an operation on arrays and numbers, as NumPy's own array."""
    values = [_operand(one, kind) for one in inputs]
    try:
        with np.errstate(all="ignore"):
            if ufunc in _INTO and _fits(out, values, kind):
                return combined(ufunc, values[0], values[1], out=out)
            found = _computed(ufunc, values, kind)
            if out is None:
                return found
            np.copyto(out, found, casting="same_kind" if kind is None else "unsafe")
            return out
    except ValueError as error:
        raise ParameterError(f"{ufunc.__name__}: {error}", kind="bad_shape") from error


def _operand(value: Any, kind: np.dtype[Any] | None) -> Any:
    if isinstance(value, np.ndarray):
        return value.view(np.ndarray)
    if not isinstance(value, numbers.Number | np.generic):
        raise TypeError(f"type {type(value)} not supported")
    with np.errstate(all="ignore"):
        return value if kind is None else np.asarray(value).astype(kind)


def _fits(out: Any, values: list[Any], kind: np.dtype[Any] | None) -> bool:
    """Whether a result needs no array of its own."""
    if out is None or kind is None or kind.kind != "f" or out.dtype != kind or not out.flags.c_contiguous:
        return False
    return bool(np.broadcast_shapes(*(one.shape for one in values)) == out.shape)


def _computed(ufunc: Any, values: list[Any], kind: np.dtype[Any] | None) -> Any:
    if kind is None:
        return ufunc(*values)
    if ufunc in _ROUNDED and kind == np.float32:
        return ufunc(*values, dtype=np.float64).astype(kind)
    simple = ufunc.nin == 2 and ufunc.nout == 1 and ufunc.signature is None
    found = combined(ufunc, *values) if simple else ufunc(*values)
    found = np.trunc(found) if ufunc is np.true_divide and kind.kind in "iu" else found
    keeps = isinstance(found, tuple) or (found.dtype == np.bool_ and ufunc not in _COMPARISONS)
    return found if keeps else found.astype(kind, copy=False)

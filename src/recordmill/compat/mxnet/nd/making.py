"""Arrays of given values, of one value, and of numbers in a row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from recordmill.compat.mxnet.context import Context
from recordmill.compat.mxnet.nd.arrays import NDArray, wrap

Shape = int | Sequence[int]


def array(source_array: Any, ctx: Context | None = None, dtype: Any = None) -> NDArray:
    """Array of given values."""
    del ctx
    if dtype is None:
        dtype = source_array.dtype if isinstance(source_array, NDArray) else np.float32
    try:
        return wrap(np.array(source_array, dtype, subok=False))
    except ValueError as error:
        if isinstance(source_array, np.ndarray):
            raise
        raise TypeError(f"source_array must be array like object: {error}") from error


def from_numpy(ndarray: Any, zero_copy: bool = True) -> NDArray:
    """Array over the memory of NumPy's, or a copy of it, with its dtype."""
    return wrap(ndarray if zero_copy else np.array(ndarray))


def full(shape: Shape, val: Any, ctx: Context | None = None, dtype: Any = None) -> NDArray:
    """Array of one value; float32 by default."""
    del ctx
    return wrap(np.full(shape, val, dtype or np.float32))


def zeros(shape: Shape, ctx: Context | None = None, dtype: Any = None) -> NDArray:
    """Array of zeros; float32 by default."""
    return full(shape, 0, ctx, dtype)


def ones(shape: Shape, ctx: Context | None = None, dtype: Any = None) -> NDArray:
    """Array of ones; float32 by default."""
    return full(shape, 1, ctx, dtype)


def empty(shape: Shape, ctx: Context | None = None, dtype: Any = None) -> NDArray:
    """Array of a shape, of zeros; float32 by default."""
    return zeros(shape, ctx, dtype)


def zeros_like(data: Any) -> NDArray:
    """Array of zeros, with the shape and dtype of another."""
    return wrap(np.zeros(data.shape, data.dtype))


def ones_like(data: Any) -> NDArray:
    """Array of ones, with the shape and dtype of another."""
    return wrap(np.ones(data.shape, data.dtype))


def arange(
    start: float,
    stop: float | None = None,
    step: float = 1.0,
    repeat: int = 1,
    infer_range: Any = None,
    ctx: Context | None = None,
    dtype: Any = None,
) -> NDArray:
    """Numbers at equal distances, each `repeat` times; float32 by default."""
    del infer_range, ctx
    first, end = (0, start) if stop is None else (start, stop)
    return wrap(np.repeat(np.arange(first, end, step).astype(dtype or np.float32), repeat))


def linspace(
    start: float, stop: float, num: int, endpoint: bool = True, ctx: Context | None = None, dtype: Any = None
) -> NDArray:
    """So many numbers from one to another; float32 by default."""
    del ctx
    return wrap(np.linspace(start, stop, num, endpoint, dtype=dtype or np.float32))


def eye(
    N: int,  # noqa: N803 (MXNet's)
    M: int = 0,  # noqa: N803
    k: int = 0,
    ctx: Context | None = None,
    dtype: Any = None,
) -> NDArray:
    """Ones on a diagonal, zeros elsewhere; float32 by default."""
    del ctx
    return wrap(np.eye(N, M or N, k, dtype or np.float32))

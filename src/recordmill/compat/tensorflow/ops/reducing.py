"""Sums, means, extremes and logic over axes of a tensor.

Sums of floating-point numbers are NumPy's: TensorFlow adds in another order, the last bits may differ.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.short_axes import added, combined, reduced
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor, wrap
from recordmill.compat.tensorflow.ops.comparing import truths
from recordmill.compat.tensorflow.ops.matching import FLOATS, NUMBERS, as_ints, one_of


def axes_of(axis: Any, ndim: int, name: str = "Sum") -> tuple[int, ...]:
    """Read the axes to reduce over."""
    if axis is None:
        return tuple(range(ndim))
    found: list[int] = []
    for one in as_ints(axis, "Tidx", name):
        if not -ndim <= one < ndim:
            raise InvalidArgumentError(
                f"Invalid reduction dimension ({one} for input with {ndim} dimension(s) [Op:{name}]"
            )
        if one % ndim in found:
            raise InvalidArgumentError(
                f"Invalid reduction arguments: Axes contains duplicate dimension: {one % ndim} [Op:{name}]"
            )
        found.append(one % ndim)
    return tuple(found)


def _reduced(
    value: Any, axis: Any, keepdims: bool, name: str, compute: Callable[..., Any], allowed: str = NUMBERS
) -> Tensor:
    array = one_of(value, allowed, name)
    axes = axes_of(axis, array.ndim, name)
    with np.errstate(all="ignore"):
        return wrap(compute(array, axes, keepdims=bool(keepdims)), array.dtype)


@op("math.reduce_sum")
def reduce_sum(input_tensor: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Sum; whole numbers wrap around."""
    return _reduced(input_tensor, axis, keepdims, "Sum", _sum)


def _sum(array: NDArray[Any], axes: tuple[int, ...], *, keepdims: bool) -> Any:
    if array.dtype.kind != "f":
        return reduced(np.add, array, axes, keepdims=keepdims, dtype=array.dtype)
    return added(array.astype(np.float32) if array.dtype == np.float16 else array, axes, keepdims=keepdims)


@op("math.reduce_prod")
def reduce_prod(input_tensor: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Product; whole numbers wrap around."""
    return _reduced(input_tensor, axis, keepdims, "Prod", _product)


def _product(array: NDArray[Any], axes: tuple[int, ...], **options: Any) -> Any:
    return np.prod(array, axes, array.dtype, **options)


@op("math.reduce_mean")
def reduce_mean(input_tensor: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Mean; that of whole numbers is a whole number, rounded towards 0."""
    return _reduced(input_tensor, axis, keepdims, "Mean", _mean)


def _mean(array: NDArray[Any], axes: tuple[int, ...], *, keepdims: bool) -> Any:
    total = _sum(array if array.dtype.kind == "f" else _widened(array), axes, keepdims=keepdims)
    count = array.size // max(np.size(total), 1)
    if array.dtype.kind == "f":
        return np.divide(total, np.asarray(count, total.dtype))
    if not count:
        return np.zeros_like(total)
    quotient = np.abs(total) // count
    return quotient * np.sign(total)


def _widened(array: NDArray[Any]) -> NDArray[Any]:
    return array.astype(np.uint64 if array.dtype.kind == "u" else np.int64)


@op("math.reduce_max")
def reduce_max(input_tensor: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Largest value; the smallest possible one of no values."""
    return _reduced(input_tensor, axis, keepdims, "Max", _largest)


def _largest(array: NDArray[Any], axes: tuple[int, ...], *, keepdims: bool) -> Any:
    return reduced(np.maximum, array, axes, keepdims=keepdims, initial=_limit(array, False))


@op("math.reduce_min")
def reduce_min(input_tensor: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Smallest value; the largest possible one of no values."""
    return _reduced(input_tensor, axis, keepdims, "Min", _smallest)


def _smallest(array: NDArray[Any], axes: tuple[int, ...], *, keepdims: bool) -> Any:
    return reduced(np.minimum, array, axes, keepdims=keepdims, initial=_limit(array, True))


def _limit(array: NDArray[Any], largest: bool) -> Any:
    if array.dtype.kind == "f":
        return array.dtype.type(np.inf if largest else -np.inf)
    limits = np.iinfo(array.dtype)
    return array.dtype.type(limits.max if largest else limits.min)


@op("math.reduce_any")
def reduce_any(input_tensor: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Whether any value is true."""
    array = truths(input_tensor, 0, "Any")
    return wrap(reduced(np.logical_or, array, axes_of(axis, array.ndim, "Any"), keepdims=bool(keepdims)))


@op("math.reduce_all")
def reduce_all(input_tensor: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Whether all values are true."""
    array = truths(input_tensor, 0, "All")
    return wrap(reduced(np.logical_and, array, axes_of(axis, array.ndim, "All"), keepdims=bool(keepdims)))


@op("math.reduce_variance")
def reduce_variance(input_tensor: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Mean square of the distance from the mean."""
    array = one_of(input_tensor, NUMBERS, "Mean")
    axes = axes_of(axis, array.ndim, "Mean")
    if array.dtype.char not in FLOATS:
        raise TypeError(f"Input must be either real or complex. Received integer type <dtype: '{array.dtype.name}'>.")
    with np.errstate(all="ignore"):
        distance = combined(np.subtract, array, _mean(array, axes, keepdims=True).astype(array.dtype))
        return wrap(_mean(distance * distance, axes, keepdims=bool(keepdims)), array.dtype)


@op("math.reduce_std")
def reduce_std(input_tensor: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Root of the variance."""
    return wrap(np.sqrt(reduce_variance(input_tensor, axis, keepdims).values))


@op("math.reduce_euclidean_norm")
def reduce_euclidean_norm(input_tensor: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Root of the sum of squares."""
    return _reduced(input_tensor, axis, keepdims, "EuclideanNorm", _euclidean)


def _euclidean(array: NDArray[Any], axes: tuple[int, ...], **options: Any) -> Any:
    square = np.sum(np.multiply(array, array), axes, array.dtype, **options)
    return np.sqrt(square) if array.dtype.kind == "f" else np.trunc(np.sqrt(square.astype(np.float64)))


@op("math.reduce_logsumexp")
def reduce_logsumexp(input_tensor: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Logarithm of the sum of exponentials."""
    array = one_of(input_tensor, FLOATS, "IsFinite")
    axes = axes_of(axis, array.ndim, "Max")
    with np.errstate(all="ignore"):
        largest = np.max(array, axis=axes, keepdims=True, initial=-np.inf)
        largest = np.where(np.isfinite(largest), largest, np.zeros((), array.dtype))
        total = np.log(np.sum(np.exp(array - largest), axis=axes, keepdims=True)) + largest
    return wrap(total if keepdims else total.reshape([n for i, n in enumerate(array.shape) if i not in axes]))

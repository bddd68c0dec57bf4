"""Reductions of ``tf.math``; sums of floating-point numbers may differ from TensorFlow's in the last bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.tensor import Tensor, wrap
from recordmill.compat.tensorflow.ops.inputs import FLOATS, NUMBERS, convert_bools, convert_input, normalize_axes


def _sum(array: NDArray[Any], axes: tuple[int, ...], keepdims: bool) -> Any:
    # Sum float16 values in float32, as TensorFlow does.
    dtype = np.dtype(np.float32) if array.dtype == np.float16 else array.dtype
    return np.sum(array, axes, dtype, keepdims=keepdims)


def _prod(array: NDArray[Any], axes: tuple[int, ...], keepdims: bool) -> Any:
    return np.prod(array, axes, array.dtype, keepdims=keepdims)


def _mean(array: NDArray[Any], axes: tuple[int, ...], keepdims: bool) -> Any:
    """Return the mean; the mean of integers is rounded towards zero."""
    if array.dtype.kind in "iu":
        array = array.astype(np.uint64 if array.dtype.kind == "u" else np.int64)
    total = _sum(array, axes, keepdims)
    count = array.size // max(np.size(total), 1)
    if array.dtype.kind == "f":
        return np.divide(total, np.asarray(count, total.dtype))
    return np.abs(total) // count * np.sign(total) if count else np.zeros_like(total)


def _max(array: NDArray[Any], axes: tuple[int, ...], keepdims: bool) -> Any:
    smallest = -np.inf if array.dtype.kind == "f" else np.iinfo(array.dtype).min
    return np.max(array, axes, keepdims=keepdims, initial=array.dtype.type(smallest))


def _min(array: NDArray[Any], axes: tuple[int, ...], keepdims: bool) -> Any:
    largest = np.inf if array.dtype.kind == "f" else np.iinfo(array.dtype).max
    return np.min(array, axes, keepdims=keepdims, initial=array.dtype.type(largest))


def _variance(array: NDArray[Any], axes: tuple[int, ...], keepdims: bool) -> Any:
    distance = array - _mean(array, axes, True).astype(array.dtype)
    return _mean(distance * distance, axes, keepdims)


def _std(array: NDArray[Any], axes: tuple[int, ...], keepdims: bool) -> Any:
    return np.sqrt(_variance(array, axes, keepdims))


# Maps the name of each reduction to a function with the arguments array, axes and keepdims.
REDUCTIONS: dict[str, Callable[[NDArray[Any], tuple[int, ...], bool], Any]] = {
    "reduce_max": _max,
    "reduce_mean": _mean,
    "reduce_min": _min,
    "reduce_prod": _prod,
    "reduce_std": _std,
    "reduce_sum": _sum,
    "reduce_variance": _variance,
}
LOGICAL: dict[str, np.ufunc] = {"reduce_all": np.logical_and, "reduce_any": np.logical_or}


def _define_reduction(name: str, function: Callable[[NDArray[Any], tuple[int, ...], bool], Any]) -> None:
    @op(f"math.{name}")
    def reduction(input_tensor: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
        array = convert_input(input_tensor, NUMBERS, name)
        axes = normalize_axes(axis, array.ndim, name)
        if function in (_std, _variance) and array.dtype.char not in FLOATS:
            raise TypeError(f"{name}: values must be floating-point numbers, got {array.dtype}")
        with np.errstate(all="ignore"):
            return wrap(function(array, axes, bool(keepdims)), array.dtype)

    reduction.__name__, reduction.__doc__ = name, f"``tf.{name}``: reduce over axes."


def _define_logical_reduction(name: str, function: np.ufunc) -> None:
    @op(f"math.{name}")
    def reduction(input_tensor: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
        array = convert_bools(input_tensor, name)
        return wrap(function.reduce(array, normalize_axes(axis, array.ndim, name), keepdims=bool(keepdims)))

    reduction.__name__, reduction.__doc__ = name, f"``tf.{name}``: reduce over axes."


for _name, _function in REDUCTIONS.items():
    _define_reduction(_name, _function)
for _name, _ufunc in LOGICAL.items():
    _define_logical_reduction(_name, _ufunc)

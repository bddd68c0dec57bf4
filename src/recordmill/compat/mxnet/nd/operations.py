"""Operations and array methods of ``mx.nd`` that differ from NumPy in name, parameters or result."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from recordmill.compat.mxnet.base import MXNetError, ParameterError
from recordmill.compat.mxnet.context import Context
from recordmill.compat.mxnet.nd.arrays import NDArray, as_ndarray

Shape = int | Sequence[int]

_BROADCAST: dict[str, Any] = {
    "broadcast_add": np.add,
    "broadcast_div": np.true_divide,
    "broadcast_mul": np.multiply,
    "broadcast_sub": np.subtract,
}
_REDUCTIONS = ("argmax", "argmin", "max", "mean", "min", "sum")
# In the shape passed to `reshape`, this value marks an axis whose length is inferred.
_INFER = -1


def as_operation(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function to return an NDArray with at least one axis, and to raise ParameterError for bad arguments."""

    @functools.wraps(function)
    def wrapped(*arguments: Any, **options: Any) -> Any:
        try:
            result = function(*arguments, **options)
        except MXNetError:
            raise
        except (ValueError, IndexError) as error:
            raise ParameterError(f"{function.__name__}: {error}") from error
        return as_ndarray(np.atleast_1d(result))

    return wrapped


def _create_broadcast_operation(name: str, ufunc: Any) -> Callable[..., Any]:
    def apply_ufunc(lhs: Any, rhs: Any) -> Any:
        return ufunc(lhs, rhs)

    apply_ufunc.__name__, apply_ufunc.__doc__ = name, f"`numpy.{ufunc.__name__}`; keeps the dtype."
    return as_operation(apply_ufunc)


def _create_reduction(name: str) -> Callable[..., Any]:
    function = getattr(np, name)

    def reduce(data: Any, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Any:
        values = np.asarray(data)
        options: dict[str, Any] = {"dtype": values.dtype} if function is np.sum else {}
        axes = tuple(axis) or None if isinstance(axis, list | tuple) else axis
        with np.errstate(all="ignore"):
            return np.asarray(function(values, axis=axes, keepdims=bool(keepdims), **options)).astype(values.dtype)

    reduce.__name__, reduce.__doc__ = name, f"`numpy.{name}`; keeps the dtype."
    return as_operation(reduce)


def array(source_array: Any, ctx: Context | None = None, dtype: Any = None) -> NDArray:
    """``mx.nd.array``: create an array; by default float32, or the dtype of `source_array` if it is an NDArray."""
    del ctx
    if dtype is None:
        dtype = source_array.dtype if isinstance(source_array, NDArray) else np.float32
    try:
        return as_ndarray(np.array(source_array, dtype, subok=False))
    except ValueError as error:
        if isinstance(source_array, np.ndarray):
            raise
        raise TypeError(f"source_array must be array like object: {error}") from error


def full(shape: Shape, val: Any, ctx: Context | None = None, dtype: Any = None) -> NDArray:
    """``mx.nd.full``: create an array filled with `val`; float32 by default."""
    del ctx
    return as_ndarray(np.full(shape, val, dtype or np.float32))


def zeros(shape: Shape, ctx: Context | None = None, dtype: Any = None) -> NDArray:
    """Create an array of zeros; float32 by default."""
    return full(shape, 0, ctx, dtype)


def ones(shape: Shape, ctx: Context | None = None, dtype: Any = None) -> NDArray:
    """Create an array of ones; float32 by default."""
    return full(shape, 1, ctx, dtype)


@as_operation
def round_half_away(data: Any) -> Any:
    """Round to the nearest integers, halves away from zero; keep the dtype."""
    values = np.asarray(data)
    return (np.sign(values) * np.floor(np.abs(values) + values.dtype.type(0.5))).astype(values.dtype)


@as_operation
def clip(data: Any, a_min: Any, a_max: Any) -> Any:
    """Limit values to [a_min, a_max], keeping the dtype."""
    if a_min is None or a_max is None:
        raise ValueError(f"a_min and a_max must be numbers, got {a_min} and {a_max}")
    values = np.asarray(data)
    return np.minimum(np.maximum(values, values.dtype.type(a_min)), values.dtype.type(a_max))


@as_operation
def cast(data: Any, dtype: Any) -> Any:
    """Convert an array to `dtype`."""
    with np.errstate(all="ignore"):
        return np.asarray(data).astype(dtype)


@as_operation
def reshape(data: Any, *sizes: Any, shape: Any = None) -> Any:
    """Change the shape; 0 keeps the length of an axis, and -1 infers it."""
    values = np.asarray(data)
    lengths = sizes if shape is None else shape
    lengths = lengths[0] if len(lengths) == 1 and not isinstance(lengths[0], int | np.integer) else lengths
    if any(length < _INFER for length in lengths):
        raise ValueError(f"lengths in shape must be -1 or more, got {tuple(lengths)}")
    return values.reshape([length or values.shape[axis] for axis, length in enumerate(lengths)])


@as_operation
def transpose(data: Any, *order: Any, axes: Sequence[int] | None = None) -> Any:
    """Permute the axes; by default, reverse them."""
    if order:
        axes = order[0] if len(order) == 1 else order
    return np.transpose(np.asarray(data), axes or None)


@as_operation
def flatten(data: Any) -> Any:
    """Merge all axes except the first."""
    return np.asarray(data).reshape(len(data), -1)


@as_operation
def expand_dims(data: Any, axis: int) -> Any:
    """Insert an axis of length 1."""
    return np.expand_dims(np.asarray(data), axis)


@as_operation
def flip(data: Any, axis: Any) -> Any:
    """Reverse the order along an axis."""
    return np.flip(np.asarray(data), axis)


@as_operation
def concat(*data: Any, dim: int = 1) -> Any:
    """Concatenate arrays along axis `dim`."""
    return np.concatenate([np.asarray(one) for one in data], axis=dim)


@as_operation
def stack(*data: Any, axis: int = 0) -> Any:
    """Stack arrays along a new axis."""
    return np.stack([np.asarray(one) for one in data], axis=axis)


def waitall() -> None:
    """Return immediately; operations are not asynchronous."""


_reductions = {name: _create_reduction(name) for name in _REDUCTIONS}
_methods = {function.__name__: function for function in (clip, expand_dims, flatten, flip, reshape, transpose)}
_functions = (array, cast, concat, full, ones, stack, waitall, zeros)
OPERATIONS: dict[str, Callable[..., Any]] = {
    **{name: _create_broadcast_operation(name, ufunc) for name, ufunc in _BROADCAST.items()},
    **{function.__name__: function for function in _functions},
    **_reductions,
    **_methods,
    "empty": zeros,
    "sum_axis": _reductions["sum"],
}
for _name, _method in {**_reductions, **_methods, "round": round_half_away}.items():
    setattr(NDArray, _name, _method)

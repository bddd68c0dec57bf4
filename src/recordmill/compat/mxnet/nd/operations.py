"""Operations of ``mx.nd``: tables of NumPy functions, and those that differ from NumPy's."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from recordmill.compat.mxnet.base import MXNetError, ParameterError
from recordmill.compat.mxnet.context import Context
from recordmill.compat.mxnet.nd.arrays import NDArray, wrap

Shape = int | Sequence[int]

_UNARY: dict[str, Any] = {
    "abs": np.absolute,
    "ceil": np.ceil,
    "exp": np.exp,
    "floor": np.floor,
    "log": np.log,
    "negative": np.negative,
    "sign": np.sign,
    "sqrt": np.sqrt,
    "square": np.square,
}
_BINARY: dict[str, Any] = {
    "add": np.add,
    "divide": np.true_divide,
    "equal": np.equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "lesser": np.less,
    "lesser_equal": np.less_equal,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "modulo": np.mod,
    "multiply": np.multiply,
    "not_equal": np.not_equal,
    "power": np.power,
    "subtract": np.subtract,
}
# Names behind ``broadcast_`` and ``elemwise_`` where they are not those of `_BINARY`.
_ABBREVIATIONS = {"divide": "div", "multiply": "mul", "subtract": "sub"}
_REDUCTIONS: dict[str, Any] = {
    "argmax": np.argmax,
    "argmin": np.argmin,
    "max": np.max,
    "mean": np.mean,
    "min": np.min,
    "sum": np.sum,
}
# Functions of one array, `data`, whose other parameters are NumPy's.
_SAME_PARAMETERS: dict[str, Any] = {
    "expand_dims": np.expand_dims,
    "flip": np.flip,
    "repeat": np.repeat,
    "squeeze": np.squeeze,
    "tile": np.tile,
}
# Other operations that are also methods of arrays.
_METHODS = ("clip", "flatten", "reshape", "round", "transpose")
_INFER = -1


def operation(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function of plain arrays: its result has an axis at least, and NumPy's errors are translated."""

    @functools.wraps(function)
    def wrapped(*arguments: Any, **options: Any) -> Any:
        try:
            found = function(*arguments, **options)
        except MXNetError:
            raise
        except (ValueError, IndexError) as error:
            raise ParameterError(f"{function.__name__}: {error}") from error
        return wrap(np.atleast_1d(found)) if isinstance(found, np.ndarray | np.generic) else found

    return wrapped


def _create_unary(ufunc: Any) -> Callable[..., Any]:
    def apply(data: Any) -> Any:
        return ufunc(data)

    return apply


def _create_binary(ufunc: Any) -> Callable[..., Any]:
    def apply(lhs: Any, rhs: Any) -> Any:
        return ufunc(lhs, rhs)

    return apply


def _create_reduction(function: Any) -> Callable[..., Any]:
    def reduce(data: Any, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Any:
        values = np.asarray(data)
        options: dict[str, Any] = {"dtype": values.dtype} if function is np.sum else {}
        axes = tuple(axis) or None if isinstance(axis, list | tuple) else axis
        with np.errstate(all="ignore"):
            return np.asarray(function(values, axis=axes, keepdims=bool(keepdims), **options)).astype(values.dtype)

    return reduce


def _create_same(function: Any) -> Callable[..., Any]:
    def apply(data: Any, *arguments: Any, **options: Any) -> Any:
        return function(np.asarray(data), *arguments, **options)

    return apply


def _create_operations(
    create: Callable[[Any], Callable[..., Any]], functions: dict[str, Any]
) -> dict[str, Callable[..., Any]]:
    """Create an operation for each NumPy function; its result has the dtype of the array."""
    operations = {}
    for name, function in functions.items():
        created = create(function)
        created.__name__, created.__doc__ = name, f"`numpy.{function.__name__}`; keeps the dtype."
        operations[name] = operation(created)
    return operations


def array(source_array: Any, ctx: Context | None = None, dtype: Any = None) -> NDArray:
    """Create an array; float32 unless the source is an NDArray."""
    del ctx
    if dtype is None:
        dtype = source_array.dtype if isinstance(source_array, NDArray) else np.float32
    try:
        return wrap(np.array(source_array, dtype, subok=False))
    except ValueError as error:
        if isinstance(source_array, np.ndarray):
            raise
        raise TypeError(f"source_array must be array like object: {error}") from error


def full(shape: Shape, val: Any, ctx: Context | None = None, dtype: Any = None) -> NDArray:
    """Create an array of one value; float32 by default."""
    del ctx
    return wrap(np.full(shape, val, dtype or np.float32))


def zeros(shape: Shape, ctx: Context | None = None, dtype: Any = None) -> NDArray:
    """Create an array of zeros; float32 by default."""
    return full(shape, 0, ctx, dtype)


def ones(shape: Shape, ctx: Context | None = None, dtype: Any = None) -> NDArray:
    """Create an array of ones; float32 by default."""
    return full(shape, 1, ctx, dtype)


def arange(
    start: float,
    stop: float | None = None,
    step: float = 1.0,
    repeat: int = 1,
    ctx: Context | None = None,
    dtype: Any = None,
) -> NDArray:
    """Create evenly spaced numbers, each repeated; float32 by default."""
    del ctx
    first, end = (0, start) if stop is None else (start, stop)
    return wrap(np.repeat(np.arange(first, end, step).astype(dtype or np.float32), repeat))


@operation
def round_half_away(data: Any) -> Any:
    """Round to integers, halves away from zero."""
    values = np.asarray(data)
    return (np.sign(values) * np.floor(np.abs(values) + values.dtype.type(0.5))).astype(values.dtype)


@operation
def clip(data: Any, a_min: Any, a_max: Any) -> Any:
    """Limit values to a range."""
    if a_min is None or a_max is None:
        raise ValueError(f"a_min and a_max must be numbers, got {a_min} and {a_max}")
    values = np.asarray(data)
    return np.minimum(np.maximum(values, values.dtype.type(a_min)), values.dtype.type(a_max))


@operation
def cast(data: Any, dtype: Any) -> Any:
    """Convert to another dtype."""
    with np.errstate(all="ignore"):
        return np.asarray(data).astype(dtype)


@operation
def reshape(data: Any, *sizes: Any, shape: Any = None) -> Any:
    """Change the shape; 0 keeps the length of an axis."""
    values = np.asarray(data)
    lengths = sizes if shape is None else shape
    lengths = lengths[0] if len(lengths) == 1 and not isinstance(lengths[0], int | np.integer) else lengths
    if any(length < _INFER for length in lengths):
        raise ValueError(f"lengths must be -1 or more, got {tuple(lengths)}")
    return values.reshape([length or values.shape[axis] for axis, length in enumerate(lengths)])


@operation
def transpose(data: Any, *order: Any, axes: Sequence[int] | None = None) -> Any:
    """Permute the axes; reverse them by default."""
    if order:
        axes = order[0] if len(order) == 1 else order
    return np.transpose(np.asarray(data), axes or None)


@operation
def flatten(data: Any) -> Any:
    """Keep the first axis and merge the others."""
    return np.asarray(data).reshape(len(data), -1)


@operation
def concat(*data: Any, dim: int = 1) -> Any:
    """Join arrays along an axis."""
    return np.concatenate([np.asarray(one) for one in data], axis=dim)


@operation
def stack(*data: Any, axis: int = 0) -> Any:
    """Join arrays along a new axis."""
    return np.stack([np.asarray(one) for one in data], axis=axis)


def waitall() -> None:
    """Return immediately; operations are not asynchronous."""


_PLAIN = (arange, array, cast, clip, concat, flatten, full, ones, reshape, stack, transpose, waitall, zeros)
OPERATIONS: dict[str, Callable[..., Any]] = {
    **_create_operations(_create_unary, _UNARY),
    **_create_operations(_create_binary, _BINARY),
    **_create_operations(_create_reduction, _REDUCTIONS),
    **_create_operations(_create_same, _SAME_PARAMETERS),
    **{function.__name__: function for function in _PLAIN},
    "empty": zeros,
    "round": round_half_away,
}
flip = OPERATIONS["flip"]
OPERATIONS |= {
    f"{prefix}_{_ABBREVIATIONS.get(name, name)}": OPERATIONS[name]
    for name in _BINARY
    for prefix in ("broadcast", "elemwise")
}

for _name in (*_UNARY, *_REDUCTIONS, *_SAME_PARAMETERS, *_METHODS):
    setattr(NDArray, _name, OPERATIONS[_name])

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
_METHODS = (
    "broadcast_to",
    "clip",
    "flatten",
    "one_hot",
    "reshape",
    "round",
    "slice_axis",
    "split",
    "take",
    "transpose",
)
_KEEP, _INFER, _REST, _MERGE, _SPLIT = 0, -1, -2, -3, -4


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


def zeros_like(data: Any) -> NDArray:
    """Create an array of zeros with the shape and dtype of another."""
    return full(data.shape, 0, dtype=data.dtype)


def ones_like(data: Any) -> NDArray:
    """Create an array of ones with the shape and dtype of another."""
    return full(data.shape, 1, dtype=data.dtype)


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
def where(condition: Any, x: Any, y: Any) -> Any:
    """Select values of `x` where the condition is not zero, of `y` elsewhere."""
    return np.where(np.asarray(condition) != 0, np.asarray(x), np.asarray(y))


@operation
def take(a: Any, indices: Any, axis: int = 0, mode: Any = "clip") -> Any:
    """Select parts by their indices."""
    return np.take(np.asarray(a), np.asarray(indices).astype(np.int64), axis, mode=mode)


@operation
def one_hot(indices: Any, depth: int, on_value: float = 1.0, off_value: float = 0.0, dtype: Any = "float32") -> Any:
    """Encode indices as rows; an index outside of the row has no `on_value`."""
    is_on = np.asarray(indices).astype(np.int64)[..., None] == np.arange(depth)
    return np.where(is_on, on_value, off_value).astype(dtype)


@operation
def dot(lhs: Any, rhs: Any) -> Any:
    """Sum products over the last axis of `lhs` and the first of `rhs`."""
    return np.tensordot(np.asarray(lhs), np.asarray(rhs), 1)


@operation
def reshape(data: Any, *sizes: Any, shape: Any = None) -> Any:
    """Change the shape; 0, -2, -3 and -4 have MXNet's meaning."""
    wanted = sizes if shape is None else shape
    if len(wanted) == 1 and not isinstance(wanted[0], int | np.integer):
        wanted = wanted[0]
    values = np.asarray(data)
    return values.reshape(_expand_shape(list(values.shape), [int(one) for one in wanted]))


def _expand_shape(old: list[int], wanted: list[int]) -> list[int]:
    """Replace MXNet's special lengths by plain ones."""
    new: list[int] = []
    while wanted:
        length = wanted.pop(0)
        if length == _REST:
            new, old = new + old, []
        elif length == _MERGE:
            new.append(old.pop(0) * old.pop(0))
        elif length == _SPLIT:
            first, second, total = wanted.pop(0), wanted.pop(0), old.pop(0)
            new += [total // second if first == _INFER else first, total // first if second == _INFER else second]
        else:
            previous = old.pop(0) if old else None
            new.append(previous if length == _KEEP and previous is not None else length)
    return new


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
def slice_axis(data: Any, axis: int, begin: int, end: int | None) -> Any:
    """Select a range of one axis; an `end` of None is its end."""
    values = np.asarray(data)
    key: list[Any] = [np.s_[:]] * values.ndim
    key[axis] = np.s_[begin:end]
    return values[tuple(key)].copy()


@operation
def split(data: Any, num_outputs: int, axis: int = 1, squeeze_axis: bool = False) -> Any:
    """Split an axis into equal parts; returns an array for one part, else a list."""
    parts = np.split(np.asarray(data), num_outputs, axis)
    parts = [wrap(np.squeeze(part, axis) if squeeze_axis else part) for part in parts]
    return parts[0] if len(parts) == 1 else parts


@operation
def concat(*data: Any, dim: int = 1) -> Any:
    """Join arrays along an axis."""
    return np.concatenate([np.asarray(one) for one in data], axis=dim)


@operation
def stack(*data: Any, axis: int = 0) -> Any:
    """Join arrays along a new axis."""
    return np.stack([np.asarray(one) for one in data], axis=axis)


@operation
def broadcast_to(data: Any, shape: Sequence[int]) -> Any:
    """Repeat axes of length 1; a length of 0 keeps an axis."""
    values = np.asarray(data)
    return np.broadcast_to(values, [new or old for new, old in zip(shape, values.shape, strict=True)]).copy()


def waitall() -> None:
    """Return immediately; operations are not asynchronous."""


_PLAIN = (
    *(arange, array, broadcast_to, cast, clip, concat, dot, flatten, full, one_hot, ones, ones_like, reshape),
    *(slice_axis, split, stack, take, transpose, waitall, where, zeros, zeros_like),
)
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

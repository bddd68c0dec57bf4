"""Operations of ``mx.nd``: tables of NumPy functions, and the few that differ from NumPy's."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from recordmill.compat.mxnet.base import MXNetError, ParameterError
from recordmill.compat.mxnet.context import Context
from recordmill.compat.mxnet.nd.arrays import NDArray, wrap

Shape = int | Sequence[int]
Axes = int | Sequence[int] | None

_UNARY: dict[str, Any] = {
    "abs": np.absolute,
    "ceil": np.ceil,
    "cos": np.cos,
    "exp": np.exp,
    "floor": np.floor,
    "log": np.log,
    "negative": np.negative,
    "sign": np.sign,
    "sin": np.sin,
    "sqrt": np.sqrt,
    "square": np.square,
    "tanh": np.tanh,
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
# Names with a prefix: ``broadcast_add``, ``elemwise_add``.
_PREFIXED = {
    "add": "add",
    "div": "divide",
    "equal": "equal",
    "greater": "greater",
    "lesser": "lesser",
    "maximum": "maximum",
    "minimum": "minimum",
    "mul": "multiply",
    "power": "power",
    "sub": "subtract",
}
_REDUCTIONS: dict[str, Any] = {
    "argmax": np.argmax,
    "argmin": np.argmin,
    "max": np.max,
    "mean": np.mean,
    "min": np.min,
    "prod": np.prod,
    "sum": np.sum,
}
# Operations that are also methods of arrays.
_METHODS = (
    *_UNARY,
    *_REDUCTIONS,
    *("broadcast_to", "clip", "expand_dims", "flatten", "flip", "norm", "one_hot", "repeat", "reshape", "round"),
    *("slice_axis", "split", "squeeze", "swapaxes", "take", "tile", "transpose"),
    *("ones_like", "zeros_like"),
)
_KEEP, _INFER, _REST, _MERGE, _SPLIT = 0, -1, -2, -3, -4


def operation(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function of plain arrays: wrap its result, and translate NumPy's errors."""

    @functools.wraps(function)
    def wrapped(*arguments: Any, **options: Any) -> Any:
        try:
            found = function(*arguments, **options)
        except MXNetError:
            raise
        except (ValueError, IndexError) as error:
            raise ParameterError(f"{function.__name__}: {error}", kind="bad_parameter") from error
        return wrap(found) if isinstance(found, np.ndarray) else found

    return wrapped


def _create_unary(name: str, ufunc: Any) -> Callable[..., Any]:
    def apply(data: Any) -> Any:
        return ufunc(data)

    apply.__name__, apply.__doc__ = name, f"`numpy.{ufunc.__name__}`; keeps the dtype."
    return operation(apply)


def _create_binary(name: str, ufunc: Any) -> Callable[..., Any]:
    def apply(lhs: Any, rhs: Any) -> Any:
        return ufunc(lhs, rhs)

    apply.__name__, apply.__doc__ = name, f"`numpy.{ufunc.__name__}`; keeps the dtype."
    return operation(apply)


def _create_reduction(name: str, function: Any) -> Callable[..., Any]:
    def reduce(data: Any, axis: Axes = None, keepdims: bool = False) -> Any:
        values = np.asarray(data)
        options: dict[str, Any] = {"dtype": values.dtype} if name in ("prod", "sum") else {}
        axes = tuple(axis) or None if isinstance(axis, list | tuple) else axis
        with np.errstate(all="ignore"):
            found = function(values, axis=axes, keepdims=bool(keepdims), **options)
            return np.atleast_1d(found).astype(values.dtype, copy=False)

    reduce.__name__, reduce.__doc__ = name, f"`numpy.{function.__name__}`; keeps the dtype, and one axis at least."
    return operation(reduce)


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


def empty(shape: Shape, ctx: Context | None = None, dtype: Any = None) -> NDArray:
    """Create an array of zeros; float32 by default."""
    return full(shape, 0, ctx, dtype)


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


def round_half_away(data: Any) -> NDArray:
    """Round to integers, halves away from zero."""
    values = np.asarray(data)
    return wrap((np.sign(values) * np.floor(np.abs(values) + values.dtype.type(0.5))).astype(values.dtype))


@operation
def clip(data: Any, a_min: float, a_max: float) -> Any:
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
    """Encode indices as rows; indices outside of the row have no `on_value`."""
    is_on = np.asarray(indices).astype(np.int64)[..., None] == np.arange(depth)
    return np.where(is_on, on_value, off_value).astype(dtype)


@operation
def dot(lhs: Any, rhs: Any) -> Any:
    """Multiply matrices: sum over the last axis of `lhs` and the first of `rhs`."""
    return np.atleast_1d(np.tensordot(np.asarray(lhs), np.asarray(rhs), 1))


@operation
def norm(data: Any, ord: int = 2, axis: Axes = None, keepdims: bool = False) -> Any:  # noqa: A002 (MXNet's)
    """Return the L1 or L2 norm along axes."""
    values = np.asarray(data)
    if ord not in (1, 2):
        raise ValueError(f"ord must be 1 or 2, got {ord}")
    terms = np.abs(values) if ord == 1 else np.square(values)
    total = np.atleast_1d(np.sum(terms, axis=axis, keepdims=keepdims, dtype=values.dtype))  # type: ignore[arg-type]
    return total if ord == 1 else np.sqrt(total)


@operation
def reshape(data: Any, *shape: Any, **options: Any) -> Any:
    """Change the shape; 0, -2, -3 and -4 have MXNet's meaning."""
    wanted = options.pop("shape", shape)
    if options:
        raise TypeError(f"reshape has no parameter {next(iter(options))!r}")
    if len(wanted) == 1 and not isinstance(wanted[0], int | np.integer):
        wanted = wanted[0]
    values = np.asarray(data)
    return values.reshape(_expand_shape(list(values.shape), [int(one) for one in wanted]))


def _expand_shape(old: list[int], wanted: list[int]) -> list[int]:
    """Replace MXNet's special lengths by plain ones."""
    new = list[int]()
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
def expand_dims(data: Any, axis: int) -> Any:
    """Add an axis of length 1."""
    return np.expand_dims(np.asarray(data), axis)


@operation
def squeeze(data: Any, axis: Axes = None) -> Any:
    """Remove axes of length 1; at least one axis remains."""
    return np.atleast_1d(np.squeeze(np.asarray(data), tuple(axis) if isinstance(axis, list) else axis))  # type: ignore[arg-type]


@operation
def swapaxes(data: Any, dim1: int = 0, dim2: int = 0) -> Any:
    """Exchange two axes."""
    return np.swapaxes(np.asarray(data), dim1, dim2)


@operation
def flip(data: Any, axis: int | Sequence[int]) -> Any:
    """Reverse axes."""
    return np.flip(np.asarray(data), axis if isinstance(axis, int) else tuple(axis))


@operation
def tile(data: Any, reps: int | Sequence[int]) -> Any:
    """Repeat an array along its axes."""
    return np.tile(np.asarray(data), reps)


@operation
def repeat(data: Any, repeats: int, axis: int | None = None) -> Any:
    """Repeat every value; flat without an axis."""
    return np.repeat(np.asarray(data), repeats, axis)


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
    parts = [wrap(part) for part in np.split(np.asarray(data), num_outputs, axis)]
    parts = [squeeze(part, axis) for part in parts] if squeeze_axis else parts
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
    lengths = [new or old for new, old in zip(shape, values.shape, strict=True)]
    return np.broadcast_to(values, lengths).copy()


def waitall() -> None:
    """Return immediately; operations are not asynchronous."""


_PLAIN = (
    *(arange, array, broadcast_to, cast, clip, concat, dot, empty, expand_dims, flatten, flip, full, norm, one_hot),
    *(ones, ones_like, repeat, reshape, slice_axis, split, squeeze, stack, swapaxes, take, tile, transpose, waitall),
    *(where, zeros, zeros_like),
)
OPERATIONS: dict[str, Callable[..., Any]] = {
    **{name: _create_unary(name, ufunc) for name, ufunc in _UNARY.items()},
    **{name: _create_binary(name, ufunc) for name, ufunc in _BINARY.items()},
    **{name: _create_reduction(name, function) for name, function in _REDUCTIONS.items()},
    **{function.__name__: function for function in _PLAIN},
    "round": round_half_away,
}
OPERATIONS |= {
    f"{prefix}_{name}": OPERATIONS[target] for prefix in ("broadcast", "elemwise") for name, target in _PREFIXED.items()
}

for _name in _METHODS:
    setattr(NDArray, _name, OPERATIONS[_name])

"""Short last axes, such as the channels of pixels, in long runs: NumPy starts anew for each row of the last axis."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Values of an array below which a start for each row costs no more than the ways around it.
_MANY = 4096
# Values of a last axis from which on its rows are long enough.
_SHORT = 32
# Values of a run: from which on its start costs little, and up to which a row is repeated to make one.
_RUN, _LONGEST = 4096, 16384
# Fewer values than these NumPy adds one after the other, more of them in eight sums.
_FEW = 8


def combined(compute: np.ufunc, a: NDArray[Any], b: NDArray[Any], out: NDArray[Any] | None = None) -> Any:
    """Apply a function of two arrays that broadcast, one of which may be a row of channels."""
    if fit := _fit(a, b):
        target = None if out is None else out.reshape(fit)
        return compute(a.reshape(fit), _repeated(b, fit), out=target).reshape(a.shape)
    if fit := _fit(b, a):
        target = None if out is None else out.reshape(fit)
        return compute(_repeated(a, fit), b.reshape(fit), out=target).reshape(b.shape)
    if _is_column(a, b) or _is_column(b, a):
        return _by_channel(compute, a, b, out)
    return compute(a, b, out=out)


def _is_column(wide: NDArray[Any], column: NDArray[Any]) -> bool:
    """Whether one array has a single value where the other one has channels."""
    return column.ndim > 0 and has_short_rows(wide) and column.shape == (*wide.shape[:-1], 1)


def _by_channel(compute: np.ufunc, a: NDArray[Any], b: NDArray[Any], out: NDArray[Any] | None) -> Any:
    if out is not None and not all(_is_apart(side, out) for side in (a, b)):
        return compute(a, b, out=out)
    channels = max(a.shape[-1], b.shape[-1])
    for place in range(channels):
        one, other = (side[..., place if side.shape[-1] > 1 else 0] for side in (a, b))
        if out is None:
            first = compute(one, other)
            out = np.empty((*first.shape, channels), first.dtype)
            out[..., 0] = first
        else:
            compute(one, other, out=out[..., place])
    return out


def _is_apart(values: NDArray[Any], out: NDArray[Any]) -> bool:
    """Whether no value is lost before it is read if results are put into `out` channel by channel."""
    same = values.ctypes.data == out.ctypes.data and (values.shape, values.strides) == (out.shape, out.strides)
    return same or not np.may_share_memory(values, out)


def _repeated(rows: NDArray[Any], fit: tuple[int, int, int]) -> NDArray[Any]:
    """Rows of channels, one for each of the first axis, as long as the runs."""
    before, _, run = fit
    times = run // rows.shape[-1]
    first = _divisor(times)  # repeats of a few long pieces are quicker than those of many short ones
    pieces = rows.reshape(before, 1, -1).repeat(first, 1).reshape(before, 1, -1)
    return pieces.repeat(times // first, 1).reshape(before, 1, run)


def _fit(wide: NDArray[Any], rows: NDArray[Any]) -> tuple[int, int, int] | None:
    """Shape of an array in runs, if the other one has a row of channels for each of its first axes; else None."""
    channels = wide.shape[-1:]
    if wide.size < _MANY or rows.shape[-1:] != channels or not 1 < channels[0] < _SHORT or rows.ndim > wide.ndim:
        return None
    shape = (1,) * (wide.ndim - rows.ndim) + rows.shape
    before, first = 1, 0
    while before * channels[0] < rows.size and shape[first] == wide.shape[first]:
        before, first = before * shape[first], first + 1
    run = _folded(wide.shape[first:])
    if before * channels[0] != rows.size or run == channels[0] or not wide.flags.c_contiguous:
        return None
    return before, wide.size // before // run, run


@functools.lru_cache(256)
def _divisor(number: int) -> int:
    """Largest divisor up to the square root."""
    return next(one for one in range(math.isqrt(number), 0, -1) if number % one == 0)


@functools.lru_cache(256)
def _folded(shape: tuple[int, ...]) -> int:
    """Values of some last axes, or of a part of one: a run."""
    run = shape[-1]
    for length in reversed(shape[:-1]):
        most = min(_LONGEST // run, length)
        fold = next((n for n in range(-(-_RUN // run), most + 1) if length % n == 0), 0)
        if fold or run * length > _LONGEST:
            return run * (fold or 1)
        run *= length
    return run


def reduced(compute: np.ufunc, array: NDArray[Any], axes: tuple[int, ...], *, keepdims: bool, **options: Any) -> Any:
    """Reduce by a function for which the order does not matter, such as the maximum or a sum of whole numbers."""
    parts = _in_front(array, axes)
    if parts is not None:
        before, among, row = parts
        fold = math.isqrt(among)  # as many starts for the folds as within one
        pixels = array.reshape(before, among, row)
        whole = among // fold * fold
        folds = compute.reduce(pixels[:, :whole].reshape(before, -1, fold * row), 1, **options)
        left = np.concatenate([folds.reshape(before, fold, row), pixels[:, whole:]], 1)
        return compute.reduce(left, 1, **options).reshape(_left(array, axes, keepdims))
    if _is_last(array, axes):
        found = array[..., 0].copy()
        for place in range(1, array.shape[-1]):
            compute(found, array[..., place], out=found)
        return found[..., None] if keepdims else found
    return compute.reduce(array, axes, keepdims=keepdims, **options)


def added(array: NDArray[Any], axes: tuple[int, ...], *, keepdims: bool) -> Any:
    """Add up floating-point numbers of 4 or 8 bytes in the order in which NumPy adds them."""
    parts = _in_front(array, axes)
    if parts is not None:
        # Pixel by pixel onto the row, as `sum` does it, but in one run.
        return np.einsum("ijk->ik", array.reshape(parts)).reshape(_left(array, axes, keepdims))
    if _is_last(array, axes):
        found = array[..., 0] + array.dtype.type(0)
        for place in range(1, array.shape[-1]):
            found += array[..., place]
        return found[..., None] if keepdims else found
    return np.sum(array, axes, keepdims=keepdims)


def place(array: NDArray[Any], *, largest: bool) -> NDArray[np.int8]:
    """Where in the short last axis of an array the first of its extreme values is; NaN counts as one."""
    follow, replaces = (np.maximum, np.less_equal) if largest else (np.minimum, np.greater_equal)
    best = array[..., 0].copy()
    found = np.zeros(best.shape, np.int8)
    for at in range(1, array.shape[-1]):
        better = ~replaces(array[..., at], best)
        better &= best == best  # noqa: PLR0124 (not NaN)
        np.maximum(found, better.view(np.int8) * np.int8(at), out=found)
        follow(best, array[..., at], out=best)
    return found


def has_short_rows(array: NDArray[Any]) -> bool:
    """Whether an array is large and its last axis has a few values only."""
    return array.size >= _MANY and 1 < array.shape[-1] < _FEW


def _in_front(array: NDArray[Any], axes: tuple[int, ...]) -> tuple[int, int, int] | None:
    """Values before the axes to reduce, along them and in the short rest; None unless they lie side by side so."""
    if array.size < _MANY or not axes or not array.flags.c_contiguous:
        return None
    first, last = min(axes), max(axes)
    row = math.prod(array.shape[last + 1 :])
    if last - first + 1 != len(axes) or last == array.ndim - 1 or not 1 < row < _SHORT:
        return None
    return math.prod(array.shape[:first]), math.prod(array.shape[first : last + 1]), row


def _is_last(array: NDArray[Any], axes: tuple[int, ...]) -> bool:
    return axes == (array.ndim - 1,) and has_short_rows(array)


def _left(array: NDArray[Any], axes: tuple[int, ...], keepdims: bool) -> list[int]:
    if keepdims:
        return [1 if at in axes else length for at, length in enumerate(array.shape)]
    return [length for at, length in enumerate(array.shape) if at not in axes]

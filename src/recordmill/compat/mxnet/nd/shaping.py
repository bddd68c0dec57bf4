"""The same values in another shape or order: parts, axes, repetitions, several arrays as one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from recordmill.compat.mxnet.nd.arrays import NDArray, wrap
from recordmill.compat.mxnet.nd.refusing import named
from recordmill.compat.pixel_copies import joined

Places = Sequence[int | None]
_SAME, _REST, _ALL_FURTHER, _MERGED, _SPLIT = 0, -1, -2, -3, -4


@named
def reshape(data: Any, *shape: Any, **options: Any) -> NDArray:
    """Values in another shape."""
    wanted = options.pop("shape", shape)
    if options:
        raise TypeError(f"reshape has no parameter {next(iter(options))!r}")
    if len(wanted) == 1 and not isinstance(wanted[0], int | np.integer):
        wanted = wanted[0]
    values = np.asarray(data)
    return wrap(values.reshape(_lengths(list(values.shape), [int(one) for one in wanted])))


def _lengths(old: list[int], wanted: list[int]) -> list[int]:
    made, wanted = list[int](), list(wanted)
    while wanted:
        one = wanted.pop(0)
        if one == _ALL_FURTHER:
            made, old = made + old, []
        elif one == _MERGED:
            made.append(old.pop(0) * old.pop(0))
        elif one == _SPLIT:
            first, second, whole = wanted.pop(0), wanted.pop(0), old.pop(0)
            made += [whole // second if first == _REST else first, whole // first if second == _REST else second]
        else:
            kept = old.pop(0) if old else None
            made.append(kept if one == _SAME and kept is not None else one)
    return made


def reshape_like(lhs: Any, rhs: Any) -> NDArray:
    """Values in the shape of another array."""
    return reshape(lhs, tuple(rhs.shape))


@named
def transpose(data: Any, *order: Any, axes: Sequence[int] | None = None) -> NDArray:
    """Array with its axes in another order, the reverse one by default."""
    if order:
        axes = order[0] if len(order) == 1 else order
    return wrap(np.transpose(np.asarray(data), axes or None))


def flatten(data: Any) -> NDArray:
    """Table of one row for each sample."""
    return wrap(np.asarray(data).reshape(len(data), -1))


@named
def expand_dims(data: Any, axis: int) -> NDArray:
    """Add an axis of length 1."""
    return wrap(np.expand_dims(np.asarray(data), axis))


@named
def squeeze(data: Any, axis: int | Sequence[int] | None = None) -> NDArray:
    """Leave out axes of length 1; one stays."""
    return wrap(np.atleast_1d(np.squeeze(np.asarray(data), tuple(axis) if isinstance(axis, list) else axis)))


@named
def swapaxes(data: Any, dim1: int = 0, dim2: int = 0) -> NDArray:
    """Exchange two axes."""
    return wrap(np.swapaxes(np.asarray(data), dim1, dim2))


@named
def moveaxis(tensor: Any, source: Any, destination: Any) -> NDArray:
    """Put axes at other places."""
    return wrap(np.moveaxis(np.asarray(tensor), source, destination))


@named
def flip(data: Any, axis: int | Sequence[int]) -> NDArray:
    """Reverse axes."""
    return wrap(np.flip(np.asarray(data), axis if isinstance(axis, int) else tuple(axis)))


@named
def tile(data: Any, reps: int | Sequence[int]) -> NDArray:
    """Array repeated as a whole along its axes."""
    return wrap(np.tile(np.asarray(data), reps))


@named
def repeat(data: Any, repeats: int, axis: int | None = None) -> NDArray:
    """Every value repeated; flat without an axis."""
    return wrap(np.repeat(np.asarray(data), repeats, axis))


@named
def slice(data: Any, begin: Places, end: Places, step: Places = ()) -> NDArray:  # noqa: A001 (MXNet's)
    """Part between two corners."""
    values, steps = np.asarray(data), [*step, *[None] * (len(begin) - len(step))]
    cuts = tuple(np.s_[first:last:by] for first, last, by in zip(begin, end, steps, strict=True))
    return _part(values[cuts])


@named
def slice_axis(data: Any, axis: int, begin: int, end: int | None) -> NDArray:
    """Part of one axis, from `begin` to `end`; None is its end."""
    values = np.asarray(data)
    cuts: list[Any] = [np.s_[:]] * values.ndim
    cuts[axis] = np.s_[begin:end]
    return _part(values[tuple(cuts)])


@named
def slice_like(data: Any, shape_like: Any, axes: Sequence[int] = ()) -> NDArray:
    """Beginning of axes, as long as those of another array."""
    values = np.asarray(data)
    cuts: list[Any] = [np.s_[:]] * values.ndim
    for axis in axes or range(shape_like.ndim):
        cuts[axis] = np.s_[: shape_like.shape[axis]]
    return _part(values[tuple(cuts)])


def _part(values: Any) -> NDArray:
    if not values.size:
        raise ValueError("the part is empty")
    return wrap(values.copy())


@named
def split(data: Any, num_outputs: int, axis: int = 1, squeeze_axis: bool = False) -> Any:
    """Equal parts of an axis; one alone is no list."""
    parts = [wrap(part) for part in np.split(np.asarray(data), num_outputs, axis)]
    if squeeze_axis:
        parts = [squeeze(part, axis) for part in parts]
    return parts[0] if len(parts) == 1 else parts


@named
def split_v2(ary: Any, indices_or_sections: int | Sequence[int], axis: int = 0, squeeze_axis: bool = False) -> Any:
    """Equal parts of an axis, or parts that begin at places; one alone is no list."""
    places = indices_or_sections if isinstance(indices_or_sections, int) else list(indices_or_sections)
    parts = [wrap(part) for part in np.split(np.asarray(ary), places, axis)]
    if squeeze_axis:
        parts = [squeeze(part, axis) for part in parts]
    return parts[0] if len(parts) == 1 else parts


def shape_array(data: Any) -> NDArray:
    """Lengths of the axes."""
    return wrap(np.array(data.shape, np.int64))


def size_array(data: Any) -> NDArray:
    """Number of values."""
    return wrap(np.array([data.size], np.int64))


@named
def concat(*data: Any, dim: int = 1) -> NDArray:
    """Arrays behind one another along an axis."""
    parts = [np.asarray(one) for one in data]
    alike = len({(one.dtype, one.shape[:-1], one.ndim) for one in parts}) == 1
    is_last = alike and parts[0].ndim > 0 and dim in (-1, parts[0].ndim - 1)
    return wrap(joined(parts) if is_last else np.concatenate(parts, axis=dim))


def concatenate(arrays: Sequence[Any], axis: int = 0, always_copy: bool = True) -> NDArray:
    """Arrays of a list behind one another along an axis."""
    del always_copy
    return concat(*arrays, dim=axis)


@named
def stack(*data: Any, axis: int = 0) -> NDArray:
    """Arrays side by side along a new axis."""
    return wrap(np.stack([np.asarray(one) for one in data], axis=axis))


@named
def broadcast_to(data: Any, shape: Sequence[int]) -> NDArray:
    """Axes of length 1 repeated; 0 keeps an axis."""
    values = np.asarray(data)
    lengths = [new or old for new, old in zip(shape, values.shape, strict=True)]
    return wrap(np.broadcast_to(values, lengths).copy())


def broadcast_like(lhs: Any, rhs: Any) -> NDArray:
    """Axes of length 1 repeated to the shape of another array."""
    return wrap(np.broadcast_to(np.asarray(lhs), rhs.shape).copy())


@named
def broadcast_axis(data: Any, axis: int | Sequence[int], size: int | Sequence[int]) -> NDArray:
    """Given axes of length 1 repeated."""
    values = np.asarray(data)
    for one, length in zip(np.atleast_1d(axis), np.atleast_1d(size), strict=True):
        if values.shape[one] != 1:
            raise ValueError(f"axis {one} has length {values.shape[one]}, not 1")
        values = np.repeat(values, length, one)
    return wrap(values)


@named
def pad(data: Any, mode: str, pad_width: Sequence[int], constant_value: float = 0) -> NDArray:
    """Values around an array: a constant, its edge, or what a mirror shows."""
    modes: dict[str, Any] = {"constant": {"constant_values": constant_value}, "edge": {}, "reflect": {}}
    if mode not in modes:
        raise ValueError(f"mode is constant, edge or reflect, not {mode!r}")
    return wrap(np.pad(np.asarray(data), np.reshape(pad_width, (-1, 2)), mode, **modes[mode]))  # type: ignore[call-overload]

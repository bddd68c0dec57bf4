"""One value of many: sums, means, extremes, places of extremes; and arrays in order.

Like MXNet's, they keep the dtype, and the value of a whole array is an array of shape (1,).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from recordmill.compat.mxnet.nd.arrays import NDArray, wrap
from recordmill.compat.mxnet.nd.refusing import named
from recordmill.compat.mxnet.nd.sums import added, is_added
from recordmill.compat.short_axes import reduced

# Values that are sooner found one by one than by sorting all.
_FEW = 8
Axes = int | Sequence[int] | None


def _reduced(function: Any, data: Any, axis: Axes, keepdims: bool, exclude: bool) -> NDArray:
    values = np.asarray(data)
    axes: Any = tuple(axis) if isinstance(axis, list | tuple) else axis
    if exclude and axes is not None:
        named_axes = {one % values.ndim for one in (axes if isinstance(axes, tuple) else (axes,))}
        axes = tuple(sorted(set(range(values.ndim)) - named_axes))
    with np.errstate(all="ignore"):
        found = np.asarray(function(values, axis=None if axes == () else axes, keepdims=bool(keepdims)))
    return wrap(np.atleast_1d(found).astype(values.dtype, copy=False))


@named
def sum(data: Any, axis: Axes = None, keepdims: bool = False, exclude: bool = False) -> NDArray:  # noqa: A001 (MXNet's)
    """Sum along axes, or along all others with `exclude`."""
    return _reduced(_sum, data, axis, keepdims, exclude)


def _sum(values: Any, axis: Any, keepdims: bool) -> Any:
    axes = _axes(values, axis)
    if is_added(values) and (axis is None or axes is not None):
        return added(values, axes, keepdims=keepdims)
    return np.sum(values, dtype=values.dtype, axis=axis, keepdims=keepdims)


def _axes(values: Any, axis: Any) -> tuple[int, ...] | None:
    """Axes as a tuple; None for all, and for those that NumPy refuses."""
    given = (axis,) if isinstance(axis, int) else axis
    if given is None or not all(-values.ndim <= one < values.ndim for one in given):
        return None
    found = tuple(one % values.ndim for one in given)
    return found if len(set(found)) == len(found) else None


@named
def nansum(data: Any, axis: Axes = None, keepdims: bool = False, exclude: bool = False) -> NDArray:
    """Sum along axes of what is a number."""
    return _reduced(_nansum, data, axis, keepdims, exclude)


def _nansum(values: Any, axis: Any, keepdims: bool) -> Any:
    return _sum(np.nan_to_num(values, nan=0, posinf=np.inf, neginf=-np.inf), axis, keepdims)


@named
def prod(data: Any, axis: Axes = None, keepdims: bool = False, exclude: bool = False) -> NDArray:
    """Product along axes."""
    return _reduced(lambda v, **to: np.prod(v, dtype=v.dtype, **to), data, axis, keepdims, exclude)


@named
def mean(data: Any, axis: Axes = None, keepdims: bool = False, exclude: bool = False) -> NDArray:
    """Mean along axes; whole numbers are cut, and overflow as sums of theirs do."""
    return _reduced(_mean, data, axis, keepdims, exclude)


def _mean(values: Any, axis: Any, keepdims: bool) -> Any:
    if is_added(values) and values.size:
        total = np.asarray(_sum(values, axis, keepdims))
        return total / values.dtype.type(values.size // (total.size or 1))
    if values.dtype.kind == "f":
        return np.mean(values, axis=axis, keepdims=keepdims)
    total = np.sum(values, dtype=values.dtype, axis=axis, keepdims=keepdims)
    return np.trunc(total * np.float64(np.size(total)) / values.size)


@named
def max(data: Any, axis: Axes = None, keepdims: bool = False, exclude: bool = False) -> NDArray:  # noqa: A001 (MXNet's)
    """Largest value along axes."""
    return _reduced(functools.partial(_extreme, np.maximum), data, axis, keepdims, exclude)


def _extreme(compute: np.ufunc, values: Any, axis: Any, keepdims: bool) -> Any:
    axes = _axes(values, axis)
    if axes is None:
        return compute.reduce(values, axis, keepdims=keepdims)
    return reduced(compute, values, axes, keepdims=keepdims)


@named
def min(data: Any, axis: Axes = None, keepdims: bool = False, exclude: bool = False) -> NDArray:  # noqa: A001 (MXNet's)
    """Smallest value along axes."""
    return _reduced(functools.partial(_extreme, np.minimum), data, axis, keepdims, exclude)


@named
def norm(data: Any, ord: int = 2, axis: Axes = None, keepdims: bool = False) -> NDArray:  # noqa: A002 (MXNet's)
    """Length along axes: of the squares, or of the absolute values with an `ord` of 1."""
    if ord not in (1, 2):
        raise ValueError(f"ord is 1 or 2, not {ord}")
    if ord == 1:
        return _reduced(lambda v, **to: np.sum(np.abs(v), **to), data, axis, keepdims, exclude=False)
    return _reduced(lambda v, **to: np.sqrt(np.sum(np.square(v), dtype=v.dtype, **to)), data, axis, keepdims, False)


@named
def argmax(data: Any, axis: int | None = None, keepdims: bool = False) -> NDArray:
    """Places of the largest values, as numbers of the array's dtype."""
    return _reduced(np.argmax, data, axis, keepdims, exclude=False)


@named
def argmin(data: Any, axis: int | None = None, keepdims: bool = False) -> NDArray:
    """Places of the smallest values, as numbers of the array's dtype."""
    return _reduced(np.argmin, data, axis, keepdims, exclude=False)


def _order(values: Any, axis: int | None, is_ascend: bool) -> Any:
    order = np.argsort(values, axis=axis, kind="stable")
    if is_ascend:
        return order
    behind = np.argsort(np.flip(values, axis), axis=axis, kind="stable")
    return np.flip(order.shape[-1 if axis is None else axis] - 1 - behind, axis)


@named
def argsort(data: Any, axis: int | None = -1, is_ascend: bool = True, dtype: Any = "float32") -> NDArray:
    """Places of the values in their order."""
    return wrap(_order(np.asarray(data), axis, is_ascend).astype(dtype))


@named
def sort(data: Any, axis: int | None = -1, is_ascend: bool = True) -> NDArray:
    """Values in their order, as an array of their own."""
    ordered = np.sort(np.asarray(data), axis=axis)
    return wrap(ordered if is_ascend else np.ascontiguousarray(np.flip(ordered, axis)))


def _first_places(values: Any, axis: int, k: int, is_ascend: bool) -> Any:
    """Places of the first `k` values in their order."""
    if not 0 < k <= _FEW or k > values.shape[axis] or values.dtype.kind != "f" or not np.isfinite(values).all():
        return np.take(_order(values, axis, is_ascend), range(k), axis=axis)
    left = -values if is_ascend else values.copy()
    found = []
    for _ in range(k):
        found.append(np.argmax(left, axis=axis, keepdims=True))
        np.put_along_axis(left, found[-1], -np.inf, axis)
    return np.concatenate(found, axis=axis)


@named
def topk(
    data: Any,
    axis: int | None = -1,
    k: int = 1,
    ret_typ: str = "indices",
    is_ascend: bool = False,
    dtype: Any = "float32",
) -> Any:
    """Places of the `k` largest values, the values, or both."""
    if ret_typ not in ("indices", "value", "both"):
        raise ValueError(f"ret_typ is 'indices', 'value' or 'both', not {ret_typ!r}")
    values = np.asarray(data).reshape(-1) if axis is None else np.asarray(data)
    along = 0 if axis is None else axis
    places = _first_places(values, along, k, is_ascend)
    found = {"indices": wrap(places.astype(dtype)), "value": wrap(np.take_along_axis(values, places, axis=along))}
    return [found["value"], found["indices"]] if ret_typ == "both" else found[ret_typ]

"""Values picked by index: gathering, scattering, choosing between two tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import as_dtype
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor, wrap
from recordmill.compat.tensorflow.ops.comparing import truths
from recordmill.compat.tensorflow.ops.matching import as_ints, bracketed, matched, told

_INDICES = "hilq"


def _indices(value: Any, name: str) -> NDArray[Any]:
    array = array_of(value)
    if array.dtype.char not in _INDICES and not (isinstance(value, list | tuple) and not array.size):
        raise InvalidArgumentError(
            f"Value for attr 'Tindices' of {told(as_dtype(array.dtype))} is not in the list of allowed values: "
            f"int16, int32, int64 [Op:{name}]"
        )
    return array.astype(np.int64)


@op("array.gather")
def gather(params: Any, indices: Any, validate_indices: Any = None, axis: Any = None, batch_dims: Any = 0) -> Tensor:  # noqa: ARG001
    """Rows by their indices."""
    array, places = array_of(params), _indices(indices, "GatherV2")
    batch = int(batch_dims)
    batch = batch + places.ndim if batch < 0 else batch
    at = batch if axis is None else int(axis)
    if not -array.ndim <= at < max(array.ndim, 1) or not array.ndim:
        raise InvalidArgumentError(f"params must be at least {at + 1} dimensional [Op:GatherV2]")
    at %= array.ndim
    _check(places, array.shape[at])
    if not batch:
        return wrap(np.take(array, places, at))
    if array.shape[:batch] != places.shape[:batch]:
        raise InvalidArgumentError(
            f"params {bracketed(array.shape)} and indices {bracketed(places.shape)} must agree in their first {batch} "
            "axes [Op:GatherV2]"
        )
    rows = np.moveaxis(array, at, batch)
    borders = np.ogrid[tuple(slice(n) for n in array.shape[:batch])]
    grids = [one.reshape(one.shape + (1,) * (places.ndim - batch)) for one in borders]
    found: Any = rows[(*grids, places)]
    # The new axes stand where the picked axis was.
    new = list(range(batch, places.ndim))
    return wrap(np.moveaxis(found, new, [at - batch + one for one in new]))


def _check(places: NDArray[Any], length: int) -> None:
    outside = np.argwhere((places < 0) | (places >= length))
    if len(outside):
        where = tuple(outside[0])
        raise InvalidArgumentError(
            f"indices{bracketed(where) if where else ''} = {places[where]} is not in [0, {length}) [Op:GatherV2]"
        )


@op("array.gather_nd")
def gather_nd(params: Any, indices: Any, batch_dims: Any = 0) -> Tensor:
    """Values or parts by the indices of several axes."""
    if int(batch_dims):
        raise NotImplementedError(f"tf.gather_nd with batch_dims={batch_dims} is not supported; use tf.gather")
    array, places = array_of(params), _indices(indices, "GatherNd")
    _check_depth(places, array, "GatherNd")
    found: Any = array[tuple(np.moveaxis(places, -1, 0))]
    return wrap(found)


def _check_depth(places: NDArray[Any], array: NDArray[Any], name: str) -> None:
    depth = places.shape[-1] if places.ndim else 1
    if not places.ndim or depth > array.ndim:
        raise InvalidArgumentError(
            f"index innermost dimension length must be <= params rank; saw: {depth} vs. {array.ndim} [Op:{name}]"
        )
    limits = np.array(array.shape[:depth], np.int64)
    outside = np.argwhere(((places < 0) | (places >= limits)).any(axis=-1))
    if len(outside):
        where = tuple(outside[0])
        raise InvalidArgumentError(
            f"indices{bracketed(where)} = {places[where].tolist()} does not index into param shape "
            f"{bracketed(array.shape)} [Op:{name}]"
        )


@op("array.scatter_nd")
def scatter_nd(indices: Any, updates: Any, shape: Any) -> Tensor:
    """Zeros to which values are added at places."""
    values = array_of(updates)
    out = np.zeros(as_ints(shape, "Tindices", "ScatterNd"), values.dtype)
    places = _indices(indices, "ScatterNd")
    _check_depth(places, out, "ScatterNd")
    np.add.at(out, tuple(np.moveaxis(places, -1, 0)), values)
    return Tensor(out)


@op("array.tensor_scatter_nd_update")
def tensor_scatter_nd_update(tensor: Any, indices: Any, updates: Any) -> Tensor:
    """A tensor with other values at places; the last one of several for one place counts."""
    array, values = matched((tensor, updates), "TensorScatterUpdate")
    places = _indices(indices, "TensorScatterUpdate")
    _check_depth(places, array, "TensorScatterUpdate")
    out = array.copy()
    out[tuple(np.moveaxis(places, -1, 0))] = values
    return Tensor(out)


@op("array.tensor_scatter_nd_add")
def tensor_scatter_nd_add(tensor: Any, indices: Any, updates: Any) -> Tensor:
    """A tensor with values added at places; several for one place are all added."""
    return _accumulated(tensor, indices, updates, np.add)


@op("array.tensor_scatter_nd_sub")
def tensor_scatter_nd_sub(tensor: Any, indices: Any, updates: Any) -> Tensor:
    """A tensor with values subtracted at places."""
    return _accumulated(tensor, indices, updates, np.subtract)


@op("array.tensor_scatter_nd_max")
def tensor_scatter_nd_max(tensor: Any, indices: Any, updates: Any) -> Tensor:
    """A tensor with the larger one of its value and of others at places."""
    return _accumulated(tensor, indices, updates, np.maximum)


@op("array.tensor_scatter_nd_min")
def tensor_scatter_nd_min(tensor: Any, indices: Any, updates: Any) -> Tensor:
    """A tensor with the smaller one of its value and of others at places."""
    return _accumulated(tensor, indices, updates, np.minimum)


def _accumulated(tensor: Any, indices: Any, updates: Any, how: np.ufunc) -> Tensor:
    array, values = matched((tensor, updates), "TensorScatterAdd")
    places = _indices(indices, "TensorScatterAdd")
    _check_depth(places, array, "TensorScatterAdd")
    out = array.copy()
    how.at(out, tuple(np.moveaxis(places, -1, 0)), values)
    return Tensor(out)


@op("array.where")
def where(condition: Any, x: Any = None, y: Any = None) -> Tensor:
    """Places where a condition holds, or one of two values at each place."""
    if (x is None) != (y is None):
        raise ValueError("x and y must both be non-None or both be None.")
    if x is None:
        return Tensor(np.argwhere(array_of(condition).astype(np.bool_)).astype(np.int64))
    chosen = truths(condition, 0, "SelectV2")
    a, b = matched((x, y), "SelectV2", start=1)
    try:
        return wrap(np.where(chosen, a, b), a.dtype)
    except ValueError:
        shapes = ", ".join(bracketed(one.shape) for one in (chosen, a, b))
        raise InvalidArgumentError(f"condition, then and else must be broadcastable: {shapes} [Op:SelectV2]") from None


@op("array.meshgrid")
def meshgrid(*args: Any, indexing: str = "xy") -> list[Tensor]:
    """Grids of coordinates."""
    return [wrap(one) for one in np.meshgrid(*(array_of(one) for one in args), indexing=indexing)]  # type: ignore[call-overload]

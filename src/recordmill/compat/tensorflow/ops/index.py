"""Operations that select or change parts of tensors: slices, masks, gather and scatter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor, wrap
from recordmill.compat.tensorflow.ops.composites import elementwise_op
from recordmill.compat.tensorflow.ops.inputs import (
    check_dtype,
    convert_bools,
    convert_ints,
    convert_to_common_dtype,
    normalize_axis,
)


@op("array.getitem")
def getitem(tensor: Any, key: Any) -> Any:
    """Return ``tensor[key]``."""
    if isinstance(tensor, list | tuple | Mapping):
        # In traced code, `tensor` may be the list, tuple or dict of tensors that an operation returned.
        return tensor[key]
    values = array_of(tensor)
    if isinstance(key, Tensor | np.ndarray) and key.dtype == np.bool_:
        return boolean_mask(tensor, key)
    keys = tuple(_convert_key(one) for one in (key if isinstance(key, list | tuple) else (key,)))
    if any(isinstance(one, slice) and one.step == 0 for one in keys):
        raise InvalidArgumentError("the step of a slice must not be zero")
    try:
        part: Any = values[keys]
    except IndexError as error:
        raise InvalidArgumentError(f"slice index out of bounds: {error}") from None
    return wrap(part)


def _convert_key(key: Any) -> Any:
    if isinstance(key, bool | np.bool_):
        raise InvalidArgumentError("a boolean is not a valid index")
    if key is None or key is Ellipsis:
        return key
    if isinstance(key, slice):
        return slice(*(None if one is None else _convert_index(one) for one in (key.start, key.stop, key.step)))
    return _convert_index(key)


def _convert_index(key: Any) -> int:
    is_int = isinstance(key, int | np.integer)
    if isinstance(key, Tensor | np.ndarray):
        is_int = key.ndim == 0 and array_of(key).dtype in (np.int32, np.int64)
    if not is_int:
        raise TypeError(f"an index must be an integer, a slice, Ellipsis or None, got {key!r}")
    return int(key)


@op("array.slice")
def slice_(input_: Any, begin: Any, size: Any) -> Tensor:
    """``tf.slice``: return the part of a tensor that starts at `begin`; a size of -1 extends to the end of the axis."""
    values = array_of(input_)
    starts, sizes = convert_ints(begin, "slice"), convert_ints(size, "slice")
    if len(starts) != values.ndim or len(sizes) != values.ndim:
        raise InvalidArgumentError(
            f"slice: begin and size must have {values.ndim} entries (one per axis), got {len(starts)} and {len(sizes)}"
        )
    keys = []
    for start, wanted, length in zip(starts, sizes, values.shape, strict=True):
        end = length if wanted == -1 else start + wanted
        if not 0 <= start <= end <= length:
            raise InvalidArgumentError(f"slice: the range [{start}, {end}) must be within an axis of length {length}")
        keys.append(slice(start, end))
    return wrap(values[tuple(keys)], values.dtype)


@op("array.strided_slice")
def strided_slice(input_: Any, begin: Any, end: Any, strides: Any = None, **masks: Any) -> Tensor:
    """``tf.strided_slice``: slice a tensor; only begin_mask, end_mask and shrink_axis_mask are supported."""
    starts, ends = convert_ints(begin, "strided_slice"), convert_ints(end, "strided_slice")
    steps = [1] * len(starts) if strides is None else convert_ints(strides, "strided_slice")
    open_starts, open_ends, single = (masks.pop(f"{one}_mask", 0) for one in ("begin", "end", "shrink_axis"))
    if any(masks.values()):
        raise NotImplementedError(
            f"strided_slice: {', '.join(masks)} is not supported: index the tensor instead, as in tensor[1:, 0]"
        )
    keys: list[Any] = []
    for position, (start, stop, step) in enumerate(zip(starts, ends, steps, strict=True)):
        bit = 1 << position
        first, last = None if open_starts & bit else start, None if open_ends & bit else stop
        keys.append(start if single & bit else slice(first, last, step))
    part: Tensor = getitem(Tensor(array_of(input_)), tuple(keys))
    return part


@op("array.boolean_mask")
def boolean_mask(tensor: Any, mask: Any, axis: Any = None) -> Tensor:
    """``tf.boolean_mask``: return the rows where `mask` is True."""
    values, chosen = array_of(tensor), array_of(mask, "bool")
    position = 0 if axis is None else int(axis) % max(values.ndim, 1)
    shape = values.shape[position : position + chosen.ndim]
    if not chosen.ndim or shape != chosen.shape:
        raise ValueError(f"boolean_mask: mask must have the shape {shape}, got {chosen.shape}")
    part: Any = values[(slice(None),) * position + (chosen,)]
    return wrap(part)


def _convert_indices(value: Any, name: str) -> NDArray[Any]:
    array = array_of(value)
    if array.size or isinstance(value, Tensor):
        check_dtype(array, "hilq", name)
    return array.astype(np.int64)


@op("array.gather")
def gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,  # noqa: ARG001 (always done)
    axis: Any = None,
    batch_dims: Any = 0,
) -> Tensor:
    """``tf.gather``: select slices of `params` along an axis by their indices."""
    array, chosen, batch = array_of(params), _convert_indices(indices, "gather"), int(batch_dims)
    batch = batch + chosen.ndim if batch < 0 else batch
    position = normalize_axis(batch if axis is None else axis, array.ndim, "gather")
    outside = chosen[(chosen < 0) | (chosen >= array.shape[position])]
    if outside.size:
        raise InvalidArgumentError(f"gather: indices must be in [0, {array.shape[position]}), got {outside.flat[0]}")
    if not batch:
        return wrap(np.take(array, chosen, position))
    if array.shape[:batch] != chosen.shape[:batch]:
        raise InvalidArgumentError(
            f"gather: params and indices must have the same lengths along the first {batch} axes, got shapes "
            f"{list(array.shape)} and {list(chosen.shape)}"
        )
    rows = np.moveaxis(array, position, batch)
    grids = np.ogrid[tuple(slice(n) for n in array.shape[:batch])]
    batches = [one.reshape(one.shape + (1,) * (chosen.ndim - batch)) for one in grids]
    picked: Any = rows[(*batches, chosen)]
    # In the result, the non-batch axes of `indices` replace the axis `axis` of `params`, as in TensorFlow.
    new = list(range(batch, chosen.ndim))
    return wrap(np.moveaxis(picked, new, [position - batch + one for one in new]))


@op("array.gather_nd")
def gather_nd(params: Any, indices: Any, batch_dims: Any = 0) -> Tensor:
    """``tf.gather_nd``: select values or slices of `params`; the last axis of `indices` contains their coordinates."""
    if int(batch_dims):
        raise NotImplementedError("gather_nd: batch_dims is not supported: use tf.gather")
    array = array_of(params)
    part: Any = array[_convert_coordinates(indices, array.shape, "gather_nd")]
    return wrap(part)


def _convert_coordinates(indices: Any, shape: tuple[int, ...], name: str) -> tuple[NDArray[Any], ...]:
    """Unpack the last axis of `indices` into a tuple of index arrays, and check that all indices are within `shape`."""
    positions = _convert_indices(indices, name)
    depth = positions.shape[-1] if positions.ndim else 1
    if not positions.ndim or depth > len(shape):
        found = list(positions.shape)
        raise InvalidArgumentError(
            f"{name}: indices must have a last axis of length <= {len(shape)}, got shape {found}"
        )
    if ((positions < 0) | (positions >= np.array(shape[:depth], np.int64))).any():
        raise InvalidArgumentError(f"{name}: indices must be within the bounds of shape {list(shape)}")
    return tuple(np.moveaxis(positions, -1, 0))


@op("array.scatter_nd")
def scatter_nd(indices: Any, updates: Any, shape: Any) -> Tensor:
    """``tf.scatter_nd``: create zeros and add `updates` at `indices`."""
    values = array_of(updates)
    out = np.zeros(convert_ints(shape, "scatter_nd"), values.dtype)
    np.add.at(out, _convert_coordinates(indices, out.shape, "scatter_nd"), values)
    return Tensor(out)


def _assign_at(out: NDArray[Any], positions: tuple[NDArray[Any], ...], values: NDArray[Any]) -> None:
    out[positions] = values


# Maps the name of each scatter operation to a function that changes an array in place. The arguments of the function
# are the array, the positions and the values.
SCATTERS: dict[str, Callable[..., None]] = {
    "tensor_scatter_nd_add": np.add.at,
    "tensor_scatter_nd_max": np.maximum.at,
    "tensor_scatter_nd_min": np.minimum.at,
    "tensor_scatter_nd_sub": np.subtract.at,
    "tensor_scatter_nd_update": _assign_at,
}


def _define_scatter(name: str, function: Callable[..., None]) -> None:
    @op(f"array.{name}")
    def update_copy(tensor: Any, indices: Any, updates: Any) -> Tensor:
        array, values = convert_to_common_dtype((tensor, updates), name)
        out = array.copy()
        function(out, _convert_coordinates(indices, array.shape, name), values)
        return Tensor(out)

    update_copy.__name__, update_copy.__doc__ = name, f"``tf.{name}``: copy a tensor and change values by index."


for _name, _function in SCATTERS.items():
    _define_scatter(_name, _function)


@elementwise_op("array.where")
def where(condition: Any, x: Any = None, y: Any = None) -> Tensor:
    """``tf.where``: choose values from `x` or `y`; if both are None, return the indices where `condition` is True."""
    if (x is None) != (y is None):
        raise ValueError("where: x and y must both be given or both be omitted")
    if x is None:
        return Tensor(np.argwhere(array_of(condition).astype(np.bool_)).astype(np.int64))
    chosen = convert_bools(condition, "where")
    a, b = convert_to_common_dtype((x, y), "where", start=1)
    try:
        return wrap(np.where(chosen, a, b), a.dtype)
    except ValueError:
        shapes = [one.shape for one in (chosen, a, b)]
        raise InvalidArgumentError(f"where: the shapes of condition, x and y cannot be broadcast: {shapes}") from None

"""Parts of tensors: Python's square brackets, masks, and ``tf.slice``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor, wrap
from recordmill.compat.tensorflow.ops.matching import as_ints, bracketed

newaxis = None


@op("array.getitem")
def getitem(tensor: Any, key: Any) -> Any:
    """Part of a tensor."""
    if isinstance(
        tensor, list | tuple | Mapping
    ):  # results of an operation that gives several, when a recording is run
        return tensor[key]
    values = array_of(tensor)
    if _is_mask(key):
        return boolean_mask(tensor, key)
    keys = [_index(one) for one in (key if isinstance(key, list | tuple) else (key,))]
    _check(values, keys)
    part: Any = values[tuple(keys)]
    return wrap(part)


def _is_mask(key: Any) -> bool:
    if isinstance(key, bool | np.bool_):
        return True
    return isinstance(key, Tensor | np.ndarray) and key.dtype == np.bool_


def _index(key: Any) -> Any:
    if isinstance(key, bool):
        raise InvalidArgumentError(
            "Value for attr 'Index' of bool is not in the list of allowed values: int16, int32, int64 [Op:StridedSlice]"
        )
    if key is None or key is Ellipsis:
        return key
    if isinstance(key, slice):
        return slice(*(None if one is None else _number(one) for one in (key.start, key.stop, key.step)))
    return _number(key)


def _number(key: Any) -> int:
    whole = isinstance(key, int | np.integer) and not isinstance(key, bool)
    if isinstance(key, Tensor | np.ndarray):
        whole = key.ndim == 0 and array_of(key).dtype in (np.int32, np.int64)
    if not whole:
        raise TypeError(
            "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 tensors "
            f"are valid indices, got {key!r}"
        )
    return int(key)


def _check(values: NDArray[Any], keys: list[Any]) -> None:
    """Refuse what NumPy would refuse, with TensorFlow's texts."""
    taken = sum(one is not None and one is not Ellipsis for one in keys)
    if taken and not values.ndim:
        raise InvalidArgumentError("Attempting to slice scalar input. [Op:StridedSlice]")
    if taken > values.ndim:
        raise InvalidArgumentError(
            f"Index out of range using input dim {values.ndim}; input has only {values.ndim} dims [Op:StridedSlice]"
        )
    if sum(one is Ellipsis for one in keys) > 1:
        raise InvalidArgumentError("Multiple ellipses in slice spec not allowed [Op:StridedSlice]")
    axis = 0
    for place, one in enumerate(keys):
        if one is Ellipsis:
            axis = values.ndim - sum(later is not None for later in keys[place + 1 :])
            continue
        if isinstance(one, slice) and one.step == 0:
            raise InvalidArgumentError(f"strides[{place}] must be non-zero [Op:StridedSlice]")
        if isinstance(one, int) and not -values.shape[axis] <= one < values.shape[axis]:
            at = one + values.shape[axis] if one < 0 else one
            raise InvalidArgumentError(f"slice index {at} of dimension {axis} out of bounds. [Op:StridedSlice]")
        axis += one is not None


@op("array.boolean_mask")
def boolean_mask(tensor: Any, mask: Any, axis: Any = None) -> Tensor:
    """Rows where a mask is true."""
    values, chosen = array_of(tensor), array_of(mask, "bool")
    at = 0 if axis is None else int(axis) % max(values.ndim, 1)
    if not chosen.ndim:
        raise ValueError("mask cannot be scalar.")
    if values.shape[at : at + chosen.ndim] != chosen.shape:
        raise ValueError(f"Shapes {values.shape[at : at + chosen.ndim]} and {chosen.shape} are incompatible")
    part: Any = values[(slice(None),) * at + (chosen,)]
    return wrap(part)


@op("array.slice")
def slice_(input_: Any, begin: Any, size: Any) -> Tensor:
    """Window of a tensor."""
    values = array_of(input_)
    starts, sizes = as_ints(begin, "Index", "Slice"), as_ints(size, "Index", "Slice")
    if len(starts) != values.ndim or len(sizes) != values.ndim:
        raise InvalidArgumentError(
            f"Expected begin and size arguments to be 1-D tensors of size {values.ndim}, but got shapes "
            f"{bracketed([len(starts)])} and {bracketed([len(sizes)])} instead. [Op:Slice]"
        )
    ends = []
    for axis, (start, wanted, length) in enumerate(zip(starts, sizes, values.shape, strict=True)):
        if not 0 <= start <= length:
            raise InvalidArgumentError(f"Expected begin[{axis}] in [0, {length}], but got {start} [Op:Slice]")
        end = length if wanted == -1 else start + wanted
        if not start <= end <= length:
            raise InvalidArgumentError(f"Expected size[{axis}] in [0, {length - start}], but got {wanted} [Op:Slice]")
        ends.append(end)
    return wrap(values[tuple(slice(start, end) for start, end in zip(starts, ends, strict=True))], values.dtype)

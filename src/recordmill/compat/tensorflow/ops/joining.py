"""Tensors joined to one, taken apart, repeated and padded."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.pixel_copies import joined
from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor, as_tensor, wrap
from recordmill.compat.tensorflow.ops.matching import as_ints, bracketed, matched


@op("array.stack")
def stack(values: Any, axis: Any = 0) -> Tensor:
    """Join tensors of one shape along a new axis."""
    if not isinstance(values, list | tuple) or not values:
        values = list(as_tensor(values)) or values
        if not values:
            return as_tensor(values)
    arrays = _alike(values)
    for place, one in enumerate(arrays):
        if one.shape != arrays[0].shape:
            raise InvalidArgumentError(
                "Shapes of all inputs must match: values[0].shape = "
                f"{bracketed(arrays[0].shape)} != values[{place}].shape = {bracketed(one.shape)} [Op:Pack]"
            )
    limit = arrays[0].ndim + 1
    if not -limit <= int(axis) < limit:
        raise ValueError(f"Argument `axis` = {int(axis)} not in range [-{limit}, {limit})")
    return wrap(np.stack(arrays, int(axis)))


def _alike(values: Any) -> list[NDArray[Any]]:
    """Python's numbers become float32 together where one of them is a float."""
    if any(isinstance(one, Tensor | np.ndarray | np.generic) for one in values):
        return matched(values, "Pack")
    try:
        return list(array_of(list(values)))
    except (TypeError, ValueError):
        return matched(values, "Pack")


@op("array.concat")
def concat(values: Any, axis: Any) -> Tensor:
    """Join tensors along an axis that they have."""
    if not isinstance(values, list | tuple):
        return as_tensor(values)
    if not values:
        raise InvalidArgumentError("ConcatOp : Expected at least one input [Op:ConcatV2]")
    if len(values) == 1:
        return as_tensor(values[0])
    arrays = matched(values, "ConcatV2")
    at = int(axis)
    _check_ranks(arrays)
    ndim = arrays[0].ndim
    if not -ndim <= at < ndim:
        raise InvalidArgumentError(
            f"ConcatOp : Expected concatenating dimensions in the range [{-ndim}, {ndim}), but got {at} [Op:ConcatV2]"
        )
    _check_lengths(arrays, at % ndim)
    return wrap(joined(arrays) if at % ndim == ndim - 1 else np.concatenate(arrays, at))


def _check_ranks(arrays: list[NDArray[Any]]) -> None:
    first = arrays[0]
    for place, one in enumerate(arrays):
        if one.ndim != first.ndim:
            raise InvalidArgumentError(
                "ConcatOp : Ranks of all input tensors should match: "
                f"shape[0] = {bracketed(first.shape)} vs. shape[{place}] = {bracketed(one.shape)} [Op:ConcatV2]"
            )
    if not first.ndim:
        raise InvalidArgumentError("ConcatOp : Can't concatenate scalars (use tf.stack instead) [Op:ConcatV2]")


def _check_lengths(arrays: list[NDArray[Any]], axis: int) -> None:
    first = arrays[0].shape
    for place, one in enumerate(arrays):
        for at, (length, other) in enumerate(zip(first, one.shape, strict=True)):
            if at != axis and length != other:
                raise InvalidArgumentError(
                    f"ConcatOp : Dimension {at} in both shapes must be equal: "
                    f"shape[0] = {bracketed(first)} vs. shape[{place}] = {bracketed(one.shape)} [Op:ConcatV2]"
                )


@op("array.unstack")
def unstack(value: Any, num: Any = None, axis: Any = 0) -> list[Tensor]:
    """Take a tensor apart along an axis."""
    array, at = array_of(value), int(axis)
    if not -array.ndim <= at < array.ndim:
        raise ValueError(f"Argument `axis` = {at} not in range [-{array.ndim}, {array.ndim})")
    if num is not None and int(num) != array.shape[at]:
        raise InvalidArgumentError(f"Input shape axis {at} must equal {int(num)}, got shape {bracketed(array.shape)}")
    return [wrap(one) for one in np.moveaxis(array, at, 0)]


@op("array.split")
def split(value: Any, num_or_size_splits: Any, axis: Any = 0, num: Any = None) -> list[Tensor]:  # noqa: ARG001
    """Take a tensor apart into pieces along an axis."""
    array, at = array_of(value), int(axis)
    if not -array.ndim <= at < array.ndim:
        raise InvalidArgumentError(
            f"-input rank(-{array.ndim}) <= split_dim < input rank ({array.ndim}), but got {at} [Op:Split]"
        )
    length = array.shape[at]
    pieces = array_of(num_or_size_splits)
    if not pieces.ndim:
        count = int(pieces)
        if count <= 0 or length % count:
            raise InvalidArgumentError(
                f"Number of ways to split should evenly divide the split dimension, but got split_dim {at} "
                f"(size = {length}) and num_split {count} [Op:Split]"
            )
        return [wrap(one) for one in np.split(array, count, at)]
    sizes = _sizes([int(one) for one in pieces], length)
    return [wrap(one) for one in np.split(array, np.cumsum(sizes)[:-1], at)]


def _sizes(sizes: list[int], length: int) -> list[int]:
    known = sum(one for one in sizes if one >= 0)
    if -1 in sizes and sizes.count(-1) == 1 and known <= length:
        return [length - known if one == -1 else one for one in sizes]
    if known != length or any(one < 0 for one in sizes):
        raise InvalidArgumentError(
            f"Determined shape must either match input shape along split_dim exactly if fully specified, or be less "
            f"than the size of the input along split_dim if not fully specified.  Got: {known} [Op:SplitV]"
        )
    return sizes


@op("array.tile")
def tile(input: Any, multiples: Any) -> Tensor:  # noqa: A002 (TensorFlow's name)
    """Repeat a tensor along its axes."""
    array, times = array_of(input), as_ints(multiples, "Tmultiples", "Tile")
    if len(times) != array.ndim:
        raise InvalidArgumentError(
            f"Expected multiples argument to be a vector of length {array.ndim} but got length {len(times)} [Op:Tile]"
        )
    if any(one < 0 for one in times):
        raise InvalidArgumentError(f"Expected multiples >= 0, but got {min(times)} [Op:Tile]")
    return wrap(np.tile(array, times)) if times else Tensor(array)


@op("array.repeat")
def repeat(input: Any, repeats: Any, axis: Any = None) -> Tensor:  # noqa: A002 (TensorFlow's name)
    """Repeat each value, or each row along an axis."""
    array, times = array_of(input), array_of(repeats)
    return wrap(np.repeat(array, times, None if axis is None else int(axis)))


@op("array.reverse")
def reverse(tensor: Any, axis: Any) -> Tensor:
    """Turn axes around."""
    array = array_of(tensor)
    axes = as_ints(axis, "Tidx", "ReverseV2")
    for one in axes:
        if not -array.ndim <= one < array.ndim:
            raise InvalidArgumentError(f"'axis'[0] = {one} is out of valid range [0, {array.ndim - 1} [Op:ReverseV2]")
    return Tensor(np.flip(array, tuple(axes)) if axes else array)


@op("array.roll")
def roll(input: Any, shift: Any, axis: Any) -> Tensor:  # noqa: A002 (TensorFlow's name)
    """Move values along axes; those that leave at one end enter at the other."""
    return wrap(np.roll(array_of(input), as_ints(shift, "Tshift", "Roll"), as_ints(axis, "Taxis", "Roll")))

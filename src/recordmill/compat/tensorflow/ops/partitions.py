"""Rows divided among tensors by number, put back together, turned around in part: ``tf.dynamic_partition``."""

from __future__ import annotations

from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor, wrap
from recordmill.compat.tensorflow.ops.matching import as_ints, bracketed, matched


@op("array.dynamic_partition")
def dynamic_partition(data: Any, partitions: Any, num_partitions: int) -> list[Tensor]:
    """Divide rows among tensors."""
    array, numbers = array_of(data), array_of(partitions)
    if array.shape[: numbers.ndim] != numbers.shape:
        raise InvalidArgumentError(
            f"data.shape must start with partitions.shape, got data.shape = {bracketed(array.shape)}, "
            f"partitions.shape = {bracketed(numbers.shape)} [Op:DynamicPartition]"
        )
    outside = np.argwhere((numbers < 0) | (numbers >= num_partitions))
    if len(outside):
        where = tuple(outside[0].tolist())
        raise InvalidArgumentError(
            f"partitions{bracketed(where)} = {numbers[where]} is not in [0, {num_partitions}) [Op:DynamicPartition]"
        )
    return [Tensor(np.asarray(array[numbers == one])) for one in range(num_partitions)]


@op("array.dynamic_stitch")
def dynamic_stitch(indices: Any, data: Any) -> Tensor:
    """Put rows at their places in one tensor; the last one of several for one place counts."""
    places, rows = [array_of(one) for one in indices], matched(list(data), "DynamicStitch")
    behind = rows[0].shape[places[0].ndim :]
    count = max((int(one.max()) for one in places if one.size), default=-1) + 1
    out = np.zeros((count, *behind), rows[0].dtype)
    if out.dtype == object:
        out[...] = b""
    for place, row in zip(places, rows, strict=True):
        if row.shape != place.shape + behind:
            raise InvalidArgumentError(
                f"Need data[0].shape[{places[0].ndim}:] = {bracketed(behind)} for all, got {bracketed(row.shape)} "
                "[Op:DynamicStitch]"
            )
        out[place.reshape(-1)] = row.reshape(-1, *behind)
    return Tensor(out)


@op("array.unravel_index")
def unravel_index(indices: Any, dims: Any) -> Tensor:
    """Places on every axis, of places in a tensor that lies in one row."""
    flat = array_of(indices)
    lengths = as_ints(dims, "Tidx", "UnravelIndex")
    outside = flat[(flat < 0) | (flat >= np.prod(lengths))]
    if outside.size:
        raise InvalidArgumentError("index is out of bound as with dims [Op:UnravelIndex]")
    return wrap(np.stack(np.unravel_index(flat, lengths)), flat.dtype)


@op("array.reverse_sequence")
def reverse_sequence(input: Any, seq_lengths: Any, seq_axis: Any = None, batch_axis: Any = None) -> Tensor:  # noqa: A002
    """The first values of each row in the other order."""
    array, lengths = array_of(input), array_of(seq_lengths)
    along, across = int(seq_axis) % array.ndim, int(0 if batch_axis is None else batch_axis) % array.ndim
    moved = np.moveaxis(array, (across, along), (0, 1))
    if len(lengths) != len(moved):
        raise InvalidArgumentError(f"Length of seq_lengths != input.dims({across}), ({len(lengths)} vs. {len(moved)})")
    if (lengths > moved.shape[1]).any():
        raise InvalidArgumentError(f"seq_lens({int(lengths.argmax())}) > input.dims({along}) [Op:ReverseSequence]")
    places = np.arange(moved.shape[1])
    turned = np.where(places < lengths[:, None], lengths[:, None] - 1 - places, places)
    picked = moved[np.arange(len(moved))[:, None], turned]
    return wrap(np.moveaxis(picked, (0, 1), (across, along)))


@op("math.invert_permutation")
def invert_permutation(x: Any) -> Tensor:
    """Where each number stands in a row of all of them."""
    array = array_of(x)
    if array.ndim != 1 or not np.array_equal(np.sort(array), np.arange(len(array))):
        raise InvalidArgumentError(f"{array.tolist()} is no permutation [Op:InvertPermutation]")
    return wrap(np.argsort(array), array.dtype)

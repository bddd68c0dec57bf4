"""Ragged tensors repeated and divided into parts, shares of rows, and how far values are from their means."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import run
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.ragged import RaggedTensor
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.ops.matching import as_ints
from recordmill.compat.tensorflow.ops.segments import gathered

Operation = Callable[..., Any]


def tile(operation: Operation, input: Any, multiples: Any) -> Any:  # noqa: A002 (TensorFlow's name)
    """Repeat a ragged tensor along its axes."""
    del operation
    times = as_ints(multiples, "Tmultiples", "Tile")
    rank = len(input.shape.as_list())
    if len(times) != rank:
        raise InvalidArgumentError(
            f"Expected multiples argument to be a vector of length {rank} but got length {len(times)} [Op:Tile]"
        )
    if min(times) < 1:
        raise NotImplementedError(f"a ragged tensor is repeated at least once along each axis, not {times} times")
    found = input
    for axis, count in enumerate(times):
        found = run("array.concat", [found] * count, axis) if count > 1 else found
    return found


def split(operation: Operation, value: Any, num_or_size_splits: Any, axis: Any = 0, num: Any = None) -> list[Any]:
    """Divide the rows of a ragged tensor into parts: so many, or of these numbers of rows."""
    del operation, num
    rank = len(value.shape.as_list())
    if int(array_of(axis)) % rank:
        raise NotImplementedError("a ragged tensor is divided along its first axis only")
    rows, parts = len(value), array_of(num_or_size_splits)
    if not parts.ndim:
        if rows % int(parts):
            raise InvalidArgumentError(f"Cannot exactly split {rows} rows into {int(parts)} parts")
        parts = np.full(int(parts), rows // int(parts))
    if parts.sum() != rows:
        raise InvalidArgumentError(f"the parts have {int(parts.sum())} rows, the ragged tensor has {rows}")
    ends = np.cumsum(parts).tolist()
    return [value[end - count : end] for end, count in zip(ends, parts.tolist(), strict=True)]


def softmax(operation: Operation, logits: RaggedTensor, axis: Any = None) -> RaggedTensor:
    """Shares of the values of each row by their exponentials."""
    del operation
    rank, depth = len(logits.shape.as_list()), logits.ragged_rank
    at = int(array_of(-1 if axis is None else axis)) % rank
    if at < depth:
        raise NotImplementedError(f"shares of a ragged tensor are those of its last ragged axis, {depth}, not of {at}")
    powers = np.exp(logits.flat_values.values)
    if at > depth:
        return logits.with_flat_values(Tensor(powers / powers.sum(axis=at - depth, keepdims=True)))
    splits = logits.nested_row_splits[-1].values
    rows = np.repeat(np.arange(len(splits) - 1), np.diff(splits))
    return logits.with_flat_values(Tensor(powers / gathered(powers, rows, len(splits) - 1, "sum")[rows]))


def reduce_variance(operation: Operation, input_tensor: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Mean of the squares without the square of the mean, as TensorFlow computes it of ragged tensors."""
    if axis is None:
        return operation(input_tensor.flat_values)
    squares = run("math.reduce_mean", run("math.square", input_tensor), axis, keepdims)
    return squares - run("math.square", run("math.reduce_mean", input_tensor, axis, keepdims))


def reduce_std(operation: Operation, input_tensor: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Square root of the variance."""
    if axis is None:
        return operation(input_tensor.flat_values)
    return run("math.sqrt", reduce_variance(operation, input_tensor, axis, keepdims))

"""Join elements to batches, with or without padding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.errors import DataLossError, InvalidArgumentError, UnimplementedError
from recordmill.compat.tensorflow.core.ragged import RaggedTensor
from recordmill.compat.tensorflow.core.shapes import TensorShape
from recordmill.compat.tensorflow.core.sparse import SparseTensor
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.data.ragged_rows import RaggedRow, ragged_of
from recordmill.compat.tensorflow.data.structures import filled, leaves


def stacked(values: Sequence[Any]) -> Any:
    """Return elements as one, with a new first axis."""
    if all(type(value) is Tensor for value in values):
        return stack_leaf(values, 0)
    columns = zip(*map(leaves, values), strict=True)
    return filled(values[0], iter([stack_leaf(rows, number) for number, rows in enumerate(columns)]))


def stack_leaf(rows: Sequence[Any], component: int) -> Any:
    """Return one leaf of several elements as one; `component` is its number in error messages."""
    if isinstance(rows[0], SparseTensor):
        return _stack_sparse(rows)
    if isinstance(rows[0], RaggedRow | RaggedTensor):
        return ragged_of(rows)
    arrays = [row.values for row in rows]
    first = arrays[0].shape
    for position, array in enumerate(arrays):
        if array.shape != first:
            raise InvalidArgumentError(
                f"Cannot batch tensors with different shapes in component {component}. First element had shape "
                f"{_printed(first)} and element {position} had shape {_printed(array.shape)}."
            )
    return Tensor(join(arrays))


def join(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return arrays of one shape and dtype as one."""
    joined: NDArray[Any] = np.empty((len(arrays), *arrays[0].shape), arrays[0].dtype)
    for position, array in enumerate(arrays):
        joined[position, ...] = array
    return joined


def alike(rows: Sequence[Any]) -> bool:
    """Return whether values are tensors of one shape and dtype."""
    if not all(type(row) is Tensor for row in rows):
        return False
    first = rows[0].values
    return all(row.values.shape == first.shape and row.values.dtype == first.dtype for row in rows)


def _printed(shape: tuple[int, ...]) -> str:
    return "[" + ",".join(map(str, shape)) + "]"


def _stack_sparse(rows: Sequence[SparseTensor]) -> SparseTensor:
    counts = [len(row.values.values) for row in rows]
    numbers = np.repeat(np.arange(len(rows), dtype=np.int64), counts)[:, None]
    indices = np.concatenate([numbers, np.concatenate([row.indices.values for row in rows])], axis=1)
    values = np.concatenate([row.values.values for row in rows])
    shape = np.max([row.dense_shape.values for row in rows], axis=0)
    return SparseTensor(Tensor(indices), Tensor(values), Tensor(np.concatenate([[len(rows)], shape]).astype(np.int64)))


def pad_leaf(rows: Sequence[Any], shape: TensorShape | None, fill: Any) -> Tensor:
    """Return one leaf of several elements as one, with short axes filled up to a shape or to the longest element."""
    if not all(isinstance(row, Tensor) for row in rows):
        raise UnimplementedError("padded_batch takes dense tensors only")
    arrays = [row.values for row in rows]
    longest = [max(lengths) for lengths in zip(*(array.shape for array in arrays), strict=True)]
    wanted = longest if shape is None or shape.rank is None else shape.as_list()
    if len(wanted) != len(longest):
        raise ValueError(
            f"The padded shape {TensorShape(wanted)} is not compatible with the shape {TensorShape(longest)} of the "
            "corresponding input component."
        )
    lengths = [own if length is None else length for own, length in zip(longest, wanted, strict=True)]
    if any(own > length for own, length in zip(longest, lengths, strict=True)):
        raise DataLossError("Attempted to pad to a smaller size than the input element.")
    dtype = arrays[0].dtype
    padded: NDArray[Any] = np.empty((len(arrays), *lengths), dtype)
    padded[...] = (b"" if dtype.hasobject else 0) if fill is None else fill
    for position, array in enumerate(arrays):
        box: Any = (position, *(slice(length) for length in array.shape), ...)
        padded[box] = array
    return Tensor(padded)

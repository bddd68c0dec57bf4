"""Ragged tensors of dense ones: ``RaggedTensor.from_tensor``, ``tf.ragged.stack`` and ``range``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core import ragged_parts as parts
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import as_dtype
from recordmill.compat.tensorflow.core.ragged import RaggedTensor
from recordmill.compat.tensorflow.core.tensor import Tensor, array_of


@op("ragged.from_tensor")
def from_tensor(
    tensor: Any, lengths: Any = None, padding: Any = None, ragged_rank: int = 1, row_splits_dtype: Any = np.int64
) -> RaggedTensor:
    """Rows of a dense tensor, cut to their lengths."""
    array, dtype = array_of(tensor), as_dtype(row_splits_dtype).numpy_dtype
    if lengths is not None and padding is not None:
        raise ValueError("Specify argument 'lengths' or 'padding', but not both.")
    if not 0 < ragged_rank < array.ndim:
        raise ValueError(f"ragged_rank must be above 0 and below the tensor's {array.ndim} axes, not {ragged_rank}")
    if ragged_rank > 1:
        if lengths is not None:
            raise NotImplementedError("from_tensor(lengths=...) is supported for ragged_rank=1 only")
        count, length = array.shape[:2]
        inner = from_tensor(array.reshape(count * length, *array.shape[2:]), None, padding, ragged_rank - 1, dtype)
        return RaggedTensor(inner, (np.arange(count + 1) * length).astype(dtype), length)
    found = _cut(array, _lengths(array, lengths, padding), dtype)
    return found if lengths is not None or padding is not None else _uniform(found, array.shape[1])


def _uniform(ragged: RaggedTensor, length: int) -> RaggedTensor:
    return RaggedTensor(ragged.values, ragged.row_splits.values, length)


def _lengths(array: NDArray[Any], lengths: Any, padding: Any) -> NDArray[np.int64]:
    if lengths is not None:
        return np.clip(array_of(lengths).astype(np.int64), 0, array.shape[1])
    if padding is None:
        return np.full(len(array), array.shape[1])
    fill = array_of(padding, as_dtype(array.dtype))
    there = (array != fill).any(axis=tuple(range(2, array.ndim)))
    if not there.size:
        return np.zeros(len(array), np.int64)
    return np.where(there.any(axis=1), array.shape[1] - there[:, ::-1].argmax(axis=1), 0)


def _cut(array: NDArray[Any], lengths: NDArray[np.int64], dtype: Any) -> RaggedTensor:
    values = array[np.arange(array.shape[1]) < lengths[:, None]]
    return RaggedTensor(Tensor(values), parts.from_lengths(lengths.astype(dtype)))


@op("ragged.stack")
def stack(values: Any, axis: int = 0, name: Any = None) -> RaggedTensor:
    """Put tensors whose lengths may differ into one, along a new first axis."""
    del name
    if axis != 0:
        raise NotImplementedError(f"tf.ragged.stack(axis={axis}) is not supported, only axis=0")
    rows = values if isinstance(values, list | tuple) else [values]
    wide = any(isinstance(one, RaggedTensor) and one.row_splits.values.dtype == np.int64 for one in rows)
    dtype = np.int64 if wide else np.int32
    return joined([one if isinstance(one, RaggedTensor) else _as_ragged(array_of(one)) for one in rows], dtype)


def _as_ragged(array: NDArray[Any]) -> Any:
    return from_tensor(array, None, None, array.ndim - 1) if array.ndim > 1 else Tensor(array)


def joined(rows: Sequence[Any], dtype: Any = np.int64) -> RaggedTensor:
    """Rows, which are tensors or ragged tensors of one depth, back to back."""
    lengths = np.array([len(row) for row in rows], dtype)
    return RaggedTensor(back_to_back(rows, dtype), parts.from_lengths(lengths))


def back_to_back(rows: Sequence[Any], dtype: Any) -> Any:
    """Join tensors or ragged tensors of one depth along their first axis."""
    if isinstance(rows[0], Tensor):
        return Tensor(np.concatenate([row.values for row in rows]))
    lengths = np.concatenate([np.diff(row.row_splits.values) for row in rows]).astype(dtype)
    return RaggedTensor(back_to_back([row.values for row in rows], dtype), parts.from_lengths(lengths))


@op("ragged.range")
def range_(starts: Any, limits: Any = None, deltas: Any = 1, dtype: Any = None, name: Any = None) -> RaggedTensor:
    """Rows of rising or falling numbers."""
    del name
    given = (0, starts, deltas) if limits is None else (starts, limits, deltas)
    kind = array_of(starts, dtype).dtype
    wanted = np.broadcast_arrays(*(np.atleast_1d(array_of(one)).astype(kind) for one in given))
    rows = [np.arange(*triple, dtype=kind) for triple in zip(*wanted, strict=True)]
    return joined([Tensor(row) for row in rows])


def map_flat_values(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Do something to the values of ragged tensors, whose rows stay as they are."""
    rows = [one for one in (*args, *kwargs.values()) if isinstance(one, RaggedTensor)]
    if not rows:
        return function(*args, **kwargs)
    mine = [splits.values.tolist() for splits in rows[0].nested_row_splits]
    if any([splits.values.tolist() for splits in one.nested_row_splits] != mine for one in rows):
        raise ValueError("All ragged inputs must have the same row_splits.")
    flat = [one.flat_values if isinstance(one, RaggedTensor) else one for one in args]
    named = {key: one.flat_values if isinstance(one, RaggedTensor) else one for key, one in kwargs.items()}
    return rows[0].with_flat_values(function(*flat, **named))

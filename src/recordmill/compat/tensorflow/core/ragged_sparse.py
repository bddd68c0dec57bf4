"""Ragged tensors as sparse ones, and back: ``RaggedTensor.to_sparse`` and ``from_sparse``."""

from __future__ import annotations

from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core import ragged_parts as parts
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import as_dtype
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.ragged import RaggedTensor
from recordmill.compat.tensorflow.core.sparse import SparseTensor
from recordmill.compat.tensorflow.core.tensor import Tensor


@op("ragged.to_sparse")
def to_sparse(ragged: RaggedTensor) -> SparseTensor:
    """Give every value its place."""
    flat = ragged.flat_values.values
    nested = [splits.values for splits in ragged.nested_row_splits]
    rows = np.stack(parts.places(nested), axis=1)
    flat = flat[: len(rows)]
    inner = np.argwhere(np.ones(flat.shape[1:], bool))
    indices = np.concatenate([np.repeat(rows, len(inner), axis=0), np.tile(inner, (len(rows), 1))], axis=1)
    shape = np.array(parts.bounding(nested, flat.shape[1:]), np.int64)
    return SparseTensor(Tensor(indices.astype(np.int64)), Tensor(flat.reshape(-1)), Tensor(shape))


@op("ragged.from_sparse")
def from_sparse(st_input: Any, row_splits_dtype: Any = np.int64) -> RaggedTensor:
    """Rows of a sparse tensor whose values stand at the beginning of each row."""
    if not isinstance(st_input, SparseTensor):
        raise TypeError(f"Expected SparseTensor, got {type(st_input).__name__}")
    indices = st_input.indices.values
    if indices.shape[1] != 2:
        raise ValueError("rank(st_input) must be 2.")
    rows, columns = indices.T
    splits = parts.from_lengths(np.bincount(rows, minlength=int(st_input.dense_shape.values[0])))
    if (np.diff(rows) < 0).any() or (columns != np.arange(len(rows)) - splits[rows]).any():
        raise InvalidArgumentError("SparseTensor is not right-ragged")
    return RaggedTensor(st_input.values, splits.astype(as_dtype(row_splits_dtype).numpy_dtype))

"""Sparse tensors of dense ones, and their order: ``tf.sparse.from_dense`` and ``reorder``."""

from __future__ import annotations

from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.sparse import SparseTensor
from recordmill.compat.tensorflow.core.tensor import Tensor, array_of


@op("sparse.from_dense")
def from_dense(tensor: Any, name: Any = None) -> SparseTensor:
    """Values of a tensor that are not zero, or not empty."""
    del name
    array = array_of(tensor)
    there: Any = array != (b"" if array.dtype == object else 0)
    indices = np.argwhere(there).astype(np.int64)
    return SparseTensor(Tensor(indices), Tensor(array[there]), Tensor(np.array(array.shape, np.int64)))


@op("sparse.reorder")
def reorder(sp_input: SparseTensor, name: Any = None) -> SparseTensor:
    """Values in the order of their places."""
    del name
    if not isinstance(sp_input, SparseTensor):
        raise TypeError(f"Input must be a SparseTensor, not {type(sp_input).__name__}.")
    indices = sp_input.indices.values
    order = np.lexsort(indices.T[::-1])
    return SparseTensor(Tensor(indices[order]), Tensor(sp_input.values.values[order]), sp_input.dense_shape)

"""``tf.sparse.slice``, ``reshape`` and ``tf.sparse_to_dense``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.sparse import SparseTensor, to_dense
from recordmill.compat.tensorflow.core.tensor import Tensor, as_tensor
from recordmill.compat.tensorflow.ops.inputs import convert_ints


def _get_components(sparse: Any) -> tuple[NDArray[Any], NDArray[Any], list[int]]:
    if not isinstance(sparse, SparseTensor):
        raise TypeError(f"expected a SparseTensor, got {type(sparse).__name__}")
    return sparse.indices.values, sparse.values.values, sparse.dense_shape.values.tolist()


def _create_sparse(indices: NDArray[Any], values: NDArray[Any], shape: Any) -> SparseTensor:
    return SparseTensor(Tensor(indices.astype(np.int64)), Tensor(values), Tensor(np.array(shape, np.int64)))


@op("sparse.slice")
def slice_(sp_input: SparseTensor, start: Any, size: Any) -> SparseTensor:
    """``tf.sparse.slice``: return a part of a sparse tensor; sizes beyond the end are clipped."""
    indices, values, shape = _get_components(sp_input)
    begin, length = np.array(convert_ints(start, "sparse.slice")), np.array(convert_ints(size, "sparse.slice"))
    inside = ((indices >= begin) & (indices < begin + length)).all(axis=1)
    return _create_sparse(indices[inside] - begin, values[inside], np.clip(np.array(shape) - begin, 0, length))


@op("sparse.reshape")
def reshape(sp_input: SparseTensor, shape: Any) -> SparseTensor:
    """``tf.sparse.reshape``: return the same values in another shape; a length of -1 is inferred."""
    indices, values, old = _get_components(sp_input)
    lengths, total = convert_ints(shape, "sparse.reshape"), int(np.prod(old))
    known = int(np.prod([one for one in lengths if one != -1]))
    new = [total // max(known, 1) if one == -1 else one for one in lengths]
    if int(np.prod(new)) != total:
        raise InvalidArgumentError(f"sparse.reshape: {total} values cannot be reshaped to {lengths}")
    flat = np.ravel_multi_index(tuple(indices.T), tuple(old)) if old else np.zeros(len(indices), np.int64)
    return _create_sparse(np.stack(np.unravel_index(flat, new), axis=1), values, new)


@op("sparse.sparse_to_dense")
def sparse_to_dense(
    sparse_indices: Any,
    output_shape: Any,
    sparse_values: Any,
    default_value: Any = 0,
    validate_indices: bool = True,
) -> Tensor:
    """``tf.sparse_to_dense`` of TensorFlow 1: create a dense tensor that has the given values at the given indices."""
    shape, values = array_of(output_shape).astype(np.int64).ravel(), as_tensor(sparse_values)
    indices = array_of(sparse_indices).astype(np.int64)
    indices = indices.reshape(-1, 1) if indices.ndim < 2 else indices
    if indices.shape[1:] != (len(shape),) or values.shape.as_list() not in ([], [len(indices)]):
        raise InvalidArgumentError(
            f"sparse_to_dense: indices must have shape (n, {len(shape)}) and values shape (n,) or (), got shapes "
            f"{indices.shape} and {values.shape}"
        )
    values = Tensor(np.broadcast_to(values.values, len(indices)).copy())
    default = as_tensor(default_value, values.dtype)
    dense: Tensor = to_dense(SparseTensor(indices, values, shape), default, validate_indices)
    return dense

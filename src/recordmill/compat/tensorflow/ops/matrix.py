"""``tf.linalg``: products, norms and inverses; float32 sums may differ from TensorFlow's in the last bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor, wrap
from recordmill.compat.tensorflow.ops.inputs import (
    FLOATS,
    NUMBERS,
    check_dtype,
    convert_input,
    convert_to_common_dtype,
    normalize_axes,
)


@op("linalg.matmul")
def matmul(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False) -> Tensor:
    """``tf.matmul``: multiply matrices or batches of matrices."""
    left, right = convert_to_common_dtype((a, b), "matmul")
    check_dtype(left, NUMBERS, "matmul")
    if min(left.ndim, right.ndim) < 2:
        raise InvalidArgumentError(f"matmul: inputs must have at least two axes, got {left.shape} and {right.shape}")
    left = left.swapaxes(-1, -2) if transpose_a else left
    right = right.swapaxes(-1, -2) if transpose_b else right
    if left.shape[-1] != right.shape[-2]:
        raise InvalidArgumentError(f"matmul: shapes {list(left.shape)} and {list(right.shape)} cannot be multiplied")
    dtype = left.dtype
    if dtype == np.float16:
        left, right = left.astype(np.float32), right.astype(np.float32)
    with np.errstate(all="ignore"):
        return wrap(np.matmul(left, right), dtype)


@op("linalg.einsum")
def einsum(equation: str, *inputs: Any) -> Tensor:
    """``tf.einsum``: multiply tensors and sum over axes, as specified by an equation such as "ij,jk->ik"."""
    arrays = convert_to_common_dtype(inputs, "einsum")
    check_dtype(arrays[0], NUMBERS, "einsum")
    try:
        return wrap(np.einsum(equation, *arrays))
    except ValueError as error:
        raise InvalidArgumentError(f"einsum: {error}") from None


@op("linalg.norm")
def norm(tensor: Any, ord: Any = "euclidean", axis: Any = None, keepdims: bool = False) -> Tensor:  # noqa: A002
    """``tf.norm``: return the norm of vectors; `ord` must be "euclidean", 1, 2 or infinity."""
    array = convert_input(tensor, FLOATS, "norm")
    axes = normalize_axes(axis, array.ndim, "norm")
    if ord not in ("euclidean", 1, 2, np.inf) or (len(axes) > 1 and axis is not None and ord != "euclidean"):
        raise NotImplementedError(f"norm: order {ord!r} over axes {axes} is not supported")
    size = np.abs(array)
    if ord in (1, np.inf):
        reduce = np.sum if ord == 1 else np.max
        return wrap(reduce(size, axis=axes, keepdims=keepdims))
    return wrap(np.sqrt(np.sum(size * size, axis=axes, keepdims=keepdims)))


@op("linalg.inv")
def inv(input: Any, adjoint: bool = False) -> Tensor:  # noqa: A002 (TensorFlow's name)
    """``tf.linalg.inv``: invert a matrix or a batch of matrices."""
    array = convert_input(input, FLOATS, "inv")
    try:
        inverse = np.linalg.inv(array)
    except np.linalg.LinAlgError:
        raise InvalidArgumentError("inv: the matrix is not invertible") from None
    return wrap(inverse.swapaxes(-1, -2) if adjoint else inverse, array.dtype)

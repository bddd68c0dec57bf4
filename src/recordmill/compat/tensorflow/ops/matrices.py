"""Products of matrices and vectors, and norms: ``tf.linalg``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import as_dtype
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor, wrap
from recordmill.compat.tensorflow.ops.matching import FLOATS, WHOLE, allow, bracketed, matched, one_of
from recordmill.compat.tensorflow.ops.reducing import axes_of

_PRODUCTS = FLOATS + "hiqlHIQL"


@op("linalg.matmul")
def matmul(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False) -> Tensor:
    """Product of matrices, or of stacks of them; float32 sums may differ from TensorFlow's in the last bits."""
    left, right = matched((a, b), "MatMul")
    allow(left, _PRODUCTS, "MatMul")
    for place, one in enumerate((left, right)):
        if one.ndim < 2:
            raise InvalidArgumentError(f"In[{place}] ndims must be >= 2 [Op:MatMul]")
    left = left.swapaxes(-1, -2) if transpose_a else left
    right = right.swapaxes(-1, -2) if transpose_b else right
    if left.shape[-1] != right.shape[-2]:
        raise InvalidArgumentError(
            f"Matrix size-incompatible: In[0]: {bracketed(left.shape)}, In[1]: {bracketed(right.shape)} [Op:MatMul]"
        )
    return wrap(_product(left, right))


def _product(left: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    with np.errstate(all="ignore"):
        if left.dtype == np.float16:
            left, right = left.astype(np.float32), right.astype(np.float32)
            return np.asarray(np.matmul(left, right), np.float16)
        return np.asarray(np.matmul(left, right))


@op("linalg.matvec")
def matvec(a: Any, b: Any, transpose_a: bool = False) -> Tensor:
    """Product of a matrix and a vector."""
    left, right = matched((a, b), "MatMul")
    found = matmul(Tensor(left), Tensor(right[..., None]), transpose_a)
    return wrap(found.values[..., 0])


@op("linalg.norm")
def norm(tensor: Any, ord: Any = "euclidean", axis: Any = None, keepdims: bool = False) -> Tensor:  # noqa: A002
    """Length of vectors: ``ord`` is ``"euclidean"``, 1, 2 or infinity."""
    array = one_of(tensor, FLOATS, "Norm")
    axes = axes_of(axis, array.ndim)
    if ord not in ("euclidean", "fro", 1, 2, np.inf) or (len(axes) > 1 and axis is not None and ord != "euclidean"):
        raise NotImplementedError(f"tf.norm of order {ord!r} over axes {axes} is not supported")
    size = np.abs(array)
    if ord in (1, np.inf):
        return wrap(np.asarray((np.sum if ord == 1 else np.max)(size, axis=axes, keepdims=keepdims)))
    return wrap(np.sqrt(np.sum(size * size, axis=axes, keepdims=keepdims)))


@op("linalg.l2_normalize")
def l2_normalize(x: Any, axis: Any = None, epsilon: float = 1e-12) -> Tensor:
    """Vectors of length 1."""
    array = one_of(x, FLOATS + WHOLE, "Square")
    least = array_of(epsilon, as_dtype(array.dtype))
    square = np.sum(array * array, axis=axes_of(axis, array.ndim), keepdims=True)
    return wrap(array * (1 / np.sqrt(np.maximum(square, least))))


@op("linalg.diag")
def diag(diagonal: Any) -> Tensor:
    """Matrix with the values on its diagonal."""
    values = one_of(diagonal, FLOATS + "bhilqBHILQ?", "MatrixDiagV3")
    found = np.zeros((*values.shape, values.shape[-1]), values.dtype)
    places = np.arange(values.shape[-1])
    found[..., places, places] = values
    return wrap(found)


@op("linalg.diag_part")
def diag_part(input: Any) -> Tensor:  # noqa: A002 (TensorFlow's name)
    """Values on the diagonals of matrices."""
    values = array_of(input)
    if values.ndim < 2:
        raise InvalidArgumentError("input must be at least 2-dim [Op:MatrixDiagPartV3]")
    return wrap(np.diagonal(values, axis1=-2, axis2=-1).copy(), values.dtype)


@op("linalg.clip_by_norm")
def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None) -> Tensor:
    """Values brought to a length, where they are longer."""
    array = one_of(t, FLOATS, "Mul")
    limit = array_of(clip_norm, as_dtype(array.dtype))
    length = np.sqrt(np.sum(array * array, axis=axes_of(axes, array.ndim), keepdims=True))
    return wrap(array * limit / np.maximum(length, limit))


@op("linalg.einsum")
def einsum(equation: str, *inputs: Any) -> Tensor:
    """Sums of products, by the letters of their axes."""
    arrays = matched(inputs, "Einsum")
    allow(arrays[0], _PRODUCTS, "Einsum")
    try:
        return wrap(np.einsum(equation, *arrays))
    except ValueError as error:
        raise InvalidArgumentError(f"{error} [Op:Einsum]") from None


@op("linalg.tensordot")
def tensordot(a: Any, b: Any, axes: Any) -> Tensor:
    """Sums of products over axes: a number of them, or those of both tensors."""
    left, right = matched((a, b), "MatMul")
    allow(left, _PRODUCTS, "MatMul")
    given = array_of(axes).tolist()
    try:
        return wrap(np.tensordot(left, right, given))
    except ValueError:
        raise InvalidArgumentError(
            f"Matrix size-incompatible: In[0]: {bracketed(left.shape)}, In[1]: {bracketed(right.shape)} [Op:MatMul]"
        ) from None

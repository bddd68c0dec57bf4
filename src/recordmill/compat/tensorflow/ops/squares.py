"""Parts and measures of matrices: bands, traces, determinants, inverses."""

from __future__ import annotations

from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor, wrap
from recordmill.compat.tensorflow.ops.matching import FLOATS, NUMBERS, bracketed, matched, one_of
from recordmill.compat.tensorflow.ops.matrices import norm


@op("linalg.band_part")
def band_part(input: Any, num_lower: Any, num_upper: Any) -> Tensor:  # noqa: A002 (TensorFlow's name)
    """Matrix with zeros outside a band along the diagonal; a negative width keeps that whole side."""
    array = array_of(input)
    if array.ndim < 2:
        raise InvalidArgumentError(f"input must be at least 2-dim, received shape: {bracketed(array.shape)}")
    rows, columns = np.ogrid[: array.shape[-2], : array.shape[-1]]
    lower, upper = int(num_lower), int(num_upper)
    inside = ((lower < 0) | (rows - columns <= lower)) & ((upper < 0) | (columns - rows <= upper))
    return wrap(np.where(inside, array, array.dtype.type(0)), array.dtype)


@op("linalg.trace")
def trace(x: Any) -> Tensor:
    """Sum of the diagonal."""
    array = one_of(x, NUMBERS, "Sum")
    return wrap(np.trace(array, axis1=-2, axis2=-1, dtype=array.dtype), array.dtype)


@op("linalg.cross")
def cross(a: Any, b: Any) -> Tensor:
    """Vector that stands upright on two of three values each."""
    first, second = matched((a, b), "Cross")
    if first.shape != second.shape or first.shape[-1:] != (3,):
        raise InvalidArgumentError(f"Cross-products are of two tensors of one shape, with 3 values: {first.shape}")
    return wrap(np.cross(first, second), first.dtype)


@op("linalg.adjoint")
def adjoint(matrix: Any) -> Tensor:
    """Matrix with rows and columns exchanged."""
    return wrap(array_of(matrix).swapaxes(-1, -2))


@op("linalg.det")
def det(input: Any) -> Tensor:  # noqa: A002 (TensorFlow's name)
    """Determinant."""
    array = one_of(input, FLOATS, "MatrixDeterminant")
    return wrap(np.linalg.det(array), array.dtype)


@op("linalg.inv")
def inv(input: Any, adjoint: bool = False) -> Tensor:  # noqa: A002 (TensorFlow's name)
    """Inverse matrix; InvalidArgumentError where there is none."""
    array = one_of(input, FLOATS, "MatrixInverse")
    try:
        found = np.linalg.inv(array)
    except np.linalg.LinAlgError:
        raise InvalidArgumentError("Input is not invertible. [Op:MatrixInverse]") from None
    return wrap(found.swapaxes(-1, -2) if adjoint else found, array.dtype)


@op("linalg.normalize")
def normalize(tensor: Any, ord: Any = "euclidean", axis: Any = None) -> tuple[Tensor, Tensor]:  # noqa: A002
    """Tensor divided by its norm, and the norm; as `norm`."""
    length = norm(tensor, ord, axis, True)
    with np.errstate(all="ignore"):
        return wrap(array_of(tensor, length.dtype) / length.values), length

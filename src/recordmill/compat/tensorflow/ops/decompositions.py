"""Matrices taken apart and equations solved: ``tf.linalg``, by NumPy."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor, wrap
from recordmill.compat.tensorflow.ops.matching import FLOATS, matched, one_of, results

LogMatrixDeterminant = namedtuple("LogMatrixDeterminant", ["sign", "log_abs_determinant"])  # noqa: PYI024 (their tuple)
_DOUBLE_AND_SINGLE = FLOATS[1:]


def _matrices(value: Any, name: str, *, square: bool = False) -> NDArray[Any]:
    """Matrices in the last two axes."""
    array = one_of(value, _DOUBLE_AND_SINGLE, name)
    if array.ndim < 2:
        raise InvalidArgumentError(f"Input tensor must have rank >= 2, got {array.ndim} [Op:{name}]")
    if square and array.shape[-1] != array.shape[-2]:
        raise InvalidArgumentError(
            f"Input matrix must be square, got {array.shape[-2]} != {array.shape[-1]} [Op:{name}]"
        )
    return array


def _tried(compute: Callable[[], Any], told: str) -> Any:
    try:
        return compute()
    except np.linalg.LinAlgError as error:
        raise InvalidArgumentError(told) from error


@op("linalg.eigh")
def eigh(tensor: Any) -> tuple[Tensor, ...]:
    """Values and vectors of symmetric matrices, the smallest first; a vector's sign is LAPACK's."""
    array = _matrices(tensor, "SelfAdjointEigV2", square=True)
    return tuple(results(*_tried(lambda: np.linalg.eigh(array), "the values of a matrix were not found")))


@op("linalg.eigvalsh")
def eigvalsh(tensor: Any) -> Tensor:
    """Values of symmetric matrices, the smallest first."""
    values: Tensor = eigh(tensor)[0]
    return values


@op("linalg.svd")
def svd(tensor: Any, full_matrices: bool = False, compute_uv: bool = True) -> Any:
    """Singular values of matrices, the largest first, and the vectors on both sides; their signs are LAPACK's."""
    array = _matrices(tensor, "Svd")
    if not compute_uv:
        return wrap(np.linalg.svd(array, compute_uv=False))
    left, values, right = np.linalg.svd(array, full_matrices=bool(full_matrices))
    return tuple(results(values, left, np.swapaxes(right, -1, -2)))


@op("linalg.qr")
def qr(input: Any, full_matrices: bool = False) -> tuple[Tensor, ...]:  # noqa: A002 (TensorFlow's name)
    """Matrices as orthogonal times triangular ones; signs are LAPACK's."""
    array = _matrices(input, "Qr")
    return tuple(results(*np.linalg.qr(array, mode="complete" if full_matrices else "reduced")))


@op("linalg.cholesky")
def cholesky(input: Any) -> Tensor:  # noqa: A002 (TensorFlow's name)
    """Lower triangles whose products with themselves are the matrices."""
    array = _matrices(input, "Cholesky", square=True)
    told = "Cholesky decomposition was not successful. The input might not be valid. [Op:Cholesky]"
    return wrap(_tried(lambda: np.linalg.cholesky(array), told))


@op("linalg.solve")
def solve(matrix: Any, rhs: Any, adjoint: bool = False) -> Tensor:
    """Solutions of systems of equations."""
    array = _matrices(matrix, "MatrixSolve", square=True)
    wanted = matched([Tensor(array), rhs], "MatrixSolve")[1]
    turned = np.swapaxes(array, -1, -2) if adjoint else array
    return wrap(_tried(lambda: np.linalg.solve(turned, wanted), "Input matrix is not invertible. [Op:MatrixSolve]"))


@op("linalg.lstsq")
def lstsq(matrix: Any, rhs: Any, l2_regularizer: Any = 0.0, fast: bool = True) -> Tensor:  # noqa: ARG001 (hint)
    """Solutions of systems with more or fewer equations than unknowns, by least squares."""
    array = _matrices(matrix, "MatrixSolveLs")
    wanted = matched([Tensor(array), rhs], "MatrixSolveLs")[1]
    weight = float(array_of(l2_regularizer))
    if not weight:
        return wrap((np.linalg.pinv(array) @ wanted).astype(array.dtype))
    turned = np.swapaxes(array, -1, -2)
    square = turned @ array + array.dtype.type(weight) * np.eye(array.shape[-1], dtype=array.dtype)
    return wrap(np.linalg.solve(square, turned @ wanted))


@op("linalg.pinv")
def pinv(a: Any, rcond: Any = None) -> Tensor:
    """Inverse of matrices that have none, as near as can be."""
    array = _matrices(a, "Svd")
    least = 10.0 * max(array.shape[-2:]) * np.finfo(array.dtype).eps if rcond is None else array_of(rcond)
    return wrap(np.linalg.pinv(array, least).astype(array.dtype))


@op("linalg.logdet")
def logdet(matrix: Any) -> Tensor:
    """Logarithm of the determinant of positive matrices."""
    diagonal = np.diagonal(cholesky(matrix).values, axis1=-2, axis2=-1)
    return wrap(2 * np.log(diagonal).sum(-1), diagonal.dtype)


@op("linalg.slogdet")
def slogdet(input: Any) -> LogMatrixDeterminant:  # noqa: A002 (TensorFlow's name)
    """Sign, and logarithm of the size, of the determinant."""
    array = _matrices(input, "LogMatrixDeterminant", square=True)
    sign, size = np.linalg.slogdet(array)
    return LogMatrixDeterminant(wrap(sign, array.dtype), wrap(size, array.dtype))


@op("linalg.set_diag")
def set_diag(input: Any, diagonal: Any) -> Tensor:  # noqa: A002 (TensorFlow's name)
    """Matrices with another diagonal."""
    array, values = matched([input, diagonal], "MatrixSetDiagV3")
    count = min(array.shape[-2:])
    if values.shape != (*array.shape[:-2], count):
        raise InvalidArgumentError(
            f"diagonal must have the shape {[*array.shape[:-2], count]}, not {list(values.shape)} [Op:MatrixSetDiagV3]"
        )
    out = array.copy()
    out[..., np.arange(count), np.arange(count)] = values
    return Tensor(out)


@op("linalg.tensor_diag")
def tensor_diag(diagonal: Any) -> Tensor:
    """Zeros but for where the first half of the indices is the second."""
    array = array_of(diagonal)
    return wrap(np.diag(array.ravel()).reshape(array.shape * 2))


@op("linalg.tensor_diag_part")
def tensor_diag_part(input: Any) -> Tensor:  # noqa: A002 (TensorFlow's name)
    """Values where the first half of the indices is the second."""
    array = array_of(input)
    half = array.shape[: array.ndim // 2]
    if half * 2 != array.shape:
        raise InvalidArgumentError(f"Invalid shape {list(array.shape)}: both halves must be the same [Op:DiagPart]")
    count = int(np.prod(half))
    return wrap(np.diagonal(array.reshape(count, count)).reshape(half).copy())

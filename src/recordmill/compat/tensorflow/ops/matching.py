"""What operations ask of their inputs: one dtype, an allowed dtype, shapes that go together, axes that exist.

References
----------
tensorflow/core/ops (allowed dtypes) and the texts of TensorFlow 2.21 in eager execution.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core import dtypes
from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dtypes import DType
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.operators import Operators
from recordmill.compat.tensorflow.core.tensor import Tensor

# NumPy's letters of the dtypes that an operation takes
FLOATS = "efd"
SIGNED = "efdbhilq"
WHOLE = "bhilqBHILQ"
NUMBERS = FLOATS + WHOLE
COMPLEX = "FD"
STRINGS = "O"
BOOL = "?"
_TOLD = {"float16": "half", "float32": "float", "float64": "double"}


def told(dtype: DType) -> str:
    """Name a dtype as messages do."""
    return _TOLD.get(dtype.name, dtype.name)


def allow(array: NDArray[Any], allowed: str, op: str, attr: str = "T") -> None:
    """Refuse a dtype that an operation does not take."""
    if array.dtype.char not in allowed:
        names = ", ".join(told(one) for one in dtypes.ALL if one.numpy_dtype.char in allowed)
        dtype = told(dtypes.as_dtype(array.dtype))
        raise InvalidArgumentError(
            f"Value for attr '{attr}' of {dtype} is not in the list of allowed values: {names} [Op:{op}]"
        )


def matched(values: Sequence[Any], op: str, *, hint: bool = False, start: int = 0) -> list[NDArray[Any]]:
    """Bring the inputs of an operation to one dtype, that of the first tensor, or else of the first value."""
    first = next((value for value in values if isinstance(value, Operators)), None)
    dtype = dtypes.as_dtype(array_of(values[0] if first is None else first).dtype)
    return [_match(value, dtype, index, op, hint and index > 0) for index, value in enumerate(values, start)]


def _match(value: Any, dtype: DType, index: int, op: str, hint: bool) -> NDArray[Any]:
    if isinstance(value, Operators):
        return _same(array_of(value), dtype, index, op)
    try:
        return array_of(value, dtype)
    except TypeError:
        if not hint:
            raise
        return _same(array_of(value), dtype, index, op)


def _same(array: NDArray[Any], dtype: DType, index: int, op: str) -> NDArray[Any]:
    if array.dtype != dtype.numpy_dtype:
        raise InvalidArgumentError(
            f"cannot compute {op} as input #{index}(zero-based) was expected to be a {told(dtype)} tensor "
            f"but is a {told(dtypes.as_dtype(array.dtype))} tensor [Op:{op}]"
        )
    return array


def one_of(value: Any, allowed: str, op: str) -> NDArray[Any]:
    """Make the array of an operation's only input."""
    array = array_of(value)
    allow(array, allowed, op)
    return array


def pair_of(x: Any, y: Any, allowed: str, op: str, *, hint: bool = False) -> tuple[NDArray[Any], NDArray[Any]]:
    """Make the arrays of an operation's two inputs: of one dtype, and of shapes that broadcast."""
    if hint and isinstance(x, Operators):
        allow(array_of(x), allowed, op)
    a, b = matched((x, y), op, hint=hint)
    allow(a, allowed, op)
    if not broadcastable(a.shape, b.shape):
        raise InvalidArgumentError(f"Incompatible shapes: {bracketed(a.shape)} vs. {bracketed(b.shape)} [Op:{op}]")
    return a, b


def broadcastable(a: Sequence[int], b: Sequence[int]) -> bool:
    """Tell whether two shapes broadcast."""
    return all(m in (n, 1) or n == 1 for m, n in zip(reversed(a), reversed(b), strict=False))


def bracketed(shape: Sequence[int]) -> str:
    """Write a shape as messages do."""
    return "[" + ",".join(map(str, shape)) + "]"


def as_ints(value: Any, what: str, op: str) -> list[int]:
    """Read sizes or axes: whole numbers in a list, a tensor or a shape, or one number."""
    array = array_of(value)
    if not array.size:
        return []
    if array.dtype.kind not in "iu":
        raise InvalidArgumentError(
            f"Value for attr '{what}' of {told(dtypes.as_dtype(array.dtype))} is not in the list of allowed values: "
            f"int32, int64 [Op:{op}]"
        )
    return [int(one) for one in np.atleast_1d(array)]


def results(*arrays: NDArray[Any]) -> list[Tensor]:
    """Make a tensor of each array."""
    return [Tensor(np.asarray(array)) for array in arrays]

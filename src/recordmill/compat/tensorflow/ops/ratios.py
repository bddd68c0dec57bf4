"""Less common functions of single values, and questions about a whole row: ``tf.math``."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import as_dtype
from recordmill.compat.tensorflow.core.tensor import Tensor, as_tensor, wrap
from recordmill.compat.tensorflow.ops.matching import FLOATS, NUMBERS, matched, one_of, pair_of


def _function(value: Any, name: str, compute: Callable[[NDArray[Any]], Any]) -> Tensor:
    array = one_of(value, FLOATS, name)
    with np.errstate(all="ignore"):
        return wrap(compute(array), array.dtype)


@op("math.asinh")
def asinh(x: Any) -> Tensor:
    """Inverse hyperbolic sine."""
    return _function(x, "Asinh", np.arcsinh)


@op("math.acosh")
def acosh(x: Any) -> Tensor:
    """Inverse hyperbolic cosine."""
    return _function(x, "Acosh", np.arccosh)


@op("math.atanh")
def atanh(x: Any) -> Tensor:
    """Inverse hyperbolic tangent."""
    return _function(x, "Atanh", np.arctanh)


@op("math.erf")
def erf(x: Any) -> Tensor:
    """Gauss's error function."""
    each = np.frompyfunc(math.erf, 1, 1)
    return _function(x, "Erf", lambda array: np.asarray(each(array.astype(np.float64))).astype(np.float64))


@op("math.log_sigmoid")
def log_sigmoid(x: Any) -> Tensor:
    """Logarithm of the logistic function."""
    return _function(x, "Softplus", lambda array: -np.logaddexp(-array, array.dtype.type(0)))


@op("math.softsign")
def softsign(features: Any) -> Tensor:
    """Value divided by 1 and its size."""
    return _function(features, "Softsign", lambda array: array / (1 + np.abs(array)))


@op("math.reciprocal_no_nan")
def reciprocal_no_nan(x: Any) -> Tensor:
    """One over the value; 0 for 0."""
    return _function(x, "DivNoNan", lambda array: np.where(array == 0, array.dtype.type(0), 1 / array))


def _unless_zero(x: Any, y: Any, name: str, compute: Callable[..., Any]) -> Tensor:
    first, second = pair_of(x, y, FLOATS, name)
    with np.errstate(all="ignore"):
        return wrap(np.where(first == 0, first.dtype.type(0), compute(first, second)), first.dtype)


@op("math.xlogy")
def xlogy(x: Any, y: Any) -> Tensor:
    """First value times the logarithm of the second; 0 for 0."""
    return _unless_zero(x, y, "Xlogy", lambda a, b: a * np.log(b))


@op("math.xlog1py")
def xlog1py(x: Any, y: Any) -> Tensor:
    """First value times the logarithm of 1 and the second; 0 for 0."""
    return _unless_zero(x, y, "Xlog1py", lambda a, b: a * np.log1p(b))


@op("math.xdivy")
def xdivy(x: Any, y: Any) -> Tensor:
    """Quotient; 0 for 0."""
    return _unless_zero(x, y, "Xdivy", np.divide)


@op("math.polyval")
def polyval(coeffs: Any, x: Any) -> Tensor:
    """Value of a polynomial, whose coefficients are given from the highest power on."""
    if not isinstance(coeffs, list):
        raise ValueError(f"Argument coeffs must be list type. Received type {type(coeffs)}.")  # noqa: TRY004
    place, *factors = matched((x, *coeffs), "Mul")
    found = np.zeros_like(place)
    for factor in factors:
        found = factor + found * place
    return wrap(found)


@op("math.zero_fraction")
def zero_fraction(value: Any) -> Tensor:
    """Share of the values that are 0."""
    array = one_of(value, NUMBERS, "NotEqual")
    share = np.mean(array == 0) if array.size else np.nan
    return wrap(np.asarray(share, np.float32))


@op("math.is_non_decreasing")
def is_non_decreasing(x: Any) -> Tensor:
    """Whether no value is smaller than the one before it."""
    array = one_of(x, NUMBERS, "LessEqual").reshape(-1)
    return wrap(np.asarray((array[1:] >= array[:-1]).all()))


@op("math.is_strictly_increasing")
def is_strictly_increasing(x: Any) -> Tensor:
    """Whether each value is larger than the one before it."""
    array = one_of(x, NUMBERS, "Less").reshape(-1)
    return wrap(np.asarray((array[1:] > array[:-1]).all()))


@op("linalg.global_norm")
def global_norm(t_list: Any) -> Tensor:
    """Length of several tensors, as if they were one."""
    arrays = [array_of(one) for one in t_list]
    return wrap(np.sqrt(np.sum([np.sum(np.square(one)) for one in arrays], dtype=arrays[0].dtype)), arrays[0].dtype)


@op("linalg.clip_by_global_norm")
def clip_by_global_norm(t_list: Any, clip_norm: Any, use_norm: Any = None) -> tuple[list[Tensor], Tensor]:
    """Several tensors, shortened together to a length; and the length that they have."""
    length = global_norm(t_list) if use_norm is None else as_tensor(use_norm)
    dtype = length.values.dtype
    limit = array_of(clip_norm, as_dtype(dtype))
    scale = limit * np.minimum(1 / length.values, np.asarray(1, dtype) / limit)
    return [wrap(array_of(one) * scale.astype(dtype), array_of(one).dtype) for one in t_list], length


@op("array.identity_n")
def identity_n(input: Any) -> list[Tensor]:  # noqa: A002 (TensorFlow's name)
    """The tensors themselves."""
    return [as_tensor(one) for one in input]

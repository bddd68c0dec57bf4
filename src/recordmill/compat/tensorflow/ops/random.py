"""``tf.random``: random numbers from NumPy's generators, not TensorFlow's; equal seeds give equal numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core import random_state
from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import DType, as_dtype, float32, int64
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor, wrap
from recordmill.compat.tensorflow.ops.inputs import convert_shape

_INTEGERS = ("int32", "int64", "uint32", "uint64")


def _find_generator(seed: Any) -> np.random.Generator:
    """Return the generator for `seed` of the current dataset element or, outside of datasets, of the process."""
    return random_state.current_generator(None if seed is None else int(array_of(seed)))


def _create_stateless_generator(seed: Any) -> np.random.Generator:
    values = array_of(seed)
    if values.shape != (2,):
        raise InvalidArgumentError(f"seed must have shape [2], got {list(values.shape)}")
    return np.random.default_rng(random_state.to_nonnegative_ints(*values.tolist()))


def _draw_uniform(generator: np.random.Generator, shape: Any, minval: Any, maxval: Any, dtype: DType) -> Tensor:
    lengths = convert_shape(shape, "uniform")
    if dtype.is_floating:
        low, high = array_of(minval, dtype), array_of(1 if maxval is None else maxval, dtype)
        numbers = generator.random(lengths, _choose_generator_dtype(dtype)) * (high - low) + low
        numbers = np.asarray(numbers, dtype.numpy_dtype)
        if not (numbers < high).all():  # Rounding can produce `high`, but the range excludes `high`.
            numbers = np.asarray(np.where(numbers < high, numbers, np.maximum(np.nextafter(high, low), low)))
        return Tensor(numbers)
    if dtype.name not in _INTEGERS:
        raise ValueError(f"dtype must be floating-point or one of {', '.join(_INTEGERS)}, got {dtype.name}")
    if maxval is None:
        raise ValueError("maxval must be given if dtype is an integer type")
    low, high = array_of(minval, dtype), array_of(maxval, dtype)
    if np.any(low >= high):
        raise InvalidArgumentError(f"minval must be less than maxval, got {low} and {high}")
    return Tensor(np.asarray(generator.integers(low, high, lengths, dtype.numpy_dtype)))


def _draw_normal(
    generator: np.random.Generator, shape: Any, mean: Any, stddev: Any, dtype: DType, *, truncate: bool = False
) -> Tensor:
    if not dtype.is_floating:
        raise ValueError(f"dtype must be floating-point, got {dtype.name}")
    float_type = _choose_generator_dtype(dtype)
    numbers: NDArray[Any] = np.asarray(generator.standard_normal(convert_shape(shape, "normal"), float_type))
    while truncate and np.any(far := np.abs(numbers) > 2):
        numbers[far] = generator.standard_normal(int(far.sum()), float_type)
    return Tensor(np.asarray(numbers * array_of(stddev, dtype) + array_of(mean, dtype), dtype.numpy_dtype))


def _choose_generator_dtype(dtype: DType) -> Any:
    return np.float64 if dtype.numpy_dtype.itemsize == 8 else np.float32


@op("random.uniform", always=True)
def uniform(shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = float32, seed: Any = None) -> Tensor:
    """``tf.random.uniform``: return uniformly distributed numbers in [minval, maxval)."""
    return _draw_uniform(_find_generator(seed), shape, minval, maxval, as_dtype(dtype))


@op("random.normal", always=True)
def normal(shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = float32, seed: Any = None) -> Tensor:
    """``tf.random.normal``: return normally distributed numbers."""
    return _draw_normal(_find_generator(seed), shape, mean, stddev, as_dtype(dtype))


@op("random.truncated_normal", always=True)
def truncated_normal(shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = float32, seed: Any = None) -> Tensor:
    """``tf.random.truncated_normal``: return normally distributed numbers within two `stddev` of the mean."""
    return _draw_normal(_find_generator(seed), shape, mean, stddev, as_dtype(dtype), truncate=True)


@op("random.gamma", always=True)
def gamma(shape: Any, alpha: Any, beta: Any = None, dtype: Any = float32, seed: Any = None) -> Tensor:
    """``tf.random.gamma``: draw an array of shape `shape` from the gamma distribution of each pair (alpha, beta)."""
    kind = as_dtype(dtype)
    if not kind.is_floating:
        raise TypeError(f"dtype must be floating-point, got {kind.name}")
    shapes, rates = array_of(alpha, kind), array_of(1.0 if beta is None else beta, kind)
    if np.any(shapes < 0):
        raise InvalidArgumentError(f"alpha must not be negative, got {float(shapes.min())}")
    lengths = (*convert_shape(shape, "gamma"), *np.broadcast_shapes(shapes.shape, rates.shape))
    numbers = (_find_generator(seed).standard_gamma(shapes, lengths) / rates).astype(kind.numpy_dtype)
    # Numbers that round to 0 become the smallest positive number, so that programs can divide by them.
    return Tensor(np.maximum(numbers, np.finfo(kind.numpy_dtype).tiny))


@op("random.shuffle", always=True)
def shuffle(value: Any, seed: Any = None) -> Tensor:
    """``tf.random.shuffle``: return the rows in random order."""
    array = array_of(value)
    return wrap(array[_find_generator(seed).permutation(len(array))] if array.ndim else array)


@op("random.categorical", always=True)
def categorical(logits: Any, num_samples: Any, dtype: Any = int64, seed: Any = None) -> Tensor:
    """``tf.random.categorical``: draw class indices for each row of unnormalized log-probabilities."""
    rows = array_of(logits)
    if rows.ndim != 2:
        raise InvalidArgumentError(f"logits must be a matrix, got shape {list(rows.shape)}")
    noise = _find_generator(seed).gumbel(size=(rows.shape[0], int(num_samples), rows.shape[1]))
    return wrap(np.argmax(rows[:, None, :] + noise, -1), as_dtype(dtype).numpy_dtype)


@op("random.stateless_uniform")
def stateless_uniform(
    shape: Any,
    seed: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = float32,
    alg: Any = None,  # noqa: ARG001 (one algorithm)
) -> Tensor:
    """``tf.random.stateless_uniform``: return uniformly distributed numbers; `seed` (two integers) determines them."""
    return _draw_uniform(_create_stateless_generator(seed), shape, minval, maxval, as_dtype(dtype))


@op("random.stateless_normal")
def stateless_normal(
    shape: Any,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = float32,
    alg: Any = None,  # noqa: ARG001 (one algorithm)
) -> Tensor:
    """``tf.random.stateless_normal``: return normally distributed numbers; `seed` (two integers) determines them."""
    return _draw_normal(_create_stateless_generator(seed), shape, mean, stddev, as_dtype(dtype))


@op("random.split")
def split(seed: Any, num: Any = 2, alg: Any = None) -> Tensor:  # noqa: ARG001 (one algorithm)
    """``tf.random.split``: derive `num` new seeds from a seed; the result has the shape (num, 2)."""
    dtype = array_of(seed).dtype
    limits = np.iinfo(dtype)
    shape = int(array_of(num)), 2
    return Tensor(_create_stateless_generator(seed).integers(limits.min, limits.max, shape, dtype, endpoint=True))


@op("random.fold_in")
def fold_in(seed: Any, data: Any, alg: Any = None) -> Tensor:  # noqa: ARG001 (one algorithm)
    """``tf.random.fold_in``: derive a new seed from a seed and an integer."""
    mixed = array_of(seed).copy()
    first = split(seed, 1).numpy()[0]
    mixed[:] = first[0], first[1] ^ array_of(data, as_dtype(mixed.dtype))
    return Tensor(split(mixed, 1).numpy()[0])

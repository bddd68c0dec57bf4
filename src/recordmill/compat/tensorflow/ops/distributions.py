"""Random numbers of distributions with parameters of their own: gamma, Poisson, binomial, and choices of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core import draws
from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import DType, as_dtype, float32, int32, int64
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor, wrap
from recordmill.compat.tensorflow.ops.drawing import (
    check_algorithm,
    lengths_of,
    normal_from,
    place_by_logits,
    process_generator,
    stateless_generator,
)


def _gamma_from(
    generator: np.random.Generator, shape: tuple[int, ...], alpha: NDArray[Any], beta: NDArray[Any], dtype: DType
) -> Tensor:
    """Numbers above 0, also where rounding would give 0: quotients of two are numbers."""
    _check_positive(alpha, "alpha")
    drawn = (generator.standard_gamma(alpha, shape) / beta).astype(dtype.numpy_dtype)
    return Tensor(np.maximum(drawn, np.finfo(dtype.numpy_dtype).tiny))


def _parameters(alpha: Any, beta: Any, dtype: Any) -> tuple[NDArray[Any], NDArray[Any], DType]:
    kind = as_dtype(dtype)
    if not kind.is_floating:
        raise TypeError(f"Value for attr 'T' of {kind.name} is not in the list of allowed values: half, float, double")
    return array_of(alpha, kind), array_of(1.0 if beta is None else beta, kind), kind


def _check_positive(values: NDArray[Any], name: str) -> None:
    if np.any(values < 0):
        raise InvalidArgumentError(f"{name} must not be negative, got {float(values.min())}")


@op("random.gamma", always=True)
def gamma(shape: Any, alpha: Any, beta: Any = None, dtype: Any = float32, seed: Any = None) -> Tensor:
    """Gamma distributed numbers: as many as `shape` says for each pair of parameters."""
    shapes, rates, kind = _parameters(alpha, beta, dtype)
    lengths = (*lengths_of(shape), *np.broadcast_shapes(shapes.shape, rates.shape))
    return _gamma_from(process_generator(seed), lengths, shapes, rates, kind)


@op("random.stateless_gamma")
def stateless_gamma(
    shape: Any, seed: Any, alpha: Any, beta: Any = None, dtype: Any = float32, alg: Any = "auto_select"
) -> Tensor:
    """Gamma distributed numbers that only `seed` decides about; `shape` is that of the result."""
    check_algorithm(alg)
    shapes, rates, kind = _parameters(alpha, beta, dtype)
    return _gamma_from(stateless_generator(seed), lengths_of(shape), shapes, rates, kind)


def _poisson_from(generator: np.random.Generator, shape: tuple[int, ...], lam: Any, dtype: Any) -> Tensor:
    rates = array_of(lam)
    _check_positive(rates, "lam")
    return wrap(np.asarray(generator.poisson(rates, shape)).astype(as_dtype(dtype).numpy_dtype))


@op("random.poisson", always=True)
def poisson(shape: Any, lam: Any, dtype: Any = float32, seed: Any = None) -> Tensor:
    """Counts of rare events: as many as `shape` says for each rate."""
    lengths = (*lengths_of(shape), *array_of(lam).shape)
    return _poisson_from(process_generator(seed), lengths, lam, dtype)


@op("random.stateless_poisson")
def stateless_poisson(shape: Any, seed: Any, lam: Any, dtype: Any = int32) -> Tensor:
    """Counts of rare events that only `seed` decides about; `shape` is that of the result."""
    return _poisson_from(stateless_generator(seed), lengths_of(shape), lam, dtype)


@op("random.stateless_binomial")
def stateless_binomial(shape: Any, seed: Any, counts: Any, probs: Any, output_dtype: Any = int32) -> Tensor:
    """Counts of successes that only `seed` decides about; `shape` is that of the result."""
    drawn = stateless_generator(seed).binomial(array_of(counts).astype(np.int64), array_of(probs), lengths_of(shape))
    return wrap(np.asarray(drawn).astype(as_dtype(output_dtype).numpy_dtype))


@op("random.stateless_truncated_normal")
def stateless_truncated_normal(
    shape: Any, seed: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = float32, alg: Any = "auto_select"
) -> Tensor:
    """Normally distributed numbers, none further than two deviations from the mean, that only `seed` decides about."""
    check_algorithm(alg)
    return Tensor(normal_from(stateless_generator(seed), lengths_of(shape), mean, stddev, as_dtype(dtype), cut=True))


@op("random.stateless_categorical")
def stateless_categorical(logits: Any, num_samples: Any, seed: Any, dtype: Any = int64) -> Tensor:
    """Places drawn by the logarithms of their probabilities, for each row; only `seed` decides about them."""
    return place_by_logits(stateless_generator(seed), logits, num_samples, dtype)


@op("random.stateless_shuffle")
def stateless_shuffle(value: Any, seed: Any, alg: Any = "auto_select") -> Tensor:
    """Rows in an order that only `seed` decides about."""
    check_algorithm(alg)
    array = array_of(value)
    return wrap(array[stateless_generator(seed).permutation(len(array))])


@op("random.older_poisson", always=True)
def random_poisson(lam: Any, shape: Any, dtype: Any = float32, seed: Any = None) -> Tensor:
    """As `poisson`, with TensorFlow 1's order of arguments."""
    return _poisson_from(draws.generator(seed), (*lengths_of(shape), *array_of(lam).shape), lam, dtype)


@op("random.multinomial", always=True)
def multinomial(logits: Any, num_samples: Any, seed: Any = None, output_dtype: Any = int64) -> Tensor:
    """TensorFlow 1's name of places drawn by the logarithms of their probabilities."""
    return place_by_logits(process_generator(seed), logits, num_samples, output_dtype)

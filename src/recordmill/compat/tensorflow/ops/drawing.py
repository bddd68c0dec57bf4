"""Random numbers, from the generators of `recordmill.compat.tensorflow.core.draws`; the same seeds repeat them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core import draws
from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import DType, as_dtype, float32
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor, wrap
from recordmill.compat.tensorflow.ops.matching import as_ints

_WHOLE = ("int32", "int64", "uint32", "uint64")


def lengths_of(shape: Any) -> tuple[int, ...]:
    """Read a shape."""
    lengths = tuple(as_ints(shape, "T", "RandomUniform"))
    if any(length < 0 for length in lengths):
        raise InvalidArgumentError(f"Dimension {min(lengths)} must be >= 0 [Op:RandomUniform]")
    return lengths


def uniform_from(
    generator: np.random.Generator, shape: tuple[int, ...], minval: Any, maxval: Any, dtype: DType
) -> NDArray[Any]:
    """Draw numbers of equal probability."""
    low: Any
    high: Any
    if dtype.is_floating:
        kind = np.float64 if dtype.numpy_dtype.itemsize == 8 else np.float32
        low, high = array_of(minval, dtype), array_of(1 if maxval is None else maxval, dtype)
        drawn: Any = generator.random(shape, kind) * (high - low) + low
        drawn = np.asarray(drawn, dtype.numpy_dtype)
        # Rounding may give the upper limit itself.
        return np.asarray(np.where(drawn < high, drawn, np.maximum(np.nextafter(high, low), low)))
    if dtype.name not in _WHOLE:
        raise ValueError(f"Argument `dtype` got invalid value {dtype!r}. Accepted dtypes are floats and {_WHOLE}.")
    if maxval is None:
        raise ValueError("Must specify maxval for integer dtype " + repr(dtype))
    low, high = array_of(minval, dtype), array_of(maxval, dtype)
    if np.any(low >= high):
        raise InvalidArgumentError(f"Need minval < maxval, got {low} >= {high} [Op:RandomUniformInt]")
    return np.asarray(generator.integers(low, high, shape, dtype.numpy_dtype))


def normal_from(
    generator: np.random.Generator, shape: tuple[int, ...], mean: Any, stddev: Any, dtype: DType, cut: bool = False
) -> NDArray[Any]:
    """Draw normally distributed numbers."""
    if not dtype.is_floating:
        raise ValueError(f"Argument `dtype` got invalid value {dtype!r}. Accepted dtypes are floats.")
    kind = np.float64 if dtype.numpy_dtype.itemsize == 8 else np.float32
    drawn = np.asarray(generator.standard_normal(shape, kind))
    while cut and np.any(far := np.abs(drawn) > 2):
        drawn[far] = generator.standard_normal(int(far.sum()), kind)
    return np.asarray(drawn * array_of(stddev, dtype) + array_of(mean, dtype), dtype.numpy_dtype)


def process_generator(seed: Any) -> np.random.Generator:
    """Find the generator that an operation draws from now."""
    return draws.generator(None if seed is None else int(array_of(seed)))


@op("random.uniform", always=True)
def uniform(shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = float32, seed: Any = None) -> Tensor:
    """Numbers of equal probability; see `uniform_from`."""
    return Tensor(uniform_from(process_generator(seed), lengths_of(shape), minval, maxval, as_dtype(dtype)))


@op("random.normal", always=True)
def normal(shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = float32, seed: Any = None) -> Tensor:
    """Normally distributed numbers; see `normal_from`."""
    return Tensor(normal_from(process_generator(seed), lengths_of(shape), mean, stddev, as_dtype(dtype)))


@op("random.truncated_normal", always=True)
def truncated_normal(shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = float32, seed: Any = None) -> Tensor:
    """Normally distributed numbers, none further than two deviations from the mean."""
    return Tensor(normal_from(process_generator(seed), lengths_of(shape), mean, stddev, as_dtype(dtype), cut=True))


@op("random.shuffle", always=True)
def shuffle(value: Any, seed: Any = None) -> Tensor:
    """Rows in a random order."""
    array = array_of(value)
    return wrap(array[process_generator(seed).permutation(len(array))] if array.ndim else array)


@op("random.categorical", always=True)
def categorical(logits: Any, num_samples: Any, dtype: Any = None, seed: Any = None) -> Tensor:
    """Places drawn by the logarithms of their probabilities, for each row."""
    return place_by_logits(process_generator(seed), logits, num_samples, dtype or "int64")


def place_by_logits(generator: np.random.Generator, logits: Any, num_samples: Any, dtype: Any) -> Tensor:
    """Draw places by the logarithms of their probabilities."""
    rows = array_of(logits)
    if rows.ndim != 2:
        raise InvalidArgumentError(f"logits should be a matrix, got shape {list(rows.shape)} [Op:Multinomial]")
    noise = generator.gumbel(size=(rows.shape[0], int(num_samples), rows.shape[1]))
    return wrap(np.argmax(rows[:, None, :] + noise, -1), as_dtype(dtype).numpy_dtype)


def stateless_generator(seed: Any) -> np.random.Generator:
    """Make the generator of an operation without a state."""
    values = array_of(seed)
    if values.shape != (2,):
        raise InvalidArgumentError(f"seed must have shape [2], not {list(values.shape)} [Op:StatelessRandomUniformV2]")
    return np.random.default_rng(draws.words_of(*values.tolist()))


@op("random.stateless_uniform")
def stateless_uniform(
    shape: Any, seed: Any, minval: Any = 0, maxval: Any = None, dtype: Any = float32, alg: Any = "auto_select"
) -> Tensor:
    """Numbers of equal probability that only the two numbers of `seed` decide about."""
    check_algorithm(alg)
    return Tensor(uniform_from(stateless_generator(seed), lengths_of(shape), minval, maxval, as_dtype(dtype)))


@op("random.stateless_normal")
def stateless_normal(
    shape: Any, seed: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = float32, alg: Any = "auto_select"
) -> Tensor:
    """Normally distributed numbers that only the two numbers of `seed` decide about."""
    check_algorithm(alg)
    return Tensor(normal_from(stateless_generator(seed), lengths_of(shape), mean, stddev, as_dtype(dtype)))


@op("random.split")
def split(seed: Any, num: Any = 2, alg: Any = "auto_select") -> Tensor:
    """Seeds that only the two numbers of `seed` decide about, of its dtype; shape (num, 2)."""
    check_algorithm(alg)
    dtype = array_of(seed).dtype
    limits = np.iinfo(dtype)
    shape = int(array_of(num)), 2
    return Tensor(stateless_generator(seed).integers(limits.min, limits.max, shape, dtype, endpoint=True))


@op("random.fold_in")
def fold_in(seed: Any, data: Any, alg: Any = "auto_select") -> Tensor:
    """A seed that the two numbers of `seed` and another number decide about."""
    mixed = array_of(seed).copy()
    first = split(seed, 1, alg).numpy()[0]
    mixed[:] = first[0], first[1] ^ array_of(data, as_dtype(mixed.dtype))
    return Tensor(split(mixed, 1, alg).numpy()[0])


def check_algorithm(alg: Any) -> None:
    """Refuse what is no generator of TensorFlow's; all of them stand for NumPy's here."""
    value = getattr(alg, "value", alg)
    if value not in (None, "auto_select", "philox", "threefry", 1, 2, 3):
        raise ValueError(
            f"Argument `alg` got unsupported value {alg!r}. Supported values are 'philox' and 1, 'threefry' and 2, "
            "'auto_select' and 3."
        )

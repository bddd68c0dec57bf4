"""``tf.random.Generator``: random numbers with a state of their own."""

from __future__ import annotations

from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.draws import words_of
from recordmill.compat.tensorflow.core.dtypes import as_dtype, float32, uint64
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.ops.drawing import check_algorithm, lengths_of, normal_from, uniform_from


class Generator:
    """Random numbers of one sequence; made by `from_seed` or `from_non_deterministic_state`."""

    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator

    @classmethod
    def from_seed(cls, seed: Any, alg: Any = None) -> Generator:
        """Begin a sequence that the seed repeats."""
        check_algorithm(alg)
        values = np.atleast_1d(array_of(seed)).tolist()
        return cls(np.random.default_rng(words_of(*values)))

    @classmethod
    def from_non_deterministic_state(cls, alg: Any = None) -> Generator:
        """Begin a sequence that is another one each time."""
        check_algorithm(alg)
        return cls(np.random.default_rng())

    def uniform(self, shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = float32) -> Tensor:
        """Numbers of equal probability."""
        return _uniform(self._generator, shape, minval, maxval, dtype)

    def normal(self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = float32) -> Tensor:
        """Normally distributed numbers."""
        return _normal(self._generator, shape, mean, stddev, dtype, False)

    def truncated_normal(self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = float32) -> Tensor:
        """Normally distributed numbers, none further than two deviations from the mean."""
        return _normal(self._generator, shape, mean, stddev, dtype, True)

    def uniform_full_int(self, shape: Any, dtype: Any = uint64) -> Tensor:
        """Whole numbers of the whole range of a dtype."""
        return _whole_range(self._generator, shape, dtype)

    def reset_from_seed(self, seed: Any) -> None:
        """Begin the sequence of a seed."""
        self._generator = Generator.from_seed(seed)._generator

    def make_seeds(self, count: int = 1) -> Tensor:
        """Seeds for operations without a state."""
        return _seeds(self._generator, count)

    def split(self, count: int = 1) -> list[Generator]:
        """Sequences of their own."""
        return [Generator(one) for one in self._generator.spawn(count)]


@op("random.generator_uniform", always=True)
def _uniform(generator: np.random.Generator, shape: Any, minval: Any, maxval: Any, dtype: Any) -> Tensor:
    return Tensor(uniform_from(generator, lengths_of(shape), minval, maxval, as_dtype(dtype)))


@op("random.generator_normal", always=True)
def _normal(generator: np.random.Generator, shape: Any, mean: Any, stddev: Any, dtype: Any, cut: bool) -> Tensor:
    return Tensor(normal_from(generator, lengths_of(shape), mean, stddev, as_dtype(dtype), cut))


@op("random.generator_whole_range", always=True)
def _whole_range(generator: np.random.Generator, shape: Any, dtype: Any) -> Tensor:
    kind = as_dtype(dtype).numpy_dtype
    limits = np.iinfo(kind)
    return Tensor(generator.integers(limits.min, limits.max, lengths_of(shape), kind, endpoint=True))


@op("random.generator_seeds", always=True)
def _seeds(generator: np.random.Generator, count: int) -> Tensor:
    return Tensor(generator.integers(np.iinfo(np.int64).min, np.iinfo(np.int64).max, (2, int(count)), np.int64))


class _Process:
    """The generator that all of a program's modules share."""

    generator: Generator | None = None


def get_global_generator() -> Generator:
    """The generator of the process, begun at its first use."""
    if _Process.generator is None:
        _Process.generator = Generator.from_non_deterministic_state()
    return _Process.generator


def set_global_generator(generator: Generator) -> None:
    """Let `get_global_generator` give another one from now on."""
    _Process.generator = generator

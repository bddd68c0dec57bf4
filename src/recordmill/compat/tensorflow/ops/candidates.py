"""Numbers of classes drawn beside the true ones: ``tf.random``'s candidate samplers."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor, wrap
from recordmill.compat.tensorflow.ops.drawing import process_generator

Candidates = namedtuple(  # noqa: PYI024 (TensorFlow's tuple)
    "Candidates", ["sampled_candidates", "true_expected_count", "sampled_expected_count"]
)
# Draws at a time, while different numbers are looked for.
_TOGETHER = 64


@op("random.log_uniform_candidate_sampler", always=True)
def log_uniform_candidate_sampler(
    true_classes: Any, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: Any = None
) -> Any:
    """Draw classes of which the first ones come often: in proportion to log((n + 2) / (n + 1))."""
    places = np.arange(int(range_max))
    shares = np.log1p(1 / (places + 1)) / np.log1p(range_max)
    return _drawn(true_classes, num_true, num_sampled, unique, shares, seed)


@op("random.uniform_candidate_sampler", always=True)
def uniform_candidate_sampler(
    true_classes: Any, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: Any = None
) -> Any:
    """Draw classes of equal probability; arguments and results as of `log_uniform_candidate_sampler`."""
    shares = np.full(int(range_max), 1 / int(range_max))
    return _drawn(true_classes, num_true, num_sampled, unique, shares, seed)


def _drawn(true: Any, num_true: int, count: int, unique: bool, shares: NDArray[np.float64], seed: Any) -> Any:
    classes = array_of(true)
    if classes.ndim != 2 or classes.shape[1] != num_true:
        raise InvalidArgumentError(f"true_classes must have num_true={num_true} columns, not {list(classes.shape)}")
    if unique and count > len(shares):
        raise InvalidArgumentError(f"Sampler's range is too small: {count} different classes of {len(shares)}")
    generator, limits = process_generator(seed), np.cumsum(shares)
    found: dict[int, None] = {}
    listed: list[int] = []
    tries = 0
    while len(found if unique else listed) < count:
        for number in np.searchsorted(limits, generator.random(_TOGETHER) * limits[-1], "right").tolist():
            if len(found if unique else listed) == count:
                break
            tries += 1
            found[number] = None
            listed.append(number)
    sampled = np.array([*found] if unique else listed, np.int64)
    expected = [_expected(shares[of], count, tries if unique else None) for of in (classes, sampled)]
    return Candidates(Tensor(sampled), *(wrap(one.astype(np.float32)) for one in expected))


def _expected(shares: NDArray[Any], count: int, tries: int | None) -> NDArray[Any]:
    """How often a class is drawn; where each counts once, in how many of the tries it is."""
    return shares * count if tries is None else -np.expm1(tries * np.log1p(-shares))

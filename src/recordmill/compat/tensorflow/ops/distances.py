"""How many values have to be put in, taken out or exchanged to make one sequence of another: ``tf.edit_distance``."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import as_dtype
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.sparse import SparseTensor
from recordmill.compat.tensorflow.core.tensor import Tensor


@op("array.edit_distance")
def edit_distance(hypothesis: Any, truth: Any, normalize: bool = True) -> Tensor:
    """Levenshtein's distance between the sequences along the last axis."""
    for name, one in (("Hypothesis", hypothesis), ("Truth", truth)):
        if not isinstance(one, SparseTensor):
            raise TypeError(f"{name} must be a SparseTensor.")
    if hypothesis.dtype != truth.dtype:
        raise TypeError(f"Types mismatch: {hypothesis.dtype!r} and {as_dtype(truth.dtype)!r}.")
    shapes = [one.dense_shape.values[:-1] for one in (hypothesis, truth)]
    if len(shapes[0]) != len(shapes[1]):
        raise InvalidArgumentError(
            f"truth and hypothesis must have as many axes: {len(shapes[1]) + 1} and {len(shapes[0]) + 1}"
        )
    found = np.zeros(np.maximum(*shapes), np.float32)
    ours, theirs = _sequences(hypothesis), _sequences(truth)
    for place in ours.keys() | theirs.keys():
        given, true = ours.get(place, []), theirs.get(place, [])
        steps = np.float32(_steps(given, true))
        if normalize:
            steps = steps / np.float32(len(true)) if true else np.float32(np.inf)
        found[place] = steps
    return Tensor(found)


def _sequences(sparse: SparseTensor) -> dict[tuple[int, ...], list[Any]]:
    """Values by the place of their sequence; there is none without values."""
    pairs = zip(sparse.indices.values[:, :-1].tolist(), sparse.values.values.tolist(), strict=True)
    groups = itertools.groupby(pairs, lambda one: one[0])
    return {tuple(place): [value for _, value in group] for place, group in groups}


def _steps(one: Sequence[Any], other: Sequence[Any]) -> int:
    """Least number of changes, by a column of the table at a time, whose differences are bits of two numbers."""
    if not one or not other:
        return len(one) + len(other)
    places: dict[Any, int] = {}
    for number, value in enumerate(one):
        places[value] = places.get(value, 0) | 1 << number
    whole, last = (1 << len(one)) - 1, 1 << (len(one) - 1)
    rises, falls, steps = whole, 0, len(one)
    for value in other:
        same = places.get(value, 0)
        diagonal = (((same & rises) + rises) ^ rises) | same
        more, less = falls | (whole & ~(diagonal | rises)), rises & diagonal
        steps += bool(more & last) - bool(less & last)
        more, less = (more << 1 | 1) & whole, (less << 1) & whole
        rises, falls = less | (whole & ~(same | falls | more)), more & (same | falls)
    return steps

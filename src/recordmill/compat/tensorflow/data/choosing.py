"""Elements of one of several data sets at a time, as another data set says."""

from __future__ import annotations

from collections.abc import Iterator, Set as AbstractSet
from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core import dtypes
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor, array_of
from recordmill.compat.tensorflow.data.elements import (
    INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY,
    Element,
    Failed,
    Node,
    Step,
    Way,
)
from recordmill.compat.tensorflow.data.specs import common
from recordmill.compat.tensorflow.ops.specs import TensorSpec


class Choose(Node):
    """Elements of the inputs that are chosen one by one."""

    def __init__(self, nodes: list[Node], choices: Node, stop: bool, never: AbstractSet[int] = frozenset()) -> None:
        super().__init__(*nodes)
        self._choices, self._stop, self._never = choices, stop, never

    def iterate(self, way: Way) -> Iterator[Step]:
        """Give them."""
        running: list[Iterator[Step] | None] = [
            None if number in self._never else node.iterate(way) for number, node in enumerate(self.inputs)
        ]
        for choice in self._choices.iterate(way):
            if isinstance(choice, Failed):
                yield choice
                continue
            number = int(choice.value.values)
            if not 0 <= number < len(running):
                yield Failed(InvalidArgumentError(f"Selector index out of range: {number} >= {len(running)}"))
                continue
            chosen = running[number]
            step = None if chosen is None else next(chosen, None)
            if step is not None:
                yield step
                continue
            running[number] = None
            if self._stop or all(one is None for one in running):
                return

    def cardinality(self) -> int:
        """Infinite if one is, as TensorFlow says; else not known."""
        endless = any(node.cardinality() == INFINITE_CARDINALITY for node in self.inputs)
        return INFINITE_CARDINALITY if endless else UNKNOWN_CARDINALITY

    def spec(self) -> Any:
        """What all have in common."""
        spec = self.inputs[0].spec()
        for node in self.inputs[1:]:
            spec = common(spec, node.spec())
        return spec


class Drawn(Node):
    """Numbers of inputs, drawn with weights, without end."""

    def __init__(self, count: int, weights: Any, seed: int | None, *, again: bool) -> None:
        super().__init__()
        shares = np.ones(count) if weights is None else array_of(weights).astype(np.float64)
        if shares.shape != (count,) or not (shares >= 0).all() or not shares.sum():
            raise ValueError(f"weights are {count} numbers from 0, not {weights!r}")
        self._shares = shares / shares.sum()
        self.never = frozenset(np.flatnonzero(shares == 0).tolist())
        self._seed: Any = np.random.SeedSequence(None if seed is None else abs(seed)).entropy
        self._again = again

    def iterate(self, way: Way) -> Iterator[Step]:  # noqa: ARG002
        """Give the numbers."""
        drawn = np.random.default_rng([self._seed, self.begin() if self._again else 0])
        while True:
            yield Element(Tensor(np.array(drawn.choice(len(self._shares), p=self._shares), np.int64)))

    def cardinality(self) -> int:
        """Without end."""
        return INFINITE_CARDINALITY

    def spec(self) -> Any:
        """A number."""
        return TensorSpec([], dtypes.int64)

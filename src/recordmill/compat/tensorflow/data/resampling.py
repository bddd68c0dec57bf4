"""``Dataset.rejection_resample``: elements left out at random, so that classes have other shares."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.tensor import Tensor, array_of
from recordmill.compat.tensorflow.data.elements import UNKNOWN_CARDINALITY, Element, Failed, Node, Step, Way, seen_spec
from recordmill.compat.tensorflow.data.functions import Function, placed

# Elements of each class that are taken as seen before the first one is.
_SEEN_BEFORE = 10


class Resampled(Node):
    """Pairs of the number of a class and an element."""

    runs_python = True

    def __init__(
        self, node: Node, class_func: Callable[..., Any], target_dist: Any, initial_dist: Any, seed: int | None
    ) -> None:
        super().__init__(node)
        self._function = Function(class_func, node)
        self._target = _shares(target_dist, "target_dist")
        self._initial = None if initial_dist is None else _shares(initial_dist, "initial_dist")
        if self._initial is not None and len(self._initial) != len(self._target):
            raise ValueError(f"initial_dist has {len(self._initial)} classes, target_dist {len(self._target)}")
        self._seed = np.random.SeedSequence(None if seed is None else abs(int(seed))).entropy

    def iterate(self, way: Way) -> Iterator[Step]:
        """Give them."""
        drawn = np.random.default_rng(self._seed)
        counts = np.full(len(self._target), float(_SEEN_BEFORE))
        for step in self.input.iterate(way):
            if isinstance(step, Failed):
                yield step
                continue
            try:
                number = self._class_of(step.value)
                counts[int(number.values)] += 1
            except Exception as error:  # noqa: BLE001 (it is told to the caller)
                yield Failed(placed(error, step))
                continue
            shares = counts / counts.sum() if self._initial is None else self._initial
            if drawn.random() < _kept(self._target, shares)[int(number.values)]:
                yield Element((number, step.value), step.place)

    def _class_of(self, value: Any) -> Tensor:
        number = self._function(value)
        if not isinstance(number, Tensor) or number.values.ndim or not number.dtype.is_integer:
            raise TypeError(f"class_func must return one whole number, the number of a class, not {number!r}")
        if not 0 <= int(number.values) < len(self._target):
            raise ValueError(f"class_func returned {int(number.values)}; target_dist has {len(self._target)} classes")
        return number

    def _pair(self, value: Any) -> Any:
        return self._class_of(value), value

    def cardinality(self) -> int:
        """Not known."""
        return UNKNOWN_CARDINALITY

    def declares_spec(self) -> bool:
        """No: that of the class is found in the first elements."""
        return False

    def spec(self) -> Any:
        """Specs of a class and an element."""
        return seen_spec(self.input, self._class_of), self.input.spec()

    def sample(self) -> Iterator[Any]:
        """Pairs of the input's sample."""
        return map(self._pair, self.input.sample())


def _shares(given: Any, name: str) -> NDArray[np.float64]:
    found = array_of(given).astype(np.float64)
    if found.ndim != 1 or (found < 0).any() or not found.sum():
        raise ValueError(f"{name} is a share of each class, from 0 on, not {given!r}")
    return np.asarray(found / found.sum())


def _kept(target: NDArray[np.float64], initial: NDArray[np.float64]) -> NDArray[np.float64]:
    """How likely an element of each class is kept."""
    ratios = target / np.maximum(initial, np.finfo(np.float32).tiny)
    return np.asarray(ratios / ratios.max())

"""Steps that leave elements out by what a function says of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.data.chunks import Chunked, chunked, in_chunks
from recordmill.compat.tensorflow.data.elements import UNKNOWN_CARDINALITY, Failed, Node, Step, Way
from recordmill.compat.tensorflow.data.functions import Function, placed


class Filter(Node):
    """Elements of which a function is true."""

    runs_python = True

    def __init__(self, node: Node, predicate: Callable[..., Any]) -> None:
        super().__init__(node)
        self.function = Function(predicate, node)

    def iterate(self, way: Way) -> Iterator[Step]:
        """Give those."""
        steps = self.input.iterate(way)
        plan = chunked(self.function, self.input) if way.whole_batches else None
        kept: Iterator[Step | None] = map(self._kept, steps)
        if plan is not None and plan.is_even:
            kept = in_chunks(steps, partial(_together, plan), self._kept)
        return (step for step in kept if step is not None)

    def _kept(self, element: Step) -> Step | None:
        held = self._held(element)
        return held if isinstance(held, Failed) else element if held else None

    def _held(self, element: Step) -> bool | Failed:
        if isinstance(element, Failed):
            return element
        try:
            return self._test(element.value)
        except Exception as error:  # noqa: BLE001 (it is told to the caller)
            return Failed(placed(error, element))

    def _test(self, value: Any) -> bool:
        return truth(self.function(value))

    def cardinality(self) -> int:
        """Not known."""
        return UNKNOWN_CARDINALITY

    def sample(self) -> Iterator[Any]:
        """Those of the input's sample."""
        return filter(self._test, self.input.sample())


class TakeWhile(Filter):
    """Elements in front of the first one of which a function is not true."""

    def iterate(self, way: Way) -> Iterator[Step]:
        """Give them."""
        for element in self.input.iterate(way):
            held = self._held(element)
            if isinstance(held, Failed):
                yield held
            elif held:
                yield element
            else:
                return


def _together(plan: Chunked, group: list[Any]) -> list[Step | None]:
    values = plan.run(group, [()] * len(group))
    return [element for element, value in zip(group, values, strict=True) if truth(value)]


def truth(value: Any) -> bool:
    """What a predicate returned, if it is one truth value."""
    if not isinstance(value, Tensor) or not value.dtype.is_bool or value.ndim:
        told = (
            f"TensorSpec(shape={value.shape}, dtype={value.dtype!r}, name=None)" if isinstance(value, Tensor) else value
        )
        raise ValueError(
            f"Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor, but its return type is {told}."
        )
    return bool(value.values)

"""Nodes that drop elements by the result of a function."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.data.elements import UNKNOWN_CARDINALITY, Failed, Node, Step, Way
from recordmill.compat.tensorflow.data.functions import Function, placed
from recordmill.compat.tensorflow.data.mapping import in_chunks, is_behind_generator, small_columns
from recordmill.compat.tensorflow.data.native_map import NativeMap, rows_of


class Filter(Node):
    """Elements for which a function returns true."""

    runs_python = True

    def __init__(self, node: Node, predicate: Callable[..., Any]) -> None:
        super().__init__(node)
        self.function = Function(predicate, node)

    def iterate(self, way: Way) -> Iterator[Step]:
        """Iterate over them; the function runs on chunks of elements if it has a native plan."""
        steps = self.input.iterate(way)
        native = self.function.native() if way.native else None
        checked: Iterator[Step | None] = map(self._check, steps)
        if isinstance(native, NativeMap) and not is_behind_generator(self.input):
            checked = in_chunks(steps, partial(_check_chunk, native), self._check)
        return (step for step in checked if step is not None)

    def _check(self, step: Step) -> Step | None:
        passes = self._passes_or_fails(step)
        return passes if isinstance(passes, Failed) else step if passes else None

    def _passes_or_fails(self, step: Step) -> bool | Failed:
        if isinstance(step, Failed):
            return step
        try:
            return self._test(step.value)
        except Exception as error:  # noqa: BLE001 (raised when the caller asks for this element)
            return Failed(placed(error, step))

    def _test(self, value: Any) -> bool:
        return truth(self.function(value))

    def cardinality(self) -> int:
        """Unknown."""
        return UNKNOWN_CARDINALITY

    def sample(self) -> Iterator[Any]:
        """Iterate over the values of the input's sample that pass."""
        return filter(self._test, self.input.sample())


class TakeWhile(Filter):
    """Elements before the first one for which a function does not return true."""

    def iterate(self, way: Way) -> Iterator[Step]:
        """Iterate over them."""
        for step in self.input.iterate(way):
            passes = self._passes_or_fails(step)
            if isinstance(passes, Failed):
                yield passes
            elif passes:
                yield step
            else:
                return


def _check_chunk(native: NativeMap, group: list[Any]) -> list[Step | None]:
    [results] = native.run(small_columns(native, group), [()] * len(group))
    return [step if truth(value) else None for step, value in zip(group, rows_of(results), strict=True)]


def truth(value: Any) -> bool:
    """Return the result of a predicate, which must be one boolean."""
    if not isinstance(value, Tensor) or not value.dtype.is_bool or value.ndim:
        found = (
            f"TensorSpec(shape={value.shape}, dtype={value.dtype!r}, name=None)" if isinstance(value, Tensor) else value
        )
        raise ValueError(
            f"Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor, but its return type is {found}."
        )
    return bool(value.values)

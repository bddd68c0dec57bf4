"""Steps that run a function on every element."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from recordmill.compat.processors import num_processors
from recordmill.compat.tensorflow.core import draws
from recordmill.compat.tensorflow.core.shapes import TensorShape
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.data.ahead import close, mapped_ahead
from recordmill.compat.tensorflow.data.chunks import Chunked, chunked, elements_of, in_chunks
from recordmill.compat.tensorflow.data.elements import (
    UNKNOWN_CARDINALITY,
    Element,
    Failed,
    Node,
    Step,
    Way,
    sampled,
    seen_spec,
)
from recordmill.compat.tensorflow.data.functions import Function, attempt, to_result
from recordmill.compat.tensorflow.data.known_shapes import are_fixed, keeps_sizes
from recordmill.compat.tensorflow.data.recording import Program
from recordmill.compat.tensorflow.data.specs import common, spec_of
from recordmill.compat.tensorflow.data.structures import leaves, mapped, same_form
from recordmill.compat.tensorflow.ops.specs import TensorSpec


class Deferred(Element):
    """An element whose map function has not run yet."""

    __slots__ = ("given", "position")

    def __init__(self, given: Element, position: tuple[int, ...]) -> None:
        super().__init__(None, given.place)
        self.given, self.position = given, position


class Map(Node):
    """Elements replaced by what a function makes of them, in order."""

    runs_python = True

    def __init__(self, node: Node, function: Callable[..., Any], num_parallel_calls: int | None) -> None:
        super().__init__(node)
        self.function = Function(function, node)
        self.threads = num_processors() if num_parallel_calls == -1 else num_parallel_calls or 0

    def iterate(self, way: Way) -> Iterator[Step]:
        """Run the function: for many elements at once, or ahead of the caller where threads are asked for."""
        numbered = self.deferred(way)
        if self in way.put_off:
            return numbered
        return self._made(numbered, way)

    def _made(self, numbered: Iterator[Deferred | Failed], way: Way) -> Iterator[Step]:
        plan = self.plan(way)
        threads = self.threads or (num_processors() if plan is not None and plan.makes_pictures else 0)
        first = next(numbered, None)
        if first is None:
            return
        steps = chain((first,), numbered)
        is_small = isinstance(first, Failed) or (plan is not None and plan.is_small(first.given.value))
        if plan is not None and (plan.gains or threads) and is_small:
            together = partial(_together, plan) if plan.gains else None
            made = in_chunks(steps, together, self.finish, plan.most, threads)
        else:
            made = mapped_ahead(self.finish, steps, threads, 0) if threads else map(self.finish, steps)
        try:
            yield from made
        finally:
            close(made)
            close(numbered)

    def plan(self, way: Way) -> Chunked | None:
        """How the function is done to many elements at a time, or ahead of whoever wants them; none if it is not."""
        return chunked(self.function, self.input) if way.whole_batches else None

    def deferred(self, way: Way) -> Iterator[Deferred | Failed]:
        """Elements whose function has not run."""
        stage, number = self.depth, self.begin()
        for position, element in enumerate(self.input.iterate(way)):
            if isinstance(element, Failed):
                yield element
            else:
                yield Deferred(element, (stage, number, position))

    def finish(self, element: Deferred | Failed) -> Step:
        """Run the function."""
        if isinstance(element, Failed):
            return element
        with draws.element(*element.position):
            return attempt(self.function, element.given)

    def declares_spec(self) -> bool:
        """Whether all of it was recorded, and known or the same for elements of one size."""
        program = self.function.program()
        if not isinstance(program, Program) or not super().declares_spec():
            return False
        return program.spec() is not None or (are_fixed(self.input.spec()) and keeps_sizes(program.calls))

    def spec(self) -> Any:
        """Specs of what the function gives: what was recorded, else what the first elements show."""
        program = self.function.program()
        if not isinstance(program, Program):
            return seen_spec(self.input, self.function)
        if (known := program.spec()) is not None:
            return known
        seen = _for_any_number(seen_spec(self.input, self.function), self.function, self.input)
        known = program.known()
        return mapped(lambda one, other: other or one, seen, known) if same_form(seen, known) else seen

    def sample(self) -> Iterator[Any]:
        """What it makes of the input's sample."""
        return sampled(self.function, self.input.sample())


def _for_any_number(seen: Any, function: Function, node: Node) -> Any:
    """Specs without the lengths that follow from the number of rows, where that is not known of a batch."""
    known = [leaf.shape if isinstance(leaf, TensorSpec) else TensorShape(None) for leaf in leaves(node.spec())]
    if not all(shape.rank and shape[0] is None for shape in known):
        return seen
    try:
        return common(seen, spec_of(function(mapped(_of_few_rows, next(iter(node.sample()))))))
    except Exception:  # noqa: BLE001 (the function is for such batches only, as the first elements show)
        return seen


def _of_few_rows(batch: Tensor) -> Tensor:
    """A small batch of another number of rows."""
    return Tensor(np.concatenate([batch.values[:1]] * (3 if len(batch.values) == 2 else 2)))


def _together(plan: Chunked, group: list[Any]) -> list[Step]:
    values = plan.run([element.given for element in group], [element.position for element in group])
    return elements_of(values, group)


class IgnoreErrors(Node):
    """Elements without those that failed."""

    def __init__(self, node: Node, log_warning: bool) -> None:
        super().__init__(node)
        self._log = log_warning

    def iterate(self, way: Way) -> Iterator[Step]:  # noqa: ARG002
        """Give the others; no function is put off, as steps behind it would count elements that fail later."""
        for element in self.input.iterate(Way(whole_batches=False)):
            if isinstance(element, Element):
                yield element
            elif self._log:
                print(f"Error raised with error message {element.error}", file=sys.stderr)

    def cardinality(self) -> int:
        """Not known."""
        return UNKNOWN_CARDINALITY


class Scan(Node):
    """Elements replaced by what a function makes of them and a state."""

    runs_python = True

    def __init__(self, node: Node, initial_state: Any, function: Callable[..., Any]) -> None:
        super().__init__(node)
        self._initial, self._function = initial_state, function

    def iterate(self, way: Way) -> Iterator[Step]:
        """Run the function on one after the other."""
        state = self._initial

        def step(value: Any) -> Any:
            nonlocal state
            state, output = self._run(state, value)
            return output

        for element in self.input.iterate(way):
            yield element if isinstance(element, Failed) else attempt(step, element)

    def _run(self, state: Any, value: Any) -> tuple[Any, Any]:
        made = self._function(state, value)
        if not isinstance(made, tuple | list) or len(made) != 2:
            raise TypeError("The scan function must return a pair comprising the new state and the output value.")
        return to_result(made[0]), to_result(made[1])

    def declares_spec(self) -> bool:
        """No."""
        return False

    def spec(self) -> Any:
        """Specs that the first outputs show."""
        return seen_spec(self, lambda value: value)

    def sample(self) -> Iterator[Any]:
        """Outputs for the input's sample."""
        state = self._initial
        for value in self.input.sample():
            state, output = self._run(state, value)
            yield output

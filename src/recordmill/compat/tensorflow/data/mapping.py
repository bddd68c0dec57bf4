"""Nodes that run a function on every element: map, filter and scan; and the one that drops failed elements."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any

from recordmill.compat.tensorflow.core import draws
from recordmill.compat.tensorflow.core.tensor import Tensor
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
from recordmill.compat.tensorflow.data.functions import Function, attempt, placed, to_result
from recordmill.compat.tensorflow.data.native_map import NativeMap, Values, columns_of, rows_of
from recordmill.compat.tensorflow.data.rules import Column
from recordmill.compat.tensorflow.data.sources import FromGenerator
from recordmill.compat.tensorflow.data.specs import with_axis, without_axis
from recordmill.compat.tensorflow.data.structures import filled, leaves, mapped, same_form
from recordmill.compat.tensorflow.data.tables import Row, Table
from recordmill.compat.tensorflow.data.trace import Trace
from recordmill.compat.tensorflow.ops.specs import TensorSpec
from recordmill.concurrency.threads import map_ordered, num_cpus

THREAD_NAME = "recordmill-data"
# Finished elements that may wait while a batch is put together, so that no thread is idle meanwhile.
_RESULTS_AHEAD = 4
# A chunk has at most so many elements, and results of about so many bytes.
MAX_CHUNK, _CHUNK_BYTES = 64, 4 << 20
# Elements with more bytes than this are processed one by one: joining them costs more than it saves.
_LARGE_BYTES = 64 << 10
# Groups that cannot be processed together, for no fault of an element, before that is given up.
_MAX_FAILURES = 3


class Deferred(Element):
    """An element whose map function has not run yet."""

    __slots__ = ("given", "position")

    def __init__(self, given: Element, position: tuple[int, ...]) -> None:
        super().__init__(None, given.place)
        self.given, self.position = given, position


class Map(Node):
    """Elements replaced by the results of a function, in order."""

    runs_python = True

    def __init__(self, node: Node, function: Callable[..., Any], num_parallel_calls: int | None) -> None:
        super().__init__(node)
        self.function = Function(function, node)
        self.num_parallel_calls = num_cpus() if num_parallel_calls == -1 else num_parallel_calls or 0

    def iterate(self, way: Way) -> Iterator[Step]:
        """Run the function: on chunks of elements in native code, in threads, or on one element after the other."""
        numbered = self._numbered(way)
        if self in way.deferred:
            return numbered
        native = self.native() if way.native else "it runs element by element"
        if isinstance(native, NativeMap):
            return in_chunks(numbered, Fallback(partial(_run_chunk, native), self.finish), self.num_parallel_calls)
        threads = self.num_threads() if way.native else self.num_parallel_calls
        return (
            map_ordered(self.finish, numbered, threads, _RESULTS_AHEAD, name=THREAD_NAME)
            if threads
            else map(self.finish, numbered)
        )

    def native(self) -> NativeMap | str:
        """Return the plan for chunks of elements, or why the function runs element by element."""
        native = self.function.native()
        if isinstance(native, NativeMap):
            if native.trace.decodes_images:
                return "it decodes images and no batch follows"
            if is_behind_generator(self.input):
                return "a generator is not asked for more elements than are wanted"
        return native

    def num_threads(self) -> int:
        """Return the number of threads that run the function; 0 for the thread of the caller."""
        found = self.function.trace()
        is_slow = isinstance(found, Trace) and found.decodes_images and not found.in_order
        return self.num_parallel_calls or (num_cpus() if is_slow and not is_behind_generator(self.input) else 0)

    def _numbered(self, way: Way) -> Iterator[Deferred | Failed]:
        stage, number = self.depth, self.begin()
        for position, element in enumerate(self.input.iterate(way)):
            yield element if isinstance(element, Failed) else Deferred(element, (stage, number, position))

    def finish(self, element: Deferred | Failed) -> Step:
        """Run the function on one element."""
        if isinstance(element, Failed):
            return element
        with draws.element(*element.position):
            return attempt(self.function, element.given)

    def spec(self) -> Any:
        """Specs of the results: from the trace, else from the first elements."""
        found = self.function.trace()
        if not isinstance(found, Trace):
            return seen_spec(self.input, self.function)
        if (spec := found.spec()) is not None:
            return spec
        seen = _without_batch_size(seen_spec(self.input, self.function), self.input)
        known = found.known_specs()
        return mapped(lambda one, other: other or one, seen, known) if same_form(seen, known) else seen

    def sample(self) -> Iterator[Any]:
        """Iterate over the results for the input's sample."""
        return sampled(self.function, self.input.sample())


def _without_batch_size(seen: Any, node: Node) -> Any:
    """Specs without the lengths that are those of the first batch, if a node gives batches of any size."""
    inputs = list(leaves(node.spec()))
    if not all(isinstance(leaf, TensorSpec) and leaf.shape.rank and leaf.shape[0] is None for leaf in inputs):
        return seen
    size = len(next(leaves(next(iter(node.sample())))))
    return mapped(lambda leaf: with_axis(without_axis(leaf), None) if leaf.shape[:1] == [size] else leaf, seen)


def is_behind_generator(node: Node) -> bool:
    """Return whether elements come from a Python generator, which must not be advanced more than is wanted."""
    return isinstance(node, FromGenerator) or any(map(is_behind_generator, node.inputs))


class Fallback:
    """Processes groups of steps together, or one by one where a step has failed or `together` raises."""

    def __init__(self, together: Callable[[list[Any]], Any], single: Callable[[Any], Any]) -> None:
        self._together, self._single, self._num_failures = together, single, 0

    def __call__(self, group: list[Any]) -> Any:
        """Return what `together` gives for the group, or the list of the results of `single`."""
        if self._num_failures < _MAX_FAILURES and not any(isinstance(step, Failed) for step in group):
            try:
                return self._together(group)
            except Exception:  # noqa: BLE001 (one by one, the right element fails with its error)
                self._num_failures += 1
        results = list(map(self._single, group))
        if any(isinstance(step, Failed) for step in results):
            self._num_failures = 0
        return results


def in_chunks(steps: Iterator[Any], process: Fallback, threads: int = 0) -> Iterator[Any]:
    """Process steps in chunks: small ones at first, and never so large that results take many megabytes."""
    limit = MAX_CHUNK

    def chunks() -> Iterator[list[Any]]:
        size = 1
        while chunk := list(islice(steps, size)):
            yield chunk
            size = min(2 * size, limit)

    results = map_ordered(process, chunks(), threads, name=THREAD_NAME) if threads else map(process, chunks())
    for chunk in results:
        if isinstance(chunk[-1], Element):
            limit = max(min(limit, _CHUNK_BYTES // max(num_bytes_of(chunk[-1].value), 1)), 1)
        yield from chunk


def num_bytes_of(value: Any) -> int:
    """Return the bytes of the dense tensors of an element."""
    return sum(_num_bytes(leaf.values) for leaf in leaves(value) if isinstance(leaf, Tensor))


def _num_bytes(array: Any) -> int:
    return sum(map(len, array.flat)) if array.dtype == object else int(array.nbytes)


def small_columns(native: NativeMap, elements: list[Element]) -> list[Values]:
    """Return the columns that a function uses, if elements are small enough to join them."""
    first = list(leaves(elements[0].value))
    if sum(_num_bytes(first[number].values) for number in native.used if type(first[number]) is Tensor) > _LARGE_BYTES:
        raise ValueError("large elements are processed one by one")
    return columns_of(elements, native.used)


def _run_chunk(native: NativeMap, group: list[Any]) -> list[Step]:
    """Results for some elements, as rows of one table if they are alike."""
    columns = small_columns(native, [element.given for element in group])
    results = native.run(columns, [element.position for element in group])
    form = native.trace.result
    if all(isinstance(column, Column) for column in results):
        table = Table(filled(form, iter([column.tensor for column in results])))  # type: ignore[union-attr]
        return [Row(table, position, element.place) for position, element in enumerate(group)]
    rows = zip(*map(rows_of, results), strict=True)
    return [
        Element(to_result(filled(form, iter(row))), element.place) for row, element in zip(rows, group, strict=True)
    ]


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
            checked = in_chunks(steps, Fallback(partial(_check_chunk, native), self._check))
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


class IgnoreErrors(Node):
    """Elements without those that failed."""

    def __init__(self, node: Node, log_warning: bool) -> None:
        super().__init__(node)
        self._log = log_warning

    def iterate(self, way: Way) -> Iterator[Step]:  # noqa: ARG002
        """Iterate over the others; no map is deferred, as a batch behind would count elements that fail later."""
        for element in self.input.iterate(Way(native=False)):
            if isinstance(element, Element):
                yield element
            elif self._log:
                print(f"Error raised with error message {element.error}", file=sys.stderr)

    def cardinality(self) -> int:
        """Unknown."""
        return UNKNOWN_CARDINALITY


class Scan(Node):
    """Elements replaced by the results of a function of a state and the element."""

    runs_python = True

    def __init__(self, node: Node, initial_state: Any, function: Callable[..., Any]) -> None:
        super().__init__(node)
        self._initial, self._function = initial_state, function

    def iterate(self, way: Way) -> Iterator[Step]:
        """Run the function on one element after the other."""
        state = self._initial

        def step(value: Any) -> Any:
            nonlocal state
            state, output = self._run(state, value)
            return output

        for element in self.input.iterate(way):
            yield element if isinstance(element, Failed) else attempt(step, element)

    def _run(self, state: Any, value: Any) -> tuple[Any, Any]:
        result = self._function(state, value)
        if not isinstance(result, tuple | list) or len(result) != 2:
            raise TypeError("The scan function must return a pair comprising the new state and the output value.")
        return to_result(result[0]), to_result(result[1])

    def spec(self) -> Any:
        """Specs of the first outputs."""
        return seen_spec(self, lambda value: value)

    def sample(self) -> Iterator[Any]:
        """Iterate over the outputs for the input's sample."""
        state = self._initial
        for value in self.input.sample():
            state, output = self._run(state, value)
            yield output

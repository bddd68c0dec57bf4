"""Pipeline nodes of ``Dataset.map``, ``filter`` and ``ignore_errors``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any

from recordmill.compat.tensorflow.core import random_state
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.data.collate import ElementTable, TableRow
from recordmill.compat.tensorflow.data.elements import (
    UNKNOWN_CARDINALITY,
    Element,
    ExecutionOptions,
    FailedElement,
    Node,
    Step,
    infer_spec_from_samples,
    map_sample_values,
)
from recordmill.compat.tensorflow.data.functions import (
    UserFunction,
    call_or_return_error,
    convert_function_result,
    to_op_error,
)
from recordmill.compat.tensorflow.data.native_map import BatchValue, NativeMap, split_into_rows, to_columns
from recordmill.compat.tensorflow.data.rules import BatchColumn
from recordmill.compat.tensorflow.data.sources import FromGenerator
from recordmill.compat.tensorflow.data.structures import (
    add_batch_axis,
    drop_batch_axis,
    has_same_structure,
    leaves,
    map_structure,
    pack_structure,
    spec_of,
)
from recordmill.compat.tensorflow.data.trace import Trace
from recordmill.compat.tensorflow.ops.specs import TensorSpec
from recordmill.concurrency.threads import map_ordered, num_cpus

THREAD_NAME = "recordmill-data"
# Number of results that threads compute ahead, so that they keep working while the consumer builds a batch.
_RESULTS_AHEAD = 4
# Largest number of elements in a chunk, and approximate limit on the bytes of its results.
MAX_CHUNK, _CHUNK_BYTES = 64, 4 << 20
# Elements with more bytes than this are processed one by one, because stacking large elements is slow.
_LARGE_BYTES = 64 << 10
# A group may fail although each of its elements succeeds alone. After this many such groups, the next elements are
# processed one by one.
_MAX_FAILURES = 3


class DeferredElement(Element):
    """Input element of one or more maps. For each map, `positions` has (node depth, pass number, element number)."""

    __slots__ = ("input", "positions")

    def __init__(self, element: Element, *positions: tuple[int, int, int]) -> None:
        super().__init__(None, element.record)
        self.input, self.positions = element, positions


class Map(Node):
    """Results of a function for each element, in order."""

    runs_python = True

    def __init__(self, node: Node, function: Callable[..., Any], num_parallel_calls: int | None) -> None:
        super().__init__(node)
        self.function = UserFunction(function, node)
        self.num_parallel_calls = num_cpus() if num_parallel_calls == -1 else num_parallel_calls or 0

    def iterate(self, execution: ExecutionOptions) -> Iterator[Step]:
        """Run the function natively on chunks, or element by element in threads or in the calling thread."""
        elements = self._wrap_input_elements(execution)
        if self in execution.deferred:
            return elements
        native = self.plan_native() if execution.native else "it runs element by element"
        if isinstance(native, NativeMap):
            return process_in_chunks(
                elements, GroupRunner(partial(_run_native_chunk, native), self.run_function), self.num_parallel_calls
            )
        threads = self.num_threads() if execution.native else self.num_parallel_calls
        return (
            map_ordered(self.run_function, elements, threads, _RESULTS_AHEAD, name=THREAD_NAME)
            if threads
            else map(self.run_function, elements)
        )

    def plan_native(self) -> NativeMap | str:
        """Return the plan to run the function on chunks, or the reason why it runs element by element."""
        native = self.function.plan_native()
        if isinstance(native, NativeMap):
            if native.trace.decodes_images:
                return "the function decodes images, but no batch() follows"
            if is_behind_generator(self.input):
                return "the elements come from a generator, which must not run ahead of the consumer"
        return native

    def num_threads(self) -> int:
        """Return the number of threads that run the function, or 0 if the calling thread runs it."""
        trace = self.function.trace()
        is_slow = isinstance(trace, Trace) and trace.decodes_images and not trace.in_order
        return self.num_parallel_calls or (num_cpus() if is_slow and not is_behind_generator(self.input) else 0)

    def _wrap_input_elements(self, execution: ExecutionOptions) -> Iterator[DeferredElement | FailedElement]:
        stage, number = self.depth, self.begin_pass()
        for row, element in enumerate(self.input.iterate(execution)):
            if isinstance(element, FailedElement):
                yield element
            elif isinstance(element, DeferredElement):
                yield DeferredElement(element.input, *element.positions, (stage, number, row))
            else:
                yield DeferredElement(element, (stage, number, row))

    def run_function(self, element: DeferredElement | FailedElement) -> Step:
        """Run the function on one element."""
        if isinstance(element, FailedElement):
            return element
        with random_state.use_element_state(*element.positions[-1]):
            return call_or_return_error(self.function, element.input)

    def spec(self) -> Any:
        """Return the specs from the trace; infer unknown specs from the results for the first elements."""
        trace = self.function.trace()
        if not isinstance(trace, Trace):
            return infer_spec_from_samples(self.input, self.function)
        if (spec := trace.spec()) is not None:
            return spec
        seen = _clear_batch_size(infer_spec_from_samples(self.input, self.function), self.input)
        known = trace.known_specs()
        return map_structure(lambda one, other: other or one, seen, known) if has_same_structure(seen, known) else seen

    def iterate_sample_values(self) -> Iterator[Any]:
        return map_sample_values(self.function, self.input.iterate_sample_values())


def _clear_batch_size(seen: Any, node: Node) -> Any:
    """Replace the batch size by None in specs that were inferred from the first batch, if batch sizes may differ."""
    inputs = list(leaves(node.spec()))
    if not all(isinstance(leaf, TensorSpec) and leaf.shape.rank and leaf.shape[0] is None for leaf in inputs):
        return seen
    size = len(next(leaves(next(iter(node.iterate_sample_values())))))
    return map_structure(
        lambda leaf: add_batch_axis(drop_batch_axis(leaf), None) if leaf.shape[:1] == [size] else leaf, seen
    )


def is_behind_generator(node: Node) -> bool:
    """Return whether the elements of `node` come from a Python generator."""
    return isinstance(node, FromGenerator) or any(map(is_behind_generator, node.inputs))


class GroupRunner:
    """Callable that processes a group of elements at once or, after an error, one by one."""

    def __init__(self, run_group: Callable[[list[Any]], Any], run_single: Callable[[Any], Any]) -> None:
        self._run_group, self._run_single, self._num_failures = run_group, run_single, 0

    def __call__(self, group: list[Any]) -> Any:
        """Return the result of `run_group` or, if that fails, a list of the results of `run_single`."""
        if self._num_failures < _MAX_FAILURES and not any(isinstance(step, FailedElement) for step in group):
            try:
                return self._run_group(group)
            except Exception:  # noqa: BLE001 (running the steps one by one finds the step that fails)
                self._num_failures += 1
        results = list(map(self._run_single, group))
        if any(isinstance(step, FailedElement) for step in results):
            self._num_failures = 0
        return results


def process_in_chunks(steps: Iterator[Any], process: GroupRunner, threads: int = 0) -> Iterator[Any]:
    """Process elements in chunks, which grow from one element to a limit that depends on the size of the results."""
    limit = MAX_CHUNK

    def iterate_chunks() -> Iterator[list[Any]]:
        size = 1
        while chunk := list(islice(steps, size)):
            yield chunk
            size = min(2 * size, limit)

    results = (
        map_ordered(process, iterate_chunks(), threads, name=THREAD_NAME) if threads else map(process, iterate_chunks())
    )
    for chunk in results:
        if isinstance(chunk[-1], Element):
            limit = max(min(limit, _CHUNK_BYTES // max(count_element_bytes(chunk[-1].value), 1)), 1)
        yield from chunk


def count_element_bytes(value: Any) -> int:
    """Return the number of bytes in the dense tensors of an element."""
    return sum(_count_array_bytes(leaf.values) for leaf in leaves(value) if isinstance(leaf, Tensor))


def _count_array_bytes(array: Any) -> int:
    return sum(map(len, array.flat)) if array.dtype == object else int(array.nbytes)


def stack_small_elements_into_columns(native: NativeMap, elements: list[Element]) -> list[BatchValue]:
    """Stack elements into the columns that a native map uses; raise ValueError if the elements are large."""
    first = list(leaves(elements[0].value))
    if (
        sum(_count_array_bytes(first[number].values) for number in native.used if type(first[number]) is Tensor)
        > _LARGE_BYTES
    ):
        raise ValueError(f"elements of more than {_LARGE_BYTES} bytes are not stacked, because stacking them is slow")
    return to_columns(elements, native.used)


def _run_native_chunk(native: NativeMap, group: list[Any]) -> list[Step]:
    """Run a native map on a chunk of elements; if results have equal shapes, return rows of an `ElementTable`."""
    columns = stack_small_elements_into_columns(native, [element.input for element in group])
    results = native.run(columns, [element.positions[-1] for element in group])
    structure = native.trace.result
    if all(isinstance(column, BatchColumn) for column in results):
        table = ElementTable(pack_structure(structure, [column.tensor for column in results]))  # type: ignore[union-attr]
        return [TableRow(table, position, element.record) for position, element in enumerate(group)]
    rows = zip(*map(split_into_rows, results), strict=True)
    return [
        Element(convert_function_result(pack_structure(structure, row)), element.record)
        for row, element in zip(rows, group, strict=True)
    ]


class Filter(Node):
    """Elements for which a function returns true."""

    runs_python = True

    def __init__(self, node: Node, predicate: Callable[..., Any]) -> None:
        super().__init__(node)
        self.function = UserFunction(predicate, node)

    def iterate(self, execution: ExecutionOptions) -> Iterator[Step]:
        """Yield the elements that pass; if the function has a native plan, it runs on chunks of elements."""
        steps = self.input.iterate(execution)
        native = self.function.plan_native() if execution.native else None
        checked: Iterator[Step | None] = map(self._filter_step, steps)
        if isinstance(native, NativeMap) and not is_behind_generator(self.input):
            checked = process_in_chunks(steps, GroupRunner(partial(_filter_chunk, native), self._filter_step))
        return (step for step in checked if step is not None)

    def _filter_step(self, step: Step) -> Step | None:
        if isinstance(step, FailedElement):
            return step
        try:
            return step if self._passes_predicate(step.value) else None
        except Exception as error:  # noqa: BLE001 (raised when the caller reads this element)
            return FailedElement(to_op_error(error, step))

    def _passes_predicate(self, value: Any) -> bool:
        return predicate_result_to_bool(self.function(value))

    def cardinality(self) -> int:
        return UNKNOWN_CARDINALITY

    def iterate_sample_values(self) -> Iterator[Any]:
        return filter(self._passes_predicate, self.input.iterate_sample_values())


def _filter_chunk(native: NativeMap, group: list[Any]) -> list[Step | None]:
    [results] = native.run(stack_small_elements_into_columns(native, group), [()] * len(group))
    return [
        step if predicate_result_to_bool(value) else None
        for step, value in zip(group, split_into_rows(results), strict=True)
    ]


def predicate_result_to_bool(value: Any) -> bool:
    """Convert the result of a predicate to bool; raise ValueError unless it is a boolean scalar."""
    if not isinstance(value, Tensor) or not value.dtype.is_bool or value.ndim:
        result = spec_of(value) if isinstance(value, Tensor) else value
        raise ValueError(
            f"Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor, but its return type is {result}."
        )
    return bool(value.values)


class IgnoreErrors(Node):
    """Node of ``Dataset.ignore_errors``: the elements that were computed without an error."""

    def __init__(self, node: Node, log_warning: bool) -> None:
        super().__init__(node)
        self._log = log_warning

    def iterate(self, execution: ExecutionOptions) -> Iterator[Step]:  # noqa: ARG002
        """Yield the elements that were computed without an error."""
        # Native execution is disabled, because a batch node may postpone a map before `take` until after `take`.
        # `take` would then also count the elements for which a map fails.
        for element in self.input.iterate(ExecutionOptions(native=False)):
            if isinstance(element, Element):
                yield element
            elif self._log:
                print(f"Error raised with error message {element.error}", file=sys.stderr)

    def cardinality(self) -> int:
        return UNKNOWN_CARDINALITY

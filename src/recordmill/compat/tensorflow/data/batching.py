"""Pipeline nodes of ``Dataset.batch``, ``padded_batch``, ``unbatch`` and ``window``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.shapes import TensorShape
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.data.collate import stack_leaf, stack_stored_elements
from recordmill.compat.tensorflow.data.elements import (
    UNKNOWN_CARDINALITY,
    Element,
    ExecutionOptions,
    FailedElement,
    Node,
    Step,
)
from recordmill.compat.tensorflow.data.functions import to_op_error
from recordmill.compat.tensorflow.data.mapping import (
    THREAD_NAME,
    DeferredElement,
    Filter,
    GroupRunner,
    Map,
    is_behind_generator,
)
from recordmill.compat.tensorflow.data.native_map import BatchValue, NativeMap, split_into_rows, to_columns
from recordmill.compat.tensorflow.data.padding import pad_and_stack_leaf
from recordmill.compat.tensorflow.data.rules import BatchColumn
from recordmill.compat.tensorflow.data.sources import TensorSlices
from recordmill.compat.tensorflow.data.structures import (
    add_batch_axis,
    drop_batch_axis,
    leaves,
    pack_structure,
    spec_of,
)
from recordmill.compat.tensorflow.data.trace import Trace
from recordmill.compat.tensorflow.ops.specs import TensorSpec
from recordmill.concurrency.threads import map_ordered, num_cpus


class Batch(Node):
    """Batches of `size` elements."""

    # True if a batch only stacks its elements. Such batches can be read from files or sliced from tables directly.
    _only_stacks = True

    def __init__(self, node: Node, size: int, drop_remainder: bool) -> None:
        super().__init__(node)
        if size < 1:
            raise InvalidArgumentError("Batch size must be greater than zero.")
        self.size, self.drop_remainder = size, drop_remainder

    def iterate(self, execution: ExecutionOptions) -> Iterator[Step]:
        """Yield batches. If possible, worker threads run the preceding maps on whole batches."""
        maps = find_deferred_maps(self) if execution.native else []
        if maps:
            groups = self._iterate_groups(replace(execution, deferred=tuple(maps)))
            return map_ordered(_DeferredMapRunner(maps, self).build_batch, groups, num_cpus(), 1, THREAD_NAME)
        batches = None
        if execution.native and self._only_stacks:
            batches = self.input.iterate_batches(execution, self.size, self.drop_remainder)
        return map(self.make_batch, self._iterate_groups(execution)) if batches is None else batches

    def _iterate_groups(self, execution: ExecutionOptions) -> Iterator[list[Step]]:
        steps = self.input.iterate(execution)
        while group := list(islice(steps, self.size)):
            if (
                len(group) == self.size
                or not self.drop_remainder
                or any(isinstance(one, FailedElement) for one in group)
            ):
                yield group

    def make_batch(self, steps: list[Step]) -> Step:
        """Return one batch, or the error of the first element that failed."""
        failed = next((step for step in steps if isinstance(step, FailedElement)), None)
        if failed is not None:
            return failed
        try:
            stored = stack_stored_elements(steps) if self._only_stacks else None
            return Element(self.combine_elements([step.value for step in steps]) if stored is None else stored)  # type: ignore[union-attr]
        except Exception as error:  # noqa: BLE001 (raised when the caller reads this batch)
            return FailedElement(to_op_error(error, Element(None)))

    def combine_elements(self, values: list[Any]) -> Any:
        """Combine the values of elements into the value of a batch."""
        columns = zip(*map(leaves, values), strict=True)
        return pack_structure(values[0], [self.combine_leaf(list(rows), number) for number, rows in enumerate(columns)])

    def combine_leaf(self, values: BatchValue, number: int) -> Any:
        """Stack the values of leaf `number` of all elements. A native map may have stacked these values already."""
        return values.tensor if isinstance(values, BatchColumn) else stack_leaf(values, number)

    def cardinality(self) -> int:
        length = self.input.cardinality()
        if length < 0:
            return length
        return length // self.size if self.drop_remainder else -(-length // self.size)

    def spec(self) -> Any:
        return add_batch_axis(self.input.spec(), self.size if self.drop_remainder else None)

    def iterate_sample_values(self) -> Iterator[Any]:
        values = self.input.iterate_sample_values()
        while rows := list(islice(values, self.size)):
            if len(rows) == self.size or not self.drop_remainder:
                yield self.combine_elements(rows)


class PaddedBatch(Batch):
    """Batches of `size` elements, padded to one shape."""

    _only_stacks = False

    def __init__(self, node: Node, size: int, drop_remainder: bool, shapes: list[Any] | None, fills: Any) -> None:
        super().__init__(node, size, drop_remainder)
        self._shapes, self._fills = shapes, fills

    def combine_leaf(self, values: BatchValue, number: int) -> Any:
        shape = TensorShape(None) if self._shapes is None else self._shapes[number]
        if isinstance(values, BatchColumn) and shape.is_compatible_with(values.array.shape[1:]):
            return values.tensor
        return pad_and_stack_leaf(split_into_rows(values), shape, None if self._fills is None else self._fills[number])

    def spec(self) -> Any:
        spec = self.input.spec()
        flat = list(leaves(spec))
        shapes = self._shapes or [TensorShape([None] * (leaf.shape.rank or 0)) for leaf in flat]
        padded = [TensorSpec(shape, leaf.dtype) for shape, leaf in zip(shapes, flat, strict=True)]
        return add_batch_axis(pack_structure(spec, padded), self.size if self.drop_remainder else None)


class _DeferredMapRunner:
    """Builds batches: runs the preceding maps on the elements of a batch, and combines the results."""

    def __init__(self, maps: list[Map], batch: Batch) -> None:
        self._maps, self._batch = maps, batch
        plans = [node.function.plan_native() for node in maps]
        self._plans = [plan for plan in plans if isinstance(plan, NativeMap)]
        self._process = GroupRunner(self._run_maps_on_group, self._run_maps_on_element)

    def build_batch(self, group: list[Step]) -> Step:
        """Run the maps and return one batch. If every map has a native plan, the plans process all elements at once."""
        is_native = len(self._plans) == len(self._maps)
        result = self._process(group) if is_native else list(map(self._run_maps_on_element, group))
        return self._batch.make_batch(result) if isinstance(result, list) else Element(result)

    def _run_maps_on_group(self, group: list[Any]) -> Any:
        columns = to_columns([element.input for element in group], self._plans[0].used)
        for number, plan in enumerate(self._plans):
            columns = plan.run(columns, [element.positions[number] for element in group])
        joined = [self._batch.combine_leaf(values, number) for number, values in enumerate(columns)]
        return pack_structure(self._plans[-1].trace.result, joined)

    def _run_maps_on_element(self, element: Step) -> Step:
        if not isinstance(element, DeferredElement):
            return element
        step: Step = element.input
        for node, position in zip(self._maps, element.positions, strict=True):
            if isinstance(step, Element):
                step = node.run_function(DeferredElement(step, position))
        return step


def find_deferred_maps(batch: Batch) -> list[Map]:
    """Return the maps that `batch` runs on whole batches; return [] if none parses records or decodes images."""
    maps: list[Map] = []
    node: Node = batch.input
    while node.forwards_elements or isinstance(node, Map):
        if isinstance(node, Map):
            if not _may_run_in_threads(node):
                break
            maps.insert(0, node)
        node = node.input
    if not any(_parses_or_decodes(one) for one in maps) or is_behind_generator(node):
        return []
    return maps


def _may_run_in_threads(node: Map) -> bool:
    """Return whether a batch node may run a map in threads. A map without a trace needs `num_parallel_calls` > 1."""
    trace = node.function.trace()
    return not trace.in_order if isinstance(trace, Trace) else node.num_parallel_calls > 1


def _parses_or_decodes(node: Map) -> bool:
    """Return whether a map parses records or decodes images; for a function that cannot be traced, return True."""
    trace, native = node.function.trace(), node.function.plan_native()
    if isinstance(trace, Trace):
        return trace.decodes_images or (isinstance(native, NativeMap) and native.parses)
    return True


class Unbatch(Node):
    """The rows along the first axis of each element, as separate elements."""

    def iterate(self, execution: ExecutionOptions) -> Iterator[Step]:
        for element in self.input.iterate(execution):
            if isinstance(element, FailedElement):
                yield element
                continue
            try:
                rows = TensorSlices(_reject_scalar_leaves(element.value))
            except Exception as error:  # noqa: BLE001 (raised when the caller reads this element)
                yield FailedElement(to_op_error(error, element))
                continue
            for row in rows.iterate(execution):
                if isinstance(row, Element):
                    row.record = element.record
                yield row

    def cardinality(self) -> int:
        length = self.input.cardinality()
        if length < 0:
            return length
        if not _has_known_spec(self.input):
            return UNKNOWN_CARDINALITY
        shape = next(leaves(self.input.spec())).shape
        return UNKNOWN_CARDINALITY if not shape.rank or shape[0] is None else length * int(shape[0])

    def spec(self) -> Any:
        return drop_batch_axis(self.input.spec())

    def iterate_sample_values(self) -> Iterator[Any]:
        return (
            row
            for value in self.input.iterate_sample_values()
            for row in TensorSlices(_reject_scalar_leaves(value)).iterate_sample_values()
        )


def _has_known_spec(node: Node) -> bool:
    """Return whether a node's spec is known without running user functions.

    Otherwise, the spec is inferred from sample values and may not hold for all elements.
    """
    if isinstance(node, Map):
        trace = node.function.trace()
        if not isinstance(trace, Trace) or trace.spec() is None:
            return False
    elif node.runs_python and not isinstance(node, Filter):
        return False
    return all(map(_has_known_spec, node.inputs))


def _reject_scalar_leaves(value: Any) -> Any:
    if any(isinstance(leaf, Tensor) and not leaf.ndim for leaf in leaves(value)):
        raise ValueError("Cannot unbatch an input with scalar components.")
    return value


class Window(Node):
    """Windows of consecutive elements; each window is a dataset."""

    def __init__(
        self, node: Node, sizes: tuple[int, int, int], drop_remainder: bool, wrap: Callable[[list[Any], Any], Any]
    ) -> None:
        super().__init__(node)
        for name, number in zip(("size", "shift", "stride"), sizes, strict=True):
            if number < 1:
                raise InvalidArgumentError(f"Window {name} must be greater than zero.")
        self._sizes, self._drop, self._wrap = sizes, drop_remainder, wrap

    def iterate(self, execution: ExecutionOptions) -> Iterator[Step]:
        size, shift, stride = self._sizes
        span = (size - 1) * stride + 1
        values: list[Any] = []
        gap = 0
        for element in self.input.iterate(execution):
            if isinstance(element, FailedElement):
                yield element
            elif gap:
                gap -= 1
            else:
                values.append(element.value)
                if len(values) == span:
                    yield Element(self._wrap(values[::stride], self.input))
                    gap, values = max(shift - span, 0), values[shift:]
        while values and not self._drop:
            yield Element(self._wrap(values[::stride], self.input))
            values = values[shift:]

    def cardinality(self) -> int:
        length = self.input.cardinality()
        if length < 0:
            return length
        size, shift, stride = self._sizes
        span = length - (size - 1) * stride if self._drop else length
        return max(-(-span // shift), 0)

    def spec(self) -> Any:
        return spec_of(self._wrap([], self.input))

    def iterate_sample_values(self) -> Iterator[Any]:
        yield self._wrap(list(islice(self.input.iterate_sample_values(), self._sizes[0])), self.input)

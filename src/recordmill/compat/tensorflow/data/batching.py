"""Nodes of ``batch``, ``padded_batch``, ``unbatch`` and ``window``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.shapes import TensorShape
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.data.collate import stack_leaf, stack_stored
from recordmill.compat.tensorflow.data.elements import UNKNOWN_CARDINALITY, Element, Execution, Failed, Node, Step
from recordmill.compat.tensorflow.data.functions import to_op_error
from recordmill.compat.tensorflow.data.mapping import THREAD_NAME, Deferred, Fallback, Filter, Map, is_behind_generator
from recordmill.compat.tensorflow.data.native_map import BatchValue, NativeMap, columns_of, rows_of
from recordmill.compat.tensorflow.data.padding import pad_leaf
from recordmill.compat.tensorflow.data.rules import Column
from recordmill.compat.tensorflow.data.sources import Slices
from recordmill.compat.tensorflow.data.structures import add_axis, drop_axis, leaves, pack_structure, spec_of
from recordmill.compat.tensorflow.data.trace import Trace
from recordmill.compat.tensorflow.ops.specs import TensorSpec
from recordmill.concurrency.threads import map_ordered, num_cpus


class Batch(Node):
    """Batches of `size` elements."""

    # True if batching only stacks elements, so that batches can be read directly or sliced from tables.
    _only_stacks = True

    def __init__(self, node: Node, size: int, drop_remainder: bool) -> None:
        super().__init__(node)
        if size < 1:
            raise InvalidArgumentError("Batch size must be greater than zero.")
        self.size, self.drop_remainder = size, drop_remainder

    def iterate(self, execution: Execution) -> Iterator[Step]:
        """Yield the batches; the maps before them run on whole batches in threads where that is possible."""
        maps = deferred_maps(self) if execution.native else []
        if maps:
            groups = self._group(replace(execution, deferred=tuple(maps)))
            return map_ordered(_BatchRun(maps, self).finish, groups, num_cpus(), 1, THREAD_NAME)
        batches = None
        if execution.native and self._only_stacks:
            batches = self.input.batches(execution, self.size, self.drop_remainder)
        return map(self.join_steps, self._group(execution)) if batches is None else batches

    def _group(self, execution: Execution) -> Iterator[list[Step]]:
        steps = self.input.iterate(execution)
        while group := list(islice(steps, self.size)):
            if len(group) == self.size or not self.drop_remainder or any(isinstance(one, Failed) for one in group):
                yield group

    def join_steps(self, steps: list[Step]) -> Step:
        """Return one batch, or the error of the first element that failed."""
        failed = next((step for step in steps if isinstance(step, Failed)), None)
        if failed is not None:
            return failed
        try:
            stored = stack_stored(steps) if self._only_stacks else None
            return Element(self.join([step.value for step in steps]) if stored is None else stored)  # type: ignore[union-attr]
        except Exception as error:  # noqa: BLE001 (raised when the caller reads this batch)
            return Failed(to_op_error(error, Element(None)))

    def join(self, values: list[Any]) -> Any:
        """Combine the values of elements into the value of a batch."""
        columns = zip(*map(leaves, values), strict=True)
        return pack_structure(values[0], [self.join_leaf(list(rows), number) for number, rows in enumerate(columns)])

    def join_leaf(self, values: BatchValue, number: int) -> Any:
        """Combine the values of leaf `number`; the result of a native map may already be one column."""
        return values.tensor if isinstance(values, Column) else stack_leaf(values, number)

    def cardinality(self) -> int:
        length = self.input.cardinality()
        if length < 0:
            return length
        return length // self.size if self.drop_remainder else -(-length // self.size)

    def spec(self) -> Any:
        return add_axis(self.input.spec(), self.size if self.drop_remainder else None)

    def sample(self) -> Iterator[Any]:
        values = self.input.sample()
        while rows := list(islice(values, self.size)):
            if len(rows) == self.size or not self.drop_remainder:
                yield self.join(rows)


class PaddedBatch(Batch):
    """Batches of `size` elements, padded to one shape."""

    _only_stacks = False

    def __init__(self, node: Node, size: int, drop_remainder: bool, shapes: list[Any] | None, fills: Any) -> None:
        super().__init__(node, size, drop_remainder)
        self._shapes, self._fills = shapes, fills

    def join_leaf(self, values: BatchValue, number: int) -> Any:
        shape = TensorShape(None) if self._shapes is None else self._shapes[number]
        if isinstance(values, Column) and shape.is_compatible_with(values.array.shape[1:]):
            return values.tensor
        return pad_leaf(rows_of(values), shape, None if self._fills is None else self._fills[number])

    def spec(self) -> Any:
        spec = self.input.spec()
        flat = list(leaves(spec))
        shapes = self._shapes or [TensorShape([None] * (leaf.shape.rank or 0)) for leaf in flat]
        padded = [TensorSpec(shape, leaf.dtype) for shape, leaf in zip(shapes, flat, strict=True)]
        return add_axis(pack_structure(spec, padded), self.size if self.drop_remainder else None)


class _BatchRun:
    """Runs deferred maps on groups of elements, and combines the results into batches."""

    def __init__(self, maps: list[Map], batch: Batch) -> None:
        self._maps, self._batch = maps, batch
        plans = [node.function.native() for node in maps]
        self._plans = [plan for plan in plans if isinstance(plan, NativeMap)]
        self._process = Fallback(self._run, self._run_element)

    def finish(self, group: list[Step]) -> Step:
        """Return one batch, computed natively if every map has a plan."""
        is_native = len(self._plans) == len(self._maps)
        result = self._process(group) if is_native else list(map(self._run_element, group))
        return self._batch.join_steps(result) if isinstance(result, list) else Element(result)

    def _run(self, group: list[Any]) -> Any:
        columns = columns_of([element.input for element in group], self._plans[0].used)
        for number, plan in enumerate(self._plans):
            columns = plan.run(columns, [element.positions[number] for element in group])
        joined = [self._batch.join_leaf(values, number) for number, values in enumerate(columns)]
        return pack_structure(self._plans[-1].trace.result, joined)

    def _run_element(self, element: Step) -> Step:
        if not isinstance(element, Deferred):
            return element
        step: Step = element.input
        for node, position in zip(self._maps, element.positions, strict=True):
            if isinstance(step, Element):
                step = node.finish(Deferred(step, position))
        return step


def deferred_maps(batch: Batch) -> list[Map]:
    """Return the maps before a batch that it runs itself; none, unless one of them parses records or decodes images."""
    maps: list[Map] = []
    node: Node = batch.input
    while node.forwards_elements or isinstance(node, Map):
        if isinstance(node, Map):
            if not _may_run_in_batches(node):
                break
            maps.insert(0, node)
        node = node.input
    if not any(_is_slow(one) for one in maps) or is_behind_generator(node):
        return []
    return maps


def _may_run_in_batches(node: Map) -> bool:
    """Return whether batches may run a map in threads: it is traced, or `num_parallel_calls` requests threads."""
    trace = node.function.trace()
    return not trace.in_order if isinstance(trace, Trace) else node.num_parallel_calls > 1


def _is_slow(node: Map) -> bool:
    """Return whether a map parses records or decodes images; a function that cannot be traced may do so."""
    trace, native = node.function.trace(), node.function.native()
    if isinstance(trace, Trace):
        return trace.decodes_images or (isinstance(native, NativeMap) and native.parses)
    return True


class Unbatch(Node):
    """Rows of the elements along their first axis."""

    def iterate(self, execution: Execution) -> Iterator[Step]:
        for element in self.input.iterate(execution):
            if isinstance(element, Failed):
                yield element
                continue
            try:
                rows = Slices(_check_rows(element.value))
            except Exception as error:  # noqa: BLE001 (raised when the caller reads this element)
                yield Failed(to_op_error(error, element))
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
        return drop_axis(self.input.spec())

    def sample(self) -> Iterator[Any]:
        return (row for value in self.input.sample() for row in Slices(_check_rows(value)).sample())


def _has_known_spec(node: Node) -> bool:
    """Return whether the specs are valid for all elements, not only for the first results of an untraced function."""
    if isinstance(node, Map):
        trace = node.function.trace()
        if not isinstance(trace, Trace) or trace.spec() is None:
            return False
    elif node.runs_python and not isinstance(node, Filter):
        return False
    return all(map(_has_known_spec, node.inputs))


def _check_rows(value: Any) -> Any:
    if any(isinstance(leaf, Tensor) and not leaf.ndim for leaf in leaves(value)):
        raise ValueError("Cannot unbatch an input with scalar components.")
    return value


class Window(Node):
    """Windows of elements, each of them a dataset."""

    def __init__(
        self, node: Node, sizes: tuple[int, int, int], drop_remainder: bool, wrap: Callable[[list[Any], Any], Any]
    ) -> None:
        super().__init__(node)
        for name, number in zip(("size", "shift", "stride"), sizes, strict=True):
            if number < 1:
                raise InvalidArgumentError(f"Window {name} must be greater than zero.")
        self._sizes, self._drop, self._wrap = sizes, drop_remainder, wrap

    def iterate(self, execution: Execution) -> Iterator[Step]:
        size, shift, stride = self._sizes
        span = (size - 1) * stride + 1
        values: list[Any] = []
        gap = 0
        for element in self.input.iterate(execution):
            if isinstance(element, Failed):
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

    def sample(self) -> Iterator[Any]:
        yield self._wrap(list(islice(self.input.sample(), self._sizes[0])), self.input)

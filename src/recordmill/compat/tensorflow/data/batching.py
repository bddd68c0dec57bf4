"""Nodes that join elements to batches or windows, and the one that takes batches apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.shapes import TensorShape
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.data.elements import (
    UNKNOWN_CARDINALITY,
    Element,
    Failed,
    Node,
    Step,
    Way,
)
from recordmill.compat.tensorflow.data.functions import placed
from recordmill.compat.tensorflow.data.mapping import THREAD_NAME, Deferred, Fallback, Filter, Map, is_behind_generator
from recordmill.compat.tensorflow.data.native_map import NativeMap, Values, columns_of, rows_of
from recordmill.compat.tensorflow.data.rules import Column
from recordmill.compat.tensorflow.data.runs import batches_of, run_length
from recordmill.compat.tensorflow.data.sources import Slices
from recordmill.compat.tensorflow.data.specs import spec_of, with_axis, without_axis
from recordmill.compat.tensorflow.data.stacking import pad_leaf, stack_leaf, stacked
from recordmill.compat.tensorflow.data.structures import filled, leaves
from recordmill.compat.tensorflow.data.tables import are_rows, batch_of_rows
from recordmill.compat.tensorflow.data.trace import Trace
from recordmill.compat.tensorflow.ops.specs import TensorSpec
from recordmill.concurrency.threads import map_ordered, num_cpus


class Batch(Node):
    """Batches of `size` elements."""

    def __init__(self, node: Node, size: int, drop_remainder: bool) -> None:
        super().__init__(node)
        if size < 1:
            raise InvalidArgumentError("Batch size must be greater than zero.")
        self.size, self.drop_remainder = size, drop_remainder

    def iterate(self, way: Way) -> Iterator[Step]:
        """Iterate over the batches; the maps before them run on whole batches in threads where that is possible."""
        maps = deferred_maps(self) if way.native else []
        if maps:
            return self._with_maps(way, maps)
        runs = self.input.runs(way, run_length(self.size)) if way.native else None
        return self._gathered(way) if runs is None else batches_of(runs, self.size, self.drop_remainder)

    def _with_maps(self, way: Way, maps: list[Map]) -> Iterator[Step]:
        run = _BatchRun(maps, self)
        groups = self.groups(replace(way, deferred=tuple(maps)))
        return map_ordered(run.finish, groups, num_cpus(), 1, THREAD_NAME)

    def _gathered(self, way: Way) -> Iterator[Step]:
        return map(self.joined, self.groups(way))

    def groups(self, way: Way) -> Iterator[list[Step]]:
        """Iterate over the elements of each batch."""
        steps = self.input.iterate(way)
        while group := list(islice(steps, self.size)):
            if len(group) == self.size or not self.drop_remainder or any(isinstance(one, Failed) for one in group):
                yield group

    def joined(self, steps: list[Step]) -> Step:
        """Return one batch, or the error of the first element that failed."""
        elements = []
        for step in steps:
            if isinstance(step, Failed):
                return step
            elements.append(step)
        try:
            if are_rows(elements) and type(self) is Batch:
                return Element(batch_of_rows(elements))
            return Element(self.join([element.value for element in elements]))
        except Exception as error:  # noqa: BLE001 (raised when the caller asks for this batch)
            return Failed(placed(error, Element(None)))

    def join(self, values: list[Any]) -> Any:
        """Return the values of a batch as one."""
        return stacked(values)

    def join_leaf(self, values: Values, number: int) -> Any:
        """Return one leaf of a batch that a native map computed."""
        return values.tensor if isinstance(values, Column) else stack_leaf(values, number)

    def cardinality(self) -> int:
        """Number of batches."""
        length = self.input.cardinality()
        if length < 0:
            return length
        return length // self.size if self.drop_remainder else -(-length // self.size)

    def spec(self) -> Any:
        """Specs of the elements with one more axis."""
        return with_axis(self.input.spec(), self.size if self.drop_remainder else None)

    def sample(self) -> Iterator[Any]:
        """Iterate over batches of the input's sample."""
        values = self.input.sample()
        while rows := list(islice(values, self.size)):
            if len(rows) == self.size or not self.drop_remainder:
                yield self.join(rows)


class PaddedBatch(Batch):
    """Batches of `size` elements, with short axes filled up."""

    def __init__(self, node: Node, size: int, drop_remainder: bool, shapes: list[Any] | None, fills: Any) -> None:
        super().__init__(node, size, drop_remainder)
        self._shapes, self._fills = shapes, fills

    def iterate(self, way: Way) -> Iterator[Step]:
        """Iterate over the batches, as `Batch` does."""
        maps = deferred_maps(self) if way.native else []
        return self._with_maps(way, maps) if maps else self._gathered(way)

    def join(self, values: list[Any]) -> Any:
        """Return the values of a batch as one."""
        columns = zip(*map(leaves, values), strict=True)
        return filled(values[0], iter([self._pad(rows, number) for number, rows in enumerate(columns)]))

    def join_leaf(self, values: Values, number: int) -> Any:
        """Return one leaf of a batch that a native map computed, padded unless it has the wanted shape."""
        wanted = TensorShape(None) if self._shapes is None else self._shapes[number]
        if isinstance(values, Column) and wanted.is_compatible_with(values.array.shape[1:]):
            return values.tensor
        return self._pad(rows_of(values), number)

    def _pad(self, rows: Any, number: int) -> Tensor:
        shape = None if self._shapes is None else self._shapes[number]
        return pad_leaf(rows, shape, None if self._fills is None else self._fills[number])

    def spec(self) -> Any:
        """Specs with one more axis and the wanted lengths."""
        spec = self.input.spec()
        flat = list(leaves(spec))
        shapes = self._shapes or [TensorShape([None] * (leaf.shape.rank or 0)) for leaf in flat]
        wanted = [TensorSpec(shape, leaf.dtype) for shape, leaf in zip(shapes, flat, strict=True)]
        return with_axis(filled(spec, iter(wanted)), self.size if self.drop_remainder else None)


class _BatchRun:
    """One pass over batches whose maps were deferred: computes a batch from the inputs of its elements."""

    def __init__(self, maps: list[Map], batch: Batch) -> None:
        self._maps, self._batch = maps, batch
        plans = [node.function.native() for node in maps]
        self._plans = [plan for plan in plans if isinstance(plan, NativeMap)]
        self._process = Fallback(self._run, self._run_element)

    def finish(self, group: list[Step]) -> Step:
        """Return one batch, computed natively if every map has a plan."""
        is_native = len(self._plans) == len(self._maps)
        found = self._process(group) if is_native else list(map(self._run_element, group))
        return self._batch.joined(found) if isinstance(found, list) else Element(found)

    def _run(self, group: list[Any]) -> Any:
        layers = [group]  # the input of the last map, of the one before, …
        while isinstance(layers[-1][0].given, Deferred):
            layers.append([element.given for element in layers[-1]])
        columns = columns_of([element.given for element in layers[-1]], self._plans[0].used)
        for plan, layer in zip(self._plans, reversed(layers), strict=True):
            columns = plan.run(columns, [element.position for element in layer])
        joined = [self._batch.join_leaf(values, number) for number, values in enumerate(columns)]
        return filled(self._plans[-1].trace.result, iter(joined))

    def _run_element(self, element: Step) -> Step:
        if not isinstance(element, Deferred):
            return element
        chain = [element]
        while isinstance(chain[-1].given, Deferred):
            chain.append(chain[-1].given)
        step: Step = chain[-1].given
        for node, deferred in zip(self._maps, reversed(chain), strict=True):
            if isinstance(step, Element):
                step = node.finish(Deferred(step, deferred.position))
        return step


def deferred_maps(batch: Batch) -> list[Map]:
    """Return the maps before a batch that it runs, if one is slow enough to gain from whole batches in threads."""
    maps: list[Map] = []
    node: Node = batch.input
    while node.hands_on or isinstance(node, Map):
        if isinstance(node, Map):
            if not _may_run_in_batches(node):
                break
            maps.insert(0, node)
        node = node.input
    if not any(_is_slow(one) for one in maps) or is_behind_generator(node):
        return []
    return maps


def _may_run_in_batches(node: Map) -> bool:
    """Return whether batches may call a function in several threads: it is traced, or the program asks for threads."""
    found = node.function.trace()
    return not found.in_order if isinstance(found, Trace) else node.num_parallel_calls > 1


def _is_slow(node: Map) -> bool:
    """Return whether a map parses records or decodes images, or may do so as it cannot be traced."""
    found, native = node.function.trace(), node.function.native()
    if isinstance(found, Trace):
        return found.decodes_images or (isinstance(native, NativeMap) and native.parses)
    return True


class Unbatch(Node):
    """Rows of the elements."""

    def iterate(self, way: Way) -> Iterator[Step]:
        """Iterate over the rows."""
        for element in self.input.iterate(way):
            if isinstance(element, Failed):
                yield element
                continue
            try:
                rows = Slices(_check_rows(element.value))
            except Exception as error:  # noqa: BLE001 (raised when the caller asks for this element)
                yield Failed(placed(error, element))
                continue
            for row in rows.iterate(way):
                if isinstance(row, Element):
                    row.place = element.place
                yield row

    def cardinality(self) -> int:
        """Known if the specs of the elements do not depend on functions of the user."""
        length = self.input.cardinality()
        if length < 0:
            return length
        if not _has_known_spec(self.input):
            return UNKNOWN_CARDINALITY
        shape = next(leaves(self.input.spec())).shape
        return UNKNOWN_CARDINALITY if not shape.rank or shape[0] is None else length * int(shape[0])

    def spec(self) -> Any:
        """Specs with one axis less."""
        return without_axis(self.input.spec())

    def sample(self) -> Iterator[Any]:
        """Iterate over the rows of the input's sample."""
        return (row for value in self.input.sample() for row in Slices(_check_rows(value)).sample())


def _has_known_spec(node: Node) -> bool:
    """Return whether the specs hold for all elements, rather than for the first ones of an untraced function."""
    if isinstance(node, Map):
        found = node.function.trace()
        if not isinstance(found, Trace) or found.spec() is None:
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
        for name, given in zip(("size", "shift", "stride"), sizes, strict=True):
            if given < 1:
                raise InvalidArgumentError(f"Window {name} must be greater than zero.")
        self._sizes, self._drop, self._wrap = sizes, drop_remainder, wrap

    def iterate(self, way: Way) -> Iterator[Step]:
        """Iterate over the windows."""
        size, shift, stride = self._sizes
        reach = (size - 1) * stride + 1
        held: list[Any] = []
        gap = 0
        for element in self.input.iterate(way):
            if isinstance(element, Failed):
                yield element
            elif gap:
                gap -= 1
            else:
                held.append(element.value)
                if len(held) == reach:
                    yield Element(self._wrap(held[::stride], self.input))
                    gap, held = max(shift - reach, 0), held[shift:]
        while held and not self._drop:
            yield Element(self._wrap(held[::stride], self.input))
            held = held[shift:]

    def cardinality(self) -> int:
        """Number of windows."""
        length = self.input.cardinality()
        if length < 0:
            return length
        size, shift, stride = self._sizes
        span = length - (size - 1) * stride if self._drop else length
        return max(-(-span // shift), 0)

    def spec(self) -> Any:
        """Specs of a window."""
        return spec_of(self._wrap([], self.input))

    def sample(self) -> Iterator[Any]:
        """Iterate over windows of the input's sample."""
        yield self._wrap(list(islice(self.input.sample(), self._sizes[0])), self.input)

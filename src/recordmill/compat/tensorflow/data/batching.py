"""Steps that put elements together, and take them apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
from recordmill.compat.tensorflow.data.runs import batches_of, run_length
from recordmill.compat.tensorflow.data.sources import Slices
from recordmill.compat.tensorflow.data.specs import spec_of, with_axis, without_axis
from recordmill.compat.tensorflow.data.stacking import padded, stacked
from recordmill.compat.tensorflow.data.structures import filled, leaves
from recordmill.compat.tensorflow.data.tables import positions_of, table_of
from recordmill.compat.tensorflow.ops.specs import TensorSpec


class Batch(Node):
    """So many elements as one."""

    def __init__(self, node: Node, size: int, drop_remainder: bool) -> None:
        super().__init__(node)
        if size < 1:
            raise InvalidArgumentError("Batch size must be greater than zero.")
        self.size, self.drop_remainder = size, drop_remainder

    def iterate(self, way: Way) -> Iterator[Step]:
        """Give batches: whole ones natively where that is possible."""
        from recordmill.compat.tensorflow.data.fusing import fused

        plan = fused(self) if way.whole_batches else None
        if plan is not None and not isinstance(plan, str):
            return plan.iterate(way)
        runs = self.input.runs(way, run_length(self.size)) if way.whole_batches else None
        return self._gathered(way) if runs is None else batches_of(runs, self.size, self.drop_remainder)

    def _gathered(self, way: Way) -> Iterator[Step]:
        return map(self._joined, self.groups(way))

    def groups(self, way: Way) -> Iterator[list[Step]]:
        """Steps of each batch."""
        steps = self.input.iterate(way)
        while waiting := list(islice(steps, self.size)):
            if len(waiting) == self.size or not self.drop_remainder or any(isinstance(one, Failed) for one in waiting):
                yield waiting

    def _joined(self, steps: list[Step]) -> Step:
        """One element; a failed one in it spoils it."""
        elements = []
        for step in steps:
            if isinstance(step, Failed):
                return step
            elements.append(step)
        try:
            return Element(self._one(elements))
        except Exception as error:  # noqa: BLE001 (it is told to the caller)
            return Failed(placed(error, Element(None)))

    def _one(self, elements: list[Element]) -> Any:
        table = table_of(elements) if type(self) is Batch else None
        if table is not None:
            return table.batch(positions_of(elements))
        return self.join([element.value for element in elements])

    def join(self, values: list[Any]) -> Any:
        """One value of several."""
        return stacked(values)

    def cardinality(self) -> int:
        """A part of the elements."""
        length = self.input.cardinality()
        if length < 0:
            return length
        return length // self.size if self.drop_remainder else -(-length // self.size)

    def spec(self) -> Any:
        """Specs of the elements with an axis more."""
        return with_axis(self.input.spec(), self.size if self.drop_remainder else None)

    def sample(self) -> Iterator[Any]:
        """Batches of the input's sample."""
        values = self.input.sample()
        while rows := list(islice(values, self.size)):
            if len(rows) == self.size or not self.drop_remainder:
                yield self.join(rows)


class PaddedBatch(Batch):
    """So many elements as one, short axes filled up."""

    def __init__(self, node: Node, size: int, drop_remainder: bool, shapes: list[Any] | None, fills: Any) -> None:
        super().__init__(node, size, drop_remainder)
        self._shapes, self._fills = shapes, fills

    def iterate(self, way: Way) -> Iterator[Step]:
        """Give batches."""
        return self._gathered(way)

    def join(self, values: list[Any]) -> Any:
        """One value of several."""
        count = len(list(leaves(values[0])))
        return padded(values, self._shapes or [None] * count, self._fills or [None] * count)

    def spec(self) -> Any:
        """Specs with an axis more, lengths as wanted."""
        spec = self.input.spec()
        flat = list(leaves(spec))
        shapes = self._shapes or [TensorShape([None] * (leaf.shape.rank or 0)) for leaf in flat]
        wanted = [TensorSpec(shape, leaf.dtype) for shape, leaf in zip(shapes, flat, strict=True)]
        return with_axis(filled(spec, iter(wanted)), self.size if self.drop_remainder else None)


class Unbatch(Node):
    """Rows of the elements."""

    def iterate(self, way: Way) -> Iterator[Step]:
        """Give the rows."""
        for element in self.input.iterate(way):
            if isinstance(element, Failed):
                yield element
                continue
            try:
                rows = Slices(_with_rows(element.value))
            except Exception as error:  # noqa: BLE001 (it is told to the caller)
                yield Failed(placed(error, element))
                continue
            for value in rows.sample():
                yield Element(value, element.place)

    def cardinality(self) -> int:
        """Known where batches are of one size."""
        length = self.input.cardinality()
        if length < 0:
            return length
        if not self.input.declares_spec():
            return UNKNOWN_CARDINALITY
        shape = next(leaves(self.input.spec())).shape
        return UNKNOWN_CARDINALITY if not shape.rank or shape[0] is None else length * int(shape[0])

    def spec(self) -> Any:
        """Specs with an axis less."""
        return without_axis(self.input.spec())

    def sample(self) -> Iterator[Any]:
        """Rows of the input's sample."""
        return (row for value in self.input.sample() for row in Slices(_with_rows(value)).sample())


def _with_rows(value: Any) -> Any:
    if any(isinstance(leaf, Tensor) and not leaf.ndim for leaf in leaves(value)):
        raise ValueError("Cannot unbatch an input with scalar components.")
    return value


class Window(Node):
    """Elements in windows that are data sets."""

    def __init__(
        self, node: Node, sizes: tuple[int, int, int], drop_remainder: bool, wrap: Callable[[list[Any], Any], Any]
    ) -> None:
        super().__init__(node)
        for name, given in zip(("size", "shift", "stride"), sizes, strict=True):
            if given < 1:
                raise InvalidArgumentError(f"Window {name} must be greater than zero.")
        self._sizes, self._drop, self._wrap = sizes, drop_remainder, wrap

    def iterate(self, way: Way) -> Iterator[Step]:
        """Give the windows."""
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
        """Windows that begin; with drop_remainder those that are full."""
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
        """Windows of the input's sample."""
        yield self._wrap(list(islice(self.input.sample(), self._sizes[0])), self.input)

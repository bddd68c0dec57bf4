"""Batches of several sizes in turn, and batches whose rows differ in length."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from itertools import islice
from typing import Any

from recordmill.compat.tensorflow.core.dtypes import DType
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.ragged import RaggedTensor, from_tensor, joined
from recordmill.compat.tensorflow.core.shapes import TensorShape
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.data.batching import Batch
from recordmill.compat.tensorflow.data.elements import UNKNOWN_CARDINALITY, Failed, Node, Step, Way
from recordmill.compat.tensorflow.data.specs import with_axis
from recordmill.compat.tensorflow.data.stacking import stacked
from recordmill.compat.tensorflow.data.structures import filled, leaves
from recordmill.compat.tensorflow.ops.specs import RaggedTensorSpec, TensorSpec


class Rebatch(Batch):
    """Elements in batches of several sizes, which come in turn."""

    def __init__(self, node: Node, sizes: list[int], drop_remainder: bool) -> None:
        if not sizes or min(sizes) < 1:
            raise InvalidArgumentError("Batch size must be greater than zero.")
        super().__init__(node, sizes[0], drop_remainder)
        self._sizes = sizes

    def iterate(self, way: Way) -> Iterator[Step]:
        """Give batches."""
        return self._gathered(way)

    def groups(self, way: Way) -> Iterator[list[Step]]:
        """Steps of each batch."""
        steps = self.input.iterate(way)
        for size in itertools.cycle(self._sizes):
            waiting = list(islice(steps, size))
            if waiting and (
                len(waiting) == size or not self.drop_remainder or any(isinstance(one, Failed) for one in waiting)
            ):
                yield waiting
            if len(waiting) < size:
                return

    def cardinality(self) -> int:
        """Not known."""
        return UNKNOWN_CARDINALITY

    def spec(self) -> Any:
        """Specs of the elements with an axis more."""
        same = self.drop_remainder and len(set(self._sizes)) == 1
        return with_axis(self.input.spec(), self.size if same else None)


class RaggedBatch(Batch):
    """So many elements as one; tensors of unknown lengths become ragged ones."""

    def __init__(self, node: Node, size: int, drop_remainder: bool, dtype: DType) -> None:
        super().__init__(node, size, drop_remainder)
        self._dtype = dtype
        self._specs: list[Any] | None = None

    def iterate(self, way: Way) -> Iterator[Step]:
        """Give batches."""
        return self._gathered(way)

    def join(self, values: list[Any]) -> Any:
        """One value of several."""
        if self._specs is None:
            self._specs = list(leaves(self.input.spec()))
        columns = zip(*map(leaves, values), strict=True)
        made = [self._column(list(rows), leaf) for rows, leaf in zip(columns, self._specs, strict=True)]
        return filled(values[0], iter(made))

    def _column(self, rows: list[Any], leaf: Any) -> Any:
        differ = _differing(rows)
        depth = max(_depth(leaf), *differ)
        if not depth:
            return stacked(rows)
        lengths = [None if axis in differ else length for axis, length in enumerate(leaf.shape.as_list(), 1)]
        dtype = self._dtype.numpy_dtype
        if depth > 1:
            rows = [from_tensor(row, None, None, depth - 1, dtype) for row in rows if isinstance(row, Tensor)]
        return _with_lengths(joined(rows, dtype), lengths)

    def spec(self) -> Any:
        """Specs with an axis more; ragged ones where lengths are unknown."""
        count = self.size if self.drop_remainder else None
        spec = self.input.spec()
        return filled(spec, iter([self._ragged(leaf, count) for leaf in leaves(spec)]))

    def _ragged(self, leaf: Any, count: int | None) -> Any:
        depth = _depth(leaf)
        shape = TensorShape([count]) + leaf.shape
        return RaggedTensorSpec(shape, leaf.dtype, depth, self._dtype) if depth else with_axis(leaf, count)


def _with_lengths(ragged: Any, lengths: list[int | None]) -> Any:
    """Ragged tensor whose shape tells the lengths that are known of every element."""
    if not isinstance(ragged, RaggedTensor):
        return ragged
    return RaggedTensor(_with_lengths(ragged.values, lengths[1:]), ragged.row_splits.values, lengths[0])


def _differing(rows: list[Any]) -> list[int]:
    """0, and the axes of a batch in which its elements differ: the first ones may have shown one length."""
    if not all(type(row) is Tensor for row in rows):
        return [0]
    lengths = zip(*(row.values.shape for row in rows), strict=True)
    return [0, *(axis for axis, found in enumerate(lengths, 1) if len(set(found)) > 1)]


def _depth(leaf: Any) -> int:
    """Ragged axes of a batch of tensors: as many as stand in front of the last unknown length."""
    if not isinstance(leaf, TensorSpec) or leaf.shape.rank is None:
        return 0
    return max((axis + 1 for axis, length in enumerate(leaf.shape) if length is None), default=0)

"""Pipeline nodes of ``Dataset.group_by_window`` and ``ragged_batch``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from recordmill.compat.tensorflow.core.dtypes import DType
from recordmill.compat.tensorflow.core.ragged import from_tensor, stack_ragged_rows
from recordmill.compat.tensorflow.core.shapes import TensorShape
from recordmill.compat.tensorflow.core.tensor import Tensor, array_of, as_tensor
from recordmill.compat.tensorflow.data.batching import Batch
from recordmill.compat.tensorflow.data.collate import stack_leaf
from recordmill.compat.tensorflow.data.elements import (
    INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY,
    ExecutionOptions,
    FailedElement,
    Node,
    NoElementsError,
    Step,
    require_node,
)
from recordmill.compat.tensorflow.data.functions import UserFunction, to_op_error
from recordmill.compat.tensorflow.data.native_map import BatchValue, split_into_rows
from recordmill.compat.tensorflow.data.sources import ValueList
from recordmill.compat.tensorflow.data.structures import (
    add_batch_axis,
    leaves,
    map_structure,
)
from recordmill.compat.tensorflow.ops.specs import RaggedTensorSpec, TensorSpec


class GroupByWindow(Node):
    """Elements of the datasets that `reduce` returns for each window of elements with equal keys."""

    runs_python = True

    def __init__(
        self,
        node: Node,
        key: Callable[..., Any],
        reduce: Callable[..., Any],
        size: Callable[..., Any],
        wrap: Callable[[Node], Any],
    ) -> None:
        super().__init__(node)
        self._key, self._reduce, self._size, self._wrap = UserFunction(key, node), reduce, size, wrap

    def iterate(self, execution: ExecutionOptions) -> Iterator[Step]:
        """Yield the results of each full window, then of the incomplete windows in the order of their keys."""
        windows: dict[int, list[Any]] = {}
        for element in self.input.iterate(execution):
            if isinstance(element, FailedElement):
                yield element
                continue
            try:
                key = int(self._key(element.value).values)
                windows.setdefault(key, []).append(element.value)
                if len(windows[key]) < int(array_of(self._size(as_tensor(key, "int64")))):
                    continue
                node = self._reduce_window(key, windows.pop(key))
            except Exception as error:  # noqa: BLE001 (raised where the element is requested)
                yield FailedElement(to_op_error(error, element))
                continue
            yield from node.iterate(execution)
        for key in sorted(windows):
            yield from self._reduce_window(key, windows[key]).iterate(execution)

    def _reduce_window(self, key: int, values: list[Any]) -> Node:
        result = self._reduce(as_tensor(key, "int64"), self._wrap(ValueList(values, self.input.spec())))
        return require_node(result, "`reduce_func` must return a `tf.data.Dataset` object")

    def cardinality(self) -> int:
        length = self.input.cardinality()
        return length if length == INFINITE_CARDINALITY else UNKNOWN_CARDINALITY

    def spec(self) -> Any:
        for value in self.input.iterate_sample_values():
            return self._reduce_window(0, [value]).spec()
        raise NoElementsError("element_spec cannot be inferred from the first element, because the dataset is empty")

    def iterate_sample_values(self) -> Iterator[Any]:
        for value in self.input.iterate_sample_values():
            yield from self._reduce_window(0, [value]).iterate_sample_values()


class RaggedBatch(Batch):
    """Batches in which axes of unknown length become ragged."""

    _only_stacks = False

    def __init__(self, node: Node, size: int, drop_remainder: bool, dtype: DType) -> None:
        super().__init__(node, size, drop_remainder)
        self._dtype = dtype

    def combine_leaf(self, values: BatchValue, number: int) -> Any:
        rows, spec = split_into_rows(values), list(leaves(self.input.spec()))[number]
        ragged_rank = max(_count_ragged_axes(spec), *_find_ragged_axes(rows))
        if not ragged_rank:
            return stack_leaf(rows, number)
        dtype = self._dtype.numpy_dtype
        if ragged_rank > 1:
            rows = [from_tensor(row, None, None, ragged_rank - 1, dtype) for row in rows if isinstance(row, Tensor)]
        return stack_ragged_rows(rows, dtype)

    def spec(self) -> Any:
        count = self.size if self.drop_remainder else None
        return map_structure(lambda leaf: self._infer_batch_spec(leaf, count), self.input.spec())

    def _infer_batch_spec(self, leaf: Any, count: int | None) -> Any:
        ragged_rank = _count_ragged_axes(leaf)
        if not ragged_rank:
            return add_batch_axis(leaf, count)
        return RaggedTensorSpec(TensorShape([count]) + leaf.shape, leaf.dtype, ragged_rank, self._dtype)


def _find_ragged_axes(rows: list[Any]) -> list[int]:
    """Return 0, followed by the batch axes along which elements differ in length.

    Specs are inferred from a few elements. They may give such an axis a fixed length.
    """
    if not all(type(row) is Tensor for row in rows):
        return [0]
    lengths = zip(*(row.values.shape for row in rows), strict=True)
    return [0, *(axis for axis, sizes in enumerate(lengths, 1) if len(set(sizes)) > 1)]


def _count_ragged_axes(spec: Any) -> int:
    """Return the ragged rank of a batch: axes up to and including the last axis of unknown length are ragged."""
    if not isinstance(spec, TensorSpec) or spec.shape.rank is None:
        return 0
    return max((axis + 1 for axis, length in enumerate(spec.shape) if length is None), default=0)

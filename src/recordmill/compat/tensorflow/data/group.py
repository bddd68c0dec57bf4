"""Nodes and methods that group elements: batches, windows, buckets and ragged batches."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from recordmill.compat.tensorflow.core.dtypes import DType, as_dtype, int64
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.ragged import from_tensor, joined
from recordmill.compat.tensorflow.core.shapes import TensorShape
from recordmill.compat.tensorflow.core.tensor import Tensor, array_of, as_tensor
from recordmill.compat.tensorflow.data.base import DatasetBase
from recordmill.compat.tensorflow.data.batching import Batch, PaddedBatch, Unbatch, Window
from recordmill.compat.tensorflow.data.collate import stack
from recordmill.compat.tensorflow.data.elements import (
    INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY,
    Element,
    Execution,
    Failed,
    Node,
    NoElementsError,
    Step,
)
from recordmill.compat.tensorflow.data.functions import Function, to_op_error
from recordmill.compat.tensorflow.data.sources import Values
from recordmill.compat.tensorflow.data.structures import (
    add_axis,
    children,
    leaves,
    map_structure,
    pack_structure,
    to_int,
)
from recordmill.compat.tensorflow.ops.specs import RaggedTensorSpec, TensorSpec

# Arguments that only tune TensorFlow's execution have no effect here.
# ruff: noqa: ARG002


class GroupingMethods(DatasetBase):
    """Methods of `Dataset` that group elements."""

    def batch(
        self,
        batch_size: int,
        drop_remainder: bool = False,
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Any:
        """Combine consecutive elements into batches; the last one may be smaller."""
        return self._then(Batch(self.node, to_int(batch_size, "batch_size"), bool(drop_remainder)))

    def padded_batch(
        self,
        batch_size: int,
        padded_shapes: Any = None,
        padding_values: Any = None,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Any:
        """Combine elements into batches, padded to the given shapes or to the largest element."""
        size = to_int(batch_size, "batch_size")
        shapes = values = None
        with suppress(NoElementsError):  # there is nothing to pad
            shapes = None if padded_shapes is None else _check_shapes(self.element_spec, padded_shapes)
            values = None if padding_values is None else _check_padding(self.element_spec, padding_values)
        return self._then(PaddedBatch(self.node, size, bool(drop_remainder), shapes, values))

    def unbatch(self, name: str | None = None) -> Any:
        """Split elements along their first axis."""
        return self._then(Unbatch(self.node))

    def ragged_batch(
        self,
        batch_size: int,
        drop_remainder: bool = False,
        row_splits_dtype: Any = int64,
        name: str | None = None,
    ) -> Any:
        """Combine elements into batches; axes of unknown length become ragged."""
        size, dtype = to_int(batch_size, "batch_size"), as_dtype(row_splits_dtype)
        return self._then(RaggedBatch(self.node, size, bool(drop_remainder), dtype))

    def bucket_by_sequence_length(
        self,
        element_length_func: Callable[..., Any],
        bucket_boundaries: Any,
        bucket_batch_sizes: Any,
        padded_shapes: Any = None,
        padding_values: Any = None,
        pad_to_bucket_boundary: bool = False,
        no_padding: bool = False,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Any:
        """Combine elements of similar length into batches, padded to the longest or to the bucket boundary."""
        boundaries = [to_int(one, "a bucket boundary") for one in bucket_boundaries]
        sizes = [to_int(one, "a bucket batch size") for one in bucket_batch_sizes]
        if len(sizes) != len(boundaries) + 1:
            raise ValueError(
                "`len(bucket_batch_sizes)` must equal `len(bucket_boundaries) + 1` but `len(bucket_batch_sizes)="
                f"{len(sizes)}` and `len(bucket_boundaries)={len(boundaries)}`."
            )
        if sorted(set(boundaries)) != boundaries:
            raise ValueError(f"bucket_boundaries must be strictly increasing, got {boundaries}")

        def find_bucket(*element: Any) -> Any:
            length = to_int(element_length_func(*element), "the length of an element")
            return as_tensor(bisect_right(boundaries, length), "int64")

        def make_batches(bucket: Any, window: Any) -> Any:
            size = sizes[int(bucket)]
            if no_padding:
                return window.batch(size, drop_remainder)
            length = None
            if pad_to_bucket_boundary:
                if int(bucket) == len(boundaries):
                    raise InvalidArgumentError(
                        "When pad_to_bucket_boundary=True, elements must have length < max(bucket_boundaries)."
                    )
                length = boundaries[int(bucket)] - 1
            shapes = _complete_shapes(window.element_spec, padded_shapes, length)
            return window.padded_batch(size, shapes, padding_values, drop_remainder)

        return self.group_by_window(find_bucket, make_batches, window_size_func=lambda bucket: sizes[int(bucket)])

    def window(
        self,
        size: int,
        shift: int | None = None,
        stride: int = 1,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Any:
        """Group elements into windows, each a structure of datasets."""
        sizes = to_int(size, "size"), to_int(size if shift is None else shift, "shift"), to_int(stride, "stride")
        return self._then(Window(self.node, sizes, bool(drop_remainder), self._make_window))

    def _make_window(self, values: list[Any], node: Any) -> Any:
        columns = list(zip(*map(leaves, values), strict=True))
        spec = node.spec()
        specs = list(leaves(spec))
        datasets = [
            self._then(Values(list(columns[number]) if columns else [], leaf)) for number, leaf in enumerate(specs)
        ]
        return pack_structure(spec, datasets)

    def group_by_window(
        self,
        key_func: Callable[..., Any],
        reduce_func: Callable[..., Any],
        window_size: int | None = None,
        window_size_func: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> Any:
        """Collect elements with equal keys into windows, and yield the elements of `reduce_func` of each window."""
        if (window_size is None) == (window_size_func is None):
            raise ValueError("Either the `window_size` argument or the `window_size_func` argument must be specified.")
        size = window_size_func or (lambda _: window_size)
        return self._then(GroupByWindow(self.node, key_func, reduce_func, size, self._then))


class GroupByWindow(Node):
    """Elements of the datasets that a function makes of the elements with equal keys."""

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
        self._key, self._reduce, self._size, self._wrap = Function(key, node), reduce, size, wrap

    def iterate(self, execution: Execution) -> Iterator[Step]:
        """Yield the results of each full window, then of the incomplete windows by key."""
        windows: dict[int, list[Any]] = {}
        for element in self.input.iterate(execution):
            if isinstance(element, Failed):
                yield element
                continue
            try:
                key = int(self._key(element.value).values)
                windows.setdefault(key, []).append(element.value)
                if len(windows[key]) < int(array_of(self._size(as_tensor(key, "int64")))):
                    continue
                node = self._make_node(key, windows.pop(key))
            except Exception as error:  # noqa: BLE001 (raised where the element is requested)
                yield Failed(to_op_error(error, element))
                continue
            yield from node.iterate(execution)
        for key in sorted(windows):
            yield from self._make_node(key, windows[key]).iterate(execution)

    def _make_node(self, key: int, values: list[Any]) -> Node:
        result = self._reduce(as_tensor(key, "int64"), self._wrap(Values(values, self.input.spec())))
        node = getattr(result, "node", None)
        if not isinstance(node, Node):
            raise TypeError(f"`reduce_func` must return a `tf.data.Dataset` object, got {result!r}")
        return node

    def cardinality(self) -> int:
        length = self.input.cardinality()
        return length if length == INFINITE_CARDINALITY else UNKNOWN_CARDINALITY

    def spec(self) -> Any:
        for value in self.input.sample():
            return self._make_node(0, [value]).spec()
        raise NoElementsError("the element spec is found from the first element, and there is none")

    def sample(self) -> Iterator[Any]:
        for value in self.input.sample():
            yield from self._make_node(0, [value]).sample()


class RaggedBatch(Batch):
    """Batches in which tensors of unknown lengths become ragged."""

    def __init__(self, node: Node, size: int, drop_remainder: bool, dtype: DType) -> None:
        super().__init__(node, size, drop_remainder)
        self._dtype = dtype

    def iterate(self, execution: Execution) -> Iterator[Step]:
        return map(self.join_steps, self._group(execution))

    def join_elements(self, elements: list[Element]) -> Any:
        return self.join([element.value for element in elements])

    def join(self, values: list[Any]) -> Any:
        columns = zip(*map(leaves, values), leaves(self.input.spec()), strict=True)
        return pack_structure(values[0], [self._join_column(list(rows), spec) for *rows, spec in columns])

    def _join_column(self, rows: list[Any], spec: Any) -> Any:
        ragged_rank = max(_ragged_rank(spec), *_differing_axes(rows))
        if not ragged_rank:
            return stack(rows)
        dtype = self._dtype.numpy_dtype
        if ragged_rank > 1:
            rows = [from_tensor(row, None, None, ragged_rank - 1, dtype) for row in rows if isinstance(row, Tensor)]
        return joined(rows, dtype)

    def spec(self) -> Any:
        count = self.size if self.drop_remainder else None
        return map_structure(lambda leaf: self._batch_spec(leaf, count), self.input.spec())

    def _batch_spec(self, leaf: Any, count: int | None) -> Any:
        ragged_rank = _ragged_rank(leaf)
        if not ragged_rank:
            return add_axis(leaf, count)
        return RaggedTensorSpec(TensorShape([count]) + leaf.shape, leaf.dtype, ragged_rank, self._dtype)


def _differing_axes(rows: list[Any]) -> list[int]:
    """Return 0 and the batch axes along which elements differ, whatever the spec of the first elements says."""
    if not all(type(row) is Tensor for row in rows):
        return [0]
    lengths = zip(*(row.values.shape for row in rows), strict=True)
    return [0, *(axis for axis, found in enumerate(lengths, 1) if len(set(found)) > 1)]


def _ragged_rank(spec: Any) -> int:
    """Return the number of ragged axes of a batch: those up to the last unknown length."""
    if not isinstance(spec, TensorSpec) or spec.shape.rank is None:
        return 0
    return max((axis + 1 for axis, length in enumerate(spec.shape) if length is None), default=0)


def _complete_shapes(spec: Any, shapes: Any, length: int | None) -> Any:
    """Replace unknown lengths in the shapes to pad to."""
    if isinstance(spec, TensorSpec):
        shape = TensorShape(spec.shape if shapes is None else shapes)
        return shape if shape.rank is None else TensorShape([length if one in (None, -1) else one for one in shape])
    if isinstance(spec, tuple):
        given = [None] * len(spec) if shapes is None else shapes
        return tuple(_complete_shapes(one, shape, length) for one, shape in zip(spec, given, strict=True))
    return {key: _complete_shapes(spec[key], None if shapes is None else shapes[key], length) for key in spec}


def _check_shapes(spec: Any, shapes: Any) -> list[Any]:
    """Return a shape for each leaf; a list of lengths is a shape, not a structure."""
    if children(spec) is not None:
        alike: Any = (list, tuple) if isinstance(spec, tuple) else dict
        if not isinstance(shapes, alike) or len(shapes) != len(spec) or (alike is dict and set(shapes) != set(spec)):
            raise TypeError(f"`padded_shapes` must have the structure of {spec}, got {shapes!r}")
        pairs = (
            zip(spec, shapes, strict=True) if isinstance(spec, tuple) else [(spec[k], shapes[k]) for k in sorted(spec)]
        )
        return [found for one, part in pairs for found in _check_shapes(one, part)]
    shape = shapes if isinstance(shapes, TensorShape) else _parse_shape(shapes)
    if shape.rank is not None and spec.shape.rank not in (None, shape.rank):
        raise ValueError(f"the padded shape {shape} is not compatible with the shape {spec.shape} of the component")
    return [shape]


def _parse_shape(lengths: Any) -> TensorShape:
    if lengths is None:
        return TensorShape(None)
    if not isinstance(lengths, list | tuple):
        lengths = array_of(lengths).ravel().tolist()
    return TensorShape([None if one in (None, -1) else one for one in lengths])


def _check_padding(spec: Any, values: Any) -> list[Any]:
    """Return a padding value, or None, for each leaf."""
    specs = list(leaves(spec))
    given: Sequence[Any] = [values] * len(specs) if children(values) is None else list(leaves(values))
    return [
        None if value is None else _check_padding_value(one, value) for one, value in zip(specs, given, strict=True)
    ]


def _check_padding_value(spec: TensorSpec, value: Any) -> Any:
    array = array_of(value)
    if array.dtype != spec.dtype.numpy_dtype:
        raise TypeError(f"padding_values must be of dtype {spec.dtype.name}, got {as_dtype(array.dtype).name}")
    return array[()]

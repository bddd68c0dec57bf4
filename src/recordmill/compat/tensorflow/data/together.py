"""What puts elements of a data set together, or takes them apart."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from recordmill.compat.tensorflow.core.dtypes import as_dtype, int64
from recordmill.compat.tensorflow.core.shapes import TensorShape
from recordmill.compat.tensorflow.core.tensor import array_of
from recordmill.compat.tensorflow.data.base import DatasetBase
from recordmill.compat.tensorflow.data.batching import Batch, PaddedBatch, Unbatch, Window
from recordmill.compat.tensorflow.data.bucketing import buckets_of, filled_shapes
from recordmill.compat.tensorflow.data.elements import NoElementsError
from recordmill.compat.tensorflow.data.grouping import GroupByWindow, Unique
from recordmill.compat.tensorflow.data.nesting import Values
from recordmill.compat.tensorflow.data.other_batches import RaggedBatch, Rebatch
from recordmill.compat.tensorflow.data.structures import children, leaves, mapped, whole
from recordmill.compat.tensorflow.ops.specs import TensorSpec

# Hints of TensorFlow that have no influence on elements and their order here.
# ruff: noqa: ARG002


class Together(DatasetBase):
    """Batches, windows, groups."""

    def _made(self, node: Any) -> Any:
        return self._then(node)

    def batch(
        self,
        batch_size: int,
        drop_remainder: bool = False,
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Any:
        """So many elements as one; the last may be shorter."""
        return self._made(Batch(self.node, whole(batch_size, "batch_size"), bool(drop_remainder)))

    def padded_batch(
        self,
        batch_size: int,
        padded_shapes: Any = None,
        padding_values: Any = None,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Any:
        """So many elements as one, short axes filled up to the given shapes or to the longest."""
        size = whole(batch_size, "batch_size")
        shapes = fills = None
        with suppress(NoElementsError):  # nothing to pad
            shapes = None if padded_shapes is None else [*_shapes(self.element_spec, padded_shapes)]
            fills = None if padding_values is None else [*_fills(self.element_spec, padding_values)]
        return self._made(PaddedBatch(self.node, size, bool(drop_remainder), shapes, fills))

    def unbatch(self, name: str | None = None) -> Any:
        """Rows of the elements."""
        return self._made(Unbatch(self.node))

    def rebatch(self, batch_size: Any, drop_remainder: bool = False, name: str | None = None) -> Any:
        """Rows of the elements in batches of another size, or of several sizes in turn."""
        sizes = [whole(one, "a batch size") for one in (batch_size if array_of(batch_size).ndim else [batch_size])]
        return self._made(Rebatch(self.unbatch().node, sizes, bool(drop_remainder)))

    def ragged_batch(
        self,
        batch_size: int,
        drop_remainder: bool = False,
        row_splits_dtype: Any = int64,
        name: str | None = None,
    ) -> Any:
        """So many elements as one; what differs in length becomes a ragged tensor."""
        size, dtype = whole(batch_size, "batch_size"), as_dtype(row_splits_dtype)
        return self._made(RaggedBatch(self.node, size, bool(drop_remainder), dtype))

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
        """Batches of elements of about one length, padded to the longest of them or to the end of the range."""
        buckets = buckets_of(element_length_func, bucket_boundaries, bucket_batch_sizes)

        def joined(bucket: Any, window: Any) -> Any:
            size = buckets.size(bucket)
            if no_padding:
                return window.batch(size, drop_remainder)
            length = buckets.longest(bucket) if pad_to_bucket_boundary else None
            shapes = filled_shapes(window.element_spec, padded_shapes, length)
            return window.padded_batch(size, shapes, padding_values, drop_remainder)

        return self.group_by_window(buckets.bucket, joined, window_size_func=buckets.size)

    def window(
        self,
        size: int,
        shift: int | None = None,
        stride: int = 1,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Any:
        """Elements in windows, each of them a data set (or a structure of data sets)."""
        sizes = whole(size, "size"), whole(size if shift is None else shift, "shift"), whole(stride, "stride")
        return self._made(Window(self.node, sizes, bool(drop_remainder), self._window_of))

    def _window_of(self, values: list[Any], node: Any) -> Any:
        spec = node.spec()
        return _apart(spec, lambda pick, leaf: self._made(Values([pick(value) for value in values], leaf)))

    def group_by_window(
        self,
        key_func: Callable[..., Any],
        reduce_func: Callable[..., Any],
        window_size: int | None = None,
        window_size_func: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> Any:
        """Elements of data sets that a function makes of those with the same key, so many at a time."""
        if (window_size is None) == (window_size_func is None):
            raise ValueError("Either the `window_size` argument or the `window_size_func` argument must be specified.")
        size = window_size_func or (lambda _: window_size)
        return self._made(GroupByWindow(self.node, key_func, reduce_func, size, self._made))

    def unique(self, name: str | None = None) -> Any:
        """Elements that were not there before."""
        return self._made(Unique(self.node))


def _apart(spec: Any, make: Callable[[Callable[[Any], Any], Any], Any], path: tuple[Any, ...] = ()) -> Any:
    """Structure with what is made of each leaf and of the function that picks that leaf."""
    inside = children(spec)
    if inside is None:

        def pick(value: Any) -> Any:
            for key in path:
                value = value[key]
            return value

        return make(pick, spec)
    if isinstance(spec, tuple):
        rows = [_apart(one, make, (*path, key)) for key, one in enumerate(spec)]
        return type(spec)(*rows) if hasattr(spec, "_fields") else tuple(rows)
    return {key: _apart(spec[key], make, (*path, key)) for key in spec}


def _shapes(spec: Any, shapes: Any) -> list[Any]:
    """Shapes for each leaf; lists of lengths are shapes, not structures."""
    if isinstance(spec, tuple):
        _check_nesting(spec, shapes)
        return [shape for one, part in zip(spec, shapes, strict=True) for shape in _shapes(one, part)]
    if isinstance(spec, dict):
        _check_nesting(spec, shapes)
        return [shape for key in sorted(spec) for shape in _shapes(spec[key], shapes[key])]
    if not isinstance(shapes, TensorShape):
        lengths = None if shapes is None else array_of(shapes).ravel().tolist() if _numbers(shapes) else list(shapes)
        shapes = TensorShape(None if lengths is None else [None if one in (None, -1) else one for one in lengths])
    if shapes.rank is not None and spec.shape.rank not in (None, shapes.rank):
        raise ValueError(
            f"The padded shape {shapes} is not compatible with the shape {spec.shape} of the corresponding input "
            "component."
        )
    return [shapes]


def _check_nesting(spec: Any, shapes: Any) -> None:
    """Refuse padded shapes that do not nest as the elements do."""
    alike = (list, tuple) if isinstance(spec, tuple) else dict
    if isinstance(shapes, alike) and len(shapes) == len(spec) and (alike is not dict or sorted(shapes) == sorted(spec)):
        return
    raise TypeError(
        f"`padded_shapes` must nest as the elements do: expected a {type(spec).__name__} of {len(spec)} shapes for "
        f"{spec}, found {shapes!r}"
    )


def _numbers(shape: Any) -> bool:
    return not isinstance(shape, list | tuple)


def _fills(spec: Any, values: Any) -> list[Any]:
    flat = list(leaves(spec))
    given = [values] * len(flat) if children(values) is None else list(leaves(mapped(lambda leaf: leaf, values)))
    return [None if value is None else _fill(leaf, value) for leaf, value in zip(flat, given, strict=True)]


def _fill(spec: TensorSpec, value: Any) -> Any:
    array = array_of(value)
    if array.dtype != spec.dtype.numpy_dtype:
        raise TypeError(
            f"Invalid `padding_values`. `padding_values` values type {as_dtype(array.dtype)} does not match type "
            f"{spec.dtype} of the corresponding input component."
        )
    return array[()]

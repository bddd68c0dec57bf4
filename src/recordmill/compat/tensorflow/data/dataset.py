"""``tf.data.Dataset``: the methods that transform datasets."""

from __future__ import annotations

import itertools
import os
from bisect import bisect_right
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from recordmill.compat.tensorflow.core.dtypes import as_dtype, int64
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import as_tensor
from recordmill.compat.tensorflow.data.batching import Batch, PaddedBatch, Unbatch, Window
from recordmill.compat.tensorflow.data.cache import Cache, CacheFile
from recordmill.compat.tensorflow.data.combine import Concatenate, Enumerate, Interleave, choose_cycle_length
from recordmill.compat.tensorflow.data.elements import Node, NoElementsError
from recordmill.compat.tensorflow.data.factories import DatasetFactories
from recordmill.compat.tensorflow.data.functions import convert_function_result
from recordmill.compat.tensorflow.data.group import GroupByWindow, RaggedBatch
from recordmill.compat.tensorflow.data.mapping import Filter, IgnoreErrors, Map
from recordmill.compat.tensorflow.data.options import Options
from recordmill.compat.tensorflow.data.order import Prefetch, Repeat, Shard, Shuffle, Skip, Take
from recordmill.compat.tensorflow.data.padding import check_padded_shapes, check_padding_values, fill_unknown_lengths
from recordmill.compat.tensorflow.data.sources import ValueList
from recordmill.compat.tensorflow.data.structures import has_same_structure, leaves, pack_structure, to_int
from recordmill.compat.tensorflow.files.errors import to_path_str

# Arguments that only tune TensorFlow's execution are accepted and have no effect.
# ruff: noqa: ARG002


class Dataset(DatasetFactories):
    """``tf.data.Dataset``: a lazy sequence of elements, which are tensors or nested tuples and dicts of tensors."""

    def _with_node(self, node: Any) -> Dataset:
        return Dataset(node, self._options)

    def with_options(self, options: Options, name: str | None = None) -> Dataset:
        """Set options; no option changes elements or their order."""
        return Dataset(self.node, self._options.merge(options))

    def map(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        synchronous: bool | None = None,
        use_unbounded_threadpool: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Apply a function to each element; the order is kept even if `deterministic` is False."""
        calls = None if num_parallel_calls is None else to_int(num_parallel_calls, "num_parallel_calls")
        if calls is not None and calls < 1 and calls != -1:
            raise InvalidArgumentError("num_parallel_calls must be greater than zero.")
        return self._with_node(Map(self.node, map_func, calls))

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """Keep the elements for which `predicate` returns True."""
        return self._with_node(Filter(self.node, predicate))

    def flat_map(self, map_func: Callable[..., Any], name: str | None = None) -> Dataset:
        """Concatenate the datasets that a function returns for each element."""
        return self._with_node(Interleave(self.node, map_func, 1, 1))

    def interleave(
        self,
        map_func: Callable[..., Any],
        cycle_length: int | None = None,
        block_length: int | None = None,
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Interleave the datasets that a function returns for each element; the order is always deterministic."""
        cycle = choose_cycle_length(cycle_length, num_parallel_calls)
        return self._with_node(Interleave(self.node, map_func, cycle, 1 if block_length is None else block_length))

    def ignore_errors(self, log_warning: bool = False, name: str | None = None) -> Dataset:
        """Drop the elements that fail."""
        return self._with_node(IgnoreErrors(self.node, log_warning))

    def shuffle(
        self,
        buffer_size: int,
        seed: int | None = None,
        reshuffle_each_iteration: bool | None = True,
        name: str | None = None,
    ) -> Dataset:
        """Shuffle elements in a buffer with TensorFlow's algorithm, but with NumPy's random numbers."""
        again = reshuffle_each_iteration is None or bool(reshuffle_each_iteration)
        number = None if seed is None else to_int(seed, "seed")
        return self._with_node(Shuffle(self.node, to_int(buffer_size, "buffer_size"), number, again))

    def repeat(self, count: int | None = None, name: str | None = None) -> Dataset:
        """Repeat the elements `count` times, or endlessly if `count` is None or negative."""
        return self._with_node(Repeat(self.node, -1 if count is None else to_int(count, "count")))

    def take(self, count: int, name: str | None = None) -> Dataset:
        """Keep the first `count` elements, or all if `count` is negative."""
        return self._with_node(Take(self.node, to_int(count, "count")))

    def skip(self, count: int, name: str | None = None) -> Dataset:
        """Skip the first `count` elements, or all if `count` is negative."""
        return self._with_node(Skip(self.node, to_int(count, "count")))

    def shard(self, num_shards: int, index: int, name: str | None = None) -> Dataset:
        """Keep the elements whose position modulo `num_shards` is `index`."""
        return self._with_node(Shard(self.node, to_int(num_shards, "num_shards"), to_int(index, "index")))

    def prefetch(self, buffer_size: int | None, name: str | None = None) -> Dataset:
        """Compute elements ahead of the consumer in a thread."""
        return self._with_node(Prefetch(self.node, -1 if buffer_size is None else to_int(buffer_size, "buffer_size")))

    def cache(self, filename: str | os.PathLike[str] = "", name: str | None = None) -> Dataset:
        """Keep the elements of the first complete pass, in memory or in a file that only recordmill can read."""
        path = to_path_str(filename)
        return self._with_node(CacheFile(self.node, path) if path else Cache(self.node))

    def concatenate(self, dataset: Any, name: str | None = None) -> Dataset:
        """Append the elements of another dataset."""
        return self._with_node(Concatenate(self.node, dataset.node))

    def enumerate(self, start: int = 0, name: str | None = None) -> Dataset:
        """Pair each element with its number, counted from `start`."""
        return self._with_node(Enumerate(self.node, to_int(start, "start")))

    def batch(
        self,
        batch_size: int,
        drop_remainder: bool = False,
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Combine consecutive elements into batches; the last batch may be smaller."""
        return self._with_node(Batch(self.node, to_int(batch_size, "batch_size"), bool(drop_remainder)))

    def padded_batch(
        self,
        batch_size: int,
        padded_shapes: Any = None,
        padding_values: Any = None,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Combine elements into batches; pad each axis to its length in `padded_shapes` or to the longest element."""
        size = to_int(batch_size, "batch_size")
        shapes = values = None
        with suppress(NoElementsError):  # An empty dataset needs no padding.
            shapes = None if padded_shapes is None else check_padded_shapes(self.element_spec, padded_shapes)
            values = None if padding_values is None else check_padding_values(self.element_spec, padding_values)
        return self._with_node(PaddedBatch(self.node, size, bool(drop_remainder), shapes, values))

    def unbatch(self, name: str | None = None) -> Dataset:
        """Split elements along their first axis."""
        return self._with_node(Unbatch(self.node))

    def ragged_batch(
        self,
        batch_size: int,
        drop_remainder: bool = False,
        row_splits_dtype: Any = int64,
        name: str | None = None,
    ) -> Dataset:
        """Combine elements into batches; axes of unknown length become ragged."""
        size, dtype = to_int(batch_size, "batch_size"), as_dtype(row_splits_dtype)
        return self._with_node(RaggedBatch(self.node, size, bool(drop_remainder), dtype))

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
    ) -> Dataset:
        """Combine elements of similar length into batches, padded to the longest element or to the bucket boundary."""
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
            shapes = fill_unknown_lengths(window.element_spec, padded_shapes, length)
            return window.padded_batch(size, shapes, padding_values, drop_remainder)

        return self.group_by_window(find_bucket, make_batches, window_size_func=lambda bucket: sizes[int(bucket)])

    def window(
        self,
        size: int,
        shift: int | None = None,
        stride: int = 1,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Group consecutive elements into windows; a window has one dataset per component of the elements."""
        sizes = to_int(size, "size"), to_int(size if shift is None else shift, "shift"), to_int(stride, "stride")
        return self._with_node(Window(self.node, sizes, bool(drop_remainder), self._make_window))

    def _make_window(self, values: list[Any], node: Node) -> Any:
        columns = list(zip(*map(leaves, values), strict=True))
        spec = node.spec()
        specs = list(leaves(spec))
        datasets = [
            self._with_node(ValueList(list(columns[number]) if columns else [], leaf))
            for number, leaf in enumerate(specs)
        ]
        return pack_structure(spec, datasets)

    def group_by_window(
        self,
        key_func: Callable[..., Any],
        reduce_func: Callable[..., Any],
        window_size: int | None = None,
        window_size_func: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Collect elements with equal keys into windows; yield the elements of each `reduce_func(key, window)`."""
        if (window_size is None) == (window_size_func is None):
            raise ValueError("Either the `window_size` argument or the `window_size_func` argument must be specified.")
        size = window_size_func or (lambda _: window_size)
        return self._with_node(GroupByWindow(self.node, key_func, reduce_func, size, self._with_node))

    def reduce(self, initial_state: Any, reduce_func: Callable[..., Any], name: str | None = None) -> Any:
        """Return the state after ``state = reduce_func(state, element)`` for all elements."""
        state = convert_function_result(initial_state)
        for value in self:
            new_state = convert_function_result(reduce_func(state, value))
            if not has_same_structure(state, new_state):
                raise TypeError("The element structure for the new state must match the initial state.")
            state = new_state
        return state

    def get_single_element(self, name: str | None = None) -> Any:
        """Return the only element; raise InvalidArgumentError if there is not exactly one."""
        values = list(itertools.islice(self, 2))
        if len(values) != 1:
            raise InvalidArgumentError(f"Dataset {'had more than one element' if values else 'was empty'}.")
        return values[0]

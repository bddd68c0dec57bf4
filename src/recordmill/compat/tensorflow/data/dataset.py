"""``tf.data.Dataset``: transformations of datasets, each of which returns another dataset."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from typing import Any

from recordmill.compat.tensorflow.core import dtypes
from recordmill.compat.tensorflow.core.dispatch import run
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import array_of
from recordmill.compat.tensorflow.data.base import DatasetBase
from recordmill.compat.tensorflow.data.cache import Cache, CacheFile
from recordmill.compat.tensorflow.data.combine import (
    Concatenate,
    Enumerate,
    Interleave,
    calls_python,
    choose_cycle_length,
)
from recordmill.compat.tensorflow.data.elements import Node
from recordmill.compat.tensorflow.data.factories import DatasetFactories, source
from recordmill.compat.tensorflow.data.functions import to_result
from recordmill.compat.tensorflow.data.group import GroupingMethods
from recordmill.compat.tensorflow.data.mapping import Filter, IgnoreErrors, Map
from recordmill.compat.tensorflow.data.options import Options
from recordmill.compat.tensorflow.data.order import Prefetch, Repeat, Shard, Shuffle, Skip, Take
from recordmill.compat.tensorflow.data.sources import Slices
from recordmill.compat.tensorflow.data.structures import same_structure, to_int
from recordmill.compat.tensorflow.data.symbolic import find_symbolic
from recordmill.compat.tensorflow.files.errors import path_of
from recordmill.compat.tensorflow.ops.specs import TensorSpec

# Arguments that only tune TensorFlow's execution have no effect here.
# ruff: noqa: ARG002


class Dataset(GroupingMethods, DatasetFactories):
    """Elements that are computed lazily: tensors, or nested tuples and dicts of tensors."""

    def _then(self, node: Any) -> Dataset:
        return Dataset(node, self._options)

    def with_options(self, options: Options, name: str | None = None) -> Dataset:
        """Dataset with other options, none of which changes elements or their order."""
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
        """Elements replaced by the results of a function; always in order, whatever `deterministic` says."""
        calls = None if num_parallel_calls is None else to_int(num_parallel_calls, "num_parallel_calls")
        if calls is not None and calls < 1 and calls != -1:
            raise InvalidArgumentError("num_parallel_calls must be greater than zero.")
        return self._then(Map(self.node, map_func, calls))

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """Elements for which a function returns true."""
        return self._then(Filter(self.node, predicate))

    def flat_map(self, map_func: Callable[..., Any], name: str | None = None) -> Dataset:
        """Elements of the datasets that a function returns, one dataset after the other."""
        return self._then(Interleave(self.node, map_func, 1, 1))

    def interleave(
        self,
        map_func: Callable[..., Any],
        cycle_length: int | None = None,
        block_length: int | None = None,
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Elements of the datasets that a function returns, in turn."""
        cycle = choose_cycle_length(cycle_length, num_parallel_calls)
        return self._then(Interleave(self.node, map_func, cycle, 1 if block_length is None else block_length))

    def ignore_errors(self, log_warning: bool = False, name: str | None = None) -> Dataset:
        """Elements without those that failed."""
        return self._then(IgnoreErrors(self.node, log_warning))

    def shuffle(
        self,
        buffer_size: int,
        seed: int | None = None,
        reshuffle_each_iteration: bool | None = True,
        name: str | None = None,
    ) -> Dataset:
        """Elements drawn from a buffer by TensorFlow's rule, with NumPy's random numbers."""
        again = reshuffle_each_iteration is None or bool(reshuffle_each_iteration)
        number = None if seed is None else to_int(seed, "seed")
        return self._then(Shuffle(self.node, to_int(buffer_size, "buffer_size"), number, again))

    def repeat(self, count: int | None = None, name: str | None = None) -> Dataset:
        """Elements several times; forever if `count` is None or negative."""
        return self._then(Repeat(self.node, -1 if count is None else to_int(count, "count")))

    def take(self, count: int, name: str | None = None) -> Dataset:
        """The first elements; all if `count` is negative."""
        return self._then(Take(self.node, to_int(count, "count")))

    def skip(self, count: int, name: str | None = None) -> Dataset:
        """All but the first elements; none if `count` is negative."""
        return self._then(Skip(self.node, to_int(count, "count")))

    def shard(self, num_shards: int, index: int, name: str | None = None) -> Dataset:
        """Elements whose position modulo `num_shards` is `index`."""
        return self._then(Shard(self.node, to_int(num_shards, "num_shards"), to_int(index, "index")))

    def prefetch(self, buffer_size: int | None, name: str | None = None) -> Dataset:
        """Elements computed in advance by a thread."""
        return self._then(Prefetch(self.node, -1 if buffer_size is None else to_int(buffer_size, "buffer_size")))

    def cache(self, filename: str | os.PathLike[str] = "", name: str | None = None) -> Dataset:
        """Elements kept after the first complete pass, in memory or in a file."""
        path = path_of(filename)
        return self._then(CacheFile(self.node, path) if path else Cache(self.node))

    def concatenate(self, dataset: Any, name: str | None = None) -> Dataset:
        """Elements of this dataset, then those of another."""
        return self._then(Concatenate(self.node, dataset.node))

    def enumerate(self, start: int = 0, name: str | None = None) -> Dataset:
        """Pairs of a number and an element."""
        return self._then(Enumerate(self.node, to_int(start, "start")))

    def reduce(self, initial_state: Any, reduce_func: Callable[..., Any], name: str | None = None) -> Any:
        """Return the state after a function was called with each element."""
        state = to_result(initial_state)
        for value in self:
            new_state = to_result(reduce_func(state, value))
            if not same_structure(state, new_state):
                raise TypeError("The element structure for the new state must match the initial state.")
            state = new_state
        return state

    def get_single_element(self, name: str | None = None) -> Any:
        """Return the only element."""
        values = list(itertools.islice(self, 2))
        if len(values) != 1:
            raise InvalidArgumentError(f"Dataset {'had more than one element' if values else 'was empty'}.")
        return values[0]


def to_names_node(filenames: Any) -> Node:
    """Return a source of file names, which may be given as a value or as a dataset."""
    if isinstance(filenames, DatasetBase):
        _check_names(filenames.node)
        return filenames.node
    if any(one.of_graph for one in find_symbolic(filenames)):
        return source(run("array.reshape", filenames, [-1]), Slices)
    if isinstance(filenames, os.PathLike):
        filenames = os.fspath(filenames)
    elif isinstance(filenames, list | tuple):
        filenames = [os.fspath(one) if isinstance(one, os.PathLike) else one for one in filenames]
    names = array_of(filenames) if not (isinstance(filenames, list | tuple) and not filenames) else array_of([""])[:0]
    if names.dtype != object:
        found = dtypes.as_dtype(names.dtype)
        raise TypeError(f"The `filenames` argument must contain `tf.string` elements. Got `{found!r}` elements.")
    return Slices(names.reshape(-1))


def _check_names(node: Any) -> None:
    """Raise TypeError for a dataset of other elements than strings, if that is known without running functions."""
    if calls_python(node):
        return
    spec = node.spec()
    if isinstance(spec, TensorSpec) and spec.dtype != dtypes.string:
        raise TypeError(
            f"The `filenames` argument must contain `tf.string` elements. Got a dataset of `{spec.dtype!r}` elements."
        )
    if not isinstance(spec, TensorSpec) or spec.shape.rank:
        raise TypeError(
            "The `filenames` argument must contain `tf.string` elements of shape [] (i.e. scalars). Got a dataset of "
            f"element shape {getattr(spec, 'shape', spec)!r}."
        )

"""``tf.data.Dataset``: what can be done to a data set, each as another data set."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from recordmill.compat.tensorflow.core import dtypes
from recordmill.compat.tensorflow.core.dispatch import run
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import array_of
from recordmill.compat.tensorflow.data.cache import Cache, CacheFile
from recordmill.compat.tensorflow.data.combine import (
    Concatenate,
    Enumerate,
    Interleave,
    calls_python,
    choose_cycle_length,
)
from recordmill.compat.tensorflow.data.elements import Failed, Way
from recordmill.compat.tensorflow.data.factories import DatasetFactories, source
from recordmill.compat.tensorflow.data.filtering import Filter, TakeWhile
from recordmill.compat.tensorflow.data.functions import to_result
from recordmill.compat.tensorflow.data.group import GroupingMethods
from recordmill.compat.tensorflow.data.mapping import IgnoreErrors, Map, Scan
from recordmill.compat.tensorflow.data.order import Prefetch, Repeat, Shard, Shuffle, Skip, Take
from recordmill.compat.tensorflow.data.recorded import recorded_in
from recordmill.compat.tensorflow.data.sources import Slices
from recordmill.compat.tensorflow.data.structures import same_form, whole
from recordmill.compat.tensorflow.files.faults import path_of
from recordmill.compat.tensorflow.ops.specs import TensorSpec

# Hints of TensorFlow that have no influence on elements and their order here.
# ruff: noqa: ARG002


class Dataset(GroupingMethods, DatasetFactories):
    """Elements, which are tensors or tuples and dicts of them, made when they are asked for; immutable.

    Made by its static methods, or by the classes that read files. Semantics are TensorFlow's; what runs how is told by
    `explain`.
    """

    def _made(self, node: Any) -> Dataset:
        return Dataset(node, self._options)

    def map(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        synchronous: bool | None = None,
        use_unbounded_threadpool: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Elements replaced by what a function makes of them; in order, whatever `deterministic` allows."""
        calls = None if num_parallel_calls is None else whole(num_parallel_calls, "num_parallel_calls")
        if calls is not None and calls < 1 and calls != -1:
            raise InvalidArgumentError("num_parallel_calls must be greater than zero.")
        return self._made(Map(self.node, map_func, calls))

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """Elements of which a function is true."""
        return self._made(Filter(self.node, predicate))

    def take_while(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """Elements in front of the first of which a function is not true."""
        return self._made(TakeWhile(self.node, predicate))

    def flat_map(self, map_func: Callable[..., Any], name: str | None = None) -> Dataset:
        """Elements of the data sets that a function gives, one data set after the other."""
        return self._made(Interleave(self.node, map_func, 1, 1))

    def interleave(
        self,
        map_func: Callable[..., Any],
        cycle_length: int | None = None,
        block_length: int | None = None,
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Elements of the data sets that a function gives, in turn; by default the machine says how many at once."""
        cycle = choose_cycle_length(cycle_length, num_parallel_calls)
        return self._made(Interleave(self.node, map_func, cycle, 1 if block_length is None else block_length))

    def scan(self, initial_state: Any, scan_func: Callable[..., Any], name: str | None = None) -> Dataset:
        """Elements replaced by what a function makes of them and a state."""
        return self._made(Scan(self.node, to_result(initial_state), scan_func))

    def ignore_errors(self, log_warning: bool = False, name: str | None = None) -> Dataset:
        """Elements without those that failed."""
        return self._made(IgnoreErrors(self.node, log_warning))

    def shuffle(
        self,
        buffer_size: int,
        seed: int | None = None,
        reshuffle_each_iteration: bool | None = True,
        name: str | None = None,
    ) -> Dataset:
        """Elements drawn from a buffer: TensorFlow's rule, with random numbers of our own that a seed repeats."""
        again = reshuffle_each_iteration is None or bool(reshuffle_each_iteration)
        number = None if seed is None else whole(seed, "seed")
        return self._made(Shuffle(self.node, whole(buffer_size, "buffer_size"), number, again))

    def repeat(self, count: int | None = None, name: str | None = None) -> Dataset:
        """Elements several times; None or a negative number is without end."""
        return self._made(Repeat(self.node, -1 if count is None else whole(count, "count")))

    def take(self, count: int, name: str | None = None) -> Dataset:
        """The first elements; a negative number is all."""
        return self._made(Take(self.node, whole(count, "count")))

    def skip(self, count: int, name: str | None = None) -> Dataset:
        """All but the first elements; a negative number leaves none."""
        return self._made(Skip(self.node, whole(count, "count")))

    def shard(self, num_shards: int, index: int, name: str | None = None) -> Dataset:
        """Elements whose position divided by `num_shards` leaves `index`."""
        return self._made(Shard(self.node, whole(num_shards, "num_shards"), whole(index, "index")))

    def prefetch(self, buffer_size: int | None, name: str | None = None) -> Dataset:
        """Elements made ahead in a thread."""
        return self._made(Prefetch(self.node, -1 if buffer_size is None else whole(buffer_size, "buffer_size")))

    def cache(self, filename: str | os.PathLike[str] = "", name: str | None = None) -> Dataset:
        """Elements kept after the first whole pass: in memory, or in a file that later programs use, too."""
        path = path_of(filename)
        return self._made(CacheFile(self.node, path) if path else Cache(self.node))

    def concatenate(self, dataset: Any, name: str | None = None) -> Dataset:
        """Elements of this data set, then those of another."""
        return self._made(Concatenate(self.node, dataset.node))

    def enumerate(self, start: int = 0, name: str | None = None) -> Dataset:
        """Pairs of a number and an element."""
        return self._made(Enumerate(self.node, whole(start, "start")))

    def reduce(self, initial_state: Any, reduce_func: Callable[..., Any], name: str | None = None) -> Any:
        """State after a function took all elements, one after the other."""
        state = to_result(initial_state)
        for value in self:
            made = to_result(reduce_func(state, value))
            if not same_form(state, made):
                raise TypeError("The element structure for the new state must match the initial state.")
            state = made
        return state

    def get_single_element(self, name: str | None = None) -> Any:
        """The only element."""
        found = []
        for step in self.node.iterate(Way()):
            if isinstance(step, Failed):
                raise step.error
            found.append(step.value)
            if len(found) > 1:
                raise InvalidArgumentError("Dataset had more than one element.")
        if not found:
            raise InvalidArgumentError("Dataset was empty.")
        return found[0]


def names_of(filenames: Any) -> Any:
    """Node of the names that a data set of files takes."""
    if isinstance(filenames, Dataset):
        _check_names(filenames.node)
        return filenames.node
    if any(one.of_graph for one in recorded_in(filenames)):
        return source(run("array.reshape", filenames, [-1]), Slices)
    if isinstance(filenames, os.PathLike):
        filenames = os.fspath(filenames)
    elif isinstance(filenames, list | tuple):
        filenames = [os.fspath(one) if isinstance(one, os.PathLike) else one for one in filenames]
    names = array_of(filenames) if not (isinstance(filenames, list | tuple) and not filenames) else array_of([""])[:0]
    if names.dtype != object:
        from recordmill.compat.tensorflow.core.dtypes import as_dtype

        raise TypeError(
            f"The `filenames` argument must contain `tf.string` elements. Got `{as_dtype(names.dtype)!r}` elements."
        )
    return Slices(names.reshape(-1))


def _check_names(node: Any) -> None:
    """Refuse a data set of something else than names, where that is known without running functions."""
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

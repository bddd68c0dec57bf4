"""Queues of file names and of batches: ``tf.train.string_input_producer``, ``batch`` and their relatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.dtypes import as_dtype, string
from recordmill.compat.tensorflow.core.tensor import array_of
from recordmill.compat.tensorflow.data.dataset import Dataset
from recordmill.compat.tensorflow.data.recorded import put, recorded_in
from recordmill.compat.tensorflow.data.structures import leaves
from recordmill.compat.tensorflow.graphs.graph import GRAPH, Call
from recordmill.compat.tensorflow.graphs.iterators import Draw, GraphIterator
from recordmill.compat.tensorflow.graphs.symbols import Symbol


class FileQueue:
    """Names of files, in order or shuffled, several times or without end."""

    def __init__(self, dataset: Any) -> None:
        self.dataset = dataset
        self.opened: dict[Any, GraphIterator] = {}  # by what makes records of the names


def string_input_producer(
    string_tensor: Any,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    *unused: Any,
    **others: Any,
) -> FileQueue:
    """Queue of file names."""
    del capacity, unused, others
    names = np.atleast_1d(array_of(string_tensor))
    if not names.size:
        raise ValueError("string_input_producer requires a non-null input tensor")
    if as_dtype(names.dtype) != string:
        raise ValueError(f"string_input_producer takes names of files, not {as_dtype(names.dtype).name}")
    return FileQueue(_epochs(Dataset.from_tensor_slices(names), len(names), num_epochs, shuffle, seed))


def slice_input_producer(
    tensor_list: Any,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    *unused: Any,
    **others: Any,
) -> list[Symbol]:
    """Rows of tensors, one of each at a time; as `string_input_producer`."""
    del capacity, unused, others
    arrays = tuple(map(array_of, tensor_list))
    rows = _epochs(Dataset.from_tensor_slices(arrays), len(arrays[0]), num_epochs, shuffle, seed)
    return list(GraphIterator(rows.element_spec, rows, starts=True).get_next())


def _epochs(dataset: Any, length: int, num_epochs: int | None, shuffle: bool, seed: int | None) -> Any:
    return (dataset.shuffle(length, seed) if shuffle else dataset).repeat(num_epochs)


def batch(
    tensors: Any,
    batch_size: int,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    *unused: Any,
    **others: Any,
) -> Any:
    """Batches of values, in order."""
    del num_threads, capacity, shapes, unused, others
    rows = _rows(tensors, enqueue_many)
    if dynamic_pad:
        return _given(tensors, rows.padded_batch(batch_size, drop_remainder=not allow_smaller_final_batch))
    return _given(tensors, rows.batch(batch_size, drop_remainder=not allow_smaller_final_batch))


def shuffle_batch(
    tensors: Any,
    batch_size: int,
    capacity: int,
    min_after_dequeue: int,
    num_threads: int = 1,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    *unused: Any,
    **others: Any,
) -> Any:
    """Batches of values drawn from a buffer of `min_after_dequeue` values and a batch; as `batch`."""
    del capacity, num_threads, shapes, unused, others
    rows = _rows(tensors, enqueue_many).shuffle(max(min_after_dequeue, 0) + batch_size, seed)
    return _given(tensors, rows.batch(batch_size, drop_remainder=not allow_smaller_final_batch))


def _rows(tensors: Any, several: bool) -> Any:
    values = tuple(tensors.values()) if isinstance(tensors, dict) else tuple(tensors)
    draw, function = _function(values)
    rows = draw.iterator.dataset.map(function, _threads(values))  # type: ignore[union-attr]
    return rows.unbatch() if several else rows


def _threads(values: Any) -> int | None:
    """As many as there are processors for pictures; Python's functions run one after the other."""
    steps = GRAPH.needed(one.number for one in recorded_in(values))
    names = [step.name for step in steps if isinstance(step, Call)]
    if any(name.startswith("control.") for name in names):
        return None
    return -1 if any(name.startswith(("image.", "io.decode_jpeg", "io.decode_png")) for name in names) else None


def _given(tensors: Any, batches: Any) -> Any:
    made = GraphIterator(batches.element_spec, batches, starts=True).get_next()
    if isinstance(tensors, dict):
        return dict(zip(tensors, made, strict=True))
    return made[0] if len(made) == 1 else list(made)


def _function(values: tuple[Any, ...]) -> tuple[Draw, Callable[..., Any]]:
    """Where values come from, and what makes them of an element."""
    steps = list(GRAPH.needed(one.number for one in recorded_in(values)))
    draws = [step for step in steps if isinstance(step, Draw)]
    if len(draws) != 1 or draws[0].iterator is None or draws[0].iterator.dataset is None:
        raise NotImplementedError(
            f"batches of the values of {len(draws)} readers are not supported, only of one: make a tf.data.Dataset and "
            "batch that"
        )
    others = [step for step in steps if step is not draws[0]]

    def function(*element: Any) -> Any:
        known = dict(zip(draws[0].numbers, leaves(element), strict=True))
        for step in others:
            step.make(known)
        return put(values, known)

    return draws[0], function


class Coordinator:
    """Threads of queues: there are none to be coordinated."""

    def __init__(self, *unused: Any, **others: Any) -> None:
        del unused, others
        self._stopped = False

    def should_stop(self) -> bool:
        """Whether a stop was asked for."""
        return self._stopped

    def request_stop(self, ex: Any = None) -> None:
        """Ask for a stop."""
        del ex
        self._stopped = True

    def join(self, *unused: Any, **others: Any) -> None:
        """Wait for nothing."""
        del unused, others


def start_queue_runners(sess: Any = None, coord: Any = None, *unused: Any, **others: Any) -> list[Any]:
    """No threads: values are made when they are fetched."""
    del sess, coord, unused, others
    return []

"""Input queues of TensorFlow 1. There are no queue threads, because values are read when they are fetched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from recordmill.compat.tensorflow.core.dtypes import as_dtype, string
from recordmill.compat.tensorflow.core.tensor import array_of
from recordmill.compat.tensorflow.data.dataset import Dataset
from recordmill.compat.tensorflow.data.files import TextLineDataset, TFRecordDataset
from recordmill.compat.tensorflow.data.structures import leaves
from recordmill.compat.tensorflow.data.symbolic import find_symbolic, substitute_symbols
from recordmill.compat.tensorflow.files.contents import read_file
from recordmill.compat.tensorflow.graphs.graph import GRAPH, OperationStep, Symbol
from recordmill.compat.tensorflow.graphs.iterators import GraphIterator, NextElementStep
from recordmill.compat.tensorflow.io.records import TFRecordOptions


class FileQueue:
    """Result of `string_input_producer`: a dataset of file names, and iterators over the contents of these files."""

    def __init__(self, dataset: Any) -> None:
        self.dataset = dataset
        self.iterators: dict[Any, GraphIterator] = {}  # Maps (reader class, reader options) to an iterator.


def string_input_producer(
    string_tensor: Any,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    *unused: Any,
    **others: Any,
) -> FileQueue:
    """``tf.train.string_input_producer``: create a queue of file names, repeated `num_epochs` times or endlessly."""
    del unused, others
    names = np.atleast_1d(array_of(string_tensor))
    if not names.size:
        raise ValueError("string_input_producer requires a non-null input tensor")
    if as_dtype(names.dtype) != string:
        raise ValueError(f"string_tensor must contain file names, got dtype {as_dtype(names.dtype).name}")
    dataset = Dataset.from_tensor_slices(names)
    return FileQueue((dataset.shuffle(len(names), seed) if shuffle else dataset).repeat(num_epochs))


@dataclass(frozen=True, eq=False, slots=True)
class UnsupportedKeyStep:
    """Step for the key of a record. Running this step raises an error, because keys are not supported."""

    reader: str

    def inputs(self) -> set[int]:
        return set()

    def compute(self, known: dict[int, Any]) -> NoReturn:
        del known
        raise NotImplementedError(
            f"the keys of tf.{self.reader} are not supported; recordmill.open returns shard and offset of each record"
        )


class Reader:
    """Base class of file readers."""

    def __init__(self, name: Any = None) -> None:
        del name

    def _create_dataset_from_files(self, file_names: Any) -> Any:
        raise NotImplementedError

    def read(self, queue: Any, name: Any = None) -> tuple[Symbol, Symbol]:
        """Return symbolic tensors for the key and the value of the next record."""
        del name
        if not isinstance(queue, FileQueue):
            raise TypeError(f"queue must be the result of tf.train.string_input_producer, got {queue!r}")
        kind = type(self), tuple(vars(self).items())
        if kind not in queue.iterators:
            records = self._create_dataset_from_files(queue.dataset)
            queue.iterators[kind] = GraphIterator(records.element_spec, records, starts=True)
        element = queue.iterators[kind].get_next()
        if isinstance(element, tuple):
            return element
        return GRAPH.add_step(UnsupportedKeyStep(type(self).__name__), [None])[0], element


class TFRecordReader(Reader):
    """``tf.TFRecordReader``: reader of the records of TFRecord files."""

    def __init__(self, name: Any = None, options: Any = None) -> None:
        super().__init__(name)
        self._compression = TFRecordOptions.get_compression_type_string(options)

    def _create_dataset_from_files(self, file_names: Any) -> Any:
        return TFRecordDataset(file_names, self._compression)


class TextLineReader(Reader):
    """``tf.TextLineReader``: reader of the lines of text files."""

    def __init__(self, skip_header_lines: int | None = None, name: Any = None) -> None:
        super().__init__(name)
        self._skipped = skip_header_lines or 0

    def _create_dataset_from_files(self, file_names: Any) -> Any:
        return file_names.flat_map(lambda name: TextLineDataset(name).skip(self._skipped))


class WholeFileReader(Reader):
    """``tf.WholeFileReader``: reader of complete files; keys are file names."""

    def _create_dataset_from_files(self, file_names: Any) -> Any:
        return file_names.map(lambda name: (name, read_file(name)))


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
    """``tf.train.batch``: return symbolic tensors for batches of one reader's values, in reading order."""
    del num_threads, capacity, shapes, unused, others
    rows = _map_reader_dataset(tensors, enqueue_many)
    combine = rows.padded_batch if dynamic_pad else rows.batch
    return _make_batch_symbols(tensors, combine(batch_size, drop_remainder=not allow_smaller_final_batch))


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
    """``tf.train.shuffle_batch``: return symbolic tensors for batches of one reader's values, shuffled in a buffer."""
    del capacity, num_threads, shapes, unused, others
    rows = _map_reader_dataset(tensors, enqueue_many).shuffle(max(min_after_dequeue, 0) + batch_size, seed)
    return _make_batch_symbols(tensors, rows.batch(batch_size, drop_remainder=not allow_smaller_final_batch))


def _make_batch_symbols(tensors: Any, batches: Any) -> Any:
    symbols = GraphIterator(batches.element_spec, batches, starts=True).get_next()
    if isinstance(tensors, dict):
        return dict(zip(tensors, symbols, strict=True))
    return symbols[0] if len(symbols) == 1 else list(symbols)


def _map_reader_dataset(tensors: Any, enqueue_many: bool) -> Any:
    """Create a dataset that computes `tensors` from each element that the reader returns."""
    values = tuple(tensors.values()) if isinstance(tensors, dict) else tuple(tensors)
    steps = list(GRAPH.find_steps(one.number for one in find_symbolic(values)))
    reads = [step for step in steps if isinstance(step, NextElementStep)]
    if len(reads) != 1 or reads[0].iterator is None or reads[0].iterator.dataset is None:
        raise NotImplementedError(
            f"the tensors of a batch must depend on exactly one reader, got {len(reads)}; use tf.data instead"
        )
    read, others = reads[0], [step for step in steps if step is not reads[0]]

    def compute(*element: Any) -> Any:
        known = dict(zip(read.numbers, leaves(element), strict=True))
        for step in others:
            step.compute(known)
        return substitute_symbols(values, known)

    rows = reads[0].iterator.dataset.map(compute, _choose_num_threads(others))
    return rows.unbatch() if enqueue_many else rows


def _choose_num_threads(steps: list[Any]) -> int | None:
    """Return -1 (all CPUs) if the steps process images and call no Python functions; otherwise, return None."""
    names = [step.name for step in steps if isinstance(step, OperationStep)]
    decodes = any(name.startswith(("image.", "io.decode_jpeg", "io.decode_png")) for name in names)
    return -1 if decodes and not any(name.startswith("control.") for name in names) else None


class Coordinator:
    """``tf.train.Coordinator``: stores whether a stop was requested; there are no threads to coordinate."""

    def __init__(self, *unused: Any, **others: Any) -> None:
        del unused, others
        self._is_stopped = False

    def should_stop(self) -> bool:
        """Return whether a stop was requested."""
        return self._is_stopped

    def request_stop(self, ex: Any = None) -> None:
        """Let `should_stop` return True from now on."""
        del ex
        self._is_stopped = True

    def join(self, *unused: Any, **others: Any) -> None:
        """Return immediately, because there are no threads to wait for."""


def start_queue_runners(*unused: Any, **others: Any) -> list[Any]:
    """``tf.train.start_queue_runners``: return an empty list, because no threads are needed."""
    del unused, others
    return []

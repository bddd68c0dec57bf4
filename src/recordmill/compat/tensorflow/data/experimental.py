"""``tf.data.experimental``: older names of methods of `Dataset`, and datasets of parsed records."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from typing import Any

from recordmill.compat.tensorflow.core.absent import make_absent_getattr
from recordmill.compat.tensorflow.core.dtypes import string
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.data.csv_datasets import CsvDataset, make_csv_dataset
from recordmill.compat.tensorflow.data.dataset import Dataset
from recordmill.compat.tensorflow.data.elements import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
from recordmill.compat.tensorflow.data.files import TFRecordDataset
from recordmill.compat.tensorflow.files.gfile import glob
from recordmill.compat.tensorflow.io import records
from recordmill.compat.tensorflow.io.parsing import parse_example

AUTOTUNE = -1
__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "UNKNOWN_CARDINALITY",
    "AutoShardPolicy",
    "CsvDataset",
    "TFRecordWriter",
    "bucket_by_sequence_length",
    "choose_from_datasets",
    "dense_to_ragged_batch",
    "get_single_element",
    "group_by_window",
    "ignore_errors",
    "make_batched_features_dataset",
    "make_csv_dataset",
    "map_and_batch",
    "parallel_interleave",
    "sample_from_datasets",
    "shuffle_and_repeat",
    "unbatch",
]
__getattr__ = make_absent_getattr(__name__)
choose_from_datasets = Dataset.choose_from_datasets
sample_from_datasets = Dataset.sample_from_datasets
Transformation = Callable[[Any], Any]


class AutoShardPolicy(enum.IntEnum):
    """Policy by which distribution strategies divide a dataset; it has no effect here."""

    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


class TFRecordWriter:
    """Writes a dataset of serialized records to a TFRecord file."""

    def __init__(self, filename: Any, compression_type: str | None = None) -> None:
        self._filename, self._compression_type = filename, compression_type

    def write(self, dataset: Any) -> None:
        """Write each element of `dataset` to the file as one record; elements must be scalar strings."""
        with records.TFRecordWriter(self._filename, self._compression_type or "") as writer:
            for record in dataset:
                if not isinstance(record, Tensor) or record.dtype != string or record.ndim:
                    raise TypeError(f"the elements of `dataset` must be scalar strings, got {record!r}")
                writer.write(record.numpy())


def _make_transformation_factory(method: str) -> Callable[..., Transformation]:
    """Create a function from a method of `Dataset`.

    Example: ``unbatch()`` returns a transformation that calls `Dataset.unbatch`.
    """

    def create_transformation(*args: Any, **kwargs: Any) -> Transformation:
        return lambda dataset: getattr(dataset, method)(*args, **kwargs)

    create_transformation.__name__ = method
    create_transformation.__doc__ = f"Return a transformation that calls `Dataset.{method}`."
    return create_transformation


bucket_by_sequence_length = _make_transformation_factory("bucket_by_sequence_length")
dense_to_ragged_batch = _make_transformation_factory("ragged_batch")
group_by_window = _make_transformation_factory("group_by_window")
ignore_errors = _make_transformation_factory("ignore_errors")
unbatch = _make_transformation_factory("unbatch")


def get_single_element(dataset: Any) -> Any:
    """Return the only element of a dataset."""
    return dataset.get_single_element()


def shuffle_and_repeat(buffer_size: int, count: int | None = None, seed: int | None = None) -> Transformation:
    """Return a transformation that shuffles, then repeats."""
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


def parallel_interleave(
    map_func: Callable[..., Any],
    cycle_length: int,
    block_length: int = 1,
    sloppy: bool | None = False,
    buffer_output_elements: int | None = None,
    prefetch_input_elements: int | None = None,
) -> Transformation:
    """Return a transformation that interleaves; the order is deterministic even if `sloppy` is True."""
    del sloppy, buffer_output_elements, prefetch_input_elements
    return lambda dataset: dataset.interleave(map_func, cycle_length, block_length)


def map_and_batch(
    map_func: Callable[..., Any],
    batch_size: int,
    num_parallel_batches: int | None = None,
    drop_remainder: bool = False,
    num_parallel_calls: int | None = None,
) -> Transformation:
    """Return a transformation that maps, then batches."""
    del num_parallel_batches
    return lambda dataset: dataset.map(map_func, num_parallel_calls).batch(batch_size, drop_remainder)


def make_batched_features_dataset(
    file_pattern: Any,
    batch_size: int,
    features: Mapping[str, Any],
    reader: Callable[..., Any] | None = None,
    label_key: str | None = None,
    reader_args: Any = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: int | None = None,
    prefetch_buffer_size: int | None = None,
    reader_num_threads: int | None = None,
    parser_num_threads: int | None = None,
    sloppy_ordering: bool = False,
    drop_final_batch: bool = False,
) -> Any:
    """Create a dataset that reads Example records from files; each batch is a dict of parsed features."""
    del sloppy_ordering
    if label_key is not None and label_key not in features:
        raise ValueError(f"The `label_key` provided ({label_key!r}) must be one of the `features` keys: {[*features]}.")
    names = sorted(glob(file_pattern))
    if not names:
        raise ValueError(f"No files match `file_pattern` {file_pattern}.")
    open_file, args = reader or TFRecordDataset, list(reader_args or [])

    def parse_batch(records: Any) -> Any:
        parsed = parse_example(records, features)
        return parsed if label_key is None else (parsed, parsed.pop(label_key))

    data = Dataset.from_tensor_slices(names)
    data = data.shuffle(len(names), shuffle_seed) if shuffle else data
    data = data.interleave(lambda name: open_file(name, *args), reader_num_threads or 1, 1)
    data = data.shuffle(shuffle_buffer_size, shuffle_seed) if shuffle else data
    data = data.repeat(num_epochs).batch(batch_size, drop_final_batch or num_epochs is None)
    data = data.map(parse_batch, parser_num_threads or 1)
    return data.prefetch(1 if prefetch_buffer_size is None else prefetch_buffer_size)

"""``tf.data.experimental``: older names of what `Dataset` does itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from recordmill.compat.tensorflow.core.absent import missing
from recordmill.compat.tensorflow.data.checking import AssertCardinality
from recordmill.compat.tensorflow.data.csv_columns import make_csv_dataset
from recordmill.compat.tensorflow.data.csv_files import CsvDataset
from recordmill.compat.tensorflow.data.dataset import Dataset
from recordmill.compat.tensorflow.data.elements import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
from recordmill.compat.tensorflow.data.listed import from_list
from recordmill.compat.tensorflow.data.older_names import (
    AutoShardPolicy,
    TFRecordWriter,
    bucket_by_sequence_length,
    dense_to_ragged_batch,
    make_batched_features_dataset,
    parse_example_dataset,
)
from recordmill.compat.tensorflow.data.optional import Optional, get_next_as_optional

AUTOTUNE = -1
__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "UNKNOWN_CARDINALITY",
    "AutoShardPolicy",
    "Counter",
    "CsvDataset",
    "Optional",
    "TFRecordWriter",
    "assert_cardinality",
    "bucket_by_sequence_length",
    "cardinality",
    "choose_from_datasets",
    "dense_to_ragged_batch",
    "enumerate_dataset",
    "from_list",
    "get_next_as_optional",
    "get_single_element",
    "get_structure",
    "group_by_window",
    "ignore_errors",
    "load",
    "make_batched_features_dataset",
    "make_csv_dataset",
    "map_and_batch",
    "parallel_interleave",
    "parse_example_dataset",
    "rejection_resample",
    "sample_from_datasets",
    "save",
    "scan",
    "shuffle_and_repeat",
    "snapshot",
    "take_while",
    "unbatch",
    "unique",
]
__getattr__ = missing(__name__)
Counter = Dataset.counter
choose_from_datasets = Dataset.choose_from_datasets
load = Dataset.load
sample_from_datasets = Dataset.sample_from_datasets


def cardinality(dataset: Any) -> Any:
    """Number of elements of a data set."""
    return dataset.cardinality()


def get_single_element(dataset: Any) -> Any:
    """The only element of a data set."""
    return dataset.get_single_element()


def assert_cardinality(expected_cardinality: int) -> Callable[[Any], Any]:
    """For `Dataset.apply`: check the number of elements while they are given."""
    return lambda dataset: Dataset(AssertCardinality(dataset.node, int(expected_cardinality)), dataset.options())


def enumerate_dataset(start: int = 0) -> Callable[[Any], Any]:
    """For `Dataset.apply`: as `Dataset.enumerate`."""
    return lambda dataset: dataset.enumerate(start)


def get_structure(dataset_or_iterator: Any) -> Any:
    """Specs of the elements."""
    if not hasattr(dataset_or_iterator, "element_spec"):
        raise TypeError(f"Invalid `dataset_or_iterator`: a Dataset or an Iterator, not {type(dataset_or_iterator)}.")
    return dataset_or_iterator.element_spec


def ignore_errors(log_warning: bool = False) -> Callable[[Any], Any]:
    """For `Dataset.apply`: as `Dataset.ignore_errors`."""
    return lambda dataset: dataset.ignore_errors(log_warning)


def take_while(predicate: Callable[..., Any]) -> Callable[[Any], Any]:
    """For `Dataset.apply`: as `Dataset.take_while`."""
    return lambda dataset: dataset.take_while(predicate)


def unbatch() -> Callable[[Any], Any]:
    """For `Dataset.apply`: as `Dataset.unbatch`."""
    return lambda dataset: dataset.unbatch()


def unique() -> Callable[[Any], Any]:
    """For `Dataset.apply`: as `Dataset.unique`."""
    return lambda dataset: dataset.unique()


def scan(initial_state: Any, scan_func: Callable[..., Any]) -> Callable[[Any], Any]:
    """For `Dataset.apply`: as `Dataset.scan`."""
    return lambda dataset: dataset.scan(initial_state, scan_func)


def shuffle_and_repeat(buffer_size: int, count: int | None = None, seed: int | None = None) -> Callable[[Any], Any]:
    """For `Dataset.apply`: shuffle, then repeat."""
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


def parallel_interleave(
    map_func: Callable[..., Any],
    cycle_length: int,
    block_length: int = 1,
    sloppy: bool | None = False,
    buffer_output_elements: int | None = None,
    prefetch_input_elements: int | None = None,
) -> Callable[[Any], Any]:
    """For `Dataset.apply`: as `Dataset.interleave`, in order also where `sloppy` would allow another."""
    del sloppy, buffer_output_elements, prefetch_input_elements
    return lambda dataset: dataset.interleave(map_func, cycle_length, block_length)


def map_and_batch(
    map_func: Callable[..., Any],
    batch_size: int,
    num_parallel_batches: int | None = None,
    drop_remainder: bool = False,
    num_parallel_calls: int | None = None,
) -> Callable[[Any], Any]:
    """For `Dataset.apply`: map, then batch."""
    del num_parallel_batches
    return lambda dataset: dataset.map(map_func, num_parallel_calls).batch(batch_size, drop_remainder)


def group_by_window(
    key_func: Callable[..., Any],
    reduce_func: Callable[..., Any],
    window_size: int | None = None,
    window_size_func: Callable[..., Any] | None = None,
) -> Callable[[Any], Any]:
    """For `Dataset.apply`: as `Dataset.group_by_window`."""
    return lambda dataset: dataset.group_by_window(key_func, reduce_func, window_size, window_size_func)


def rejection_resample(
    class_func: Callable[..., Any], target_dist: Any, initial_dist: Any = None, seed: int | None = None
) -> Callable[[Any], Any]:
    """For `Dataset.apply`: as `Dataset.rejection_resample`."""
    return lambda dataset: dataset.rejection_resample(class_func, target_dist, initial_dist, seed)


def save(
    dataset: Any,
    path: Any,
    compression: str | None = None,
    shard_func: Callable[..., Any] | None = None,
    checkpoint_args: Any = None,
) -> None:
    """Write all elements of a data set; as `Dataset.save`."""
    dataset.save(path, compression, shard_func, checkpoint_args)


def snapshot(
    path: Any,
    compression: str | None = "AUTO",
    reader_func: Callable[..., Any] | None = None,
    shard_func: Callable[..., Any] | None = None,
) -> Callable[[Any], Any]:
    """For `Dataset.apply`: as `Dataset.snapshot`."""
    return lambda dataset: dataset.snapshot(path, compression, reader_func, shard_func)

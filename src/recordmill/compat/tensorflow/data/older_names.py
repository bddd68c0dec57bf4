"""Older names under ``tf.data.experimental`` that do more than call one method of `Dataset`."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.dtypes import string
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.data.dataset import Dataset
from recordmill.compat.tensorflow.data.readers import TFRecordDataset
from recordmill.compat.tensorflow.files.gfile import glob
from recordmill.compat.tensorflow.io.parsing import parse_example
from recordmill.compat.tensorflow.io.records import TFRecordWriter as _Records


class AutoShardPolicy(enum.IntEnum):
    """How distribution strategies would divide a data set; there are none here."""

    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


class TFRecordWriter:
    """Writes the elements of a data set to a record file."""

    def __init__(self, filename: Any, compression_type: str | None = None) -> None:
        self._filename, self._compression = filename, compression_type

    def write(self, dataset: Any) -> None:
        """Write all elements."""
        if not isinstance(dataset, Dataset):
            raise TypeError(f"Invalid `dataset.` Expected a `tf.data.Dataset` object but got {type(dataset)}.")
        with _Records(self._filename, self._compression or "") as writer:
            for record in dataset:
                if not isinstance(record, Tensor) or record.dtype != string or record.ndim:
                    raise TypeError(f"Invalid `dataset`. Expected elements that are single strings, got {record!r}.")
                writer.write(record.numpy())


def parse_example_dataset(
    features: Mapping[str, Any], num_parallel_calls: int | None = 1, deterministic: bool | None = None
) -> Callable[[Any], Any]:
    """For `Dataset.apply`: parse batches of records."""
    if features is None:
        raise ValueError("Argument `features` is required, but not specified.")
    return lambda dataset: dataset.map(
        lambda records: parse_example(records, features), num_parallel_calls, deterministic
    )


def dense_to_ragged_batch(
    batch_size: int, drop_remainder: bool = False, row_splits_dtype: Any = np.int64
) -> Callable[[Any], Any]:
    """For `Dataset.apply`: as `Dataset.ragged_batch`."""
    return lambda dataset: dataset.ragged_batch(batch_size, drop_remainder, row_splits_dtype)


def bucket_by_sequence_length(
    element_length_func: Callable[..., Any], bucket_boundaries: Any, bucket_batch_sizes: Any, *args: Any, **kwargs: Any
) -> Callable[[Any], Any]:
    """For `Dataset.apply`: as `Dataset.bucket_by_sequence_length`."""
    asked = (element_length_func, bucket_boundaries, bucket_batch_sizes, *args)
    return lambda dataset: dataset.bucket_by_sequence_length(*asked, **kwargs)


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
    """Parsed batches of the records of files."""
    del sloppy_ordering
    if label_key is not None and label_key not in features:
        raise ValueError(f"The `label_key` provided ({label_key!r}) must be one of the `features` keys: {[*features]}.")
    names = sorted(glob(file_pattern))
    if not names:
        raise ValueError(f"No files match `file_pattern` {file_pattern}.")
    files = Dataset.from_tensor_slices(names)
    if shuffle:
        files = files.shuffle(len(names), shuffle_seed)
    opened, given = reader or TFRecordDataset, list(reader_args or [])
    records = files.interleave(lambda name: opened(name, *given), reader_num_threads or 1, 1)
    if shuffle:
        records = records.shuffle(shuffle_buffer_size, shuffle_seed)
    batches = records.repeat(num_epochs).batch(batch_size, drop_final_batch or num_epochs is None)
    parsed = batches.apply(parse_example_dataset(features, parser_num_threads))
    if label_key is not None:
        parsed = parsed.map(lambda found: _labelled(found, label_key))
    return parsed.prefetch(1 if prefetch_buffer_size is None else prefetch_buffer_size)


def _labelled(found: dict[str, Any], key: str) -> tuple[dict[str, Any], Any]:
    return {name: one for name, one in found.items() if name != key}, found[key]

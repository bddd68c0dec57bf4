"""Statistics over all records of shards: ranges and counts of the values of each feature."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from recordmill.errors import RecordmillError
from recordmill.shards.chunks import apply_to_intact, split_by_bytes
from recordmill.shards.image_statistics import ImageCollector, ImageStatistics, Range, extend_range
from recordmill.shards.inference import detect_payload
from recordmill.shards.parsed import Column, ParsedRecords, parse_exactly
from recordmill.shards.reader import ShardReader
from recordmill.types import Ragged

# Limits of a chunk of records that is parsed in one call. A record above the size limit is a chunk of its own.
_MAX_CHUNK_RECORDS, _MAX_CHUNK_BYTES = 4096, 1 << 20
# Maximum number of different values of a feature, and maximum length of a byte string. Above either limit, the values
# of the feature are not counted.
_MAX_DISTINCT_VALUES, _MAX_COUNTED_BYTES = 1000, 64

Value = int | float | bytes


@dataclass(frozen=True, slots=True)
class FeatureStatistics:
    """Statistics of one feature over all records.

    Parameters
    ----------
    kinds : list of str
        Kinds of the values. Several if the kind differs between records.
    num_missing : int
        Number of records without the feature.
    num_values : int
        Number of values in all records.
    num_per_record : (int, int)
        Minimum and maximum number of values, or of frames of a sequence, in the records that have the feature.
    num_nonfinite : int
        Number of values that are NaN or infinite. `minimum`, `maximum`, `mean` and `value_counts` ignore these values.
    minimum, maximum : int, float or None
        Smallest and largest number; None if there are no numbers.
    mean : float or None
        Mean of the numbers; None if there are none, or if their sum exceeds float64.
    num_bytes : (int, int) or None
        Minimum and maximum length of the byte strings, in bytes; None if there are none.
    value_counts : dict of (int, float or bytes) to int, or None
        Number of records by value, most frequent first. None if a record has several values, if there are more than
        1,000 different values, or if a byte string is longer than 64 bytes.
    images : ImageStatistics or None
        Statistics of the images, if most of the first byte strings begin like image files.
    """

    kinds: list[str]
    num_missing: int
    num_values: int
    num_per_record: tuple[int, int]
    num_nonfinite: int
    minimum: int | float | None
    maximum: int | float | None
    mean: float | None
    num_bytes: tuple[int, int] | None
    value_counts: dict[Value, int] | None
    images: ImageStatistics | None

    def to_json(self) -> dict[str, Any]:
        """Return the statistics as a dict that can be written as JSON.

        Returns
        -------
        dict
            One key per parameter. ``value_counts`` is a list of ``{"value", "count"}``, with byte strings as text.
        """
        plain = asdict(self)
        if self.value_counts is not None:
            counts = self.value_counts.items()
            plain["value_counts"] = [{"value": _to_json_value(value), "count": count} for value, count in counts]
        return plain


@dataclass(frozen=True, slots=True)
class Statistics:
    """Statistics over all records of shards.

    Parameters
    ----------
    num_records : int
        Number of records that were read.
    num_damaged : int
        Number of records that could not be read or parsed; they are not part of the statistics.
    features : dict of str to FeatureStatistics
        Statistics by feature name.
    """

    num_records: int
    num_damaged: int
    features: dict[str, FeatureStatistics]

    def to_json(self) -> dict[str, Any]:
        """Return the statistics as a dict that can be written as JSON.

        Returns
        -------
        dict
            ``{"num_records", "num_damaged", "features"}``
        """
        features = {name: feature.to_json() for name, feature in self.features.items()}
        return {"num_records": self.num_records, "num_damaged": self.num_damaged, "features": features}


def _to_json_value(value: Value) -> int | float | str:
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else value


class ValueObserver(Protocol):
    """Interface of objects that receive the values of one feature while its statistics are collected."""

    def add_numbers(self, values: NDArray[Any]) -> None:
        """Receive finite numbers."""
        ...

    def add_image_sizes(self, sizes: NDArray[np.int64]) -> None:
        """Receive the heights and widths of images, shape (n, 2)."""
        ...


class StatisticsCollector:
    """Collects the statistics of shards or of records, which are added one after another.

    Parameters
    ----------
    create_observer : callable, optional
        Called once per feature; the observer that it returns receives the values of the feature.
    """

    def __init__(self, create_observer: Callable[[str], ValueObserver] | None = None) -> None:
        self._num_records = self._num_damaged = 0
        self._features: dict[str, _FeatureCollector] = {}
        self._create_observer = create_observer

    def add_shard(self, reader: ShardReader) -> RecordmillError | None:
        """Add all records of a shard; return the error of the first record that cannot be read or parsed."""
        codec = detect_payload(reader.shard, reader.sidecar)
        first = None
        for chunk in split_by_bytes(reader.index.lengths, _MAX_CHUNK_RECORDS, _MAX_CHUNK_BYTES):
            for part, result in apply_to_intact(lambda part: parse_exactly(codec, reader.fetch_ragged(part)), chunk):
                if isinstance(result, RecordmillError):
                    result.shard, result.record = reader.path, part.start
                    first = first or result
                    self.add_damaged(1)
                else:
                    for records in result:
                        self.add_records(records)
        return first

    def add_damaged(self, count: int) -> None:
        """Count records that could not be read or parsed."""
        self._num_damaged += count

    def add_records(self, records: ParsedRecords) -> None:
        """Add parsed records."""
        self._num_records += records.num_records
        for name, column in records.columns.items():
            if name not in self._features:
                observer = None if self._create_observer is None else self._create_observer(name)
                self._features[name] = _FeatureCollector(observer)
            self._features[name].add(column, records.num_records)

    def finish(self) -> Statistics:
        """Return the statistics of all records that were added."""
        features = {name: feature.finish(self._num_records) for name, feature in self._features.items()}
        return Statistics(self._num_records, self._num_damaged, features)


class _FeatureCollector:
    """Collects the statistics of one feature."""

    def __init__(self, observer: ValueObserver | None) -> None:
        self._observer = observer
        self._kinds: dict[str, None] = {}
        self._num_present = self._num_values = self._num_nonfinite = self._num_numbers = 0
        self._num_per_record: Range = None
        self._range: Range = None
        self._sum: int | float = 0
        self._num_bytes: Range = None
        self._counts: Counter[Value] | None = Counter()
        self._images: ImageCollector | None = None

    def add(self, column: Column, num_records: int) -> None:
        """Add the values of several records."""
        counts = column.counts(num_records)
        if column.present is not None:
            counts = counts[column.present.astype(bool)]
        self._num_present += len(counts)
        self._num_per_record = extend_range(self._num_per_record, counts)
        if column.feature.sequence or (counts > 1).any():
            self._counts = None
        if column.feature.kind == "bytes":
            self._add_strings(column.strings())
        else:
            self._add_numbers(column.numbers())
        self._kinds[column.feature.kind] = None

    def _add_numbers(self, values: NDArray[Any]) -> None:
        self._num_values += len(values)
        if values.dtype.kind == "f":
            is_finite = np.isfinite(values)
            self._num_nonfinite += int(np.count_nonzero(~is_finite))
            values = values[is_finite]
        self._num_numbers += len(values)
        self._range = extend_range(self._range, values)
        self._sum += _sum_exactly(values)
        if self._observer is not None:
            self._observer.add_numbers(values)
        if self._counts is not None:
            distinct, counts = np.unique(values, return_counts=True)
            self._add_value_counts(Counter(dict(zip(distinct.tolist(), counts.tolist(), strict=True))))

    def _add_strings(self, values: Ragged) -> None:
        if self._num_bytes is None and len(values):
            self._images = ImageCollector.create_for(values)
        if self._images is not None:
            sizes = self._images.add(values)
            if self._observer is not None:
                self._observer.add_image_sizes(sizes)
        lengths = np.diff(values.row_splits)
        self._num_values += len(values)
        self._num_bytes = extend_range(self._num_bytes, lengths)
        if self._counts is not None:
            self._add_value_counts(None if (lengths > _MAX_COUNTED_BYTES).any() else Counter(values))

    def _add_value_counts(self, counts: Counter[Value] | None) -> None:
        if counts is None or self._counts is None:
            self._counts = None
        else:
            self._counts.update(counts)
            if len(self._counts) > _MAX_DISTINCT_VALUES:
                self._counts = None

    def finish(self, num_records: int) -> FeatureStatistics:
        """Return the statistics. Records that were added before the feature first occurred count as missing."""
        minimum, maximum = self._range or (None, None)
        return FeatureStatistics(
            kinds=list(self._kinds),
            num_missing=num_records - self._num_present,
            num_values=self._num_values,
            num_per_record=self._num_per_record or (0, 0),
            num_nonfinite=self._num_nonfinite,
            minimum=minimum,
            maximum=maximum,
            mean=self._sum / self._num_numbers if self._num_numbers and math.isfinite(self._sum) else None,
            num_bytes=self._num_bytes,
            value_counts=None if self._counts is None else dict(sorted(self._counts.items(), key=_build_sort_key)),
            images=None if self._images is None else self._images.finish(),
        )


def _build_sort_key(entry: tuple[Value, int]) -> tuple[int, str, Any]:
    value, count = entry
    return -count, "bytes" if isinstance(value, bytes) else "", value


def _sum_exactly(values: NDArray[Any]) -> int | float:
    """Return the sum of finite numbers: exact for integers of any size, computed in float64 for floats."""
    if values.dtype.kind == "f":
        with np.errstate(over="ignore", invalid="ignore"):
            return float(values.sum(dtype=np.float64))
    wide = values.astype(np.uint64 if values.dtype.kind == "u" else np.int64)
    shift, mask = wide.dtype.type(32), wide.dtype.type(0xFFFFFFFF)
    return (int((wide >> shift).sum()) << 32) + int((wide & mask).sum())

"""The overview of a dataset: statistics and histograms of all features, computed in the background."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.conversion.source import Positions, ShardRecords
from recordmill.formats.base import PayloadCodec
from recordmill.shards.info import summarize_files
from recordmill.shards.parsed import ParsedRecords, parse_exactly
from recordmill.shards.statistics import FeatureStatistics, StatisticsCollector
from recordmill.types import Ragged
from recordmill.value_text import find_class_name
from recordmill.viewer.histogram import HistogramCollector, create_value_histogram
from recordmill.viewer.jobs import Job

# If a dataset exceeds this number of records or bytes, only a sample of its records is read.
_MAX_RECORDS, _MAX_BYTES = 100_000, 1 << 30
# A sampled dataset is read in blocks of about this many consecutive records. If there are many shards, the blocks are
# smaller, so that there are at least as many blocks as shards.
_BLOCK_RECORDS = 64
# Records above this size are not read, because reading a record creates several copies of it in memory.
_MAX_RECORD_BYTES = 16 << 20
# Number of record lengths that are added to the histogram at once.
_NUM_LENGTHS = 1 << 16


class Overview:
    """Statistics and histograms of the features of a dataset. Thread-safe.

    Parameters
    ----------
    source : ShardRecords
    positions : range or ndarray of int64, optional
        Positions of the records in `source`; all by default.
    label_feature : str, optional
        Feature with label numbers. Its values are shown with their class names.
    max_records, max_bytes : int
        If there are more records, or if they have more bytes, only a sample of them is read.
    """

    def __init__(
        self,
        source: ShardRecords,
        positions: Positions | None = None,
        label_feature: str | None = None,
        *,
        max_records: int = _MAX_RECORDS,
        max_bytes: int = _MAX_BYTES,
    ) -> None:
        self._source = source
        self._positions = range(len(source)) if positions is None else positions
        self._label_feature = label_feature
        self._limits = max_records, max_bytes
        self._is_sampled, self._num_too_large = False, 0
        self._lock = threading.Lock()
        self._job: Job | None = None

    def cancel(self) -> None:
        """Stop the computation."""
        with self._lock:
            if self._job is not None:
                self._job.cancel()

    def to_json(self) -> dict[str, Any]:
        """Return the progress in records, and the result once it is known; the first call starts the computation."""
        with self._lock:
            if self._job is None:
                self._job = Job(self._compute)
            job = self._job
        num_read = job.done - self._num_too_large
        is_sampled = self._is_sampled or self._num_too_large > 0
        return job.to_json() | {"sampled": is_sampled, "num_read": num_read, "result": job.result}

    def _compute(self, job: Job) -> dict[str, Any]:
        source, observers = self._source, dict[str, _ValueHistograms]()
        num_bytes, record_bytes = self._measure_records(job)
        blocks = self._choose_blocks(num_bytes)
        job.total = sum(map(len, blocks))
        collector = StatisticsCollector(lambda name: observers.setdefault(name, _ValueHistograms()))
        for part in _split_into_chunks(source, blocks):
            job.check()
            readable = _omit_large_records(source, part)
            self._num_too_large += len(part) - len(readable)
            outcome = source.apply(readable, _parse_records, "skip")
            for _, parsed in outcome.results:
                for records in parsed:
                    collector.add_records(records)
            collector.add_damaged(len(outcome.skipped))
            job.advance(len(part))
        statistics = collector.finish()
        features = [
            self._describe_feature(name, feature, observers[name]) for name, feature in statistics.features.items()
        ]
        return {
            "num_records": len(self._positions),
            "num_damaged": statistics.num_damaged,
            "num_too_large": self._num_too_large,
            "features": features,
            "record_bytes": record_bytes,
            "shards": self._list_shards(job),
        }

    def _measure_records(self, job: Job) -> tuple[int, dict[str, list[Any]] | None]:
        """Return the total size of all records in bytes, and a histogram of the sizes, without reading records."""
        num_bytes, start, histogram = 0, 0, HistogramCollector(is_integer=True)
        while start < len(self._positions):
            job.check()
            lengths = self._source.frame_lengths(self._positions[start : start + _NUM_LENGTHS])
            histogram.add(lengths)
            num_bytes += int(lengths.sum())
            start += len(lengths)
        return num_bytes, histogram.finish()

    def _choose_blocks(self, num_bytes: int) -> list[Positions]:
        """Return the positions to read: all of them, or blocks that are spread evenly over all shards."""
        count = len(self._positions)
        max_records, max_bytes = self._limits
        num_sampled = min(count, max_records, int(count * max_bytes / max(num_bytes, 1)))
        self._is_sampled = num_sampled < count
        if not self._is_sampled:
            return [self._positions]
        num_shards = sum(len(collection.readers) for collection in self._source.collections)
        num_sampled = max(num_sampled, 1)
        num_blocks = min(max(num_shards, num_sampled // _BLOCK_RECORDS), num_sampled)
        size = num_sampled // num_blocks
        bounds = np.arange(num_blocks + 1) * count // num_blocks
        # Each block starts at a random position, because labels often repeat at regular distances.
        starts = np.random.default_rng(0).integers(bounds[:-1], bounds[1:] - size, endpoint=True)
        return [self._positions[start : start + size] for start in starts.tolist()]

    def _describe_feature(self, name: str, feature: FeatureStatistics, observer: _ValueHistograms) -> dict[str, Any]:
        plain = {"name": name, **feature.to_json(), "histogram": observer.numbers and observer.numbers.finish()}
        is_float = any(kind.startswith("float") for kind in feature.kinds)
        is_number = "bytes" not in feature.kinds
        if feature.value_counts is not None:
            classes = self._source.classes if name == self._label_feature and is_number else None
            for entry in plain["value_counts"]:
                entry["class"] = find_class_name(entry["value"], classes) if classes else None
            if is_number and not is_float:
                plain["histogram"] = create_value_histogram(feature.value_counts) or plain["histogram"]
        if plain["images"] is not None:
            plain["images"] |= {"widths": observer.widths.finish(), "heights": observer.heights.finish()}
        return plain

    def _list_shards(self, job: Job) -> list[dict[str, Any]]:
        shards = []
        for collection in self._source.collections:
            for reader in collection.readers:
                job.check()
                shards += [
                    {"path": file.path, "num_records": file.num_records, "num_bytes": file.num_bytes}
                    for file in summarize_files(reader.shard, reader.load_index())
                ]
        return shards


class _ValueHistograms:
    """Histograms of the numbers in one feature, or of the widths and heights of its images."""

    def __init__(self) -> None:
        self.numbers: HistogramCollector | None = None
        self.widths, self.heights = HistogramCollector(is_integer=True), HistogramCollector(is_integer=True)

    def add_numbers(self, values: NDArray[Any]) -> None:
        """Add finite numbers to the histogram of the feature."""
        if self.numbers is None:
            self.numbers = HistogramCollector(is_integer=values.dtype.kind != "f")
        self.numbers.add(values)

    def add_image_sizes(self, sizes: NDArray[np.int64]) -> None:
        """Add the heights and widths of images to the histograms."""
        self.heights.add(sizes[:, 0])
        self.widths.add(sizes[:, 1])


def _split_into_chunks(source: ShardRecords, blocks: list[Positions]) -> Iterator[Positions]:
    """Split blocks of positions into chunks of limited size, and yield the chunks."""
    for block in blocks:
        for start, stop in source.split_chunks(block):
            yield block[start:stop]


def _omit_large_records(source: ShardRecords, positions: Positions) -> Positions:
    """Return `positions`. If they refer to a single record above the size limit, return an empty array or range."""
    # `split_chunks` never combines a record above this size with other records.
    is_large = len(positions) == 1 and int(source.frame_lengths(positions)[0]) > _MAX_RECORD_BYTES
    return positions[:0] if is_large else positions


def _parse_records(codec: PayloadCodec, payloads: Ragged, rows: NDArray[np.int64]) -> list[ParsedRecords]:
    del rows
    return parse_exactly(codec, payloads)

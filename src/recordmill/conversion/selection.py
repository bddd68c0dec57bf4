"""Select records before they are converted: a condition, a random sample, a slice, and a random order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.conversion.source import Ints, OnError, Outcome, Positions, ShardRecords, SkippedRecord
from recordmill.conversion.where import FeatureColumn, Where, parse_where
from recordmill.errors import FeatureError
from recordmill.formats.base import PayloadCodec
from recordmill.packing.chunks import shuffle_positions
from recordmill.schema import Feature
from recordmill.shards.parsed import Column, ParsedRecords, parse_exactly
from recordmill.types import Ragged

OnProgress = Callable[[int], None]
# First number in the seed of the `sample` generator. It makes `sample` and `shuffle` use different random numbers.
_SAMPLE_STREAM = 0x73616D70


def _ignore_progress(count: int) -> None:
    del count


@dataclass(frozen=True, slots=True)
class Selection:
    """Options that choose and order records, in the order in which they take effect.

    Parameters
    ----------
    where : str or None
        Condition on the features.
    sample : float or None
        Probability with which a record is kept.
    skip : int
        Number of records to drop at the beginning.
    take : int or None
        Maximum number of records to keep after `skip`.
    shuffle : int or None
        Seed of a random order.
    """

    where: str | None = None
    sample: float | None = None
    skip: int = 0
    take: int | None = None
    shuffle: int | None = None

    def __post_init__(self) -> None:
        """Raise ValueError if an option is invalid."""
        if self.sample is not None and not 0 < self.sample <= 1:
            raise ValueError(f"sample must be a fraction above 0 and at most 1, got {self.sample!r}")
        for name, value in (("skip", self.skip), ("take", self.take), ("shuffle", self.shuffle)):
            if value is not None and (not hasattr(value, "__index__") or value < 0):
                raise ValueError(f"{name} must be an integer of at least 0, got {value!r}")

    def sampler(self) -> np.random.Generator | None:
        """Return the generator that draws one random number per record; None if all records are kept."""
        if self.sample is None or self.sample == 1:
            return None
        return np.random.Generator(np.random.PCG64([_SAMPLE_STREAM, self.shuffle or 0]))

    @property
    def stop(self) -> int | None:
        """End of the slice that `skip` and `take` select; None if `take` is not set."""
        return None if self.take is None else self.skip + self.take


@dataclass(slots=True)
class SelectedRecords:
    """Result of a selection: positions of the selected records in output order, and a list of unreadable records."""

    positions: Positions
    skipped: list[SkippedRecord] = field(default_factory=list)


def select_records(
    source: ShardRecords, positions: Positions, selection: Selection, on_error: OnError, threads: int
) -> SelectedRecords:
    """Apply all options of a selection to records of a source."""
    selected = SelectedRecords(positions)
    if selection.where is not None:
        selected = filter_records(source, positions, selection.where, on_error, threads)
    positions = selected.positions
    if (generator := selection.sampler()) is not None and selection.sample is not None:
        positions = np.asarray(positions, np.int64)[generator.random(len(positions)) < selection.sample]
    positions = positions[selection.skip : selection.stop]
    order = shuffle_positions(len(positions), selection.shuffle)
    if order is not None:
        positions = np.asarray(positions, np.int64)[order]
    return SelectedRecords(positions, selected.skipped)


def parse_condition(text: str, schemas: Sequence[Mapping[str, Feature]]) -> Where:
    """Parse a condition, and check it against the features of all sources."""
    names = list(dict.fromkeys(name for schema in schemas for name in schema))
    where = parse_where(text, names)
    for schema in schemas:
        where.check(schema)
    return where


def filter_records(
    source: ShardRecords,
    positions: Positions,
    text: str,
    on_error: OnError,
    threads: int,
    on_progress: OnProgress = _ignore_progress,
) -> SelectedRecords:
    """Return the positions of the records that meet a condition; `on_progress` receives counts of finished records."""
    where = parse_condition(text, [collection.schema for collection in source.collections])
    names = where.features
    single = {
        name
        for collection in source.collections
        for name, feature in collection.schema.items()
        if feature == Feature("bytes")
    }

    def evaluate(codec: PayloadCodec, payloads: Ragged, rows: Ints) -> NDArray[np.bool_]:
        del rows
        masks = [
            where.evaluate(build_feature_columns(records, single), records.num_records)
            for records in parse_exactly(codec, payloads, names)
        ]
        return np.concatenate(masks)

    selected = SelectedRecords(positions)
    parts: list[Ints] = []
    for count, (part, outcome) in source.map_chunks(
        positions, lambda part, _: (part, source.apply(part, evaluate, on_error)), threads
    ):
        on_progress(count)
        parts.append(np.asarray(part, np.int64)[_list_selected_rows(outcome)])
        selected.skipped += [record for _, record in outcome.skipped]
    selected.positions = np.concatenate(parts) if parts else np.empty(0, np.int64)
    return selected


def _list_selected_rows(outcome: Outcome) -> Ints:
    """Return the row numbers of the records that meet the condition, in increasing order."""
    rows = [rows[mask] for rows, mask in outcome.results]
    return np.sort(np.concatenate(rows)) if rows else np.empty(0, np.int64)


def build_feature_columns(records: ParsedRecords, single: set[str]) -> dict[str, FeatureColumn]:
    """Convert parsed records to the columns on which a `where` condition is evaluated.

    `single` names the features with one byte string per record. Their `len` in a condition is the number of bytes.
    """
    columns = {}
    for name, column in records.columns.items():
        count = records.num_records
        present = np.ones(count, bool) if column.present is None else column.present.astype(bool)
        values: Any = column.strings() if column.feature.kind == "bytes" else column.numbers()
        counts = column.counts(count)
        columns[name] = FeatureColumn(column.feature.kind, values, counts, present, measures_bytes=name in single)
    return columns


def read_feature(
    source: ShardRecords,
    name: str,
    positions: Positions,
    threads: int,
    on_error: OnError = "stop",
    on_progress: OnProgress = _ignore_progress,
) -> tuple[NDArray[np.int64], list[Any]]:
    """Read a feature with at most one value per record; return an integer code per record, and the value of each code.

    Values are int, float or bytes, and None for records without the feature and for skipped ones.
    """
    codes: dict[Any, int] = {}

    def read_values(codec: PayloadCodec, payloads: Ragged, rows: Ints) -> list[Any]:
        del rows
        values: list[Any] = []
        for records in parse_exactly(codec, payloads, [name]):
            values += _list_value_per_record(name, records)
        return values

    chunks = source.map_chunks(positions, lambda part, _: source.apply(part, read_values, on_error), threads)
    parts = []
    for count, outcome in chunks:
        on_progress(count)
        chunk = np.full(count, codes.setdefault(None, len(codes)) if outcome.skipped else 0, np.int64)
        for rows, values in outcome.results:
            chunk[rows] = [codes.setdefault(value, len(codes)) for value in values]
        parts.append(chunk)
    return np.concatenate(parts) if parts else np.empty(0, np.int64), list(codes)


def read_numeric_feature(
    source: ShardRecords, name: str, positions: Positions, dtype: np.dtype[Any], on_progress: OnProgress
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Read a feature with at most one number per record; return the numbers, and a mask of missing numbers.

    Records that cannot be read, or have several numbers, count as records without one.
    """
    numbers, is_missing = np.zeros(len(positions), dtype), np.ones(len(positions), bool)

    def read_numbers(codec: PayloadCodec, payloads: Ragged, rows: Ints) -> None:
        start = 0
        for records in parse_exactly(codec, payloads, [name]):
            column = records.columns.get(name)
            if column is not None and column.feature.kind != "bytes":
                chosen = rows[start:][np.flatnonzero(_count_values(name, column, records.num_records))]
                chunk_numbers[chosen], chunk_missing[chosen] = column.numbers(), False
            start += records.num_records

    for first, last in source.split_chunks(positions):
        chunk_numbers, chunk_missing = numbers[first:last], is_missing[first:last]
        source.apply(positions[first:last], read_numbers, "skip")
        on_progress(last - first)
    return numbers, is_missing


def _count_values(name: str, column: Column, num_records: int) -> NDArray[np.int64]:
    """Return the number of values of each record; raise FeatureError if a record has several values."""
    counts = column.counts(num_records)
    if column.feature.sequence or (counts > 1).any():
        raise FeatureError(
            f"feature {name!r} has several values in one record",
            kind="feature_mismatch",
            feature=name,
            expected="at most one value per record",
            found=f"{int(counts.max())} values",
        )
    return counts


def _list_value_per_record(name: str, records: ParsedRecords) -> list[Any]:
    column = records.columns.get(name)
    if column is None:
        return [None] * records.num_records
    counts = _count_values(name, column, records.num_records)
    found = iter(list(column.strings()) if column.feature.kind == "bytes" else column.numbers().tolist())
    return [next(found) if count else None for count in counts.tolist()]

"""Convert the records of a chunk. Payloads are copied as they are, or parsed, changed and serialized again."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from recordmill.concurrency.processes import MAIN_GUARD_HINT, MEMORY_HINT, create_process_executor
from recordmill.conversion.changes import Changes, check_storable
from recordmill.conversion.source import Ints, OnError, Positions, ShardRecords, SkippedRecord
from recordmill.errors import FeatureError, WriteError
from recordmill.formats.base import Format, PayloadCodec
from recordmill.formats.raw import RAW
from recordmill.formats.registry import PAYLOADS, get_format
from recordmill.formats.values import ColumnArgs
from recordmill.schema import Feature, Schema
from recordmill.shards.output import FramedRecords, frame_columns, frame_payloads
from recordmill.shards.parsed import Column, ParsedRecords, parse_exactly
from recordmill.types import Ragged

Keys = list[int | str]
_GRACE_S = 1


@dataclass(frozen=True, slots=True)
class ConvertedChunk:
    """A converted chunk: bytes for the output shards, keys and schemas of the records, and skipped records.

    A schema is None if payloads were copied.
    """

    framed: list[FramedRecords]
    keys: list[Keys]
    schemas: list[Schema | None]
    skipped: list[tuple[int, SkippedRecord]]


@dataclass(slots=True)
class _ConvertedRecords:
    """Records of a chunk in the binary format of the output shard, and the row number of each record in the chunk."""

    rows: Ints
    framed: FramedRecords
    keys: Ints
    schema: Schema | None = field(default=None)


@dataclass(frozen=True, slots=True)
class Converter:
    """Converts chunks of records. Picklable, because it is sent to worker processes.

    Parameters
    ----------
    source : ShardRecords
    format : str
        Name of the format of the new shards.
    payload : str
        Name of the payload codec of the new shards.
    changes : Changes
    on_error : str
    """

    source: ShardRecords
    format: str
    payload: str
    changes: Changes
    on_error: OnError = "stop"

    @property
    def copies_payloads(self) -> bool:
        """True if no record has to be parsed."""
        return self.changes.is_empty and all(
            collection.codec_name == self.payload for collection in self.source.collections
        )

    def check(self) -> None:
        """Raise FeatureError if the output shards cannot store the features that are known before records are read."""
        if not self.copies_payloads:
            known: dict[str, Any] = {}
            for collection in self.source.collections:
                known |= collection.schema
            self.changes.check(known)
            for collection in self.source.collections:
                check_storable(self.changes.change_schema(collection.schema), PAYLOADS[self.payload])

    def convert(self, positions: Positions, first: int) -> ConvertedChunk:
        """Convert the records at the given positions. In the output, they are numbered from `first`."""
        format_, target = get_format(self.format), PAYLOADS[self.payload]

        def convert_payloads(codec: PayloadCodec, payloads: Ragged, rows: Ints) -> list[_ConvertedRecords]:
            if self.changes.is_empty and codec is target:
                return [_ConvertedRecords(rows, frame_payloads(format_, payloads), rows + first)]
            return list(self._convert_columns(format_, target, parse_exactly(codec, payloads), rows, first))

        outcome = self.source.apply(positions, convert_payloads, self.on_error)
        parts = [part for _, result in outcome.results for part in result]
        schemas = [part.schema for part in parts]
        parts = _sort_by_row(parts)
        return ConvertedChunk(
            [part.framed for part in parts], [part.keys.tolist() for part in parts], schemas, outcome.skipped
        )

    def _convert_columns(
        self, format_: Format, target: PayloadCodec, parsed: list[ParsedRecords], rows: Ints, first: int
    ) -> Iterator[_ConvertedRecords]:
        start = 0
        for records in parsed:
            part = rows[start : start + records.num_records]
            start += records.num_records
            changed = self.changes.apply(records)
            check_storable(changed.schema, target)
            yield _frame_records(format_, target, changed, part, first)


def _frame_records(
    format_: Format, target: PayloadCodec, records: ParsedRecords, rows: Ints, first: int
) -> _ConvertedRecords:
    keys, columns = rows + first, records.columns
    schema = Schema({name: _create_feature(column) for name, column in columns.items()})
    if target is RAW:
        return _ConvertedRecords(rows, frame_payloads(format_, next(iter(columns.values())).strings()), keys, schema)
    if target.name == "irheader":
        columns = _complete_image_record(columns, keys)
        schema = Schema({name: column.feature for name, column in columns.items()})
    keyed: Any = target
    is_label_array = target.name == "irheader" and records.has_label_arrays
    args = [
        _convert_to_column_args(
            keyed.native_key(name, schema),
            column,
            scalar=column.feature.shape == () and not (is_label_array and name == "label"),
        )
        for name, column in columns.items()
    ]
    assert target.kind is not None  # noqa: S101 (only RAW has none)
    return _ConvertedRecords(rows, frame_columns(format_, target.kind, len(rows), args), keys, schema)


def _create_feature(column: Column) -> Any:
    """Create the schema entry of a column; the feature is optional if some records lack it."""
    feature = column.feature
    if column.present is None or feature.optional:
        return feature
    return replace(feature, shape=(None,), optional=True)


def _complete_image_record(columns: dict[str, Column], keys: Ints) -> dict[str, Column]:
    """Add default values for missing fields of image records; raise FeatureError if a column cannot be stored."""
    for name, column in columns.items():
        counts = column.counts(len(keys))
        if column.present is not None or (name != "label" and (counts != 1).any()):
            raise FeatureError(
                f"feature {name!r} cannot be stored in a payload of type irheader",
                kind="feature_mismatch",
                feature=name,
                expected="a value in every record" if name == "label" else "one value in every record",
                found="none" if not counts.all() else f"{int(counts.max())} values",
            )
    defaults = {
        "label": Column(Feature("float32"), np.zeros(len(keys), np.float32)),
        "id": Column(Feature("uint64"), keys.astype(np.uint64)),
        "id2": Column(Feature("uint64"), np.zeros(len(keys), np.uint64)),
    }
    return columns | {name: column for name, column in defaults.items() if name not in columns}


def _convert_to_column_args(key: bytes, column: Column, *, scalar: bool) -> ColumnArgs:
    feature = column.feature
    fixed = feature.count if column.row_splits is None or (feature.sequence and column.frame_splits is None) else None
    return ColumnArgs(
        key,
        feature.sequence,
        feature.kind,
        column.values,
        fixed,
        column.row_splits,
        column.frame_splits,
        column.present,
        scalar,
    )


def _sort_by_row(parts: list[_ConvertedRecords]) -> list[_ConvertedRecords]:
    """Sort records by their row number in the chunk. Chunks from a single shard collection are already sorted."""
    rows = np.concatenate([part.rows for part in parts]) if parts else np.empty(0, np.int64)
    if (np.diff(rows) > 0).all():
        return parts
    frames: list[Any] = []
    for part in parts:
        view = memoryview(part.framed.data)
        ends = np.cumsum(part.framed.lengths).tolist()
        frames += [view[start:stop] for start, stop in pairwise([0, *ends])]
    order = np.argsort(rows)
    checksums = [part.framed.checksums for part in parts]
    framed = FramedRecords(
        b"".join([frames[row] for row in order.tolist()]),
        np.concatenate([part.framed.lengths for part in parts])[order],
        None if checksums[0] is None else np.concatenate([sums for sums in checksums if sums is not None])[order],
    )
    return [_ConvertedRecords(rows[order], framed, np.concatenate([part.keys for part in parts])[order])]


_converter: Converter | None = None


@contextmanager
def convert_in_processes(converter: Converter, workers: int) -> Iterator[Callable[[Positions, int], ConvertedChunk]]:
    """Start worker processes, and return a function that converts a chunk in one of them."""
    executor = create_process_executor(workers, _initialize_worker_process, converter)

    def convert(positions: Positions, first: int) -> ConvertedChunk:
        try:
            return executor.submit(_convert_in_worker_process, positions, first).result()
        except BrokenProcessPool as error:
            hint = f"{MEMORY_HINT}; {MAIN_GUARD_HINT}"
            raise WriteError("a worker process ended unexpectedly", hint=hint) from error

    try:
        yield convert
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


def _initialize_worker_process(converter: Converter) -> None:
    global _converter  # noqa: PLW0603 (sent once per process, not with every chunk)
    _converter = converter
    # Ignore or delay signals to the process group, as `pack` does. Otherwise a signal could end a worker process while
    # the process sends a result.
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: signal.alarm(_GRACE_S))


def _convert_in_worker_process(positions: Positions, first: int) -> ConvertedChunk:
    if _converter is None:
        raise RuntimeError("the worker process received no converter")
    chunk = _converter.convert(positions, first)
    # Copy the frames to bytes objects, because the buffers of the native module cannot be pickled.
    return replace(chunk, framed=[replace(part, data=bytes(part.data)) for part in chunk.framed])

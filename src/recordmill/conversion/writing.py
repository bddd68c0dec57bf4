"""Write converted records to the shards of a dataset, and resume after an interruption."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from recordmill.allocator import keep_freed_memory
from recordmill.conversion.converter import ConvertedChunk, Converter, convert_in_processes
from recordmill.conversion.source import Positions, SkippedRecord
from recordmill.datasets.manifest import Manifest
from recordmill.errors import FeatureError, InputError
from recordmill.formats.base import Format
from recordmill.packing.chunks import split_evenly
from recordmill.packing.options import OutputOptions, RunOptions
from recordmill.packing.progress import Progress
from recordmill.packing.resume import RunRecord, TaskRecorder, decode_numbers, digest_of_run
from recordmill.packing.salvage import check_no_source
from recordmill.schema import Schema
from recordmill.shards.dataset_output import DatasetDescription, DatasetOutput
from recordmill.shards.inference import merge_schemas
from recordmill.shards.output import RecordSink, RollingSink, ShardOutput, SingleShardSink
from recordmill.shards.reader import ShardReader


@dataclass(frozen=True, slots=True)
class ConvertResult:
    """Result of `convert`: shard paths, counts, skipped records and warnings.

    Parameters
    ----------
    num_records : int
        Number of records in all shards.
    num_bytes : int
        Uncompressed size of all shards.
    paths : list of str
        Paths of the shards, in order.
    skipped : list of SkippedRecord
        Records that could not be converted, in the order in which they were read.
    warnings : list of str
        Warnings about indexes that could not be written beside their shards, for example because of permissions, and
        about class names that were not kept.
    """

    num_records: int
    num_bytes: int
    paths: list[str]
    skipped: list[SkippedRecord] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def num_skipped(self) -> int:
        """Number of records that were skipped."""
        return len(self.skipped)

    def to_json(self) -> dict[str, Any]:
        """Return the result as a dict that can be written as JSON.

        Returns
        -------
        dict
            ``{"num_records", "num_bytes", "paths", "skipped": [{"shard", "record", "cause"}], "warnings"}``
        """
        return {
            "num_records": self.num_records,
            "num_bytes": self.num_bytes,
            "paths": self.paths,
            "skipped": [record.to_json() for record in self.skipped],
            "warnings": self.warnings,
        }


class SchemaCollector:
    """Merges the features of all chunks of an output into one schema.

    Parameters
    ----------
    declared : Schema, optional
        Features that the writer of the source declared, after all changes. A declaration is kept if the records fit it.
    """

    def __init__(self, declared: Schema | None) -> None:
        self._declared, self._merged = declared, Schema({})
        self._is_known, self._is_first = True, True

    def add(self, schema: Schema | None) -> None:
        """Add the features of a chunk; `schema` is None if they are unknown."""
        if schema is None:
            self._is_known = False
        if schema is None or not self._is_known:
            return
        try:
            self._merged = schema if self._is_first else merge_schemas(self._merged, schema)
            self._is_first = False
        except FeatureError:  # A feature has different types in different chunks, which no schema can express.
            self._is_known = False

    def schema(self) -> Schema | None:
        """Return the merged schema of all chunks; None if it is unknown."""
        if not self._is_known or self._is_first:
            return self._declared if self._is_first else None
        declared = self._declared or Schema({})
        return Schema(
            {
                name: declared[name] if name in declared and _matches_declared(feature, declared[name]) else feature
                for name, feature in self._merged.items()
            }
        )


def _matches_declared(found: Any, declared: Any) -> bool:
    same = (found.kind, found.sequence) == (declared.kind, declared.sequence)
    if found.optional and not (declared.optional or declared.default is not None):
        return False
    return same and (declared.count is None or declared.count == found.count)


# A function that converts one chunk of records. Its arguments are the positions of the records in the source, and the
# position of the first record in the output.
ConvertChunk = Callable[[Positions, int], ConvertedChunk]
StartWorkers = Callable[[Converter, int], AbstractContextManager[ConvertChunk]]


@dataclass(slots=True)
class ShardsWriter:
    """Writes the records at some positions of a source. An instance is used for one run.

    Parameters
    ----------
    converter : Converter
    positions : range or ndarray of int64
        Positions of the records in the source, in the order of the output.
    destination : str
    format : Format
    outputs : OutputOptions
    run : RunOptions
    options : dict
        Further options that determine the records, as JSON values. A resumed run must have the same ones.
    skipped : list of SkippedRecord
        Records that were already skipped during selection.
    start_workers : callable
        Function that takes the converter and the number of workers, and returns a context manager. This yields a
        function that converts a chunk, and that as many threads call. By default, threads or worker processes convert.
    """

    converter: Converter
    positions: Positions
    destination: str
    format: Format
    outputs: OutputOptions
    run: RunOptions
    options: dict[str, Any]
    skipped: list[SkippedRecord] = field(default_factory=list)
    start_workers: StartWorkers | None = None
    _collector: SchemaCollector = field(init=False)

    def __post_init__(self) -> None:
        """Prepare the schema of the output."""
        self._collector = SchemaCollector(self._find_declared_schema())

    def _find_declared_schema(self) -> Schema | None:
        """Return the stored schema of the sources, after the changes that the conversion makes to features.

        Return None if a source has no stored schema, or if the changed schemas differ.
        """
        found = [
            None if one.is_schema_inferred else self.converter.changes.change_schema(one.schema)
            for one in self.converter.source.collections
        ]
        return found[0] if all(schema == found[0] for schema in found) else None

    @property
    def num_records(self) -> int:
        """Number of records to convert."""
        return len(self.positions)

    def write(self, progress: Progress) -> ConvertResult:
        """Write and commit all shards."""
        self.converter.check()
        keep_freed_memory()  # Reuse the memory of chunks, because chunks have similar sizes.
        description = self._build_run_description()
        storage = self.run.choose_output_storage(self.destination)
        dataset = DatasetOutput(storage, self.destination, self.format, self.outputs.shard_options())
        try:
            manifest = dataset.find_finished(digest_of_run(description)) if self.run.resume else None
            if manifest is not None:
                dataset.discard()
                return _summarize_finished_run(dataset, manifest)
            paths = [] if self._has_size_limit else dataset.shard_paths(self._num_shards)
            check_no_source(storage, self.converter.source.paths, [*paths, *dataset.find_other_shards(paths)])
            self._check_shard_count()
            record = RunRecord(storage, dataset.progress_path, description)
            finished = self._restore_shards(dataset, record, paths) if self.run.resume and record.load() else {}
            record.keep_only(finished)
            dataset.remove_leftover_files({shard.temporary for shard in record.finished.values()})
            dataset.check_not_existing(paths)
            record.start()
            shards = self._write_shards(dataset, record, finished, paths, progress)
            schema = self._collector.schema()
            payload = self.converter.payload if schema is not None else None
            classes = self.converter.source.classes
            dataset.commit(shards, DatasetDescription(schema, payload, classes, digest_of_run(description)))
        except BaseException:
            dataset.discard(keep_finished=self.run.resume)
            if not self.run.resume:
                dataset.remove_progress()
            raise
        progress.close()
        return ConvertResult(
            sum(shard.num_records for shard in shards),
            sum(shard.num_bytes for shard in shards),
            [shard.path for shard in shards],
            self.skipped,
            dataset.warnings,
        )

    @property
    def _has_size_limit(self) -> bool:
        return self.outputs.max_shard_bytes is not None

    @property
    def _num_shards(self) -> int:
        return self.outputs.shards or 1

    def _check_shard_count(self) -> None:
        num_records = len(self.positions)
        if self.format.framing.min_payload_bytes and num_records < (1 if self._has_size_limit else self._num_shards):
            raise InputError(
                f"some of the shards would be empty, but readers of {self.format.name} do not support empty shards",
                kind="empty_shard",
                expected=f"at most {num_records} shards" if num_records else "at least one record",
                found=str(self._num_shards) if num_records else "no record",
            )

    def _build_run_description(self) -> dict[str, Any]:
        """Return, as JSON values, all inputs and options that determine the bytes of the shards."""
        import recordmill

        changes = self.converter.changes
        return {
            "version of recordmill": recordmill.__version__,
            "fingerprint of the source": self.converter.source.fingerprint(),
            "number of records": len(self.positions),
            "format": self.format.name,
            "payload": self.converter.payload,
            "shards": self._num_shards,
            "max_shard_bytes": self.outputs.max_shard_bytes,
            "compression": self.outputs.compression,
            "compression_level": self.outputs.compression_level,
            "on_error": self.run.on_error,
            "select": None if changes.select is None else list(changes.select),
            "drop": list(changes.drop),
            "rename": dict(changes.rename),
            "cast": dict(changes.cast),
            "encode": None if changes.recoding is None else asdict(changes.recoding),
            "image_feature": changes.image_feature,
            **self.options,
        }

    def _restore_shards(self, dataset: DatasetOutput, record: RunRecord, paths: list[str]) -> dict[int, ShardOutput]:
        """Reuse the intact shards of an interrupted run.

        If the shard size is limited, only the shards before the first damaged or missing shard are reused. The run
        then writes all further records in order.
        """
        restored: dict[int, ShardOutput] = {}
        for number, shard in sorted(record.finished.items()):
            if self._has_size_limit and number != len(restored):
                break
            skipped = {position for position, *_ in shard.skipped}
            keys: list[int | str] = [row for row in range(shard.start, shard.stop) if row not in skipped]
            checksums = None if shard.checksums is None else decode_numbers(shard.checksums)
            path = f"{dataset.prefix}-{number}" if self._has_size_limit else paths[number]
            output = dataset.restore_shard(path, shard.temporary, shard.num_bytes, keys, checksums)
            if output is not None:
                restored[number] = output
                self.skipped += [SkippedRecord(path, row, cause) for _, row, path, cause in shard.skipped]
        return restored

    def _write_shards(
        self,
        dataset: DatasetOutput,
        record: RunRecord,
        finished: dict[int, ShardOutput],
        paths: list[str],
        progress: Progress,
    ) -> list[ShardOutput]:
        """Write the shards that are not finished; return all shards in order."""
        num_done = sum(record.finished[number].stop - record.finished[number].start for number in finished)
        if num_done:
            progress.advance(num_done)
            self._collector.add(None)
        with self._start_workers() as convert:
            if self._has_size_limit:
                rolling = RollingSink(self.destination, self.outputs.max_shard_bytes or 0, dataset.create_shard)
                rolling.outputs += finished.values()
                span = range(num_done, len(self.positions))
                self._write_records(span, rolling, TaskRecorder(record, span, len(finished)), convert, progress)
                rolling.finish()
                for shard, path in zip(rolling.outputs, dataset.shard_paths(len(rolling.outputs)), strict=True):
                    shard.rename(path)
                return self._check_not_empty(rolling.outputs)
            shards = []
            for number, span in enumerate(split_evenly(len(self.positions), self._num_shards)):
                if number not in finished:
                    sink = SingleShardSink(paths[number], dataset.create_shard)
                    recorder = TaskRecorder(record, span, number)
                    recorder.add_chunk(np.empty(0, np.int64), [])
                    self._write_records(span, sink, recorder, convert, progress)
                    sink.finish()
                    recorder.add_finished(sink.outputs[0], is_last=True)
                    finished[number] = sink.outputs[0]
                shards.append(finished[number])
            return self._check_not_empty(shards)

    def _check_not_empty(self, shards: list[ShardOutput]) -> list[ShardOutput]:
        if self.format.framing.min_payload_bytes and any(shard.num_records == 0 for shard in shards):
            raise InputError(
                f"all records of a shard were skipped, but readers of {self.format.name} do not support empty shards",
                kind="empty_shard",
                hint="use fewer shards",
            )
        return shards

    @contextmanager
    def _start_workers(self) -> Iterator[ConvertChunk]:
        with ExitStack() as stack:
            if self.start_workers is not None:
                yield stack.enter_context(self.start_workers(self.converter, self.run.workers))
            elif self.run.worker_kind == "processes":
                yield stack.enter_context(convert_in_processes(self.converter, self.run.workers))
            else:
                yield self.converter.convert

    def _write_records(
        self,
        span: range,
        sink: RecordSink,
        recorder: TaskRecorder,
        convert: ConvertChunk,
        progress: Progress,
    ) -> None:
        """Convert the records at the output positions `span`, and append the converted records to `sink` in order."""
        first = span.start
        chunks = self.converter.source.map_chunks(
            self.positions[span.start : span.stop],
            lambda part, start: convert(part, span.start + start),
            self.run.workers,
        )
        for count, chunk in chunks:
            for framed, keys in zip(chunk.framed, chunk.keys, strict=True):
                sink.append(framed, keys)
            for schema in chunk.schemas:
                self._collector.add(schema)
            skipped = [(first + row, found.record, found.shard, found.cause) for row, found in chunk.skipped]
            self.skipped += [found for _, found in chunk.skipped]
            recorder.add_chunk(np.zeros(count, np.int64), skipped)
            if self._has_size_limit:
                for output in sink.outputs[recorder.number : -1]:
                    recorder.add_finished(output, is_last=False)
            first += count
            progress.advance(count)


def _summarize_finished_run(dataset: DatasetOutput, manifest: Manifest) -> ConvertResult:
    """Return the result of an earlier run that was interrupted after it had completed all shards."""
    folder = os.path.dirname(dataset.prefix)
    paths = [os.path.join(folder, shard.name) for shard in manifest.shards]
    num_bytes = sum(ShardReader(path).sidecar.end for path in paths)
    return ConvertResult(sum(shard.num_records for shard in manifest.shards), num_bytes, paths)

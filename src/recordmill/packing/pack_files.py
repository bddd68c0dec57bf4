"""Pack the files of a source: create the shard tasks, let workers process them, and commit all shards together."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from recordmill.datasets.manifest import Manifest
from recordmill.errors import ImageError, InputError
from recordmill.formats.base import Format
from recordmill.formats.registry import get_payload
from recordmill.packing.chunks import (
    COPY_LIMITS,
    DECODE_LIMITS,
    REMOTE_LIMITS,
    Chunk,
    ChunkQueue,
    Order,
    shuffle_positions,
    split_evenly,
)
from recordmill.packing.links import OUTSIDE
from recordmill.packing.options import ImageOptions, OutputOptions, RecordOptions, RunOptions
from recordmill.packing.progress import Progress
from recordmill.packing.record_schema import build_schema_and_convert_labels
from recordmill.packing.records import ChunkRecords, RecordBuilder
from recordmill.packing.resume import (
    RunRecord,
    SkippedItem,
    TaskRecorder,
    check_unchanged,
    decode_numbers,
    describe_run,
    digest_of_run,
    find_keys,
)
from recordmill.packing.sources.base import Items
from recordmill.packing.workers import ShardTask, TaskRunner, WorkerProcesses
from recordmill.shards.dataset_output import DatasetDescription, DatasetOutput
from recordmill.shards.output import RecordSink, RollingSink, ShardOutput, SingleShardSink, check_output_compression
from recordmill.shards.reader import open_reader
from recordmill.storage.base import Storage


@dataclass(frozen=True, slots=True)
class PackResult:
    """Result of `pack`: shard paths, counts, skipped images and warnings.

    Parameters
    ----------
    num_records : int
        Number of records in all shards.
    num_bytes : int
        Uncompressed size of all shards.
    paths : list of str
        Paths of the shards, in order.
    skipped : list of (str, str)
        Path and cause of each image that was skipped, in the order of the source.
    warnings : list of str
        One message for each index that could not be written beside its shard, for example because of permissions.
        `pack` also emits each message as a RuntimeWarning.
    """

    num_records: int
    num_bytes: int
    paths: list[str]
    skipped: list[tuple[str, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def num_skipped(self) -> int:
        """Number of images that were skipped."""
        return len(self.skipped)

    def to_json(self) -> dict[str, Any]:
        """Return the result as a dict that can be written as JSON.

        Returns
        -------
        dict
            ``{"num_records", "num_bytes", "paths", "skipped": [{"path", "cause"}], "warnings"}``
        """
        return {
            "num_records": self.num_records,
            "num_bytes": self.num_bytes,
            "paths": self.paths,
            "skipped": [{"path": path, "cause": cause} for path, cause in self.skipped],
            "warnings": self.warnings,
        }


@dataclass(frozen=True, slots=True)
class PackRun:
    """Everything that determines which bytes a run writes to its shards.

    Parameters
    ----------
    items : Items
        Items of the source, with labels of the kind that is stored.
    order : ndarray of int64, or None
        Position in the source of each packed item.
    builder : RecordBuilder
    description : dict
        Result of `describe_run`.
    """

    items: Items
    order: Order
    builder: RecordBuilder
    description: dict[str, Any]


@dataclass(slots=True)
class ShardPacker:
    """Builds records from items, and writes the records to the shards of several tasks.

    Parameters
    ----------
    items : Items
    order : ndarray of int64, or None
        Position in `items` of each packed item.
    builder : RecordBuilder
    options : RunOptions
    check_chunk : callable
        Called with each chunk before its records are written; it may raise an error.
    on_appended : callable
        Called after a chunk is written, with the task, the chunk, and the skipped items of the chunk as in
        `FinishedShard`.
    on_finished : callable
        Called with each task whose shards are finished.
    """

    items: Items
    order: Order
    builder: RecordBuilder
    options: RunOptions
    check_chunk: Callable[[Chunk], None] = lambda _: None
    on_appended: Callable[[ShardTask, Chunk, list[SkippedItem]], None] = lambda *_: None
    on_finished: Callable[[ShardTask], None] = lambda _: None
    # (position in `items`, path, cause) of each skipped item.
    skipped: list[tuple[int, str, str]] = field(default_factory=list, init=False)

    def create_queue(self, span: range) -> ChunkQueue:
        """Create a queue of chunks for a range of the output order."""
        images = self.builder.options
        decodes = images.recoding is not None or images.mask == "raw" or images.check == "decode"
        limits = REMOTE_LIMITS if self.builder.storage.is_remote else DECODE_LIMITS if decodes else COPY_LIMITS
        return ChunkQueue(self.items, self.order, span, limits)

    def run(self, tasks: list[ShardTask], progress: Progress) -> None:
        """Process all tasks, and finish their shards."""
        with ExitStack() as stack:
            build = self.builder.build
            if self.options.worker_kind == "processes":
                build = stack.enter_context(WorkerProcesses(self.builder, self.options.workers)).build
            TaskRunner(
                tasks,
                build,
                on_built=self._check_chunk_failures,
                on_appended=self._collect_skipped_items,
                on_written=lambda chunk: progress.advance(chunk.stop - chunk.start),
                on_finished=self.on_finished,
                num_workers=self.options.workers,
            ).run()
        for task in tasks:
            if not task.sink.outputs:
                task.sink.finish()

    def _check_chunk_failures(self, chunk: Chunk, records: ChunkRecords) -> None:
        """Raise an error for the first unusable image of a chunk, unless such images are skipped."""
        self.check_chunk(chunk)
        if records.failures and self.options.on_error == "stop":
            row = min(records.failures)
            raise self._image_error(self._find_source_position(chunk.start + row), *records.failures[row])

    def _collect_skipped_items(self, task: ShardTask, chunk: Chunk, records: ChunkRecords) -> None:
        skipped = [
            (chunk.start + row, self._find_source_position(chunk.start + row), *records.failures[row])
            for row in sorted(records.failures)
        ]
        self.skipped += [(position, path, cause) for _, position, path, cause in skipped]
        self.on_appended(task, chunk, skipped)

    def _find_source_position(self, position: int) -> int:
        """Convert a position in the output order to a position in the source."""
        return position if self.order is None else int(self.order[position])

    def _image_error(self, position: int, path: str, cause: str) -> ImageError:
        origin = self.items.describe_origin(position)
        context = f"listed in {origin}; " if origin else ""
        is_outside = cause.startswith(OUTSIDE)
        accept = "allow_outside=True to accept such images, or " if is_outside else ""
        return ImageError(
            f"the image cannot be packed: {cause}",
            kind="outside_root" if is_outside else "bad_image",
            shard=path,
            hint=f'{context}use {accept}on_error="skip" to skip and report such images',
        )


@dataclass(slots=True)
class FilePacker:
    """Packs the files of one source. An instance is used for one run."""

    items: Items
    destination: str
    format: Format
    outputs: OutputOptions
    records: RecordOptions
    images: ImageOptions
    options: RunOptions
    storage: Storage | None = None

    def choose_storage(self) -> Storage:
        """Return the storage for the destination."""
        return self.storage or self.options.choose_output_storage(self.destination)

    def prepare(self, seed: int | None) -> PackRun:
        """Check the source and the options, and build a `PackRun` from them."""
        codec = get_payload(self.records.payload, self.format)
        self._check_option_combinations()
        names, schema, items = build_schema_and_convert_labels(
            self.items, self.format, codec, self.records, self.images
        )
        if self.outputs.max_shard_bytes is None:
            self._check_shard_count()
        builder = RecordBuilder(self.format.name, codec.name, names, schema, self.images, self.items.storage)
        run = describe_run(
            self.items, self.format.name, codec.name, self.outputs, self.records, self.images, self.options, seed
        )
        return PackRun(items, shuffle_positions(len(items), seed), builder, run)

    def run(self, seed: int | None, progress: Progress) -> PackResult:
        """Write and commit all shards."""
        run = self.prepare(seed)
        packer = ShardPacker(
            run.items,
            run.order,
            run.builder,
            self.options,
            on_appended=self._pass_chunk_to_recorder,
            on_finished=self._add_to_progress_file,
        )
        storage = self.choose_storage()
        dataset = DatasetOutput(storage, self.destination, self.format, self.outputs.shard_options())
        resume, digest = self.options.resume, digest_of_run(run.description)
        try:
            manifest = dataset.find_finished(digest) if resume else None
            if manifest is not None:
                dataset.discard()
                return describe_finished(dataset.prefix, manifest, storage)
            record = RunRecord(storage, dataset.progress_path, run.description)
            finished = self._restore_shards(dataset, record, run) if resume and record.load() else {}
            record.keep_only(finished)
            dataset.remove_leftover_files({shard.temporary for shard in record.finished.values()})
            dataset.check_not_existing(self.expected_paths(dataset))
            record.start()
            if finished:
                progress.advance(_add_skipped_items(packer, record))
            tasks = self._create_tasks(dataset, record, finished, packer)
            packer.run(tasks, progress)
            shards = self._collect_shards(dataset, finished, tasks)
            dataset.commit(shards, describe_dataset(run.builder, self.items.classes, digest))
        except BaseException:
            dataset.discard(keep_finished=resume)
            if not resume:
                dataset.remove_progress()
            raise
        progress.close()
        return PackResult(
            num_records=sum(shard.num_records for shard in shards),
            num_bytes=sum(shard.num_bytes for shard in shards),
            paths=[shard.path for shard in shards],
            skipped=[(path, cause) for _, path, cause in sorted(packer.skipped)],
            warnings=dataset.warnings,
        )

    def expected_paths(self, dataset: DatasetOutput) -> list[str]:
        """Return the final paths of the shards; an empty list if the number of shards is not known yet."""
        return [] if self._has_size_limit else dataset.shard_paths(self.outputs.shards or 1)

    def _restore_shards(self, dataset: DatasetOutput, record: RunRecord, run: PackRun) -> dict[int, ShardOutput]:
        """Reuse intact shards of an interrupted run. If the shard size is limited, reuse none after a damaged shard."""
        restored: dict[int, ShardOutput] = {}
        paths = self.expected_paths(dataset)
        for shard in record.finished.values():
            check_unchanged(shard, run.items, run.order)
        for number, shard in sorted(record.finished.items()):
            if self._has_size_limit and number != len(restored):
                break
            path = f"{dataset.prefix}-{number}" if self._has_size_limit else paths[number]
            checksums = None if shard.checksums is None else decode_numbers(shard.checksums)
            keys = find_keys(shard, run.items, run.order)
            output = dataset.restore_shard(path, shard.temporary, shard.num_bytes, keys, checksums)
            if output is not None:
                restored[number] = output
        return restored

    def _collect_shards(
        self, dataset: DatasetOutput, finished: dict[int, ShardOutput], tasks: list[ShardTask]
    ) -> list[ShardOutput]:
        """Return all shards in order, with their final names."""
        if self._has_size_limit:
            shards = tasks[0].sink.outputs
            dataset.rename_shards(shards)
        else:
            new = (shard for task in tasks for shard in task.sink.outputs)
            num_shards = self.outputs.shards or 1
            shards = [finished[number] if number in finished else next(new) for number in range(num_shards)]
        check_no_empty_shard(self.format, shards)
        return shards

    @property
    def _has_size_limit(self) -> bool:
        """True if a size limit, and not a number of shards, determines where a shard ends."""
        return self.outputs.max_shard_bytes is not None

    def _check_option_combinations(self) -> None:
        recoding, has_masks = self.images.recoding, self.items.masks is not None
        check_output_compression(self.format, self.outputs.compression)
        if has_masks and recoding is not None and recoding.exif:
            raise ValueError(
                "exif cannot be combined with pairs of image and mask, because masks contain no EXIF orientation"
            )
        if not has_masks and self.images.mask != "png":
            raise ValueError(f"mask={self.images.mask!r} requires pairs of image and mask, but the source has no masks")

    def _check_shard_count(self) -> None:
        num_shards, num_items = self.outputs.shards or 1, len(self.items)
        if num_shards > num_items and self.format.framing.min_payload_bytes:
            raise InputError(
                f"some of the shards would be empty, but readers of {self.format.name} do not support empty shards",
                kind="empty_shard",
                expected=f"at most {num_items} shards",
                found=str(num_shards),
            )

    def _create_tasks(
        self, dataset: DatasetOutput, record: RunRecord, finished: dict[int, ShardOutput], packer: ShardPacker
    ) -> list[ShardTask]:
        """Create the tasks for the shards that are not finished."""

        def create_task(span: range, number: int, sink: RecordSink) -> ShardTask:
            return ShardTask(packer.create_queue(span), sink, TaskRecorder(record, span, number))

        if self.outputs.max_shard_bytes is not None:
            sink = RollingSink(self.destination, self.outputs.max_shard_bytes, dataset.create_shard)
            sink.outputs += finished.values()
            start = record.finished[len(finished) - 1].stop if finished else 0
            return [create_task(range(start, len(self.items)), len(finished), sink)]
        num_shards = self.outputs.shards or 1
        paths, spans = dataset.shard_paths(num_shards), split_evenly(len(self.items), num_shards)
        return [
            create_task(span, number, SingleShardSink(path, dataset.create_shard))
            for number, (path, span) in enumerate(zip(paths, spans, strict=True))
            if number not in finished
        ]

    def _pass_chunk_to_recorder(self, task: ShardTask, chunk: Chunk, skipped: list[SkippedItem]) -> None:
        """Pass the stamps and the skipped items of a chunk to the recorder of its task.

        If the shard size is limited, also add the shards that are full to the progress file.
        """
        if task.recorder is not None:
            task.recorder.add_chunk(chunk.stamps, skipped)
            if self._has_size_limit:
                for output in task.sink.outputs[task.recorder.number : -1]:
                    task.recorder.add_finished(output, is_last=False)

    def _add_to_progress_file(self, task: ShardTask) -> None:
        """Add the shard of a finished task to the progress file.

        If the shard size is limited, do nothing, because `_pass_chunk_to_recorder` has already added the full shards.
        """
        if task.recorder is not None and not self._has_size_limit:
            task.recorder.add_finished(task.sink.outputs[0], is_last=True)


def describe_dataset(builder: RecordBuilder, classes: list[str] | None, digest: str) -> DatasetDescription:
    """Return the description of a packed dataset for its manifest and its sidecars."""
    return DatasetDescription(builder.schema, builder.payload, classes, digest)


def describe_finished(prefix: str, manifest: Manifest, storage: Storage) -> PackResult:
    """Return the result of an earlier run that was interrupted after its shards were complete."""
    folder = os.path.dirname(prefix)
    paths = [os.path.join(folder, shard.name) for shard in manifest.shards]
    num_bytes = sum(open_reader([path], storage).sidecar.end for path in paths)
    return PackResult(sum(shard.num_records for shard in manifest.shards), num_bytes, paths)


def check_no_empty_shard(format_: Format, shards: Sequence[ShardOutput]) -> None:
    """Raise ImageError if a shard has no record and readers of the format do not support empty shards."""
    if format_.framing.min_payload_bytes and any(shard.num_records == 0 for shard in shards):
        raise ImageError(
            f"all images of a shard were skipped, but readers of {format_.name} do not support empty shards",
            kind="empty_shard",
            hint="use fewer shards",
        )


def _add_skipped_items(packer: ShardPacker, record: RunRecord) -> int:
    """Add the skipped items of restored shards to `packer`; return the number of all items in these shards."""
    shards = record.finished.values()
    packer.skipped += [(position, path, cause) for shard in shards for _, position, path, cause in shard.skipped]
    return sum(shard.stop - shard.start for shard in shards)

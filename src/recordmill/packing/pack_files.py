"""Pack the files of a source: create the shard tasks, let workers process them, and commit all shards together."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from recordmill.errors import ImageError, InputError
from recordmill.formats.base import Format
from recordmill.formats.registry import get_payload
from recordmill.packing.chunks import (
    COPY_LIMITS,
    DECODE_LIMITS,
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
from recordmill.packing.sources.base import Items
from recordmill.packing.workers import ShardTask, TaskRunner, WorkerProcesses
from recordmill.shards.dataset_output import DatasetDescription, DatasetOutput
from recordmill.shards.output import RecordSink, RollingSink, ShardOutput, SingleShardSink, check_output_compression
from recordmill.storage.base import Storage
from recordmill.storage.local import LOCAL


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
    storage: Storage = LOCAL
    # (position in the source, path, cause) of each skipped item.
    _skipped: list[tuple[int, str, str]] = field(default_factory=list, init=False)

    def run(self, seed: int | None, progress: Progress) -> tuple[list[ShardOutput], list[tuple[str, str]]]:
        """Write and commit all shards; return the shards, and the path and cause of each skipped item."""
        codec = get_payload(self.records.payload, self.format)
        self._check_combinations()
        names, schema, items = build_schema_and_convert_labels(
            self.items, self.format, codec, self.records, self.images
        )
        builder = RecordBuilder(self.format.name, codec.name, names, schema, self.images)
        order = shuffle_positions(len(items), seed)
        dataset = DatasetOutput(self.storage, self.destination, self.format, self.outputs.shard_options())
        try:
            dataset.remove_leftover_files()
            tasks = self._create_tasks(dataset, items, order)
            self._run_tasks(builder, tasks, order, progress)
            shards = [shard for task in tasks for shard in task.sink.outputs]
            if self.outputs.max_shard_bytes is not None:
                for shard, path in zip(shards, dataset.shard_paths(len(shards)), strict=True):
                    shard.rename(path)
            self._check_no_empty_shard(shards)
            dataset.commit(shards, DatasetDescription(schema, codec.name, self.items.classes))
        except BaseException:
            dataset.discard()
            raise
        progress.close()
        return shards, [(path, cause) for _, path, cause in sorted(self._skipped)]

    def _check_combinations(self) -> None:
        recoding, has_masks = self.images.recoding, self.items.masks is not None
        check_output_compression(self.format, self.outputs.compression)
        if has_masks and recoding is not None and recoding.exif:
            raise ValueError(
                "exif cannot be combined with pairs of image and mask: masks have no EXIF data and would not be rotated"
            )
        if not has_masks and self.images.mask != "png":
            raise ValueError(f"mask={self.images.mask!r} requires pairs of image and mask, but the source has no masks")

    def _create_tasks(self, dataset: DatasetOutput, items: Items, order: Order) -> list[ShardTask]:
        images = self.images
        decodes = images.recoding is not None or images.mask == "raw" or images.check == "decode"
        limits = DECODE_LIMITS if decodes else COPY_LIMITS
        if self.outputs.max_shard_bytes is not None:
            dataset.check_not_existing([])
            sink: RecordSink = RollingSink(self.destination, self.outputs.max_shard_bytes, dataset.create_shard)
            return [ShardTask(ChunkQueue(items, order, range(len(items)), limits), sink)]
        num_shards = self.outputs.shards or 1
        if num_shards > len(items) and self.format.framing.min_payload_bytes:
            raise InputError(
                f"some of {num_shards} shards would be empty, which readers of {self.format.name} do not support",
                kind="empty_shard",
                expected=f"at most {len(items)} shards",
                found=str(num_shards),
            )
        paths = dataset.shard_paths(num_shards)
        dataset.check_not_existing(paths)
        return [
            ShardTask(ChunkQueue(items, order, span, limits), SingleShardSink(path, dataset.create_shard))
            for path, span in zip(paths, split_evenly(len(items), num_shards), strict=True)
        ]

    def _check_no_empty_shard(self, shards: Sequence[ShardOutput]) -> None:
        if self.format.framing.min_payload_bytes and any(shard.num_records == 0 for shard in shards):
            raise ImageError(
                f"all images of a shard were skipped, but readers of {self.format.name} do not support empty shards",
                kind="empty_shard",
                hint="use fewer shards",
            )

    def _run_tasks(self, builder: RecordBuilder, tasks: list[ShardTask], order: Order, progress: Progress) -> None:
        def source_position(chunk: Chunk, row: int) -> int:
            return chunk.start + row if order is None else int(order[chunk.start + row])

        def on_built(chunk: Chunk, records: ChunkRecords) -> None:
            if records.failures and self.options.on_error == "stop":
                row = min(records.failures)
                raise self._image_error(source_position(chunk, row), *records.failures[row])

        def on_written(chunk: Chunk, records: ChunkRecords) -> None:
            self._skipped += [(source_position(chunk, row), *failure) for row, failure in records.failures.items()]
            progress.advance(chunk.stop - chunk.start)

        with ExitStack() as stack:
            build = builder.build
            if self.options.worker_kind == "processes":
                build = stack.enter_context(WorkerProcesses(builder, self.options.workers)).build
            TaskRunner(tasks, build, on_built, on_written, self.options.workers).run()
        for task in tasks:
            if not task.sink.outputs:
                task.sink.finish()

    def _image_error(self, position: int, path: str, cause: str) -> ImageError:
        origin = self.items.describe_origin(position)
        context = f"listed in {origin}; " if origin else ""
        is_outside = cause.startswith(OUTSIDE)
        accept = "allow_outside=True accepts such images, " if is_outside else ""
        return ImageError(
            f"the image cannot be packed: {cause}",
            kind="outside_root" if is_outside else "bad_image",
            shard=path,
            hint=f'{context}{accept}on_error="skip" skips such images and reports them',
        )

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
from recordmill.shards.foreign_index import foreign_index_path
from recordmill.shards.output import (
    RecordSink,
    RollingSink,
    ShardOutput,
    SingleShardSink,
    check_output_compression,
    commit_outputs,
)
from recordmill.shards.shard_names import build_shard_paths, check_leftover_shards, remove_leftover_shards
from recordmill.storage.base import Storage, output_exists_error
from recordmill.storage.compression import SUFFIXES, check_compression
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
        tasks = self._create_tasks(items, order)
        try:
            self._run_tasks(builder, tasks, order, progress)
            shards = [shard for task in tasks for shard in task.sink.outputs]
            if self.outputs.max_shard_bytes is not None:
                for shard, path in zip(shards, self._shard_paths(len(shards)), strict=True):
                    shard.rename(path)
            self._check_no_empty_shard(shards)
            commit_outputs(shards, schema, codec.name)
            if self.outputs.overwrite:
                remove_leftover_shards(
                    self.storage, self.destination, self.format, self._suffix, [shard.path for shard in shards]
                )
        except BaseException:
            for task in tasks:
                for shard in task.sink.outputs:
                    shard.discard()
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

    @property
    def _suffix(self) -> str:
        return SUFFIXES[check_compression(self.outputs.compression)]

    def _shard_paths(self, num_shards: int) -> list[str]:
        return build_shard_paths(self.destination, self.format, num_shards, self._suffix)

    def _create_shard(self, path: str) -> ShardOutput:
        return ShardOutput(
            path,
            self.format,
            storage=self.storage,
            compression=check_compression(self.outputs.compression),
            level=self.outputs.compression_level,
            overwrite=self.outputs.overwrite,
            index=self.outputs.index,
        )

    def _create_tasks(self, items: Items, order: Order) -> list[ShardTask]:
        images = self.images
        decodes = images.recoding is not None or images.mask == "raw" or images.check == "decode"
        limits = DECODE_LIMITS if decodes else COPY_LIMITS
        if self.outputs.max_shard_bytes is not None:
            self._check_no_existing_shards([])
            sink: RecordSink = RollingSink(self.destination, self.outputs.max_shard_bytes, self._create_shard)
            return [ShardTask(ChunkQueue(items, order, range(len(items)), limits), sink)]
        num_shards = self.outputs.shards or 1
        if num_shards > len(items) and self.format.framing.min_payload_bytes:
            raise InputError(
                f"some of {num_shards} shards would be empty, which readers of {self.format.name} do not support",
                kind="empty_shard",
                expected=f"at most {len(items)} shards",
                found=str(num_shards),
            )
        paths = self._shard_paths(num_shards)
        self._check_no_existing_shards(paths)
        return [
            ShardTask(ChunkQueue(items, order, span, limits), SingleShardSink(path, self._create_shard))
            for path, span in zip(paths, split_evenly(len(items), num_shards), strict=True)
        ]

    def _check_no_existing_shards(self, paths: Sequence[str]) -> None:
        """Raise OutputExistsError before any work if a shard at `paths` or its index file (such as ``.idx``) exists."""
        if self.outputs.overwrite:
            return
        index = self.format.index if self.format.index_on_write else None
        for name in [*paths, *(foreign_index_path(path, index.suffix) for path in paths if index is not None)]:
            if self.storage.exists(name):
                raise output_exists_error(name)
        check_leftover_shards(self.storage, self.destination, self.format, self._suffix, paths)

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

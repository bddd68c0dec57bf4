"""Packs the files of a source: lanes are made, emptied by workers, and committed together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from recordmill.errors import ImageError, InputError
from recordmill.formats.base import Format
from recordmill.formats.registry import get_payload
from recordmill.packing.job import Job, Packed
from recordmill.packing.options import ImageOptions, OutputOptions, RecordOptions, RunOptions
from recordmill.packing.plan import PASS_THROUGH, RECODED, Chunk, Order, Queue, make_order, split_evenly
from recordmill.packing.progress import Progress
from recordmill.packing.records import describe_records
from recordmill.packing.result import PackResult
from recordmill.packing.sources.base import Items
from recordmill.packing.workers import Lane, LaneRunner
from recordmill.shards.foreign_index import foreign_index_path
from recordmill.shards.output import (
    RollingSink,
    ShardOutput,
    SingleShardSink,
    Sink,
    check_output_compression,
    commit_outputs,
)
from recordmill.shards.shard_names import check_leftover_shards, remove_leftover_shards, shard_paths
from recordmill.storage.base import output_exists
from recordmill.storage.compression import SUFFIXES, check_compression
from recordmill.storage.local import LOCAL

Show = bool | Callable[[int, int | None], object] | None


@dataclass(slots=True)
class FilePacking:
    """One call of `pack` on a source of files.

    Parameters
    ----------
    items : Items
    destination : str
    format : Format
    outputs : OutputOptions
    records : RecordOptions
    images : ImageOptions
    options : RunOptions
    """

    items: Items
    destination: str
    format: Format
    outputs: OutputOptions
    records: RecordOptions
    images: ImageOptions
    options: RunOptions
    skipped: list[tuple[int, str, str]] = field(default_factory=list, init=False)

    def run(self, seed: int | None, show: Show) -> PackResult:
        """Pack everything."""
        codec = get_payload(self.records.payload, self.format)
        check_output_compression(self.format, self.outputs.compression)
        if self.items.masks is not None and self.images.recoding is not None and self.images.recoding.exif:
            raise ValueError("exif is not for pairs: masks carry no EXIF, and would not be rotated with their images")
        if self.items.masks is None and self.images.mask != "png":
            raise ValueError(f"mask={self.images.mask!r} is for pairs of images and masks; this source has no masks")
        names, schema, items = describe_records(self.items, self.format, codec, self.records, self.images)
        job = Job(self.format.name, codec.name, names, schema, self.images)
        order = make_order(len(items), seed)
        lanes = self._lanes(items, order)
        progress = Progress(len(items), show)
        try:
            self._run_lanes(job, lanes, order, progress)
            written = [output for lane in lanes for output in lane.sink.outputs]
            if self.outputs.max_shard_bytes is not None:
                for output, path in zip(written, self._paths(len(written)), strict=True):
                    output.rename(path)
            self._refuse_empty_parts(written)
            commit_outputs(written, schema, codec.name)
            if self.outputs.overwrite:
                new = [output.path for output in written]
                remove_leftover_shards(LOCAL, self.destination, self.format, self._suffix, new)
        except BaseException:
            for lane in lanes:
                for output in lane.sink.outputs:
                    output.discard()
            raise
        progress.close()
        found = [(path, cause) for _, path, cause in sorted(self.skipped)]
        num_records, num_bytes = (sum(getattr(one, name) for one in written) for name in ("num_records", "num_bytes"))
        return PackResult(num_records, num_bytes, [output.path for output in written], found)

    @property
    def _suffix(self) -> str:
        return SUFFIXES[check_compression(self.outputs.compression)]

    def _paths(self, num_shards: int) -> list[str]:
        return shard_paths(self.destination, self.format, num_shards, self._suffix)

    def _begin(self, path: str) -> ShardOutput:
        return ShardOutput(
            path,
            self.format,
            storage=LOCAL,
            compression=check_compression(self.outputs.compression),
            level=self.outputs.compression_level,
            overwrite=self.outputs.overwrite,
            index=self.outputs.index,
        )

    def _lanes(self, items: Items, order: Order) -> list[Lane]:
        touches_pixels = self.images.recoding is not None or self.images.mask == "raw" or self.images.check == "decode"
        limits = RECODED if touches_pixels else PASS_THROUGH
        if self.outputs.max_shard_bytes is not None:
            self._refuse_existing([])
            sink: Sink = RollingSink(self.destination, self.outputs.max_shard_bytes, self._begin)
            return [Lane(Queue(items, order, range(len(items)), limits), sink)]
        num_shards = self.outputs.shards or 1
        if num_shards > len(items) and self.format.framing.min_payload_bytes:
            raise InputError(
                f"{num_shards} shards would leave some empty, which readers of {self.format.name} do not survive",
                kind="empty_shard",
                expected=f"at most {len(items)} shards",
                found=str(num_shards),
            )
        paths = self._paths(num_shards)
        self._refuse_existing(paths)
        spans = split_evenly(len(items), num_shards)
        return [
            Lane(Queue(items, order, span, limits), SingleShardSink(path, self._begin))
            for path, span in zip(paths, spans, strict=True)
        ]

    def _refuse_existing(self, paths: Sequence[str]) -> None:
        """Look at all names before the work, not only when it is done."""
        index = self.format.index if self.format.index_on_write else None
        names = [*paths, *(foreign_index_path(path, index.suffix) for path in paths if index is not None)]
        for name in names:
            if not self.outputs.overwrite and LOCAL.exists(name):
                raise output_exists(name)
        if not self.outputs.overwrite:
            check_leftover_shards(LOCAL, self.destination, self.format, self._suffix, paths)

    def _refuse_empty_parts(self, written: Sequence[ShardOutput]) -> None:
        if self.format.framing.min_payload_bytes and any(output.num_records == 0 for output in written):
            raise ImageError(
                f"a shard is empty, as its images were skipped, which readers of {self.format.name} do not survive",
                kind="empty_shard",
                hint="use fewer shards",
            )

    def _run_lanes(self, job: Job, lanes: list[Lane], order: Order, progress: Progress) -> None:
        def position(chunk: Chunk, row: int) -> int:
            return chunk.start + row if order is None else int(order[chunk.start + row])

        def on_packed(chunk: Chunk, packed: Packed) -> None:
            if packed.failures and self.options.on_error == "stop":
                row = min(packed.failures)
                raise self._unreadable(position(chunk, row), *packed.failures[row])

        def on_written(chunk: Chunk, packed: Packed) -> None:
            self.skipped += [(position(chunk, row), *found) for row, found in packed.failures.items()]
            progress.advance(chunk.stop - chunk.start)

        with ExitStack() as stack:
            run = job.run
            if self.options.worker_kind == "processes":
                from recordmill.packing.workers import ProcessPool

                run = stack.enter_context(ProcessPool(job, self.options.workers)).pack
            LaneRunner(lanes, run, on_packed, on_written).run(self.options.workers)
        for lane in lanes:
            if not lane.sink.outputs:
                lane.sink.finish()

    def _unreadable(self, position: int, path: str, cause: str) -> ImageError:
        place = self.items.describe_origin(position)
        listed = f"listed in {place}; " if place else ""
        hint = f'{listed}on_error="skip" leaves such images out and lists them'
        return ImageError(f"an image cannot be packed: {cause}", kind="bad_image", shard=path, hint=hint)

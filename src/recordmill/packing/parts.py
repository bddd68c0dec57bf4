"""`pack_part` and `finish_pack`: pack the parts of a plan, and commit the shards when all parts are packed."""

from __future__ import annotations

import os
import platform
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from recordmill.concurrency.threads import map_range, num_cpus
from recordmill.datasets.lock import read_lock_owner
from recordmill.datasets.manifest import Manifest, load_manifest, manifest_path
from recordmill.datasets.shard_names import (
    LOCK_SUFFIX,
    build_shard_path,
    build_shard_paths,
    dataset_file_path,
    find_temporary_files,
)
from recordmill.errors import PlanError, ResumeError
from recordmill.formats.registry import get_format
from recordmill.packing.chunks import Chunk
from recordmill.packing.options import RunOptions, WorkerKind
from recordmill.packing.pack_files import (
    PackResult,
    ShardPacker,
    check_no_empty_shard,
    describe_dataset,
    describe_finished,
)
from recordmill.packing.part_items import PartItems, parse_part
from recordmill.packing.part_record import (
    PackedShard,
    PartRecord,
    PreparedShard,
    is_intact,
    load_part_record,
    record_path,
    write_part_record,
)
from recordmill.packing.plan import PackPlan
from recordmill.packing.progress import Progress
from recordmill.packing.resume import decode_numbers, encode_numbers, find_versions
from recordmill.packing.sources.base import add_remote_files
from recordmill.packing.workers import ShardTask
from recordmill.shards.dataset_output import DatasetOutput
from recordmill.shards.output import RecordSink, RollingSink, ShardOutput, SingleShardSink, check_output_compression
from recordmill.storage.addresses import describe_path, is_address
from recordmill.storage.compression import SUFFIXES
from recordmill.suggestions import suggest_arguments

# Maximum number of missing parts that an error message lists.
_MAX_LISTED = 8


@suggest_arguments
def pack_part(plan: PackPlan, part: int, *, workers: int | None = 1, worker_kind: WorkerKind = "threads") -> PackResult:
    """Pack one part of a plan: write its shards under temporary names in the folder of the destination.

    The same part may be packed repeatedly, even by several processes at the same time: every attempt writes the same
    bytes, and a part that is already packed and intact is skipped. If a process fails or is killed, only its part has
    to be packed again.

    Parameters
    ----------
    plan : PackPlan
        Result of `plan_pack`.
    part : int
        Number of the part, from 0 to ``plan.num_parts - 1``.
    workers : int or None
        Number of worker threads or processes; None for the number of available processors.
    worker_kind : str
        Kind of the workers. Either "threads" or "processes".

    Returns
    -------
    PackResult
        Counts and skipped images of this part. Its `paths` are the final paths, which the shards get in `finish_pack`.

    Raises
    ------
    PlanError
        If an image has changed since the plan was made, if this process has other package versions than the process
        that made the plan, or if the plan is not found at the destination. The attribute `part` is the number of the
        part, and `shard` is the image.
    ImageError
        If an image cannot be used. The error names the file.
    ResumeError
        If an earlier run has packed the part, and an image has changed between that run and the plan.
    OutputExistsError, WriteError
        If a shard exists, the folder is not writable, or the disk is full.
    IndexError
        If the plan has no such part.

    Examples
    --------
    >>> Path("photos/cat").mkdir(parents=True)
    >>> Path("photo.jpg").rename("photos/cat/1.jpg").exists()
    True
    >>> plan = rm.plan_pack("photos", "out/train")
    >>> rm.pack_part(plan, 0).num_records
    1
    """
    if not 0 <= part < plan.num_parts:
        raise IndexError(f"part must be from 0 to {plan.num_parts - 1}, got {part}")
    options = RunOptions(num_cpus() if workers is None else workers, worker_kind, plan.on_error)
    _check_versions(plan, part)
    items = _load_items(plan, part)
    if items is None:
        return _describe_committed_part(plan, part)
    storage, folder = plan.choose_storage(), os.path.dirname(plan.destination)
    record = load_part_record(storage, record_path(plan.destination, plan.digest, part))
    if record is None or not all(is_intact(storage, folder, shard) for shard in record.shards):
        record = _PartWriter(plan, part, items, options).write()
    else:
        _check_unchanged(part, items, decode_numbers(record.stamps))
    return _build_result(folder, [record])


def _check_versions(plan: PackPlan, part: int) -> None:
    """Raise PlanError if the package versions of this process differ from the versions in the plan."""
    for name, version in find_versions(plan.builder).items():
        if version != plan.versions.get(name):
            raise PlanError(
                f"the version of {name} on {platform.node()} differs from the version that was used to make the plan",
                kind="different_version",
                part=part,
                expected=plan.versions.get(name, "none"),
                found=version,
                hint="install the same versions on all machines, because they determine the bytes of the shards",
            )


def _load_items(plan: PackPlan, part: int) -> PartItems | None:
    """Read the items of a part; return None if the plan was finished. Raise PlanError if the plan is not found."""
    path = os.path.join(os.path.dirname(plan.destination), plan.items_file)
    start, stop = plan.offsets[part : part + 2]
    if not plan.items_file:
        return None
    try:
        part_items = parse_part(bytes(plan.choose_storage().open([path]).read(start, stop - start)))
    except FileNotFoundError:
        if _load_committed_manifest(plan) is not None:
            return None
        _raise_missing_plan(plan, part)
    except ValueError as error:
        raise PlanError(
            f"the file with the items of the part is damaged: {error}",
            kind="bad_plan",
            part=part,
            shard=path,
            hint="make the plan again with resume=True to keep the packed parts",
        ) from None
    return replace(part_items, items=add_remote_files(part_items.items, None))


def _raise_missing_plan(plan: PackPlan, part: int | None) -> NoReturn:
    folder = os.path.dirname(plan.destination)
    exists = os.path.isdir(folder) or is_address(folder)
    reason = "" if exists else ", because this folder does not exist on this machine"
    raise PlanError(
        f"{platform.node()} cannot find the plan in {folder}{reason}",
        kind="missing_plan",
        part=part,
        hint="make the destination accessible under this path on every machine; make the plan again if another writer "
        "has taken over the destination",
    )


def _load_committed_manifest(plan: PackPlan) -> Manifest | None:
    """Return the manifest of the dataset; return None if the plan is not finished."""
    manifest = load_manifest(plan.choose_storage(), manifest_path(plan.destination))
    return manifest if manifest is not None and manifest.source_digest == plan.digest else None


def _describe_committed_part(plan: PackPlan, part: int) -> PackResult:
    manifest = _load_committed_manifest(plan)
    if manifest is None:
        _raise_missing_plan(plan, part)
    shards = manifest.shards if plan.outputs.max_shard_bytes is not None else manifest.shards[part : part + 1]
    return describe_finished(plan.destination, replace(manifest, shards=shards), plan.choose_storage())


def _check_unchanged(part: int, items: PartItems, stamps: NDArray[np.uint32]) -> None:
    """Raise ResumeError if an image changed after an earlier run packed the part and before this plan was made."""
    if not np.array_equal(stamps, items.stamps):
        changed = np.flatnonzero(stamps != items.stamps) if len(stamps) == len(items.stamps) else [0]
        raise ResumeError(
            f"part {part} cannot be resumed: an image has changed since the part was packed",
            kind="changed_input",
            shard=describe_path(items.items.paths()[int(changed[0])]),
            hint="restore the image, or make the plan without resume=True to start again",
        )


class _PartWriter:
    """Writes the shards of one part of a plan, and a file that describes them. An instance is used once."""

    def __init__(self, plan: PackPlan, part: int, items: PartItems, options: RunOptions) -> None:
        self._plan, self._part, self._items, self._options = plan, part, items, options
        self._format = get_format(plan.builder.format)
        self._compression = check_output_compression(self._format, plan.outputs.compression)
        self._outputs: list[ShardOutput] = []
        self._storage = plan.choose_storage()

    def write(self) -> PartRecord:
        """Write the shards and the record of the part. If an error occurs, remove the shards."""
        plan = self._plan
        try:
            sink = self._create_record_sink()
            items, check = self._items.items, self._check_images_unchanged
            builder = replace(plan.builder, storage=items.storage)
            packer = ShardPacker(items, None, builder, self._options, check_chunk=check)
            task = ShardTask(packer.create_queue(range(len(self._items.items))), sink)
            packer.run([task], Progress(None, False))
            self._rename_shards()
            check_no_empty_shard(self._format, self._outputs)
            record = PartRecord(
                list(map(self._prepare_shard, self._outputs)),
                [(int(self._items.positions[row]), path, cause) for row, path, cause in packer.skipped],
                encode_numbers(self._items.stamps),
                [text for output in self._outputs for text in output.warnings],
            )
            if not self._storage.exists(os.path.join(os.path.dirname(plan.destination), plan.items_file)):
                _raise_missing_plan(plan, self._part)
            write_part_record(self._storage, record_path(plan.destination, plan.digest, self._part), record)
        except BaseException:
            for output in self._outputs:
                output.discard()
            raise
        return record

    def _create_record_sink(self) -> RecordSink:
        plan = self._plan
        if plan.outputs.max_shard_bytes is not None:
            return RollingSink(plan.destination, plan.outputs.max_shard_bytes, self._create_shard)
        suffix = SUFFIXES[self._compression]
        path = build_shard_path(plan.destination, self._format, self._part, plan.num_parts, suffix)
        return SingleShardSink(path, self._create_shard)

    def _create_shard(self, path: str) -> ShardOutput:
        outputs = self._plan.outputs
        output = ShardOutput(
            path,
            self._format,
            storage=self._storage,
            compression=self._compression,
            level=outputs.compression_level,
            overwrite=outputs.overwrite,
            index=outputs.index,
        )
        self._outputs.append(output)
        return output

    def _rename_shards(self) -> None:
        """If the shard size is limited, set the final paths of the shards.

        The final paths contain the total number of shards, which is known only after all shards are written.
        """
        if self._plan.outputs.max_shard_bytes is not None:
            suffix = SUFFIXES[self._compression]
            paths = build_shard_paths(self._plan.destination, self._format, len(self._outputs), suffix)
            for output, path in zip(self._outputs, paths, strict=True):
                output.rename(path)

    def _check_images_unchanged(self, chunk: Chunk) -> None:
        """Raise PlanError if an image of a chunk has changed since the plan was made."""
        changed = np.flatnonzero(chunk.stamps != self._items.stamps[chunk.start : chunk.stop])
        if len(changed):
            raise PlanError(
                "the image has changed since the plan was made",
                kind="changed_input",
                part=self._part,
                shard=describe_path(chunk.items.paths()[int(changed[0])]),
                hint="restore the image, or make the plan again with resume=True to keep the packed parts",
            )

    def _prepare_shard(self, output: ShardOutput) -> PackedShard:
        builder, classes = self._plan.builder, self._plan.classes
        entry = output.prepare(builder.schema, builder.payload, classes)
        return PackedShard(
            entry.name, entry.num_bytes, output.num_bytes, entry.num_records, entry.fingerprint, output.list_renames()
        )


def _build_result(folder: str, records: Sequence[PartRecord]) -> PackResult:
    shards = [shard for record in records for shard in record.shards]
    return PackResult(
        num_records=sum(shard.num_records for shard in shards),
        num_bytes=sum(shard.num_bytes for shard in shards),
        paths=[os.path.join(folder, shard.name) for shard in shards],
        skipped=[
            (path, cause) for _, path, cause in sorted(skipped for record in records for skipped in record.skipped)
        ],
        warnings=[text for record in records for text in record.warnings],
    )


@suggest_arguments
def finish_pack(plan: PackPlan) -> PackResult:
    """Check that all parts of a plan are packed, write the manifest, and give the shards their final names.

    The size of each shard and the checksums of eight of its blocks are compared with the record of its part. If the
    plan was finished before, the result has the same counts, but lists no skipped images.

    Parameters
    ----------
    plan : PackPlan
        Result of `plan_pack`.

    Returns
    -------
    PackResult

    Raises
    ------
    PlanError
        If a part is missing or damaged, or if the plan is not found at the destination. The attribute `part` is the
        number of the first missing or damaged part. The other parts are kept.
    OutputExistsError
        If a shard with one of the new names exists.
    DestinationLockedError
        If another writer has taken over the destination.
    ImageError
        If all images of a shard were skipped, and readers of the format do not support empty shards.
    WriteError
        If the folder is not writable or the disk is full.

    Examples
    --------
    >>> Path("photos/cat").mkdir(parents=True)
    >>> Path("photo.jpg").rename("photos/cat/1.jpg").exists()
    True
    >>> plan = rm.plan_pack("photos", "out/train")
    >>> _ = rm.pack_part(plan, 0)
    >>> rm.finish_pack(plan).paths == [os.path.abspath("out/train-00000-of-00001.tfrecord")]
    True
    """
    prefix, folder = plan.destination, os.path.dirname(plan.destination)
    storage = plan.choose_storage()
    items_path = os.path.join(folder, plan.items_file)
    if not plan.items_file or not storage.exists(items_path):
        return _describe_committed_dataset(plan)
    format_, outputs = get_format(plan.builder.format), plan.outputs
    owner = read_lock_owner(storage, dataset_file_path(prefix, LOCK_SUFFIX))
    is_own_lock = owner is not None and owner.token == plan.lock
    options = replace(outputs, break_lock=outputs.break_lock or is_own_lock)
    dataset = DatasetOutput(storage, prefix, format_, options.shard_options())
    try:
        # If `DatasetOutput` has just completed an interrupted commit of this plan, the items file no longer exists.
        if not storage.exists(items_path):
            dataset.discard()
            return _describe_committed_dataset(plan)
        records = _load_records(plan, folder)
        shards = [
            PreparedShard(storage, folder, format_, outputs, shard) for record in records for shard in record.shards
        ]
        renamed = {rename.old for record in records for shard in record.shards for rename in shard.renames}
        leftover = [path for path in find_temporary_files(storage, prefix) if os.path.basename(path) not in renamed]
        dataset.commit(shards, describe_dataset(plan.builder, plan.classes, plan.digest))
    except BaseException:
        dataset.discard()
        raise
    result = _build_result(folder, records)
    for path in leftover:
        storage.remove(path)
    for text in result.warnings:
        warnings.warn(text, RuntimeWarning, stacklevel=2)
    return result


def _describe_committed_dataset(plan: PackPlan) -> PackResult:
    manifest = _load_committed_manifest(plan)
    if manifest is None:
        _raise_missing_plan(plan, None)
    return describe_finished(plan.destination, manifest, plan.choose_storage())


def _load_records(plan: PackPlan, folder: str) -> list[PartRecord]:
    """Read the records of all parts; raise PlanError if a part is missing or damaged."""
    storage = plan.choose_storage()

    def load(part: int) -> PartRecord | None:
        record = load_part_record(storage, record_path(plan.destination, plan.digest, part))
        is_complete = record is not None and all(is_intact(storage, folder, shard) for shard in record.shards)
        return record if is_complete else None

    records = map_range(load, plan.num_parts)
    missing = [part for part, record in enumerate(records) if record is None]
    if missing:
        listed = ", ".join(map(str, missing[:_MAX_LISTED])) + (", …" if len(missing) > _MAX_LISTED else "")
        raise PlanError(
            f"{len(missing):,} of {plan.num_parts:,} parts are missing or damaged: {listed}",
            kind="missing_part",
            part=missing[0],
            hint="call pack_part(plan, part) for each of these parts, then finish_pack(plan) again",
        )
    return [record for record in records if record is not None]

"""`convert`: write the records of shards, or the samples of a dataset, to new shards of any format."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from recordmill.concurrency.threads import num_cpus
from recordmill.conversion.changes import Changes
from recordmill.conversion.converter import Converter
from recordmill.conversion.selection import Selection, parse_condition, select_records
from recordmill.conversion.source import Positions as RecordPositions, ShardRecords, open_sources
from recordmill.conversion.stream import StreamWriter, prepare_workers
from recordmill.conversion.writing import ConvertResult, ShardsWriter
from recordmill.formats.base import Format, PayloadCodec
from recordmill.formats.raw import RAW
from recordmill.formats.registry import PAYLOADS, choose_format, get_payload
from recordmill.packing.options import OnError, OutputOptions, RunOptions, WorkerKind, build_recoding
from recordmill.packing.progress import Progress, ProgressOption
from recordmill.packing.recode import Encoding
from recordmill.pipeline.compiled_pipeline import CompiledPipeline, SourceOrigin
from recordmill.pipeline.dataset import Dataset
from recordmill.pipeline.samples import Positions
from recordmill.pipeline.stages.base import OrderStage
from recordmill.shards.collection import ShardCollection
from recordmill.shards.index import IndexMode
from recordmill.shards.output import check_output_compression
from recordmill.shards.paths import Paths
from recordmill.storage.addresses import check_output_path
from recordmill.storage.choose import StorageOptions
from recordmill.suggestions import suggest_arguments


@suggest_arguments
def convert(  # noqa: PLR0913 (the options of one command)
    source: Paths | Dataset,
    destination: str | os.PathLike[str],
    *,
    where: str | None = None,
    sample: float | None = None,
    skip: int = 0,
    take: int | None = None,
    shuffle: int | None = None,
    select: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    rename: Mapping[str, str] | None = None,
    cast: Mapping[str, str] | None = None,
    encode: Encoding | None = None,
    quality: int | None = None,
    resize: int | None = None,
    image_feature: str | None = None,
    format: str | None = None,  # noqa: A002
    payload: str | None = None,
    compression: str | None = None,
    compression_level: int = -1,
    shards: int | None = None,
    max_shard_bytes: int | None = None,
    workers: int | None = 1,
    worker_kind: WorkerKind = "threads",
    resume: bool = False,
    on_error: OnError = "stop",
    progress: ProgressOption = None,
    overwrite: bool = False,
    index: IndexMode = "auto",
    break_lock: bool = False,
    storage_options: StorageOptions = None,
) -> ConvertResult:
    """Write the records of shards, or the samples of a dataset, to new shards of any format.

    The options take effect in the order in which they are listed. If no feature changes and the payload type is the
    same, payloads are copied without parsing them. Otherwise records are parsed and serialized again; the kind of a
    feature changes only with `cast`. Shards get their names together, after all of them are complete.

    Parameters
    ----------
    source : path, pattern, folder, iterable of them, or Dataset
        Several sources become one dataset; their formats may differ. A dataset must not be batched. Functions of a
        dataset run on every sample, and their results are written.
    destination : path
        Prefix of the shard names, a folder with a trailing slash, or the name of a single shard.
    where : str, optional
        Condition that records must meet, such as ``"label == 3 and width > 200"``: comparisons, ``and``, ``or``,
        ``not``, ``in``, arithmetic, ``len()``, numbers and strings. A feature that a record lacks is None.
    sample : float, optional
        Probability with which each record is kept. The choice is the same in each run with the same `shuffle`.
    skip : int
        Number of records to drop at the beginning.
    take : int, optional
        Maximum number of records to keep after `skip`.
    shuffle : int, optional
        Seed of a random order of the records.
    select : sequence of str, optional
        Names of the features to keep.
    drop : sequence of str
        Names of the features to remove.
    rename : mapping of str to str, optional
        New names by old names.
    cast : mapping of str to str, optional
        New kinds of numbers by old names: "float32", "float64", "int32", "int64" or "uint64". An integer that would
        change raises an error.
    encode, quality, resize : optional
        Encoding of images, as in `pack`.
    image_feature : str, optional
        Name of the image for `encode`; by default a usual name, such as ``image``, or the only feature of bytes.
    format : str, optional
        Format of the new shards, such as "tfrecord", "ofrecord" or "recordio"; by default the format that
        matches the suffix of `destination`, otherwise the format of the source.
    payload : str, optional
        Encoding of the records; by default that of the source if the format stays the same, otherwise the usual
        encoding of the new format. One of "example", "sequence_example", "ofrecord", "irheader" or "raw".
    compression : str, optional
        Compression of whole files (TFRecord only). Either "gzip" or "zlib".
    compression_level : int
        Level from 0 to 9, or -1 for the default of the compression.
    shards : int, optional
        Number of shards, 1 by default. Each contains consecutive records; samples of a dataset with functions are
        distributed round-robin.
    max_shard_bytes : int, optional
        Uncompressed size in bytes above which a new shard starts; cannot be combined with `shards`.
    workers : int or None
        Number of worker threads or processes; None for the number of available processors.
    worker_kind : str
        Kind of the workers. Functions of a dataset must be picklable for processes. Either "threads" or "processes".
    resume : bool
        Continue an interrupted run with the same source and options, as in `pack`.
    on_error : str
        Treatment of records that cannot be read or converted: "stop" raises an error, "skip" reports them in the
        result.
    progress : bool or callable, optional
        Whether to show progress on standard error, as in `pack`.
    overwrite : bool
        Whether to replace existing shards.
    index : str
        "auto" stores a sidecar index beside each shard. With "never", the first `open` builds it.
    break_lock : bool
        Write although another process has locked the destination.
    storage_options : mapping of str to object, optional
        Settings for addresses such as ``s3://bucket/train``, as in `open`.

    Returns
    -------
    ConvertResult

    Raises
    ------
    DamageError
        If a record is damaged; the error has shard, record and offset. No shard is written.
    FeatureError
        If the new payload cannot store a feature, or an option names an unknown one. The error names the feature.
    WhereError
        If the condition is invalid; the error points at the column.
    OutputExistsError
        If a shard with one of the new names exists.
    InputError
        If the destination would replace a source, or if there are too few records for the shards.
    ResumeError
        If the source or the options differ from those of the interrupted run.
    ValueError
        If an option is invalid, or cannot be combined with another one.

    Examples
    --------
    >>> rm.convert("train.tfrecord", "out/train", where="label >= 6", payload="ofrecord", format="ofrecord").num_records
    2
    >>> [int(example["label"]) for example in rm.open("out/train")]
    [6, 7]
    """
    options = ConvertOptions(
        where=where,
        sample=sample,
        skip=skip,
        take=take,
        shuffle=shuffle,
        select=select,
        drop=drop,
        rename=rename,
        cast=cast,
        encode=encode,
        quality=quality,
        resize=resize,
        image_feature=image_feature,
        format=format,
        payload=payload,
        compression=compression,
        compression_level=compression_level,
        shards=shards,
        max_shard_bytes=max_shard_bytes,
        workers=workers,
        worker_kind=worker_kind,
        resume=resume,
        on_error=on_error,
        overwrite=overwrite,
        index=index,
        break_lock=break_lock,
        storage_options=storage_options,
    )
    writer = create_writer(source, destination, options)
    return writer.write(Progress(writer.num_records, progress))


@dataclass(frozen=True, slots=True)
class ConvertOptions:
    """The options of `convert` with their defaults. `convert` explains their meaning."""

    where: str | None = None
    sample: float | None = None
    skip: int = 0
    take: int | None = None
    shuffle: int | None = None
    select: Sequence[str] | None = None
    drop: Sequence[str] = ()
    rename: Mapping[str, str] | None = None
    cast: Mapping[str, str] | None = None
    encode: Encoding | None = None
    quality: int | None = None
    resize: int | None = None
    image_feature: str | None = None
    format: str | None = None
    payload: str | None = None
    compression: str | None = None
    compression_level: int = -1
    shards: int | None = None
    max_shard_bytes: int | None = None
    workers: int | None = 1
    worker_kind: WorkerKind = "threads"
    resume: bool = False
    on_error: OnError = "stop"
    overwrite: bool = False
    index: IndexMode = "auto"
    break_lock: bool = False
    storage_options: StorageOptions = None

    def output_options(self) -> OutputOptions:
        """Return the options of the output shards."""
        return OutputOptions(
            self.shards,
            self.max_shard_bytes,
            self.compression,
            self.compression_level,
            self.overwrite,
            self.index,
            self.break_lock,
        )

    def change_options(self) -> Changes:
        """Return the options that change features."""
        recoding = build_recoding(
            encode=self.encode,
            quality=self.quality,
            resize=self.resize,
            center_crop=False,
            color=None,
            exif=False,
            restart_markers=None,
        )
        select = None if self.select is None else tuple(self.select)
        return Changes(select, tuple(self.drop), self.rename or {}, self.cast or {}, recoding, self.image_feature)

    def run_options(self) -> RunOptions:
        """Return the options that control the execution, such as workers and errors."""
        workers = num_cpus() if self.workers is None else self.workers
        return RunOptions(workers, self.worker_kind, self.on_error, self.resume, self.storage_options)


def create_writer(
    source: Paths | Dataset, destination: str | os.PathLike[str], options: ConvertOptions
) -> ShardsWriter | StreamWriter:
    """Open the source, select its records, and return a writer that converts and writes these records."""
    selection = Selection(options.where, options.sample, options.skip, options.take, options.shuffle)
    changes, outputs, run = options.change_options(), options.output_options(), options.run_options()
    target = check_output_path(destination)
    if not target:
        raise ValueError("destination must not be empty: it is the prefix of the shard names, such as 'out/train'")
    if isinstance(source, Dataset) and source.batch_stage is not None:
        raise ValueError("convert() requires a dataset without batch(), because it writes single records")
    opened = open_records(source, options.storage_options)
    collections = [] if isinstance(opened, Dataset) else opened[0].collections
    format_ = choose_output_format(target, options.format, collections)
    codec = choose_output_payload(options.payload, format_, collections)
    check_output_compression(format_, options.compression)
    if isinstance(opened, Dataset):
        return StreamWriter(prepare_workers(opened, run), selection, changes, codec, target, format_, outputs, run)
    records, positions = opened
    converter = Converter(records, format_.name, codec.name, changes, options.on_error)
    converter.check()
    if options.where is not None:
        parse_condition(options.where, [collection.schema for collection in collections])
    selected = select_records(records, positions, selection, options.on_error, run.workers)
    return ShardsWriter(
        converter, selected.positions, target, format_, outputs, run, asdict(selection), selected.skipped
    )


def open_records(
    source: Paths | Dataset, storage_options: StorageOptions = None
) -> tuple[ShardRecords, RecordPositions] | Dataset:
    """Return the records of a source, and the positions of the records to write, in output order.

    A dataset is returned unchanged, unless it is finite and only reorders or selects the records of shards.
    """
    if not isinstance(source, Dataset):
        records = open_sources(source, storage_options)
        return records, range(len(records))
    origin = source.origin
    if not isinstance(origin, SourceOrigin) or not isinstance(origin.source, ShardCollection):
        return source
    stages = source.pipeline.stages
    if not all(isinstance(stage, OrderStage) for stage in stages) or source.pipeline.length is None:
        return source
    positions = Positions(0, range(source.pipeline.length))
    for number in range(len(stages) - 1, -1, -1):
        positions = stages[number].map_positions(positions, CompiledPipeline(origin, stages[:number]).length)
    values = positions.values
    is_consecutive = isinstance(values, range) and values.step == 1
    return ShardRecords([origin.source]), values if is_consecutive else np.asarray(values)


def choose_output_format(destination: str, name: str | None, collections: Sequence[Any]) -> Format:
    """Choose the output format.

    It is the format `name` if given, else the format with the suffix of the destination, else the source format.
    """
    stem = destination.removesuffix(".gz").removesuffix(".zlib")
    chosen = choose_format(stem, name)
    formats = {collection.readers[0].format for collection in collections}
    if name is None and not stem.endswith(chosen.suffixes) and len(formats) == 1:
        return choose_format(stem, formats.pop())
    return chosen


def choose_output_payload(name: str | None, format_: Format, collections: Sequence[Any]) -> PayloadCodec:
    """Choose the payload codec.

    It is the codec `name` if given. Otherwise, it is the source codec if that is raw or the format does not change, and
    else the default codec of the format.
    """
    names = {collection.codec_name for collection in collections}
    formats = {collection.readers[0].format for collection in collections}
    if name is None and len(names) == 1 and (formats == {format_.name} or names == {RAW.name}):
        return PAYLOADS[names.pop()]
    return get_payload(name, format_)

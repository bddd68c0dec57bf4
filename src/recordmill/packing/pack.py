"""`pack`: write image files or examples to shards."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from recordmill.errors import InputError
from recordmill.formats.registry import choose_format
from recordmill.packing.chunks import shuffle_positions
from recordmill.packing.options import (
    Check,
    ImageOptions,
    LabelKind,
    MaskForm,
    OnError,
    OutputOptions,
    PackOptions,
    RecordOptions,
    RunOptions,
    WorkerKind,
    check_destination,
)
from recordmill.packing.pack_files import FilePacker, PackResult
from recordmill.packing.progress import Progress, ProgressOption
from recordmill.packing.recode import Encoding
from recordmill.packing.sources import Source, detect_source
from recordmill.schema import Schema
from recordmill.shards.build_index import build_entry_points
from recordmill.shards.index import IndexMode
from recordmill.shards.writer import ShardWriter
from recordmill.storage.choose import StorageOptions
from recordmill.suggestions import suggest_arguments


@suggest_arguments
def pack(  # noqa: PLR0913 (the options of one command)
    source: Source | str | os.PathLike[str] | Iterable[Mapping[str, Any] | bytes],
    destination: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
    shards: int | None = None,
    max_shard_bytes: int | None = None,
    payload: str | None = None,
    compression: str | None = None,
    compression_level: int = -1,
    image_feature: str | None = None,
    label_feature: str | None = None,
    label_kind: LabelKind | None = None,
    keep_shape: bool = False,
    keep_name: bool | str = False,
    encode: Encoding | None = None,
    quality: int | None = None,
    resize: int | None = None,
    center_crop: bool | int = False,
    color: bool | None = None,
    exif: bool = False,
    restart_markers: bool | None = None,
    mask: MaskForm = "png",
    shuffle: int | None = None,
    workers: int | None = 1,
    worker_kind: WorkerKind = "threads",
    check: Check | bool = "signature",
    on_error: OnError = "stop",
    progress: ProgressOption = None,
    overwrite: bool = False,
    schema: Schema | None = None,
    entry_points: bool = False,
    index: IndexMode = "auto",
    resume: bool = False,
    break_lock: bool = False,
    storage_options: StorageOptions = None,
) -> PackResult:
    """Write image files or examples to shards.

    Image files are stored unchanged unless `encode` is given. The bytes of the shards do not depend on the number
    and kind of workers. Shards get their names together, after all of them are complete.

    Parameters
    ----------
    source : Source, path, or iterable of mappings or bytes
        Source of image files: `ImageFolder`, `LabelFile`, `ListFile`, `Table`, `ImagePairs`, or a path, for which one
        of these is chosen. Or an iterable of examples (mappings from feature names to values) or payloads (bytes),
        which are written as with `ShardWriter`.
    destination : path
        Prefix of the shard names, or the name of a single shard.
    format : str, optional
        Record format, such as "tfrecord", "ofrecord" or "recordio"; by default derived from the suffix of `destination`
        (such as ``.rec``), else TFRecord.
    shards : int, optional
        Number of shards, 1 by default. Each shard contains consecutive records; the sizes of the shards differ by at
        most one record.
    max_shard_bytes : int, optional
        Uncompressed size in bytes above which a new shard starts; cannot be combined with `shards`.
    payload : str, optional
        Encoding of the records; by default the usual one of the format. One of "example", "sequence_example",
        "ofrecord", "irheader" or "raw".
    compression : str, optional
        Compression of whole files (TFRecord only). Either "gzip" or "zlib".
    compression_level : int
        Level from 0 to 9, or -1 for the default of the compression.
    image_feature, label_feature : str, optional
        Names of the features; by default ``images`` and ``labels`` in OFRecord, otherwise ``image`` and ``label``.
        Masks are stored as `label_feature`.
    label_kind : str, optional
        Kind of the labels: "int32", "int64", "float32", or "vector" for float32 vectors. By default, integers are
        stored as int64 (OFRecord: int32, image records: float32), and other numbers as float32.
    keep_shape : bool
        Whether to store the features ``height`` and ``width`` of each image.
    keep_name : bool or str
        Whether to store the file name as the source lists it. True stores it as feature ``name``; a string is the name
        of another feature.
    encode : str, optional
        Encoding to which each image is converted (needs Pillow). PNG and TIFF keep palette indices, transparency and
        16-bit gray. JPEG and WebP replace palette indices by colors and raise an error for 16-bit images; JPEG drops
        transparency. One of "jpeg", "png", "tiff" or "webp".
    quality : int, optional
        Quality of JPEG and WebP from 1 to 100; 95 by default.
    resize : int, optional
        New length of the shorter side in pixels; the longer side becomes ``longer * resize // shorter``. Images are
        resized bilinearly with antialiasing, masks and palette images by nearest neighbor.
    center_crop : bool or int
        True crops the largest centered square before resizing. A number crops a centered square of that many pixels
        after resizing.
    color : bool, optional
        True converts to RGB, False to gray; None keeps the colors of the file.
    exif : bool
        Whether to rotate images by their EXIF orientation.
    restart_markers : bool, optional
        Whether to write a restart marker after each row of blocks of JPEG images. A crop can then be decoded without
        the rows above it. True by default; files become 0.1 % larger.
    mask : str
        How masks are stored. "png" stores the bytes of the mask file, "raw" stores its values as an array of uint8 or
        little-endian uint16 with the features ``height``, ``width`` and ``dtype``.
    shuffle : int, optional
        Seed of a random permutation of all records.
    workers : int or None
        Number of worker threads or processes; None for the number of available processors.
    worker_kind : str
        Kind of the workers. Either "threads" or "processes".
    check : str or bool
        Part of each image file that is validated: "signature" is its first bytes, "header" (or True) its header,
        "decode" all pixels, "none" (or False) nothing.
    on_error : str
        Treatment of images that cannot be used: "stop" raises an error, "skip" reports them in the result.
    progress : bool or callable, optional
        Whether to show progress on standard error; by default only if it is a terminal. A callable is called with the
        number of finished records and the total number, which is None if unknown.
    overwrite : bool
        Whether to replace existing shards.
    schema : Schema, optional
        Schema of examples; by default it is inferred.
    entry_points : bool
        Whether to store entry points of JPEG images beside the shards, as `build_index` does. Entry points are
        positions at which decoding of a crop can start. Images that are encoded with restart markers do not need them.
    index : str
        "auto" stores a sidecar index beside each shard. With "never", the first `open` builds it.
    resume : bool
        Continue an interrupted run with the same source and options: finished shards are checked and kept, and the
        final bytes equal those of a run without interruption. If there is nothing to resume, start a new run. If this
        run ends early, keep its finished shards, so that the next run can resume. Requires a source of files.
    break_lock : bool
        Whether to write even if another process has locked the destination. The lock of a dead process of this machine
        is always ignored. Use this only for the lock of a process on another machine, if you know that this process no
        longer runs.
    storage_options : mapping of str to object, optional
        Settings for addresses such as ``s3://bucket/train``, as in `open`: those of the destination, and of a source
        that is a path.

    Returns
    -------
    PackResult

    Raises
    ------
    InputError, MissingInputError, LabelError, ImageError
        If the source, a label or an image does not exist or cannot be used. No shard is written.
    UnsupportedPathError
        If the addresses of the source or the destination are not supported.
    OutputExistsError
        If a shard with one of the new names exists and `overwrite` is False.
    DestinationLockedError
        If another writer is writing to the same destination.
    ResumeError
        If the source or the options differ from those of the interrupted run; the error names the difference.
    WriteError
        If the folder is not writable or the disk is full. No shard is written.
    FeatureError
        If the payload cannot store a feature.
    ValueError
        If an option is invalid, or cannot be combined with another one.

    Examples
    --------
    >>> Path("photos/cat").mkdir(parents=True)
    >>> Path("photo.jpg").rename("photos/cat/1.jpg").exists()
    True
    >>> rm.pack(rm.ImageFolder("photos"), "out/train", format="recordio", workers=1).num_records
    1
    """
    if entry_points and index == "never":
        raise ValueError(
            'entry_points=True cannot be combined with index="never", because entry points are stored beside each shard'
        )
    options = PackOptions(
        format=format,
        shards=shards,
        max_shard_bytes=max_shard_bytes,
        payload=payload,
        compression=compression,
        compression_level=compression_level,
        image_feature=image_feature,
        label_feature=label_feature,
        label_kind=label_kind,
        keep_shape=keep_shape,
        keep_name=keep_name,
        encode=encode,
        quality=quality,
        resize=resize,
        center_crop=center_crop,
        color=color,
        exif=exif,
        restart_markers=restart_markers,
        mask=mask,
        shuffle=shuffle,
        workers=workers,
        worker_kind=worker_kind,
        check=check,
        on_error=on_error,
        overwrite=overwrite,
        index=index,
        resume=resume,
        break_lock=break_lock,
    )
    outputs, images, records, run = (
        options.output_options(),
        options.image_options(),
        options.record_options(),
        replace(options.run_options(), storage_options=storage_options),
    )
    destination = check_destination(destination)
    format_ = choose_format(destination, format)
    if isinstance(source, str | os.PathLike):
        source = detect_source(source, storage_options)
    if isinstance(source, Source):
        if schema is not None:
            raise ValueError("schema is only supported for examples; a source of files determines its own schema")
        items = source.rows()
        packer = FilePacker(items, destination, format_, outputs, records, images, run)
        result = packer.run(shuffle, Progress(len(items), progress))
    else:
        if images != ImageOptions(check=images.check) or records != RecordOptions(payload) or resume:
            raise ValueError(
                "resume and the options of images and labels require a source of files; examples are written unchanged"
            )
        result = _pack_examples(source, destination, format_.name, outputs, payload, schema, shuffle, progress, run)
    if entry_points:
        storage = run.choose_output_storage(destination)
        for path in result.paths:
            build_entry_points(path, format=format_.name, compression=compression, threads=run.workers, storage=storage)
    return result


def _pack_examples(  # noqa: PLR0913, PLR0917 (the options of `pack`)
    source: Iterable[Mapping[str, Any] | bytes],
    destination: str,
    format_: str,
    outputs: OutputOptions,
    payload: str | None,
    schema: Schema | None,
    seed: int | None,
    show: ProgressOption,
    run: RunOptions,
) -> PackResult:
    if isinstance(source, Mapping) or not isinstance(source, Iterable):
        raise InputError(
            "the source cannot be packed",
            kind="bad_source",
            expected="a source of files, or an iterable of mappings or bytes",
            found=type(source).__name__,
        )
    total = len(source) if isinstance(source, Sequence) else None
    if seed is not None:
        source = _shuffle_examples(source, seed)
    progress = Progress(total, show)
    with ShardWriter(
        destination,
        format=format_,
        shards=outputs.shards,
        max_shard_bytes=outputs.max_shard_bytes,
        payload=payload,
        schema=schema,
        compression=outputs.compression,
        compression_level=outputs.compression_level,
        overwrite=outputs.overwrite,
        index=outputs.index,
        break_lock=outputs.break_lock,
        storage_options=run.storage_options,
    ) as writer:
        for example in source:
            writer.write(example)
            progress.advance(1)
    progress.close()
    storage = run.choose_output_storage(destination)
    num_bytes = sum(storage.stat(path).num_bytes for path in writer.paths)
    return PackResult(writer.num_records, num_bytes, writer.paths, warnings=writer.warnings)


def _shuffle_examples(source: Iterable[Any], seed: int) -> Iterable[Any]:
    if not isinstance(source, Sequence):
        raise InputError(
            "examples must be a sequence if they are shuffled",
            kind="bad_source",
            expected="len() and indexing",
            found=type(source).__name__,
            hint="convert the examples to a list, or omit shuffle=",
        )
    order = shuffle_positions(len(source), seed)
    return (source[position] for position in (() if order is None else order.tolist()))

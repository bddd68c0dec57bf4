"""`pack`: image files or examples become shards."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, cast

from recordmill.concurrency.threads import num_cpus
from recordmill.formats.registry import format_for
from recordmill.packing.labels import LabelKind
from recordmill.packing.options import (
    Check,
    ImageOptions,
    MaskForm,
    OnError,
    OutputOptions,
    RecordOptions,
    RunOptions,
    WorkerKind,
    make_recoding,
)
from recordmill.packing.pack_examples import pack_examples
from recordmill.packing.pack_files import FilePacking, Show
from recordmill.packing.recode import Encoding
from recordmill.packing.result import PackResult
from recordmill.packing.sources import Source, detect_source
from recordmill.schema import Schema
from recordmill.shards.build_index import build_entry_points
from recordmill.shards.index import IndexMode


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
    progress: Show = None,
    overwrite: bool = False,
    schema: Schema | None = None,
    entry_points: bool = False,
    index: IndexMode = "auto",
) -> PackResult:
    """Write the items of a source to shards, which appear under their names when all are whole.

    Bytes of image files are passed through as they are unless `encode` says otherwise. The shards are the same for
    any number and kind of workers.

    Parameters
    ----------
    source : Source, path, or iterable of mappings (or of payload bytes)
        `ImageFolder`, `LabelFile`, `ListFile`, `Table`, `ImagePairs`; a path stands for one of these. Mappings are
        examples and are written as `ShardWriter` writes them.
    destination : path
        Beginning of the shards' names, or the name of the one shard.
    format : {"tfrecord", "ofrecord", "recordio"}, optional
        By default the one whose files end like `destination` (``train.rec``), TFRecord where none does.
    shards : int, optional
        Number of shards, 1 by default. Each holds consecutive items; their numbers differ by at most one.
    max_shard_bytes : int, optional
        Uncompressed bytes after which a shard is full; instead of `shards`.
    payload : {"example", "sequence_example", "ofrecord", "irheader", "raw"}, optional
        What is usual in the format by default.
    compression : {"gzip", "zlib"}, optional
        Whole-file compression (TFRecord only).
    compression_level : int
        0 to 9, -1 for the usual one.
    image_feature, label_feature : str, optional
        ``images`` and ``labels`` in OFRecord, ``image`` and ``label`` else. A mask is stored as `label_feature`.
    label_kind : {"int32", "int64", "float32", "vector"}, optional
        By default whole labels are int64, int32 in OFRecord, float32 in image records; others are float32.
    keep_shape : bool
        Store ``height`` and ``width`` of each image.
    keep_name : bool or str
        Store the file name as the source has it, as feature ``name`` or of the name given.
    encode : {"jpeg", "png", "tiff", "webp"}, optional
        Decode each image and encode it anew (needs Pillow). PNG and TIFF keep palette indices, transparency and 16-bit
        gray; JPEG and WebP refuse the last, make colors of the first, and JPEG drops transparency.
    quality : int, optional
        1 to 100, of JPEG and WebP; 95 by default.
    resize : int, optional
        Pixels of the shorter side; the longer is ``other * resize // shorter``. Bilinear with antialiasing; masks and
        palette images nearest neighbor.
    center_crop : bool or int
        True: a square of the shorter side, cut before resizing. A number: a square of so many pixels, cut after it.
    color : bool, optional
        True for RGB, False for gray, None for what the file holds.
    exif : bool
        Carry out the rotation that EXIF asks for; ignored by default.
    restart_markers : bool, optional
        Whether images that are encoded as JPEG get a restart marker at each row of blocks, with which a crop is decoded
        without the rows above it; they do by default, which makes a file 0.1 % larger.
    mask : {"png", "raw"}
        Store the bytes of the mask file, or its values as an array of uint8 or uint16 (little-endian) with features
        ``height``, ``width`` and ``dtype``.
    shuffle : int, optional
        Seed of a permutation of all items.
    workers : int or None
        Number of threads or processes; by default the number of processors that this process may use.
    worker_kind : {"threads", "processes"}
    check : {"signature", "header", "decode", "none"} or bool
        Look at the first bytes of each file, at its header (True) or all of it, or at nothing (False).
    on_error : {"stop", "skip"}
        What to do with an image that cannot be used: raise, or list it in the result.
    progress : bool or callable, optional
        Show progress on standard error; by default if it is a terminal. A callable gets the number done and the total.
    overwrite : bool
        Whether existing shards may be replaced.
    schema : Schema, optional
        Of examples; found from them otherwise.
    entry_points : bool
        Keep entry points of JPEG images that are passed through, as `build_index` does; restart markers serve others.
    index : {"auto", "never"}
        Whether the index that `open` uses is put beside each shard; without it, the first to open them makes it.

    Returns
    -------
    PackResult

    Raises
    ------
    InputError, LabelError, ImageError
        Something that the source names cannot be used; nothing was written.
    OutputExistsError
        A shard of that name is there.
    WriteError
        The folder cannot be written to, or the disk is full; nothing stands under a final name.
    FeatureError
        A feature that the payload has no room for.

    Examples
    --------
    >>> pack(ImageFolder("photos"), "out/train", format="recordio", shards=4, workers=2)  # doctest: +SKIP
    PackResult(num_records=4000, ...)
    """
    if entry_points and index == "never":
        raise ValueError('entry_points=True keeps a file beside each shard, which index="never" forbids')
    outputs = OutputOptions(shards, max_shard_bytes, compression, compression_level, overwrite, index)
    recoding = make_recoding(
        encode=encode,
        quality=quality,
        resize=resize,
        center_crop=center_crop,
        color=color,
        exif=exif,
        restart_markers=restart_markers,
    )
    checked = cast("Check", {True: "header", False: "none"}.get(check, check) if isinstance(check, bool) else check)
    images = ImageOptions(recoding, mask, checked, keep_shape)
    name_feature = ("name" if keep_name else None) if isinstance(keep_name, bool) else keep_name
    records = RecordOptions(payload, image_feature, label_feature, label_kind, name_feature)
    run = RunOptions(num_cpus() if workers is None else workers, worker_kind, on_error)
    if not os.fspath(destination):
        raise ValueError("destination is empty: it names the shards, such as 'packed/train'")
    written = format_for(destination, format)
    if isinstance(source, str | os.PathLike):
        source = detect_source(source)
    if not isinstance(source, Source):
        if images != ImageOptions(check=checked) or records != RecordOptions(payload):
            raise ValueError("options of images and labels are for sources of files; examples are written as they are")
        result = pack_examples(
            source, destination, written.name, outputs, payload=payload, schema=schema, seed=shuffle, show=progress
        )
    elif schema is not None:
        raise ValueError("schema= is for examples; a source of files has its own")
    else:
        packing = FilePacking(source.rows(), os.fspath(destination), written, outputs, records, images, run)
        result = packing.run(shuffle, progress)
    if entry_points:
        for path in result.paths:
            build_entry_points(path, format=written.name, compression=compression, threads=run.workers)
    return result

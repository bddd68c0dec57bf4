"""Build and save the index of each shard, with checksums and the positions at which JPEG decoding can start."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill import _core
from recordmill.concurrency.threads import num_cpus
from recordmill.errors import FeatureError, FormatError, WriteError
from recordmill.schema import Feature, Schema
from recordmill.shards.collection import ShardCollection
from recordmill.shards.completeness import select_shards
from recordmill.shards.entry_points import DIRECTORY_BYTES, EntryPointWriter
from recordmill.shards.foreign_index import write_foreign_index
from recordmill.shards.index import load_index, save_sidecar, scan_shard
from recordmill.shards.native_errors import native_errors
from recordmill.shards.open import DEFAULT_MAX_RECORD_BYTES, OpenShard, open_shard
from recordmill.shards.paths import Paths, list_paths
from recordmill.shards.reader import records_per_read
from recordmill.shards.sidecar import Sidecar
from recordmill.shards.spanning import group_spanning_files
from recordmill.storage.base import Storage
from recordmill.storage.choose import StorageOptions, choose_storage
from recordmill.suggestions import suggest_arguments
from recordmill.types import FrameIndex, Ragged

# Entry points are the positions in a JPEG image at which decoding can start. Their data is limited to this fraction of
# the size of the image.
_MAX_SHARE = 0.01
# The search for entry points reads records in chunks of about this many bytes, to limit memory use.
_CHUNK_BYTES = 8 << 20


@suggest_arguments
def build_index(  # noqa: PLR0913 (the options of one function)
    paths: Paths,
    *,
    format: str | None = None,  # noqa: A002
    compression: str | None = "auto",
    checksums: bool = True,
    foreign: bool = False,
    entry_points: bool | str | Sequence[str] = False,
    threads: int | None = None,
    max_decompressed_bytes: int | None = None,
    max_record_bytes: int = DEFAULT_MAX_RECORD_BYTES,
    storage_options: StorageOptions = None,
) -> list[str]:
    """Build the index of each shard and save it in a sidecar file.

    Parameters
    ----------
    paths : path, pattern, directory, or iterable of them
        The shards.
    format : str, optional
        Record format, such as "tfrecord", "ofrecord" or "recordio"; detected from the content by default.
    compression : str or None, default "auto"
        Compression of the shards; ``"auto"`` detects it from the content. One of "auto", "gzip" or "zlib".
    checksums : bool, default True
        Save a CRC-32C of each payload for formats that have no checksums.
    foreign : bool, default False
        Also write the index file of the format's own tools (``.idx``, ``.tfindex``).
    entry_points : bool, str, or sequence of str, default False
        Names of the features whose JPEG images get entry points, which are positions at which decoding can start. With
        them, a crop is decoded without the rows above it. True selects all features with one byte string per record.
        Entry points take at most 1 % of the size of the images, and about 0.2 % for photos.
    threads : int, optional
        Number of threads that find entry points. The default is the number of CPUs that this process may use.
    max_decompressed_bytes : int, optional
        Maximum size of a compressed shard after decompression, in bytes. The default is 64 MiB or 250 times the file
        size, whichever is larger.
    max_record_bytes : int, default 1073741824
        Maximum length of a payload in bytes, if checksums or entry points are computed.
    storage_options : mapping of str to object, optional
        Settings for addresses such as ``s3://bucket/train``, as in `open`.

    Returns
    -------
    list of str
        Paths of the written files.

    Raises
    ------
    DamageError
        If a shard is damaged.
    FormatError
        If the shards are OFRecord parts and a record continues in the next part.
    FeatureError
        If `entry_points` names a feature that does not contain images.
    WriteError
        If neither the directory of a shard nor the cache is writable.

    Examples
    --------
    >>> paths = rm.build_index("train.tfrecord")
    >>> len(paths)
    1
    """
    names = list_paths(paths)
    return index_shards(
        choose_storage(names, storage_options, for_writing=True),
        names,
        {
            "format": format,
            "compression": compression,
            "max_decompressed_bytes": max_decompressed_bytes,
            "max_record_bytes": max_record_bytes,
        },
        checksums=checksums,
        foreign=foreign,
        entry_points=entry_points,
        threads=threads or num_cpus(),
    )


def index_shards(
    storage: Storage,
    paths: Paths,
    options: dict[str, Any],
    *,
    checksums: bool,
    foreign: bool,
    entry_points: bool | str | Sequence[str],
    threads: int,
) -> list[str]:
    """Build and save the indexes of shards; `options` are keyword arguments of `open_shard`."""
    written: list[str | None] = []
    for files in group_spanning_files(select_shards(paths, storage).files, options, storage):
        if len(files) > 1:
            raise _spanning_record_error(files)
        (path,) = files
        shard = open_shard([path], **options, storage=storage)
        loaded = load_index(shard, "never")
        if loaded.condition in ("damaged", "truncated"):
            # The old sidecar describes the shard before the damage, but the new index must describe the current bytes.
            with native_errors(shard.name):
                loaded = scan_shard(shard)
        if loaded.faults:
            raise next(iter(loaded.faults.values()))
        sidecar = loaded.sidecar
        num_checksums = 0 if sidecar.checksums is None else len(sidecar.checksums)
        if checksums and num_checksums < sidecar.num_records and not shard.format.framing.has_checksum:
            sidecar.checksums = _compute_checksums(shard, sidecar.index)
        written.append(_save_sidecar_or_raise(path, sidecar, storage))
        if foreign:
            written.append(write_foreign_index(shard, sidecar.index))
        if entry_points is not False:
            known = options | {"format": shard.format.name, "compression": shard.compression}
            written.append(build_entry_points(path, entry_points, threads=threads, storage=storage, **known))
    return [name for name in written if name is not None]


def _save_sidecar_or_raise(path: str, sidecar: Sidecar, storage: Storage) -> str:
    saved_path = save_sidecar(path, sidecar, storage)
    if saved_path is None:
        raise WriteError(
            "the index cannot be saved: neither the directory of the shard nor the cache is writable",
            shard=path,
            hint="set the environment variable RECORDMILL_CACHE to a writable directory",
        )
    return saved_path


def _spanning_record_error(files: Sequence[str]) -> FormatError:
    return FormatError(
        "a record continues in the next file; an index cannot be saved for such files",
        kind="spanning_record",
        shard=files[0],
        expected="files of complete records",
        found=f"one stream of {len(files)} files",
        hint='read them without a saved index, or rewrite them with ShardWriter(..., payload="raw")',
    )


def _compute_checksums(shard: OpenShard, index: FrameIndex) -> NDArray[np.uint32]:
    parts, num_records = [np.zeros(0, np.uint32)], records_per_read(shard, index)
    with native_errors(shard.name):
        for data, splits in _core.BatchStream(shard.source, shard.format.framing.kind, num_records):
            parts.append(np.asarray(_core.row_checksums(data, splits)).astype(np.uint32))
    return np.concatenate(parts)


def build_entry_points(
    path: str,
    features: bool | str | Sequence[str] = True,
    *,
    format: str | None = None,  # noqa: A002
    compression: str | None = "auto",
    threads: int = 1,
    storage: Storage,
    **limits: Any,
) -> str | None:
    """Find and save the JPEG entry points of one shard; return the path of their file, or None if none were found."""
    shards = ShardCollection([path], format=format, compression=compression, storage=storage, **limits)
    schema = _select_image_features(shards.schema, features)
    if not schema or not len(shards):
        return None
    reader = shards.readers[0]
    writer = EntryPointWriter(reader.shard, list(schema))
    try:
        for records in _split_into_chunks(reader.index):
            columns = shards.columns(records, schema)
            writer.append(records.start, [_find_entry_points(columns[name], threads) for name in schema])
        return writer.finish()
    except BaseException:
        writer.discard()
        raise


def _find_entry_points(images: Ragged, threads: int) -> Ragged:
    splits = np.ascontiguousarray(images.row_splits, np.int64)
    return Ragged.from_blocks(*_core.entry_points(images.data, splits, _MAX_SHARE, DIRECTORY_BYTES, threads))


def _select_image_features(schema: Schema, features: bool | str | Sequence[str]) -> Schema:
    """Return a schema with the named features or, if `features` is True, with all features that may contain images."""
    if isinstance(features, bool):
        return Schema({name: feature for name, feature in schema.items() if features and _may_contain_images(feature)})
    names = [features] if isinstance(features, str) else list(features)
    for name in names:
        if name not in schema or not _may_contain_images(schema[name]):
            found = f"{schema[name].kind} of shape {schema[name].shape}" if name in schema else ", ".join(schema)
            message = f"feature {name!r} does not contain images"
            raise FeatureError(message, kind="feature_mismatch", expected="one byte string per record", found=found)
    return Schema({name: schema[name] for name in names})


def _may_contain_images(feature: Feature) -> bool:
    return feature.kind == "bytes" and not feature.sequence and feature.shape == ()


def _split_into_chunks(index: FrameIndex) -> Iterator[range]:
    """Yield ranges of record positions. The records of each range have about `_CHUNK_BYTES` bytes in total."""
    ends = np.concatenate([[0], np.cumsum(index.lengths)])
    first = 0
    while first < len(index):
        last = int(np.searchsorted(ends, ends[first] + _CHUNK_BYTES, side="right")) - 1
        yield range(first, max(first + 1, last))
        first = max(first + 1, last)

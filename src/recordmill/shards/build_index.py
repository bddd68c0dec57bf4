"""Builds and keeps the indexes of many shards at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from recordmill import _core
from recordmill.concurrency.threads import num_cpus
from recordmill.errors import FeatureError, FormatError, WriteError
from recordmill.schema import Feature, Schema
from recordmill.shards.collection import ShardCollection
from recordmill.shards.entry_points import DIRECTORY_BYTES, TableWriter
from recordmill.shards.foreign_index import write_foreign_index
from recordmill.shards.index import load_index, save_sidecar
from recordmill.shards.native_errors import native_errors
from recordmill.shards.open import OpenShard, open_shard
from recordmill.shards.paths import Paths, expand_paths
from recordmill.shards.reader import records_per_read
from recordmill.shards.sidecar import Sidecar
from recordmill.shards.spanning import groups
from recordmill.types import FrameIndex, Ragged


def build_index(
    paths: Paths,
    *,
    format: str | None = None,  # noqa: A002
    compression: str | None = "auto",
    checksums: bool = True,
    foreign: bool = False,
    entry_points: bool | str | Sequence[str] = False,
    threads: int | None = None,
) -> list[str]:
    """Build and keep the index of shards.

    Parameters
    ----------
    paths : path, pattern, folder, or iterable of them
    format : {"tfrecord", "ofrecord", "recordio"}, optional
        What content says by default.
    compression : {"auto", "gzip", "zlib"} or None
    checksums : bool
        Whether a CRC-32C of each payload is kept for formats that have none of their own.
    foreign : bool
        Whether the index file of the format's own tools is written too (``.idx``, ``.tfindex``).
    entry_points : bool, str, or sequence of str
        Features whose JPEG images get entry points, by which crops are decoded without the rows above them: True for
        all that hold one byte string per record. They take at most 1 % of the images' bytes, about 0.2 % of photos.
    threads : int, optional
        Number of threads that look for entry points; by default the number of processors that this process may use.

    Returns
    -------
    list of str
        Files that were written.

    Raises
    ------
    DamageError
        A shard is damaged.
    FormatError
        A record of OFRecord parts goes on in the next part.
    FeatureError
        `entry_points` names a feature that holds no images.
    WriteError
        Neither the shard's folder nor the cache can be written to.
    """
    threads = threads or num_cpus()
    written: list[str | None] = []
    for files in groups(expand_paths(paths), {"format": format, "compression": compression}):
        if len(files) > 1:
            raise _spanning(files)
        (path,) = files
        shard = open_shard([path], format, compression)
        sidecar, damage = load_index(shard, "never")
        if damage is not None:
            raise damage
        known = 0 if sidecar.checksums is None else len(sidecar.checksums)
        if checksums and known < len(sidecar.index) and not shard.format.framing.has_checksum:
            sidecar.checksums = _payload_checksums(shard, sidecar.index)
        written.append(_kept(path, sidecar))
        if foreign:
            written.append(write_foreign_index(shard, sidecar.index))
        if entry_points is not False:
            options = {"format": shard.format.name, "compression": shard.compression}
            written.append(build_entry_points(path, entry_points, threads=threads, **options))
    return [name for name in written if name is not None]


def _kept(path: str, sidecar: Sidecar) -> str:
    place = save_sidecar(path, sidecar)
    if place is None:
        raise WriteError(
            "the index can be kept neither beside the shard nor in the cache",
            shard=path,
            hint="name a folder that can be written to in the environment variable RECORDMILL_CACHE",
        )
    return place


def _spanning(files: Sequence[str]) -> FormatError:
    return FormatError(
        "a record goes on in the next file: no index is kept of such files",
        kind="spanning_record",
        shard=files[0],
        expected="files of whole records",
        found=f"one stream of {len(files)} files",
        hint='they are read without one; ShardWriter(..., payload="raw") makes shards of whole records of them',
    )


def _payload_checksums(shard: OpenShard, index: FrameIndex) -> NDArray[np.uint32]:
    sums, at_once = [np.zeros(0, np.uint32)], records_per_read(shard, index)
    with native_errors(shard.name):
        for data, splits in _core.BatchStream(shard.source, shard.format.framing.kind, at_once):
            sums.append(np.asarray(_core.row_checksums(data, splits)).astype(np.uint32))
    return np.concatenate(sums)


# What entry points may take of the images that they belong to.
SHARE = 0.01
_CHUNK_BYTES = 8 << 20


def build_entry_points(
    path: str,
    features: bool | str | Sequence[str] = True,
    *,
    format: str | None = None,  # noqa: A002
    compression: str | None = "auto",
    threads: int = 1,
) -> str | None:
    """Find and keep the entry points of one shard."""
    shards = ShardCollection([path], format=format, compression=compression)
    wanted = _chosen(shards.schema, features)
    if not wanted or not len(shards):
        return None
    writer = TableWriter(shards.readers[0].shard, list(wanted))
    try:
        for rows in _chunks(shards):
            columns = shards.columns(rows, wanted)
            writer.append(rows.start, [_tables(columns[name], threads) for name in wanted])
        return writer.finish()
    except BaseException:
        writer.discard()
        raise


def _tables(images: Ragged, threads: int) -> Ragged:
    splits = np.ascontiguousarray(images.row_splits, np.int64)
    return Ragged.from_blocks(*_core.entry_points(images.data, splits, SHARE, DIRECTORY_BYTES, threads))


def _chosen(schema: Schema, features: bool | str | Sequence[str]) -> Schema:
    if isinstance(features, bool):
        return Schema({name: feature for name, feature in schema.items() if features and _may_be_image(feature)})
    names = [features] if isinstance(features, str) else list(features)
    for name in names:
        if name not in schema or not _may_be_image(schema[name]):
            found = f"{schema[name].kind} of shape {schema[name].shape}" if name in schema else ", ".join(schema)
            message = f"feature {name!r} holds no images"
            raise FeatureError(message, kind="feature_mismatch", expected="one byte string per record", found=found)
    return Schema({name: schema[name] for name in names})


def _may_be_image(feature: Feature) -> bool:
    return feature.kind == "bytes" and not feature.sequence and feature.shape == ()


def _chunks(shards: ShardCollection) -> Iterator[range]:
    """Ranges of records that have about as many bytes."""
    index = shards.readers[0].index
    marks = np.concatenate([[0], np.cumsum(index.lengths)])
    first = 0
    while first < len(index):
        last = int(np.searchsorted(marks, marks[first] + _CHUNK_BYTES, side="right")) - 1
        yield range(first, max(first + 1, last))
        first = max(first + 1, last)

"""Write shard files under temporary names, and distribute records among them.

A `ShardOutput` writes one shard under a temporary name, with its sidecar and foreign index file. `DatasetOutput` gives
all shards of a dataset their final names. Sinks distribute records among the shards of a dataset.
"""

from __future__ import annotations

import contextlib
import os
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from recordmill import _core
from recordmill.datasets.journal import NOT_PERMITTED, Rename
from recordmill.datasets.manifest import ManifestShard
from recordmill.errors import FramingError, LimitError, WriteError
from recordmill.formats.base import Format, IndexCodec
from recordmill.schema import Schema
from recordmill.shards.foreign_index import foreign_index_path
from recordmill.shards.index import (
    ENTRY_POINTS_SUFFIX,
    SIDECAR_SUFFIX,
    IndexMode,
    build_sidecar,
    cache_path,
    sidecar_path,
)
from recordmill.shards.native_errors import convert_error, convert_memory_error, native_errors
from recordmill.shards.open import OpenShard
from recordmill.shards.sidecar import serialize_sidecar
from recordmill.storage.base import OutputFile, Storage, output_exists_error, write_temporary_file
from recordmill.storage.compression import Compression, Compressor, check_compression
from recordmill.storage.local import LOCAL
from recordmill.types import FrameIndex, Ragged


@dataclass(frozen=True, slots=True)
class FramedRecords:
    """Records as they are stored in a file: payloads with headers, checksums and padding.

    Parameters
    ----------
    data : buffer of uint8
        Concatenated frames.
    lengths : ndarray of int64, shape (num_records,)
        Number of bytes that each frame occupies in the file, before compression.
    checksums : ndarray of uint32, shape (num_records,), or None
        CRC-32C of each payload, for formats without checksums of their own.
    """

    data: Any
    lengths: NDArray[np.int64]
    checksums: NDArray[np.uint32] | None


def check_payload_size(format_: Format, num_bytes: int, record: int) -> None:
    """Raise LimitError if a payload is too large for a format, or FramingError if it is too small."""
    least, most = format_.framing.min_payload_bytes, format_.framing.max_payload_bytes
    if num_bytes > most:
        raise LimitError(
            f"the record is too large for {format_.name}",
            kind="limit_exceeded",
            record=record,
            expected=f"at most {most:,} bytes",
            found=f"{num_bytes:,} bytes",
            hint="split the record, or use a format with a higher limit",
        )
    if num_bytes < least:
        raise FramingError(
            f"the record is empty, which {format_.name} does not support",
            kind="bad_length",
            record=record,
            expected=f"at least {least} byte",
            found=f"{num_bytes} bytes",
        )


def frame_payloads(format_: Format, payloads: Ragged | list[bytes]) -> FramedRecords:
    """Add the headers, checksums and padding of a format to payloads; safe to call in any thread or process."""
    if isinstance(payloads, list):
        return _build_framed_records(lambda: _core.frame_each(tuple(payloads), format_.framing.kind))
    return _build_framed_records(lambda: _core.frame(payloads.data, payloads.row_splits, format_.framing.kind))


def frame_columns(format_: Format, kind: _core.PayloadKind, num_records: int, columns: Sequence[Any]) -> FramedRecords:
    """Serialize records and add headers, checksums and padding. One native call does both without copying payloads."""
    return _build_framed_records(lambda: _core.serialize_frames(kind, num_records, columns, format_.framing.kind))


def _build_framed_records(frame: Callable[[], tuple[_core.Block, _core.Block, _core.Block]]) -> FramedRecords:
    try:
        data, lengths, checksums = frame()
    except _core.CoreFault as error:
        converted = convert_error(error.args, "the output")
        # Omit the offset, which refers to a buffer in memory, and the hint, which is meant for readers of a shard.
        converted.offset = converted.hint = None
        raise converted from None
    except MemoryError as error:
        raise convert_memory_error(error, "the output") from None
    sums = np.asarray(checksums).astype(np.uint32) if len(checksums) else None
    return FramedRecords(memoryview(data), np.asarray(lengths), sums)


def distribute_records(records: FramedRecords, num_parts: int) -> Iterator[FramedRecords]:
    """Divide records into parts: part ``i`` has the records ``i``, ``i + num_parts`` and so on. Skip empty parts."""
    if num_parts == 1:
        yield records
        return
    ends = np.cumsum(records.lengths).tolist()
    frames = [records.data[start:end] for start, end in pairwise([0, *ends])]
    for part in range(min(num_parts, len(frames))):
        rows = slice(part, None, num_parts)
        checksums = None if records.checksums is None else records.checksums[rows]
        yield FramedRecords(b"".join(frames[rows]), records.lengths[rows], checksums)


def check_output_compression(format_: Format, compression: str | None) -> Compression | None:
    """Return `compression` in lower case; raise ValueError if the format does not support it."""
    checked = check_compression(compression)
    if checked is not None and not format_.compressible:
        message = f"compression is not supported for {format_.name}, because readers of the format expect plain files"
        raise ValueError(message)
    return checked


class ShardOutput:
    """One shard that is being written under a temporary name.

    The order of calls is `append` (any number of times), `finish`, then `prepare`.

    Parameters
    ----------
    path : str
        Final name.
    format_ : Format
    storage : Storage
        Storage of the shard and of its sidecar and index files. Only the cache of sidecars is always local.
    compression : str, optional
        Either "gzip" or "zlib".
    level : int
        Compression level.
    overwrite : bool
        Replace existing files of the same names.
    index : str
        "auto" writes a sidecar beside the shard; "never" does not.
    file : OutputFile, optional
        A file that is already finished, see `restore`; by default, a new one is created.
    """

    def __init__(
        self,
        path: str,
        format_: Format,
        *,
        storage: Storage,
        compression: Compression | None = None,
        level: int = -1,
        overwrite: bool = False,
        index: IndexMode = "auto",
        file: OutputFile | None = None,
    ) -> None:
        if index not in get_args(IndexMode):
            raise ValueError(f"index must be 'auto' or 'never', got {index!r}")
        self.path, self.format = path, format_
        self.num_records = 0
        self.num_bytes = 0  # Uncompressed size of the shard.
        self._storage, self._overwrite, self._index_mode = storage, overwrite, index
        self._compression = compression
        self._compressor = None if compression is None or file is not None else Compressor(compression, level)
        self._lengths, self._checksums = array("q"), array("I")
        self._keys: list[int | str] = []
        self._file = storage.create_output(path, overwrite=overwrite) if file is None else file
        self.is_finished = file is not None
        self._sidecar: OutputFile | None = None
        # A sidecar in the cache of this machine. It is written if no sidecar can be written beside the shard.
        self._cached_sidecar: OutputFile | None = None
        self._foreign_index: OutputFile | None = None
        self.warnings: list[str] = []
        try:
            self.check_not_existing()
        except BaseException:
            self.discard()
            raise

    @property
    def index(self) -> FrameIndex:
        """Offsets and lengths of the frames that have been appended so far."""
        lengths = np.array(self._lengths)
        return FrameIndex(np.cumsum(lengths) - lengths, lengths)

    @property
    def _foreign_index_codec(self) -> IndexCodec | None:
        """Codec of the foreign index to write beside the shard; None if no foreign index is written."""
        return self.format.index if self.format.index_on_write else None

    def append(self, records: FramedRecords, keys: Sequence[int | str] | None = None) -> None:
        """Append records. `keys` are written to the foreign index; by default they are the record positions."""
        count = len(records.lengths)
        self._file.write(records.data if self._compressor is None else self._compressor.compress(records.data))
        self._lengths.frombytes(records.lengths.tobytes())
        if records.checksums is not None:
            self._checksums.frombytes(records.checksums.tobytes())
        if self._foreign_index_codec is not None:
            self._keys.extend(range(self.num_records, self.num_records + count) if keys is None else keys)
        self.num_records += count
        self.num_bytes += int(records.lengths.sum())

    def restore(self, num_bytes: int, keys: Sequence[int | str], checksums: NDArray[np.uint32] | None) -> bool:
        """Load the records of a finished file. Return True if the file is intact and has one record per key.

        `num_bytes` is the uncompressed size of the file.
        """
        kind = self.format.framing.kind
        with native_errors(self.path):
            source = self._storage.open([self.temporary], self._compression, num_bytes + 1)
            *blocks, end, faults = _core.scan(source, kind)
            offsets, lengths = map(np.asarray, blocks)
            if faults or end != num_bytes or len(lengths) != len(keys):
                return False
            known = None if checksums is None else (offsets, lengths, checksums.astype(np.int64))
            if _core.verify(source, kind, None, index=known)[2]:
                return False
        self._lengths.frombytes(lengths.tobytes())
        if checksums is not None:
            self._checksums.frombytes(checksums.astype(np.uint32).tobytes())
        if self._foreign_index_codec is not None:
            self._keys.extend(keys)
        self.num_records, self.num_bytes = len(keys), end
        return True

    @property
    def temporary(self) -> str:
        """Name of the file until the commit."""
        return self._file.temporary

    @property
    def checksums(self) -> NDArray[np.uint32] | None:
        """CRC-32C of each payload that was appended so far; None for formats with checksums of their own."""
        return np.array(self._checksums, np.uint32) if self._checksums else None

    def rename(self, path: str) -> None:
        """Change the final name of the shard. Must be called before `prepare`."""
        self.path = self._file.path = path

    def finish(self) -> None:
        """Write the records to disk (fsync). The file keeps its temporary name until `commit`."""
        if self._compressor is not None:
            self._file.write(self._compressor.finish())
            self._compressor = None
        self._file.finish()
        self.is_finished = True

    def check_not_existing(self) -> None:
        """Raise OutputExistsError if the shard or its foreign index already exists and `overwrite` is False."""
        paths = [self.path]
        if self._foreign_index_codec is not None:
            paths.append(foreign_index_path(self.path, self._foreign_index_codec.suffix))
        for path in paths:
            if not self._overwrite and self._storage.exists(path):
                raise output_exists_error(path)

    def prepare(self, schema: Schema | None, payload: str | None, classes: list[str] | None = None) -> ManifestShard:
        """Write the sidecar and the foreign index under temporary names; return the entry for the manifest.

        After this, a commit only renames files.
        """
        temporary, saves_index = self._file.temporary, self._index_mode == "auto"
        with native_errors(self.path):
            source = self._storage.open([temporary], self._compression, self.num_bytes + 1)
            if self._compression is not None and saves_index:
                # `build_sidecar` saves the seek points that this scan collects.
                _core.scan(source, self.format.framing.kind)
            shard = OpenShard((temporary,), source, self.format, self._compression, self._storage)
            sidecar = build_sidecar(shard, self.index, self.num_bytes)
        if saves_index:
            sidecar.schema, sidecar.payload, sidecar.classes = schema, payload, classes
            sidecar.checksums = self.checksums
            self._prepare_sidecar(serialize_sidecar(sidecar))
        if self._foreign_index_codec is not None:
            path = foreign_index_path(self.path, self._foreign_index_codec.suffix)
            data = self._foreign_index_codec.serialize(self.index, self._keys)
            self._foreign_index = write_temporary_file(self._storage, path, data, overwrite=self._overwrite)
        return ManifestShard(os.path.basename(self.path), sidecar.num_stored_bytes, self.num_records, sidecar.probes)

    def _prepare_sidecar(self, data: bytes) -> None:
        try:
            self._sidecar = write_temporary_file(self._storage, sidecar_path(self.path), data, overwrite=True)
        except OSError as error:
            # The shard can be read without a sidecar. So write the sidecar to the cache, or continue without it.
            with contextlib.suppress(OSError):
                if error.errno in NOT_PERMITTED:
                    self._cached_sidecar = write_temporary_file(LOCAL, cache_path(self.path), data, overwrite=True)
            self._handle_sidecar_error(error, is_cached=self._cached_sidecar is not None)

    def _handle_sidecar_error(self, error: OSError, *, is_cached: bool) -> None:
        """Add a warning if `error.errno` is in `NOT_PERMITTED`; otherwise raise `error`."""
        if error.errno not in NOT_PERMITTED:
            raise error
        remedy = "it was saved in the cache of this machine" if is_cached else "the first reader of the shard builds it"
        self.warnings.append(
            f"the index of {self.path!r} cannot be written next to the shard: {os.strerror(error.errno)}; {remedy}"
        )

    def list_renames(self) -> list[Rename]:
        """Return the renames of the prepared files from temporary to final names. The shard is renamed first."""
        files = [(self._file, False), (self._foreign_index, False), (self._sidecar, True)]
        return [
            Rename(os.path.basename(file.temporary), os.path.basename(file.path), self._overwrite or optional, optional)
            for file, optional in files
            if file is not None
        ]

    def list_stale_files(self) -> list[str]:
        """Return the names of the index files that an earlier shard of the same name may have left."""
        return [os.path.basename(path) for path in companion_paths(self.path, self.format if self._overwrite else None)]

    def finish_commit(self, failed: Mapping[str, WriteError]) -> None:
        """Remove stale cached indexes, handle a failed rename of the sidecar, and commit the sidecar in the cache."""
        remove_cached_indexes(self.path)
        path = sidecar_path(self.path)
        if path in failed:
            self._handle_sidecar_error(failed[path], is_cached=False)
        if self._cached_sidecar is not None:
            with contextlib.suppress(WriteError):
                self._cached_sidecar.commit()

    def discard(self, *, keep_shard: bool = False) -> None:
        """Remove the temporary files. With `keep_shard`, keep the shard itself."""
        for file in (None if keep_shard else self._file, self._foreign_index, self._sidecar, self._cached_sidecar):
            if file is not None:
                file.discard()


class FinishedFile:
    """A complete file that still has its temporary name; implements `OutputFile`."""

    def __init__(self, storage: Storage, path: str, temporary: str, *, overwrite: bool) -> None:
        self.path, self.temporary = path, temporary
        self._storage, self._overwrite = storage, overwrite

    def write(self, data: memoryview | bytes) -> None:
        """Raise ValueError, because the file is finished."""
        del data
        raise ValueError(f"the output file {self.path!r} is closed")

    def finish(self) -> None:
        """Do nothing, because the file is finished."""

    def commit(self) -> None:
        """Rename the file to its final name."""
        self._storage.rename(self.temporary, self.path, overwrite=self._overwrite)

    def discard(self) -> None:
        """Remove the file."""
        with contextlib.suppress(OSError):
            self._storage.remove(self.temporary)


def companion_paths(path: str, format_: Format | None = None) -> list[str]:
    """Return the paths of the files that belong to a shard: the sidecar, the entry point file and the foreign index.

    The entry point file lists the offsets in JPEG images at which decoding can start. The foreign index is omitted if
    `format_` is None or has no foreign index.
    """
    paths = [sidecar_path(path, suffix) for suffix in (SIDECAR_SUFFIX, ENTRY_POINTS_SUFFIX)]
    if format_ is not None and format_.index is not None:
        paths.append(foreign_index_path(path, format_.index.suffix))
    return paths


def remove_cached_indexes(path: str) -> None:
    """Remove the sidecar of a shard, and its file of JPEG entry points, from the cache of this machine."""
    for suffix in (SIDECAR_SUFFIX, ENTRY_POINTS_SUFFIX):
        # Ignore a cache that cannot be written to. Readers detect that a stale file does not match the new shard.
        with contextlib.suppress(WriteError):
            LOCAL.remove(cache_path(path, suffix))


OpenOutput = Callable[[str], ShardOutput]


class RecordSink(Protocol):
    """Interface that receives records in order and distributes them among shards."""

    outputs: list[ShardOutput]

    def append(self, records: FramedRecords, keys: list[int | str]) -> None:
        """Append records to the shards."""
        ...

    def finish(self) -> None:
        """Write all records to disk (fsync). The files keep their temporary names."""
        ...


class SingleShardSink:
    """A sink with one shard. The shard is created when the first records arrive, so that few files are open at a time.

    Parameters
    ----------
    path : str
        Final name.
    open_output : callable
        Function that creates the `ShardOutput` for a shard name.
    """

    def __init__(self, path: str, open_output: OpenOutput) -> None:
        self._path, self._open_output = path, open_output
        self.outputs: list[ShardOutput] = []

    def append(self, records: FramedRecords, keys: list[int | str]) -> None:
        """Append records to the shards."""
        self._find_or_create_output().append(records, keys)

    def finish(self) -> None:
        """Write the shard to disk (fsync), even if it has no records."""
        self._find_or_create_output().finish()

    def _find_or_create_output(self) -> ShardOutput:
        if not self.outputs:
            self.outputs.append(self._open_output(self._path))
        return self.outputs[0]


class RoundRobinSink:
    """A sink that distributes records among shards round-robin: record ``i`` goes to shard ``i % num_shards``.

    Parameters
    ----------
    paths : sequence of str
        Final names.
    open_output : callable
        Function that creates the `ShardOutput` for a shard name.
    """

    def __init__(self, paths: Sequence[str], open_output: OpenOutput) -> None:
        self.outputs = [open_output(path) for path in paths]
        self._next = 0

    def append(self, records: FramedRecords, keys: list[int | str]) -> None:
        """Append records to the shards."""
        count, num_shards = len(records.lengths), len(self.outputs)
        first, self._next = self._next, (self._next + count) % num_shards
        for start, part in enumerate(distribute_records(records, num_shards)):
            self.outputs[(first + start) % num_shards].append(part, keys[start::num_shards])

    def finish(self) -> None:
        """Write all shards to disk (fsync)."""
        for output in self.outputs:
            output.finish()


class RollingSink:
    """A sink with shards of limited size: a new shard begins when the next record would exceed the limit.

    Parameters
    ----------
    prefix : str
        Beginning of the provisional names. The final names depend on the number of shards, which is unknown at first.
    max_bytes : int
        Maximum uncompressed bytes of a shard. A larger record gets a shard of its own.
    open_output : callable
        Function that creates the `ShardOutput` for a shard name.
    """

    def __init__(self, prefix: str, max_bytes: int, open_output: OpenOutput) -> None:
        self._prefix, self._max_bytes, self._open_output = prefix, max_bytes, open_output
        self.outputs: list[ShardOutput] = []

    def append(self, records: FramedRecords, keys: list[int | str]) -> None:
        """Append records, starting new shards as needed."""
        bounds = np.concatenate(([0], np.cumsum(records.lengths)))
        row = 0
        while row < len(records.lengths):
            if not self.outputs or self.outputs[-1].is_finished:
                self._start_next_shard()
            output = self.outputs[-1]
            free = self._max_bytes - output.num_bytes
            stop = int(np.searchsorted(bounds, bounds[row] + free, side="right")) - 1
            if stop <= row and output.num_records:
                self._start_next_shard()
                continue
            stop = max(stop, row + 1)
            checksums = None if records.checksums is None else records.checksums[row:stop]
            data = records.data[bounds[row] : bounds[stop]]
            output.append(FramedRecords(data, records.lengths[row:stop], checksums), keys[row:stop])
            row = stop

    def _start_next_shard(self) -> None:
        if self.outputs:
            self.outputs[-1].finish()
        self.outputs.append(self._open_output(f"{self._prefix}-{len(self.outputs)}"))

    def finish(self) -> None:
        """Write the last shard to disk (fsync). If there were no records, write one empty shard."""
        if not self.outputs:
            self._start_next_shard()
        self.outputs[-1].finish()

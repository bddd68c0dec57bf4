"""Readers of one shard: `ShardReader` reads by position, `PayloadReader` reads one payload after another."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from types import TracebackType
from typing import Any, Self, overload

import numpy as np
from numpy.typing import NDArray

from recordmill import _core
from recordmill.datasets.manifest import ManifestShard
from recordmill.errors import IncompleteDatasetError, RecordmillError
from recordmill.shards.file_pool import ShardFile
from recordmill.shards.foreign_index import read_foreign_index
from recordmill.shards.index import IndexMode, ShardIndex, find_sidecar, load_index, truncation_error
from recordmill.shards.native_errors import convert_error, native_errors
from recordmill.shards.open import DEFAULT_MAX_RECORD_BYTES, OpenShard, open_shard
from recordmill.shards.paths import list_paths
from recordmill.shards.sidecar import Sidecar
from recordmill.storage.addresses import check_path, describe_path
from recordmill.storage.base import Storage
from recordmill.storage.choose import StorageOptions, choose_storage
from recordmill.suggestions import suggest_constructor_arguments
from recordmill.types import FrameIndex, Ragged

# Maximum size of one read. It bounds the memory, because several reads run ahead of the consumer.
_MAX_RECORDS_PER_READ = 256
_MAX_BYTES_PER_READ = 8 << 20
# Without an index, the mean record size is estimated from this many records.
_NUM_ESTIMATION_RECORDS = 8

# Limits for the records that `PayloadReader` reads ahead. The first read after a seek reads one record. Each further
# read doubles the number of records, up to these limits.
_MAX_RECORDS_AHEAD = 256
_MAX_BYTES_AHEAD = 4 << 20
# Records of at least this many bytes are read one by one, each into its own object. Shorter records are read together.
_MIN_BYTES_OF_SINGLES = 8 << 10


def replaced_shard_error(path: str, expected: int, found: int) -> IncompleteDatasetError:
    """Create the error for a shard whose number of records differs from its entry in the manifest."""
    return IncompleteDatasetError(
        "the shard differs from the manifest: it belongs to another run, or was changed",
        kind="incomplete_dataset",
        shard=path,
        expected=f"{expected:,} records",
        found=f"{found:,} records",
        replaced=[path],
        hint="restore the shard, or open the others with allow_incomplete=True",
    )


def resolve_positions(positions: Sequence[int] | NDArray[np.integer[Any]], num_records: int) -> NDArray[np.int64]:
    """Convert negative positions, which count from the end, to non-negative ones; raise IndexError if out of range."""
    rows = np.asarray(positions, dtype=np.int64).reshape(-1)
    outside = (rows < -num_records) | (rows >= num_records)
    if outside.any():
        raise IndexError(f"position {rows[outside][0]} is out of range for {num_records} records")
    return np.where(rows < 0, rows + num_records, rows)


def resolve_position(position: int, num_records: int) -> int:
    """Convert a negative position, which counts from the end, to a non-negative one; raise IndexError if invalid."""
    if not -num_records <= position < num_records:
        raise IndexError(f"position {position} is out of range for {num_records} records")
    return position % num_records


def records_per_read(shard: OpenShard, index: FrameIndex | None = None) -> int:
    """Return the number of records per read: about `_MAX_BYTES_PER_READ` bytes, at most `_MAX_RECORDS_PER_READ`."""
    lengths = _read_first_lengths(shard) if index is None else index.lengths
    mean = int(lengths.mean()) if len(lengths) else 0
    return max(1, min(_MAX_RECORDS_PER_READ, _MAX_BYTES_PER_READ // max(mean, 1)))


def _read_first_lengths(shard: OpenShard) -> np.ndarray:
    # In a compressed shard, finding the lengths requires decompression, so only one record is measured.
    count = _NUM_ESTIMATION_RECORDS if shard.compression is None else 1
    with native_errors(shard.name):
        return np.asarray(_core.scan(shard.source, shard.format.framing.kind, max_records=count)[1])


@suggest_constructor_arguments
class ShardReader:
    """Read the payloads of one shard by position or in order.

    Readers can be pickled and used after a fork: each process opens the files itself. Several threads may share a
    reader, but not an iterator of it.

    Parameters
    ----------
    path : path, or sequence of paths
        The shard. Several files, such as OFRecord parts whose records continue in the next file, are read as one stream
        of bytes.
    format : str, optional
        Record format, such as "tfrecord", "ofrecord" or "recordio"; detected from the content by default.
    compression : str or None, default "auto"
        Compression of the shard; ``"auto"`` detects it from the content. One of "auto", "gzip" or "zlib".
    verify : bool, default True
        Check all checksums that the format has.
    index : str, default "auto"
        If the index has to be built, "auto" saves it beside the shard; "never" does not.
    max_decompressed_bytes : int, optional
        Maximum size of a compressed shard after decompression, in bytes. The default is 64 MiB or 250 times the file
        size, whichever is larger.
    max_record_bytes : int, default 1073741824
        Maximum length of a payload in bytes. Reading a longer one raises `LimitError`, and no memory is allocated for
        it; the other records can be read.
    storage_options : mapping of str to object, optional
        Settings for an address such as ``s3://bucket/train.rec``, as in `open`.

    Raises
    ------
    FormatError
        If the format is unknown, or if the content does not have the declared format or compression.
    OSError
        If the file cannot be opened.

    Examples
    --------
    >>> with rm.ShardReader("train.tfrecord") as reader:
    ...     print(len(reader), type(reader[0]))
    8 <class 'bytes'>
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        *,
        format: str | None = None,  # noqa: A002
        compression: str | None = "auto",
        verify: bool = True,
        index: IndexMode = "auto",
        max_decompressed_bytes: int | None = None,
        max_record_bytes: int = DEFAULT_MAX_RECORD_BYTES,
        storage_options: StorageOptions = None,
    ) -> None:
        options = {
            "format": format,
            "compression": compression,
            "max_decompressed_bytes": max_decompressed_bytes,
            "max_record_bytes": max_record_bytes,
        }
        paths = list_paths(path)
        self._init_reader(ShardFile(paths, choose_storage(paths, storage_options), options), verify=verify, index=index)

    def _init_reader(
        self, file: ShardFile, *, verify: bool, index: IndexMode, entry: ManifestShard | None = None
    ) -> None:
        self._file, self._verify, self._index_mode, self._entry = file, verify, index, entry
        self._loaded: ShardIndex | None = None
        self._checksums: NDArray[np.int64] | None = None
        self._positions: dict[str, int] | None = None

    @property
    def shard(self) -> OpenShard:
        """The open shard. Each access reopens the files if necessary: after an eviction, a fork or unpickling."""
        return self._file.shard

    @property
    def path(self) -> str:
        """Path of the shard, or of its first file."""
        return self._file.paths[0]

    @property
    def files(self) -> tuple[str, ...]:
        """Paths of all files of the shard, as they were passed."""
        return self._file.paths

    @property
    def format(self) -> str:
        """Name of the format."""
        return self._file.format

    @property
    def compression(self) -> str | None:
        """Compression of the shard: ``"gzip"``, ``"zlib"`` or None."""
        return self._file.compression

    @property
    def sidecar(self) -> Sidecar:
        """Index, schema, checksums and other metadata of the shard, as in a sidecar file."""
        return self.load_index().sidecar

    @property
    def damage(self) -> dict[int, RecordmillError]:
        """Error of each damaged record, by position; empty for an intact shard.

        Damaged bytes that cannot be divided into records count as one record.
        """
        return self.load_index().faults

    @property
    def checksums(self) -> NDArray[np.int64] | None:
        """CRC-32C of each payload, as listed in the sidecar; -1 for payloads without a checksum in the sidecar.

        None if the sidecar has no checksums, or if the reader was created with ``verify=False``.
        """
        self.load_index()
        return self._checksums

    def load_index(self) -> ShardIndex:
        """Return the index and the known damage of the shard. The first call loads or builds the index."""
        if self._loaded is None:
            loaded = load_index(self._file.shard, self._index_mode, self._entry)
            if self._entry is not None and loaded.sidecar.num_records != self._entry.num_records:
                raise replaced_shard_error(self.path, self._entry.num_records, loaded.sidecar.num_records)
            self._file.store_identity(loaded)
            self._checksums = loaded.sidecar.payload_checksums() if self._verify else None
            self._loaded = loaded
        return self._loaded

    def raise_damage(self, positions: Iterable[int]) -> None:
        """Raise the stored error of the first damaged record at `positions`, if any of these records is damaged."""
        damage = self.damage
        if damage:
            for position in positions:
                if position in damage:
                    raise copy(damage[position])

    @property
    def keeps_index(self) -> bool:
        """True if the reader saves an index that it had to build by a scan, see ``index="auto"``."""
        return self._index_mode == "auto"

    @property
    def index(self) -> FrameIndex:
        """Offsets and lengths of all frames, ``int64``, in bytes of the uncompressed shard."""
        return self.sidecar.index

    def __len__(self) -> int:
        """Return the number of records."""
        return len(self.index) if self._entry is None else self._entry.num_records

    @property
    def is_indexed(self) -> bool:
        """True if the index is loaded."""
        return self._loaded is not None

    @property
    def entry(self) -> ManifestShard | None:
        """Manifest entry of the shard, if the reader was created from a manifest; None otherwise."""
        return self._entry

    @overload
    def __getitem__(self, key: int) -> bytes: ...
    @overload
    def __getitem__(self, key: slice) -> list[bytes]: ...
    def __getitem__(self, key: int | slice) -> bytes | list[bytes]:
        """Return the payload at a position (negative positions count from the end), or the payloads of a slice."""
        if isinstance(key, slice):
            return self.fetch(range(len(self))[key])
        return self.fetch([resolve_position(int(key), len(self))])[0]

    def fetch(self, positions: Sequence[int] | NDArray[np.integer[Any]]) -> list[bytes]:
        """Read the payloads at the given positions, in the given order.

        Parameters
        ----------
        positions : sequence of int
            Negative positions count from the end. Positions may repeat.

        Returns
        -------
        list of bytes

        Raises
        ------
        IndexError
            If a position is out of range.
        DamageError
            If a record is damaged.
        """
        rows = resolve_positions(positions, len(self))
        ragged = self.fetch_ragged(rows)
        with native_errors(describe_path(self.path), rows):
            return _core.split(ragged.data, ragged.row_splits)

    def fetch_ragged(self, positions: Sequence[int] | NDArray[np.integer[Any]]) -> Ragged:
        """Read the payloads at the given positions into one buffer.

        Parameters
        ----------
        positions : sequence of int
            Negative positions count from the end. Positions may repeat.

        Returns
        -------
        Ragged of uint8
            One row per position.

        Raises
        ------
        IndexError
            If a position is out of range.
        DamageError
            If a record is damaged.
        """
        rows = resolve_positions(positions, len(self))
        shard, frames, checksums = self.shard, self.index[rows], self.checksums
        self.raise_damage(rows)
        with native_errors(shard.name, rows):
            data, splits = _core.fetch(
                shard.source,
                shard.format.framing.kind,
                frames.offsets,
                frames.lengths,
                checksums=None if checksums is None else checksums[rows],
                verify=self._verify,
            )
        return Ragged.from_blocks(data, splits)

    def batches(self, num_records: int, *, threads: int | None = None) -> Iterator[Ragged]:
        """Read the payloads in file order, in batches that share one buffer; no index is needed.

        Parameters
        ----------
        num_records : int
            Number of records per batch. The last batch, and a batch before damage, may have fewer.
        threads : int, optional
            Number of threads that read ahead. The default is 2, or 0 (none) for shards smaller than 1 MiB.

        Yields
        ------
        Ragged of uint8

        Raises
        ------
        DamageError
            If the shard is damaged; raised after all records before the damage were yielded.
        """
        if num_records < 1:
            raise ValueError(f"num_records must be a positive integer, got {num_records}")
        shard = self.shard
        if threads is None:
            threads = 2 if (shard.source.num_stored_bytes or 0) >= 1 << 20 else 0
        sidecar = self._find_sidecar(shard) if self._verify else None
        stream = _core.BatchStream(
            shard.source,
            shard.format.framing.kind,
            num_records,
            checksums=None if sidecar is None else sidecar.payload_checksums(),
            verify=self._verify,
            threads=threads,
        )
        return self._iterate_batch_stream(stream, shard, 0 if sidecar is None else sidecar.num_records)

    def _find_sidecar(self, shard: OpenShard) -> Sidecar | None:
        """Return the sidecar without scanning the shard; None if no sidecar exists or the loaded index lists faults."""
        if self._loaded is not None:
            return None if self._loaded.faults else self._loaded.sidecar
        with native_errors(shard.name):
            found = find_sidecar(shard)
        return None if found is None else found[0]

    @staticmethod
    def _iterate_batch_stream(stream: _core.BatchStream, shard: OpenShard, num_indexed: int) -> Iterator[Ragged]:
        num_read = 0
        try:
            with native_errors(shard.name):
                for data, splits in stream:
                    ragged = Ragged.from_blocks(data, splits)
                    num_read += len(ragged)
                    yield ragged
            if num_read < num_indexed:
                raise truncation_error(shard.name, num_read, num_indexed)
        finally:
            stream.close()

    def __iter__(self) -> Iterator[bytes]:
        """Yield the payloads in file order. At the first damaged record, raise DamageError."""
        index, num_read = None if self._loaded is None else self._loaded.sidecar.index, 0
        for ragged in self.batches(records_per_read(self.shard, index)):
            records = range(num_read, num_read + len(ragged))
            with native_errors(describe_path(self.path), records):
                yield from ragged
            num_read += len(ragged)

    @property
    def keys(self) -> list[str]:
        """Keys of the records, in the order of the index file (such as ``.idx``).

        Without an index file, the keys are the record positions.
        """
        foreign = read_foreign_index(self.shard)
        return [str(position) for position in range(len(self))] if foreign is None else foreign[0]

    def position_of(self, key: int | str) -> int:
        """Return the position of the record with a key; if several records have this key, return the last position.

        Parameters
        ----------
        key : int or str

        Returns
        -------
        int

        Raises
        ------
        KeyError
            If no record has the key, or if the offset in the index file is not the start of a record.
        """
        if self._positions is None:
            self._positions = self._load_key_positions()
        position = self._positions[str(key)]
        if position < 0:
            raise KeyError(f"the offset of key {key!r} in the index file of {self.path!r} is not the start of a record")
        return position

    def _load_key_positions(self) -> dict[str, int]:
        """Map each key of the index file to a record position, or to -1 if no record starts at its offset."""
        foreign = read_foreign_index(self.shard)
        if foreign is None:
            return {str(position): position for position in range(len(self))}
        keys, offsets = foreign
        frame_offsets = self.index.offsets
        candidates = np.searchsorted(frame_offsets, offsets)
        positions = [
            int(candidate) if candidate < len(frame_offsets) and frame_offsets[candidate] == offset else -1
            for candidate, offset in zip(candidates, offsets, strict=True)
        ]
        return dict(zip(keys, positions, strict=True))

    def close(self) -> None:
        """Close the files; the reader cannot be used afterwards."""
        self._file.close()
        self._loaded = None

    def __enter__(self) -> Self:
        """Return the reader itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the reader."""
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes for pickling, without the index, which other processes load themselves."""
        return self.__dict__ | {"_loaded": None, "_checksums": None}

    def __repr__(self) -> str:
        """Return a readable representation."""
        return f"ShardReader({describe_path(self.path)!r}, format={self.format!r})"


def open_reader(
    paths: Sequence[str],
    storage: Storage,
    *,
    verify: bool = True,
    index: IndexMode = "auto",
    entry: ManifestShard | None = None,
    **options: Any,
) -> ShardReader:
    """Create a reader. If `entry`, the entry in a manifest, is given, the file is opened only when it is read."""
    reader = ShardReader.__new__(ShardReader)
    file = ShardFile(paths, storage, options, is_known=entry is not None)
    reader._init_reader(file, verify=verify, index=index, entry=entry)
    return reader


@suggest_constructor_arguments
class PayloadReader:
    """Read the payloads of one file one after another; `seek` moves to another offset.

    This class is for programs that read until the end of the file or that store offsets; `ShardReader` finds records by
    position. A pickled or forked copy continues where the original was. Threads must not share a reader.

    Parameters
    ----------
    path : path
        The file.
    format : str, optional
        Record format, such as "tfrecord", "ofrecord" or "recordio"; detected from the content by default.
    compression : str or None, default "auto"
        Compression of the file; ``"auto"`` detects it from the content. One of "auto", "gzip" or "zlib".
    verify : bool, default True
        Check all checksums that the format has.
    max_decompressed_bytes : int, optional
        Maximum size of a compressed file after decompression, in bytes. The default is 64 MiB or 250 times the file
        size, whichever is larger.
    max_record_bytes : int, default 1073741824
        Maximum length of a payload in bytes. Reading a longer one raises `LimitError`, and no memory is allocated for
        it; the other records can be read.

    Raises
    ------
    FormatError
        If the format is unknown, or if the content does not have the declared format or compression.
    OSError
        If the file cannot be opened.

    Examples
    --------
    >>> with rm.PayloadReader("train.tfrecord") as reader:
    ...     print(reader.tell(), type(reader.read()))
    0 <class 'bytes'>
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        format: str | None = None,  # noqa: A002
        compression: str | None = "auto",
        verify: bool = True,
        max_decompressed_bytes: int | None = None,
        max_record_bytes: int = DEFAULT_MAX_RECORD_BYTES,
    ) -> None:
        self.path, self._verify = check_path(path), verify
        self._options: dict[str, Any] = {
            "format": format,
            "compression": compression,
            "max_decompressed_bytes": max_decompressed_bytes,
            "max_record_bytes": max_record_bytes,
        }
        self._shard: OpenShard | None = open_shard([self.path], **self._options, storage=choose_storage([self.path]))
        self._ready: deque[tuple[int, bytes]] = deque()
        self._damage: RecordmillError | None = None
        self._next_offset, self._num_ahead = 0, _MAX_RECORDS_AHEAD

    def read(self) -> bytes | None:
        """Read the next payload.

        Returns
        -------
        bytes or None
            None at the end of the file; reading can continue after a `seek`.

        Raises
        ------
        DamageError
            If there is no intact frame at the current offset. The next call raises the same error.
        """
        if not self._ready:
            if self._damage is None:
                self._read_ahead()
            if not self._ready:
                if self._damage is not None:
                    raise self._damage
                return None
        return self._ready.popleft()[1]

    def seek(self, offset: int) -> None:
        """Move to the frame at an offset; the next `read` returns the payload of this frame.

        Parameters
        ----------
        offset : int
            First byte of a frame in the uncompressed file.
        """
        if offset < 0:
            raise ValueError(f"offset must not be negative, got {offset}")
        self._ready.clear()
        self._next_offset, self._num_ahead, self._damage = offset, 1, None

    def tell(self) -> int:
        """Return the offset of the next frame.

        Returns
        -------
        int
            Offset in the uncompressed file, in bytes.
        """
        return self._ready[0][0] if self._ready else self._next_offset

    def _read_ahead(self) -> None:
        shard = self._get_shard()
        size = shard.source.num_bytes
        if size is not None and self._next_offset >= size:
            return
        count, self._num_ahead = self._num_ahead, min(2 * self._num_ahead, _MAX_RECORDS_AHEAD)
        with native_errors(shard.name):
            if not self._read_records_singly(shard, count):
                self._read_records_together(shard, count)

    def _read_records_singly(self, shard: OpenShard, count: int) -> bool:
        """Read the next records into separate objects; return False if no record was read.

        Stop before a short, damaged or multipart record. If `count` is 1, records may have any length.
        """
        kind, shortest = shard.format.framing.kind, 0 if count == 1 else _MIN_BYTES_OF_SINGLES
        ready, self._next_offset = _core.read_singles(
            shard.source, kind, self._next_offset, count, shortest=shortest, verify=self._verify
        )
        self._ready.extend(ready)
        return bool(ready)

    def _read_records_together(self, shard: OpenShard, count: int) -> None:
        """Find the next frames, and read their payloads into one buffer, up to the first damaged payload."""
        frames = _core.scan(shard.source, shard.format.framing.kind, start=self._next_offset, max_records=count)
        offsets, lengths, fault = np.asarray(frames[0]), np.asarray(frames[1]), next(iter(frames[3]), None)
        count = max(int(np.searchsorted(np.cumsum(lengths), _MAX_BYTES_AHEAD)), 1)
        if fault is not None and count >= len(offsets):
            self._damage = convert_error((fault[0], None, *fault[2:]), shard.name)
        offsets, lengths = offsets[:count], lengths[:count]
        if len(offsets):
            self._fetch_frames(shard, offsets, lengths)

    def _fetch_frames(self, shard: OpenShard, offsets: NDArray[np.int64], lengths: NDArray[np.int64]) -> None:
        """Fetch the payloads of frames. If one is damaged, store its error and keep only the payloads before it."""
        kind = shard.format.framing.kind
        try:
            data, splits = _core.fetch(shard.source, kind, offsets, lengths, verify=self._verify)
        except MemoryError as error:
            # Omit `error.ordinal`: it counts the frames of this call, but would be reported as a record position.
            raise MemoryError(str(error)) from None
        except _core.CoreFault as error:
            self._damage = convert_error((error.args[0], None, *error.args[2:]), shard.name)
            count = int(error.args[1] or 0)
            offsets, lengths = offsets[:count], lengths[:count]
            data, splits = _core.fetch(shard.source, kind, offsets, lengths, verify=self._verify)
        self._ready.extend(zip(offsets.tolist(), _core.split(data, splits), strict=True))
        if len(offsets):
            self._next_offset = int(offsets[-1] + lengths[-1])

    def _get_shard(self) -> OpenShard:
        if self._shard is None:
            raise ValueError(f"the reader of {self.path!r} is closed")
        return self._shard

    def close(self) -> None:
        """Close the file; the reader cannot be used afterwards."""
        self._shard = None
        self._ready.clear()

    def __enter__(self) -> Self:
        """Return the reader itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the reader."""
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes for pickling, without the open file and the records that were read ahead."""
        state = self.__dict__ | {"_shard": self._shard is not None, "_ready": deque(), "_next_offset": self.tell()}
        return state | {"_damage": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the attributes, and open the file again unless the reader was closed."""
        self.__dict__.update(state)
        self._shard = None
        if state["_shard"]:
            self._shard = open_shard([self.path], **self._options, storage=choose_storage([self.path]))

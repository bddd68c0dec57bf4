"""Positions that may count from the end, as positions from 0."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any, Self, overload

import numpy as np
from numpy.typing import NDArray

from recordmill import _core
from recordmill.errors import RecordmillError
from recordmill.formats.base import PayloadCodec
from recordmill.schema import Schema
from recordmill.shards.files import Handle, identity_of
from recordmill.shards.foreign_index import read_foreign_index
from recordmill.shards.index import IndexMode, load_index
from recordmill.shards.native_errors import convert_error, native_errors
from recordmill.shards.open import OpenShard, open_shard
from recordmill.shards.sidecar import Sidecar
from recordmill.types import FrameIndex, Ragged


def resolve(positions: Sequence[int] | NDArray[np.integer[Any]], num_records: int) -> NDArray[np.int64]:
    """Positions from 0, of positions some of which may count from the end."""
    rows = np.asarray(positions, dtype=np.int64).reshape(-1)
    outside = (rows < -num_records) | (rows >= num_records)
    if outside.any():
        raise IndexError(f"position {rows[outside][0]} of {num_records} records")
    return np.where(rows < 0, rows + num_records, rows)


def position_of(position: int, num_records: int) -> int:
    """Position from 0 of one that may count from the end."""
    if not -num_records <= position < num_records:
        raise IndexError(f"position {position} of {num_records} records")
    return position % num_records


_MAX_RECORDS_PER_READ = 256
# Of what is read at once; several such parts are read ahead.
_BYTES = 8 << 20
# Records that are looked at where there is no index; in a compressed shard they have to be inflated.
_LOOKED_AT = 8


def records_per_read(shard: OpenShard, index: FrameIndex | None = None) -> int:
    """Records of which some megabytes are read at once."""
    lengths = _first_lengths(shard) if index is None else index.lengths
    mean = int(lengths.mean()) if len(lengths) else 0
    return max(1, min(_MAX_RECORDS_PER_READ, _BYTES // max(mean, 1)))


def _first_lengths(shard: OpenShard) -> np.ndarray:
    count = _LOOKED_AT if shard.compression is None else 1
    with native_errors(shard.name):
        return np.asarray(_core.scan(shard.source, shard.format.framing.kind, max_records=count)[1])


class ShardReader:
    """Payloads of one shard.

    Safe to pickle and to use after fork: files are opened anew in every process. Reading from several threads is
    safe; an iterator belongs to one.

    Parameters
    ----------
    path : path, or sequence of paths
        The shard; several files are read as one stream of bytes (OFRecord parts whose records go on in the next).
    format : {"tfrecord", "ofrecord", "recordio"}, optional
        What content says by default.
    compression : {"auto", "gzip", "zlib"} or None
        What content says by default.
    verify : bool
        Whether every checksum that the format has is computed on reading.
    index : {"auto", "never"}
        Whether an index that had to be built is saved for the next time.
    max_decompressed_bytes : int, optional
        Largest number of bytes that a compressed shard may inflate to.

    Raises
    ------
    FormatError
        The content is of no known format, or not what was declared.
    OSError
        The file cannot be opened.
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
    ) -> None:
        paths = [path] if isinstance(path, str | os.PathLike) else list(path)
        options = {"format": format, "compression": compression, "max_decompressed_bytes": max_decompressed_bytes}
        self._handle = Handle([os.fspath(entry) for entry in paths], options)
        self._verify, self._keep = verify, index
        self._sidecar: Sidecar | None = None
        self._damage: RecordmillError | None = None
        self._keys: dict[str, int] | None = None

    @property
    def shard(self) -> OpenShard:
        """The open shard; opened again in a process that did not open it, and where others needed its descriptor."""
        return self._handle.shard

    @property
    def path(self) -> str:
        """Path of the shard, of its first file if there are several."""
        return self._handle.paths[0]

    @property
    def files(self) -> tuple[str, ...]:
        """Paths of all its files, as they were given; known without opening them."""
        return self._handle.paths

    @property
    def format(self) -> str:
        """Name of the format."""
        return self.shard.format.name

    @property
    def compression(self) -> str | None:
        """``"gzip"``, ``"zlib"`` or None."""
        return self.shard.compression

    @property
    def sidecar(self) -> Sidecar:
        """What is kept about the shard; raises if the shard is damaged."""
        if self._sidecar is None:
            self._sidecar, self._damage = load_index(self.shard, self._keep)
            self._handle.known, self._handle.seek_points = identity_of(self._sidecar), self._sidecar.seek_points
        if self._damage is not None:
            raise self._damage
        return self._sidecar

    @property
    def keeps_index(self) -> bool:
        """Whether what is found out about the shard is kept beside it."""
        return self._keep == "auto"

    @property
    def index(self) -> FrameIndex:
        """Offsets and lengths of all frames, ``int64``, in bytes of the uncompressed shard."""
        return self.sidecar.index

    def __len__(self) -> int:
        """Return the number of records."""
        return len(self.index)

    @overload
    def __getitem__(self, key: int) -> bytes: ...
    @overload
    def __getitem__(self, key: slice) -> list[bytes]: ...
    def __getitem__(self, key: int | slice) -> bytes | list[bytes]:
        """Payload at a position (negative counts from the end), or payloads of a slice."""
        if isinstance(key, slice):
            return self.fetch(range(len(self))[key])
        position = int(key)
        if not -len(self) <= position < len(self):
            raise IndexError(f"position {position} of a shard with {len(self)} records")
        return self.fetch([position])[0]

    def fetch(self, positions: Sequence[int] | NDArray[np.integer[Any]]) -> list[bytes]:
        """Payloads at the given positions, in the given order.

        Parameters
        ----------
        positions : sequence of int
            Negative ones count from the end.

        Returns
        -------
        list of bytes

        Raises
        ------
        IndexError
            A position outside the shard.
        DamageError
            A record that is not what was written.
        """
        ragged = self.fetch_ragged(positions)
        return _core.split(ragged.data, ragged.row_splits)

    def fetch_ragged(self, positions: Sequence[int] | NDArray[np.integer[Any]]) -> Ragged:
        """Payloads at the given positions in one buffer.

        Parameters
        ----------
        positions : sequence of int

        Returns
        -------
        Ragged of uint8
        """
        rows = resolve(positions, len(self))
        shard, frames = self.shard, self.index[rows]
        with native_errors(shard.name, rows):
            kind = shard.format.framing.kind
            data, splits = _core.fetch(shard.source, kind, frames.offsets, frames.lengths, verify=self._verify)
        return Ragged.from_blocks(data, splits)

    def batches(self, num_records: int, *, threads: int | None = None) -> Iterator[Ragged]:
        """Payloads in file order, many in one buffer; needs no index.

        Parameters
        ----------
        num_records : int
            Records per batch; the last one, and one in front of damage, may hold fewer.
        threads : int, optional
            Threads that read ahead; two by default, none (0) for shards under 1 MiB.

        Yields
        ------
        Ragged of uint8

        Raises
        ------
        DamageError
            After the records in front of the damage were delivered.
        """
        if num_records < 1:
            raise ValueError(f"a batch holds at least one record, not {num_records}")
        shard = self.shard
        if threads is None:
            threads = 2 if (shard.source.num_stored_bytes or 0) >= 1 << 20 else 0
        stream = _core.BatchStream(
            shard.source, shard.format.framing.kind, num_records, verify=self._verify, threads=threads
        )
        return self._drain(stream, shard)

    @staticmethod
    def _drain(stream: _core.BatchStream, shard: OpenShard) -> Iterator[Ragged]:
        try:
            with native_errors(shard.name):
                for data, splits in stream:
                    yield Ragged.from_blocks(data, splits)
        finally:
            stream.close()

    def __iter__(self) -> Iterator[bytes]:
        """Payloads in file order; raises after the records in front of damage were delivered."""
        known = None if self._sidecar is None else self._sidecar.index
        for ragged in self.batches(records_per_read(self.shard, known)):
            yield from ragged

    @property
    def keys(self) -> list[str]:
        """Keys of the records in the order of the format's own index file; positions if there is none."""
        foreign = read_foreign_index(self.shard)
        return [str(position) for position in range(len(self))] if foreign is None else foreign[0]

    def position_of(self, key: int | str) -> int:
        """Position of the record with a key; the last one wins where a key is there twice.

        Parameters
        ----------
        key : int or str

        Returns
        -------
        int

        Raises
        ------
        KeyError
            No record has the key, or the index file points to no record.
        """
        if self._keys is None:
            self._keys = self._load_keys()
        position = self._keys[str(key)]
        if position < 0:
            raise KeyError(f"the index file of {self.path!r} leads from key {key!r} to no record")
        return position

    def _load_keys(self) -> dict[str, int]:
        foreign = read_foreign_index(self.shard)
        if foreign is None:
            return {str(position): position for position in range(len(self))}
        keys, offsets = foreign
        known = self.index.offsets
        places = np.searchsorted(known, offsets)
        found = [
            int(place) if place < len(known) and known[place] == offset else -1
            for place, offset in zip(places, offsets, strict=True)
        ]
        return dict(zip(keys, found, strict=True))

    def close(self) -> None:
        """Let go of the file; the reader cannot be used afterwards."""
        self._handle.close()
        self._sidecar = None

    def __enter__(self) -> Self:
        """Return the reader itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        """State without the index."""
        return self.__dict__ | {"_sidecar": None}

    def __repr__(self) -> str:
        """Readable form."""
        return f"ShardReader({self.path!r}, format={self._handle.format!r})"


def read_single(
    reader: ShardReader, record: int, codec: PayloadCodec, compiled: tuple[Schema, Any], *, verify: bool
) -> dict[str, Any]:
    """One example of a shard."""
    (schema, plan), shard, index = compiled, reader.shard, reader.index
    frame = int(index.offsets[record]), int(index.lengths[record])
    try:
        columns = _core.read_example(shard.source, shard.format.framing.kind, *frame, plan, verify=verify)
    except (_core.CoreFault, _core.CoreChanged):
        with native_errors(shard.name, [record]):
            raise
    return {name: column[0] for name, column in codec.columns(columns, schema, 1).items()}


# Records and bytes that are read ahead at most; after a seek it begins with one record.
_MAX_RECORDS_PER_BLOCK = 256
_MOST_BYTES = 4 << 20
# Records of so many bytes are read one by one, each to its own place; shorter ones together.
_LONG_BYTES = 8 << 10


class PayloadReader:
    """Reads payloads from a place in one file that moves on, and can be set to any frame.

    For programs that read until there is nothing more, or hold offsets themselves; `ShardReader` finds records by
    position. Copies made by pickle or by fork go on from where the original was. It belongs to one thread.

    Parameters
    ----------
    path : path
    format : {"tfrecord", "ofrecord", "recordio"}, optional
        What content says by default.
    compression : {"auto", "gzip", "zlib"} or None
        What content says by default.
    verify : bool
        Whether every checksum that the format has is computed.

    Raises
    ------
    FormatError
        The content is of no known format, or not what was declared.
    OSError
        The file cannot be opened.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        format: str | None = None,  # noqa: A002
        compression: str | None = "auto",
        verify: bool = True,
    ) -> None:
        self.path, self._format, self._compression, self._verify = os.fspath(path), format, compression, verify
        self._shard: OpenShard | None = open_shard([self.path], format, compression)
        self._ready: deque[tuple[int, bytes]] = deque()
        self._damage: RecordmillError | None = None
        self._next, self._ahead = 0, _MAX_RECORDS_PER_BLOCK

    def read(self) -> bytes | None:
        """Take the next payload.

        Returns
        -------
        bytes or None
            None at the end of the file; `seek` leads back from there.

        Raises
        ------
        DamageError
            No whole frame stands there; raised again by the next call.
        """
        if not self._ready:
            if self._damage is None:
                self._fill()
            if not self._ready:
                if self._damage is not None:
                    raise self._damage
                return None
        return self._ready.popleft()[1]

    def seek(self, offset: int) -> None:
        """Go on with the frame that begins at an offset, in bytes of the uncompressed file."""
        if offset < 0:
            raise ValueError(f"an offset is not negative, not {offset}")
        self._ready.clear()
        self._next, self._ahead, self._damage = offset, 1, None

    def tell(self) -> int:
        """Offset of the frame that is read next."""
        return self._ready[0][0] if self._ready else self._next

    def _fill(self) -> None:
        shard = self._opened()
        size = shard.source.num_bytes
        if size is not None and self._next >= size:
            return
        ahead, self._ahead = self._ahead, min(2 * self._ahead, _MAX_RECORDS_PER_BLOCK)
        with native_errors(shard.name):
            if not self._take_singly(shard, ahead):
                self._take_together(shard, ahead)

    def _take_singly(self, shard: OpenShard, ahead: int) -> bool:
        """Read the record that was sought, or long ones that follow one another; False if there is none."""
        kind, shortest = shard.format.framing.kind, 0 if ahead == 1 else _LONG_BYTES
        ready, self._next = _core.read_singles(
            shard.source, kind, self._next, ahead, shortest=shortest, verify=self._verify
        )
        self._ready.extend(ready)
        return bool(ready)

    def _take_together(self, shard: OpenShard, ahead: int) -> None:
        """Find frames and fetch them, up to the first that is damaged."""
        found = _core.scan(shard.source, shard.format.framing.kind, start=self._next, max_records=ahead)
        offsets, lengths, fault = np.asarray(found[0]), np.asarray(found[1]), found[3]
        count = max(int(np.searchsorted(np.cumsum(lengths), _MOST_BYTES)), 1)
        if fault is not None and count >= len(offsets):
            self._damage = convert_error((fault[0], None, *fault[2:]), shard.name)
        offsets, lengths = offsets[:count], lengths[:count]
        if len(offsets):
            self._take(shard, offsets, lengths)

    def _take(self, shard: OpenShard, offsets: NDArray[np.int64], lengths: NDArray[np.int64]) -> None:
        """Fetch frames; those in front of a damaged payload are good."""
        kind = shard.format.framing.kind
        try:
            data, splits = _core.fetch(shard.source, kind, offsets, lengths, verify=self._verify)
        except _core.CoreFault as error:
            self._damage = convert_error((error.args[0], None, *error.args[2:]), shard.name)
            count = int(error.args[1] or 0)
            offsets, lengths = offsets[:count], lengths[:count]
            data, splits = _core.fetch(shard.source, kind, offsets, lengths, verify=self._verify)
        self._ready.extend(zip(offsets.tolist(), _core.split(data, splits), strict=True))
        if len(offsets):
            self._next = int(offsets[-1] + lengths[-1])

    def _opened(self) -> OpenShard:
        if self._shard is None:
            raise ValueError(f"the reader of {self.path!r} is closed")
        return self._shard

    def close(self) -> None:
        """Let go of the file; the reader cannot be used afterwards."""
        self._shard = None
        self._ready.clear()

    def __enter__(self) -> Self:
        """Return the reader itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        """State without the open file and what was read ahead."""
        state = self.__dict__ | {"_shard": self._shard is not None, "_ready": deque(), "_next": self.tell()}
        return state | {"_damage": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Open the file again."""
        self.__dict__.update(state)
        self._shard = open_shard([self.path], self._format, self._compression) if state["_shard"] else None

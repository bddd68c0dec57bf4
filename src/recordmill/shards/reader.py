"""One shard as a sequence of payloads: by position, in batches, one after another."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any, Self, overload

import numpy as np
from numpy.typing import NDArray

from recordmill import _core
from recordmill.errors import RecordmillError
from recordmill.shards.foreign import read_foreign
from recordmill.shards.handle import Handle
from recordmill.shards.identity import identity_of
from recordmill.shards.index import Keep, load_index
from recordmill.shards.opening import OpenShard
from recordmill.shards.pacing import records_at_once
from recordmill.shards.positions import resolve
from recordmill.shards.sidecar import Sidecar
from recordmill.shards.translate import translated
from recordmill.types import FrameIndex, Ragged


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
        index: Keep = "auto",
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
        with translated(shard.name, rows):
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
            with translated(shard.name):
                for data, splits in stream:
                    yield Ragged.from_blocks(data, splits)
        finally:
            stream.close()

    def __iter__(self) -> Iterator[bytes]:
        """Payloads in file order; raises after the records in front of damage were delivered."""
        known = None if self._sidecar is None else self._sidecar.index
        for ragged in self.batches(records_at_once(self.shard, known)):
            yield from ragged

    @property
    def keys(self) -> list[str]:
        """Keys of the records in the order of the format's own index file; positions if there is none."""
        foreign = read_foreign(self.shard)
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
        foreign = read_foreign(self.shard)
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

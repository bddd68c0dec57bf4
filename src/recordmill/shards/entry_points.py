"""The file that keeps the entry points of a shard's images: a directory that is held, tables that are read when needed.

Layout: magic (8 bytes); the tables back to back; from an 8-byte boundary on the directory: for each table its key
(record times number of features, plus ordinal of the feature) in rising order, then where each begins in the file and
where the last ends; JSON description; u64 where the directory begins, u32 length of the description, u32 CRC-32C of all
from the directory to here. Keys and places are int64. All numbers are little-endian.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill import _core
from recordmill.errors import WriteError
from recordmill.shards.index import ENTRY_POINTS_SUFFIX, cache_path, sidecar_locations, sidecar_path
from recordmill.shards.open import OpenShard
from recordmill.shards.sidecar import make_probes, matches_source
from recordmill.storage.base import OutputFile
from recordmill.storage.local import LOCAL
from recordmill.types import Ragged

MAGIC = b"RMENTRY\x01"
_TAIL = 16
# Bytes that the directory needs for one table.
DIRECTORY_BYTES = 16

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False, slots=True)
class EntryTables:
    """The entry points that are kept for one shard.

    Parameters
    ----------
    path : str
        The file.
    format, compression : str
        Of the shard; compression may be None.
    num_stored_bytes, probes
        By which the shard is told, as in its index.
    features : list of str
    keys : ndarray of int64, shape (num_tables,)
    splits : ndarray of int64, shape (num_tables + 1,)
    """

    path: str
    format: str
    compression: str | None
    num_stored_bytes: int
    probes: list[tuple[int, int]]
    features: list[str]
    keys: Ints
    splits: Ints

    def read(self, records: Ints, feature: str) -> list[bytes]:
        """Tables of some records."""
        tables = [b""] * len(records)
        if feature not in self.features or not len(self.keys):
            return tables
        wanted = np.asarray(records) * len(self.features) + self.features.index(feature)
        places = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        found = np.flatnonzero(self.keys[places] == wanted)
        with contextlib.suppress(OSError, _core.CoreFault, _core.CoreChanged):
            source = LOCAL.open([self.path], None, 0)
            for row, place in zip(found.tolist(), places[found].tolist(), strict=True):
                start, stop = int(self.splits[place]), int(self.splits[place + 1])
                tables[row] = bytes(memoryview(source.read(start, stop - start)))
        return tables


def load_tables(shard: OpenShard) -> EntryTables | None:
    """Open the entry points that are kept for a shard, beside it or in the cache."""
    if len(shard.paths) != 1:
        return None
    for place in sidecar_locations(shard.paths[0], ENTRY_POINTS_SUFFIX):
        with contextlib.suppress(OSError, _core.CoreFault, _core.CoreChanged):
            found = _read(place) if LOCAL.exists(place) else None
            same = found and (found.format, found.compression) == (shard.format.name, shard.compression)
            if found is not None and same and matches_source(found, shard.source):
                return found
    return None


def _read(path: str) -> EntryTables | None:
    source = LOCAL.open([path], None, 0)
    end = source.num_bytes or 0
    if end < len(MAGIC) + _TAIL or bytes(memoryview(source.read(0, len(MAGIC)))) != MAGIC:
        return None
    tail = bytes(memoryview(source.read(end - _TAIL, _TAIL)))
    start = int.from_bytes(tail[:8], "little")
    if not len(MAGIC) <= start <= end - _TAIL:
        return None
    data = bytes(memoryview(source.read(start, end - start)))
    if _core.crc32c(memoryview(data)[:-4]) != int.from_bytes(tail[12:], "little"):
        return None
    try:
        return _parse(path, data, int.from_bytes(tail[8:12], "little"), start)
    except (ValueError, KeyError, TypeError):
        return None


def _parse(path: str, data: bytes, text_bytes: int, start: int) -> EntryTables:
    text = len(data) - _TAIL - text_bytes
    count = (text - 8) // DIRECTORY_BYTES
    if count < 0 or text != count * DIRECTORY_BYTES + 8:
        raise ValueError("the directory has another length")
    keys, splits = np.frombuffer(data, "<i8", count), np.frombuffer(data, "<i8", count + 1, 8 * count)
    inside = len(MAGIC) <= splits[0] and splits[-1] <= start
    if not inside or (np.diff(splits) < 0).any() or (np.diff(keys) <= 0).any():
        raise ValueError("the directory does not rise")
    description = json.loads(data[text : text + text_bytes])
    return EntryTables(
        path,
        description["format"],
        description["compression"],
        int(description["num_stored_bytes"]),
        [(int(offset), int(crc)) for offset, crc in description["probes"]],
        [str(name) for name in description["features"]],
        keys,
        splits,
    )


class TableWriter:
    """Writes the entry points of one shard, beside it or, where that cannot be done, in the cache.

    Parameters
    ----------
    shard : OpenShard
    features : sequence of str
    """

    def __init__(self, shard: OpenShard, features: Sequence[str]) -> None:
        self._shard, self._features = shard, list(features)
        self._file = _create(shard.paths[0])
        self._keys: list[Ints] = []
        self._lengths: list[Ints] = []
        if self._file is not None:
            self._file.write(MAGIC)

    def append(self, first: int, columns: Sequence[Ragged]) -> None:
        """Add the tables of the next records."""
        lengths = np.stack([np.diff(column.row_splits) for column in columns], axis=1).reshape(-1)
        rows = list(columns[0]) if len(columns) == 1 else [table for row in zip(*columns, strict=True) for table in row]
        there = np.flatnonzero(lengths)
        self._keys.append(there + first * len(columns))
        self._lengths.append(lengths[there])
        if self._file is not None:
            self._file.write(b"".join(rows))

    def finish(self) -> str | None:
        """Put the file under its final name, if it has any tables."""
        keys, lengths = (np.concatenate([np.zeros(0, np.int64), *parts]) for parts in (self._keys, self._lengths))
        if self._file is None or not len(keys):
            self.discard()
            return None
        splits = len(MAGIC) + np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        start = int(splits[-1]) + -int(splits[-1]) % 8
        text = json.dumps(self._description(), separators=(",", ":")).encode()
        body = keys.astype("<i8").tobytes() + splits.astype("<i8").tobytes() + text
        body += start.to_bytes(8, "little") + len(text).to_bytes(4, "little")
        self._file.write(bytes(start - int(splits[-1])) + body + _core.crc32c(body).to_bytes(4, "little"))
        self._file.finish()
        self._file.commit()
        return self._file.path

    def _description(self) -> dict[str, Any]:
        shard, stored = self._shard, self._shard.source.num_stored_bytes or 0
        return {
            "format": shard.format.name,
            "compression": shard.compression,
            "num_stored_bytes": stored,
            "probes": make_probes(shard.source, stored),
            "features": self._features,
        }

    def discard(self) -> None:
        """Remove what was written, unless it was committed."""
        if self._file is not None:
            self._file.discard()


def _create(path: str) -> OutputFile | None:
    for place in (sidecar_path(path, ENTRY_POINTS_SUFFIX), cache_path(path, ENTRY_POINTS_SUFFIX)):
        with contextlib.suppress(WriteError):
            return LOCAL.create(place, overwrite=True)
    return None

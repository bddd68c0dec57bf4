"""Read and write the files beside shards that store where decoding of each JPEG image can start (entry points).

An entry point is a position in an image at which decoding can start. Each file has one table of entry points per image.
The directory of the tables is kept in memory; a table is read when it is needed.

Layout: magic (8 bytes); the tables, back to back; padding to 8 bytes; the directory; a JSON description; u64 start of
the directory; u32 length of the description; u32 CRC-32C of everything from the start of the directory. The directory
lists the keys of the tables in increasing order, then the start of each table and the end of the last one. The key of a
table is the record times the number of features, plus the ordinal of the feature. Keys and starts are int64. All
numbers are little-endian.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill import _core
from recordmill.errors import WriteError
from recordmill.shards.index import ENTRY_POINTS_SUFFIX, sidecar_locations
from recordmill.shards.open import OpenShard
from recordmill.shards.sidecar import Probes, check_probes, compute_probes, has_equal_blocks
from recordmill.storage.base import OutputFile, Storage
from recordmill.types import Ragged

MAGIC = b"RMENTRY\x01"
_TRAILER_BYTES = 16
# Number of bytes in the directory for each table: an int64 key, and the int64 offset at which the table starts.
DIRECTORY_BYTES = 16

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False, slots=True)
class EntryPointTables:
    """The saved entry points of one shard: positions in its JPEG images at which decoding can start.

    Parameters
    ----------
    storage : Storage
        Storage of the file with the tables.
    path : str
        Path of the file with the tables.
    format, compression : str
        Format and compression of the shard; compression may be None.
    num_stored_bytes, probes
        Size and block checksums that identify the shard, as in its sidecar.
    features : list of str
        Names of the features that have entry points.
    keys : ndarray of int64, shape (num_tables,)
    splits : ndarray of int64, shape (num_tables + 1,)
    """

    storage: Storage
    path: str
    format: str
    compression: str | None
    num_stored_bytes: int
    probes: Probes
    features: list[str]
    keys: Ints
    splits: Ints

    def read_tables(self, records: Ints, feature: str) -> list[bytes]:
        """Return the serialized entry point table of each record; empty bytes if a record has no table."""
        tables = [b""] * len(records)
        if feature not in self.features or not len(self.keys):
            return tables
        keys = np.asarray(records) * len(self.features) + self.features.index(feature)
        ordinals = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        rows = np.flatnonzero(self.keys[ordinals] == keys)
        # Ignore a file that cannot be read: images can be decoded without entry points, but this takes longer.
        with contextlib.suppress(OSError, _core.CoreFault, _core.CoreChanged):
            source = self.storage.open([self.path])
            for row, ordinal in zip(rows.tolist(), ordinals[rows].tolist(), strict=True):
                start, stop = int(self.splits[ordinal]), int(self.splits[ordinal + 1])
                tables[row] = bytes(memoryview(source.read(start, stop - start)))
        return tables


def load_entry_points(shard: OpenShard) -> EntryPointTables | None:
    """Load the saved entry points of a shard; return None if no entry point file matches the shard."""
    if len(shard.paths) != 1:
        return None
    for storage, path in sidecar_locations(shard.storage, shard.paths[0], ENTRY_POINTS_SUFFIX):
        with contextlib.suppress(OSError, _core.CoreFault, _core.CoreChanged):
            tables = _read_table_directory(storage, path) if storage.exists(path) else None
            if tables is None or (tables.format, tables.compression) != (shard.format.name, shard.compression):
                continue
            if has_equal_blocks(tables, shard.source):
                return tables
    return None


def _read_table_directory(storage: Storage, path: str) -> EntryPointTables | None:
    """Read the directory of the tables in an entry point file; return None if the file is damaged."""
    source = storage.open([path])
    end = source.num_bytes or 0
    if end < len(MAGIC) + _TRAILER_BYTES or bytes(memoryview(source.read(0, len(MAGIC)))) != MAGIC:
        return None
    trailer = bytes(memoryview(source.read(end - _TRAILER_BYTES, _TRAILER_BYTES)))
    start = int.from_bytes(trailer[:8], "little")
    if not len(MAGIC) <= start <= end - _TRAILER_BYTES:
        return None
    data = bytes(memoryview(source.read(start, end - start)))
    if _core.crc32c(memoryview(data)[:-4]) != int.from_bytes(trailer[12:], "little"):
        return None
    try:
        keys, splits, description = _parse_table_directory(data, int.from_bytes(trailer[8:12], "little"), start)
        num_stored_bytes = int(description["num_stored_bytes"])
        probes = tuple([(int(offset), int(crc)) for offset, crc in description["probes"]])
        check_probes(probes, num_stored_bytes)
        return EntryPointTables(
            storage,
            path,
            description["format"],
            description["compression"],
            num_stored_bytes,
            probes,
            [str(name) for name in description["features"]],
            keys,
            splits,
        )
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None


def _parse_table_directory(data: bytes, description_bytes: int, start: int) -> tuple[Ints, Ints, dict[str, Any]]:
    """Parse `data`, the bytes from offset `start` to the end of an entry point file.

    Returns the keys of the tables, the offsets between which the tables lie, and the JSON description.
    """
    num_bytes = len(data) - _TRAILER_BYTES - description_bytes
    count = (num_bytes - 8) // DIRECTORY_BYTES
    if count < 0 or num_bytes != count * DIRECTORY_BYTES + 8:
        raise ValueError(f"the table directory must have 16 bytes per table plus 8 bytes, got {num_bytes} bytes")
    keys, splits = np.frombuffer(data, "<i8", count), np.frombuffer(data, "<i8", count + 1, 8 * count)
    is_inside = len(MAGIC) <= splits[0] and splits[-1] <= start
    if not is_inside or (np.diff(splits) < 0).any() or (np.diff(keys) <= 0).any():
        raise ValueError("table keys must be strictly increasing, and table offsets ascending and inside the file")
    return keys, splits, json.loads(data[num_bytes : num_bytes + description_bytes])


class EntryPointWriter:
    """Write the entry points of one shard to a file beside the shard, or to the cache if that is not permitted.

    Parameters
    ----------
    shard : OpenShard
    features : sequence of str
    """

    def __init__(self, shard: OpenShard, features: Sequence[str]) -> None:
        self._shard, self._features = shard, list(features)
        self._storage, self._file = _create_entry_point_file(shard)
        self._keys: list[Ints] = []
        self._lengths: list[Ints] = []
        if self._file is not None:
            self._file.write(MAGIC)

    def append(self, first_record: int, columns: Sequence[Ragged]) -> None:
        """Add the entry point tables of consecutive records: one column per feature, one row per record."""
        lengths = np.stack([np.diff(column.row_splits) for column in columns], axis=1).reshape(-1)
        rows = list(columns[0]) if len(columns) == 1 else [table for row in zip(*columns, strict=True) for table in row]
        non_empty = np.flatnonzero(lengths)
        self._keys.append(non_empty + first_record * len(columns))
        self._lengths.append(lengths[non_empty])
        if self._file is not None:
            self._file.write(b"".join(rows))

    def finish(self) -> str | None:
        """Commit the file and return its path. If all entry point tables are empty, discard it and return None."""
        keys, lengths = (np.concatenate([np.zeros(0, np.int64), *parts]) for parts in (self._keys, self._lengths))
        if self._file is None or not len(keys):
            self.discard()
            return None
        splits = len(MAGIC) + np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        start = int(splits[-1]) + -int(splits[-1]) % 8
        text = json.dumps(self._build_json_description(), separators=(",", ":")).encode()
        body = keys.astype("<i8").tobytes() + splits.astype("<i8").tobytes() + text
        body += start.to_bytes(8, "little") + len(text).to_bytes(4, "little")
        self._file.write(bytes(start - int(splits[-1])) + body + _core.crc32c(body).to_bytes(4, "little"))
        self._file.finish()
        self._file.commit()
        self._storage.sync_folder(os.path.dirname(self._file.path))
        return self._file.path

    def _build_json_description(self) -> dict[str, Any]:
        shard, stored = self._shard, self._shard.source.num_stored_bytes or 0
        return {
            "format": shard.format.name,
            "compression": shard.compression,
            "num_stored_bytes": stored,
            "probes": compute_probes(shard.source, stored),
            "features": self._features,
        }

    def discard(self) -> None:
        """Remove the file unless it was committed."""
        if self._file is not None:
            self._file.discard()


def _create_entry_point_file(shard: OpenShard) -> tuple[Storage, OutputFile | None]:
    """Create the entry point file in the first writable location. Return the storage of this location, and the file.

    If no location is writable, the file is None.
    """
    locations = sidecar_locations(shard.storage, shard.paths[0], ENTRY_POINTS_SUFFIX, writable=True)
    for storage, path in locations:
        with contextlib.suppress(WriteError):
            return storage, storage.create_output(path, overwrite=True)
    return shard.storage, None

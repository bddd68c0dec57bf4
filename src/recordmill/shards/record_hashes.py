"""Hashes of record contents in bounded memory: above a limit, the hashes are moved to temporary files."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

# Each row describes one record: the 16 bytes of its hash as two numbers, the number of its shard, and its position in
# the shard.
ROW = np.dtype([("high", "<u8"), ("low", "<u8"), ("shard", "<u4"), ("record", "<u8")])
Rows = NDArray[Any]

# Maximum number of rows in memory (28 bytes each). When the memory is full, all rows are moved to files. Each file
# contains one part: the rows whose hashes have the same first 10 bits. With a billion records, a part has about a
# million rows.
_MAX_ROWS = 1 << 18
NUM_PARTS = 1024
_PART_SHIFT = np.uint64(54)  # The part number is the first 10 bits of the hash.


class RecordHashes:
    """Hashes of the records of one dataset, divided into `NUM_PARTS` parts by the first bits of each hash."""

    def __init__(self) -> None:
        self._rows = np.empty(_MAX_ROWS, ROW)
        self._num_rows = 0
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._order = hashlib.blake2b(digest_size=16)
        self.num_records = 0

    @property
    def is_spilled(self) -> bool:
        """True if rows are in temporary files."""
        return self._folder is not None

    @property
    def order_digest(self) -> bytes:
        """Digest of the hashes of all records, in the order in which the records were added."""
        return self._order.digest()

    def add(self, payload: Any, shard: int, record: int) -> None:
        """Add one record."""
        digest = hashlib.blake2b(payload, digest_size=16).digest()
        self._order.update(digest)
        if self._num_rows == _MAX_ROWS:
            self._move_rows_to_files()
        high, low = int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:], "little")
        self._rows[self._num_rows] = (high, low, shard, record)
        self._num_rows += 1
        self.num_records += 1

    def _move_rows_to_files(self) -> None:
        """Move all rows from memory to files. Append each row to the file of the part that contains the row."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="recordmill-diff-")
        rows = self._rows[: self._num_rows]
        parts = rows["high"] >> _PART_SHIFT
        order = np.argsort(parts, kind="stable")
        bounds = np.searchsorted(parts[order], np.arange(NUM_PARTS + 1, dtype=np.uint64))
        for part in np.flatnonzero(np.diff(bounds)).tolist():
            with open(self._build_part_path(part), "ab") as file:
                file.write(rows[order[bounds[part] : bounds[part + 1]]].tobytes())
        self._num_rows = 0

    def _build_part_path(self, part: int) -> str:
        return os.path.join(self._folder.name if self._folder else "", f"part-{part:04}")

    def read_part(self, part: int) -> Rows:
        """Return the rows whose hashes belong to a part. The order of the rows is arbitrary."""
        rows: Rows = self._rows[: self._num_rows]
        rows = rows[(rows["high"] >> _PART_SHIFT) == part]
        if self._folder is None or not os.path.exists(self._build_part_path(part)):
            return rows
        stored: Rows = np.fromfile(self._build_part_path(part), ROW)
        return np.concatenate([stored, rows])

    def read_all(self) -> Rows:
        """Return all rows. May be called only if no rows are in files."""
        return self._rows[: self._num_rows]

    def __enter__(self) -> Self:
        """Return the object itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove the temporary files."""
        if self._folder is not None:
            self._folder.cleanup()


def iterate_unmatched(first: RecordHashes, second: RecordHashes) -> Iterator[tuple[Rows, Rows]]:
    """Yield the unmatched rows of two datasets, as pairs (rows of the first, rows of the second).

    If rows of a dataset are in files, there is one pair per part of the hashes; otherwise there is one pair.

    A row describes one record. Unmatched records have no equal record in the other dataset. Records are compared as
    multisets: if one dataset has three equal records and the other has one, two are unmatched.
    """
    if not (first.is_spilled or second.is_spilled):
        yield _find_unmatched(first.read_all(), second.read_all())
        return
    for part in range(NUM_PARTS):
        yield _find_unmatched(first.read_part(part), second.read_part(part))


def _find_unmatched(first: Rows, second: Rows) -> tuple[Rows, Rows]:
    rows = np.concatenate([first, second])
    side = np.repeat([0, 1], [len(first), len(second)])
    order = np.lexsort((rows["record"], rows["shard"], side, rows["low"], rows["high"]))
    rows, side = rows[order], side[order]
    is_new = np.ones(len(rows), bool)
    is_new[1:] = (rows["high"][1:] != rows["high"][:-1]) | (rows["low"][1:] != rows["low"][:-1])
    group = np.cumsum(is_new) - 1
    counts = np.array([np.bincount(group[side == number], minlength=len(rows)) for number in (0, 1)])
    # For each row, the first row that has the same hash and belongs to the same dataset.
    starts = np.flatnonzero(is_new)[group] + np.where(side == 1, counts[0][group], 0)
    is_unmatched = np.arange(len(rows)) - starts >= counts[1 - side, group]
    return rows[is_unmatched & (side == 0)], rows[is_unmatched & (side == 1)]

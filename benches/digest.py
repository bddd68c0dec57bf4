"""Digests of delivered records that do not depend on their order. Needs only NumPy and the standard library."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np


class Digest:
    """Number and size of records, and the sum of their 64-bit hashes.

    The sum does not depend on the order of records, which some readers change, but it does depend on which values
    belong to the same record.
    """

    def __init__(self) -> None:
        self.count, self.num_bytes, self.total = 0, 0, 0

    def add_payloads(self, payloads: Iterable[bytes | memoryview]) -> None:
        """Add records that are byte strings."""
        crcs, lengths = [], []
        for payload in payloads:
            crcs.append(zlib.crc32(payload))
            lengths.append(len(payload))
        self._add(np.array(crcs, np.uint64) | np.array(lengths, np.uint64) << np.uint64(32))
        self.num_bytes += sum(lengths)

    def add_images(self, images: Iterable[tuple[bytes, int]]) -> None:
        """Add records of an image and a label."""
        rows = [(zlib.crc32(image), label, len(image)) for image, label in images]
        array = np.array(rows, np.uint64).reshape(-1, 3)
        self._add(_mix_bits(array[:, 0] | array[:, 1] << np.uint64(32)) + array[:, 2])
        self.num_bytes += int(array[:, 2].sum())

    def add_columns(self, columns: Mapping[str, Any]) -> None:
        """Add records as columns of one or two dimensions. Padding with zeros does not change the digest."""
        hashes = np.uint64(0)
        for place, name in enumerate(sorted(columns)):
            bits = _to_integers(np.asarray(columns[name]))
            keys = _mix_bits(np.arange(bits.shape[1], dtype=np.uint64) + np.uint64(place << 32 | 1)) | np.uint64(1)
            hashes = hashes + bits @ keys
            self.num_bytes += np.asarray(columns[name]).nbytes
        self._add(np.asarray(hashes))

    def _add(self, hashes: np.ndarray) -> None:
        self.count += len(hashes)
        self.total = (self.total + int(_mix_bits(hashes).sum(dtype=np.uint64))) % (1 << 64)

    def to_json(self) -> dict[str, int | str]:
        """Return number and sum. The size is omitted, because padded columns of the same records differ in size."""
        return {"count": self.count, "sum": f"{self.total:016x}"}


def _to_integers(column: np.ndarray) -> np.ndarray:
    """Convert a column to unsigned 64-bit integers, one row per record."""
    rows = np.ascontiguousarray(column).reshape(len(column), -1)
    return rows.view(np.uint32).astype(np.uint64) if rows.dtype == np.float32 else rows.astype(np.int64).view(np.uint64)


def _mix_bits(values: np.ndarray) -> np.ndarray:
    """Spread every bit over all 64 (the finalizer of SplitMix64)."""
    mixed = values.astype(np.uint64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ mixed >> np.uint64(shift)) * np.uint64(factor)
    return mixed ^ mixed >> np.uint64(31)

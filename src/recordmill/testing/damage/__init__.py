"""Damaged shards of every kind that we know, with what a reader must return and report for each.

`damages` builds the rows of one format; each module of this package holds one table. The expected results are
derived from how the damage was done, never by reading the damaged shard, so they test the oracle as well.

=============  ===================================================
module         content
=============  ===================================================
base           the row of a table, and helpers to make rows
tfrecord       damage to TFRecord shards
recordio       damage to RecordIO shards
ofrecord       damage to OFRecord shards
compression    damage to whole-file gzip and zlib streams
=============  ===================================================
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from recordmill.testing.damage import ofrecord, recordio, tfrecord
from recordmill.testing.damage.base import SAMPLE_PAYLOADS, Damage, Maker, damaged_shards

__all__ = ["SAMPLE_PAYLOADS", "TABLES", "Damage", "damaged_shards", "damages"]

TABLES: dict[str, tuple[Callable[[bytes], bytes], Sequence[Maker]]] = {
    "tfrecord": (tfrecord.frame, tfrecord.TABLE),
    "recordio": (recordio.frame, recordio.TABLE),
    "ofrecord": (ofrecord.frame, ofrecord.TABLE),
}


def damages(family: str) -> list[Damage]:
    """Return all damaged shards of a format in `TABLES`."""
    return damaged_shards(*TABLES[family])

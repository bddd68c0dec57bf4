"""Tables of damaged shards, with what a reader must return and report for each.

`damages` returns the rows of one format. The expected results follow from how the shard was damaged, not from reading
it, so that they also test the oracle.

=============  ===================================================
module         content
=============  ===================================================
base           rows of a table, and functions to build them
tfrecord       damage to TFRecord shards
recordio       damage to RecordIO shards
ofrecord       damage to OFRecord shards
compression    damage to whole-file gzip and zlib streams
=============  ===================================================
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from recordmill.testing.damage import ofrecord, recordio, tfrecord
from recordmill.testing.damage.base import SAMPLE_PAYLOADS, Damage, DamageFunction, damaged_shards

__all__ = ["SAMPLE_PAYLOADS", "TABLES", "Damage", "damaged_shards", "damages"]

TABLES: dict[str, tuple[Callable[[bytes], bytes], Sequence[DamageFunction]]] = {
    "tfrecord": (tfrecord.frame, tfrecord.TABLE),
    "recordio": (recordio.frame, recordio.TABLE),
    "ofrecord": (ofrecord.frame, ofrecord.TABLE),
}


def damages(family: str) -> list[Damage]:
    """Return all damaged shards of a format in `TABLES`."""
    return damaged_shards(*TABLES[family])

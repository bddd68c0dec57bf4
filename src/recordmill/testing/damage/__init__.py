"""Tables of damaged shards. Each row states which records a reader must return and which fault it must report.

`build_damaged_shards` returns the rows of one format. The expected results follow from how the shard was damaged, not
from reading it, so that they also test the oracle.

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
from recordmill.testing.damage.base import SAMPLE_PAYLOADS, Damage, DamageFunction, apply_damage_table

__all__ = ["SAMPLE_PAYLOADS", "TABLES", "Damage", "apply_damage_table", "build_damaged_shards"]

TABLES: dict[str, tuple[Callable[[bytes], bytes], Sequence[DamageFunction]]] = {
    "tfrecord": (tfrecord.frame, tfrecord.TABLE),
    "recordio": (recordio.frame, recordio.TABLE),
    "ofrecord": (ofrecord.frame, ofrecord.TABLE),
}


def build_damaged_shards(family: str) -> list[Damage]:
    """Return all damaged shards of a format; `family` is a key of `TABLES`."""
    return apply_damage_table(*TABLES[family])

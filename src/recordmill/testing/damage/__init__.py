"""Shards damaged in every way that we know, with what a reader must deliver and report for each.

`damages` makes the rows of one format; the modules of this package hold one table each. The expectations are
worked out from how the damage was done, never by reading the result, so they judge the oracle as well.

=============  ===================================================
module         what it holds
=============  ===================================================
base           the row of a table, and helpers to make rows
tfrecord       damage to TFRecord shards
recordio       damage to RecordIO shards
ofrecord       damage to OFRecord shards
compression    damage to whole-file gzip and zlib streams
=============  ===================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from recordmill.testing.damage import ofrecord, recordio, tfrecord
from recordmill.testing.damage.base import SAMPLE_PAYLOADS, Damage, Maker, Sound

__all__ = ["SAMPLE_PAYLOADS", "TABLES", "Damage", "damages"]

TABLES: dict[str, tuple[Callable[[bytes], bytes], Sequence[Maker]]] = {
    "tfrecord": (tfrecord.frame, tfrecord.TABLE),
    "recordio": (recordio.frame, recordio.TABLE),
    "ofrecord": (ofrecord.frame, ofrecord.TABLE),
}


def damages(family: str, payloads: Sequence[bytes] = SAMPLE_PAYLOADS) -> list[Damage]:
    """Return all damaged shards of a format.

    Parameters
    ----------
    family : str
        "tfrecord", "recordio" or "ofrecord".
    payloads : sequence of bytes
        What the shard held while it was sound; see `base.Sound` for what is asked of them.

    Returns
    -------
    list of Damage
        Their names are unique, so ``pytest.mark.parametrize("damage", damages(...), ids=str)`` works.
    """
    frame, table = TABLES[family]
    sound = Sound.of(payloads, frame)
    return list(_rows(sound, table))


def _rows(sound: Sound, table: Sequence[Maker]) -> Iterator[Damage]:
    for maker in table:
        yield from maker(sound)

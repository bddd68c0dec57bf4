"""How many records are read at once: many small ones, few large ones."""

from __future__ import annotations

import numpy as np

from recordmill import _core
from recordmill.shards.opening import OpenShard
from recordmill.shards.translate import translated
from recordmill.types import FrameIndex

_MOST_RECORDS = 256
# Of what is read at once; several such parts are read ahead.
_BYTES = 8 << 20
# Records that are looked at where there is no index; in a compressed shard they have to be inflated.
_LOOKED_AT = 8


def records_at_once(shard: OpenShard, index: FrameIndex | None = None) -> int:
    """Records of which some megabytes are read at once.

    Parameters
    ----------
    shard : OpenShard
    index : FrameIndex, optional
        Of the shard; without it, its first records tell how large they are.

    Returns
    -------
    int
        At least 1.
    """
    lengths = _first_lengths(shard) if index is None else index.lengths
    mean = int(lengths.mean()) if len(lengths) else 0
    return max(1, min(_MOST_RECORDS, _BYTES // max(mean, 1)))


def _first_lengths(shard: OpenShard) -> np.ndarray:
    count = _LOOKED_AT if shard.compression is None else 1
    with translated(shard.name):
        return np.asarray(_core.scan(shard.source, shard.format.framing.kind, max_records=count)[1])

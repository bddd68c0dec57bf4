"""A short word for what shards hold, wherever they lie."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recordmill import _core
from recordmill.shards.identity import identity_of
from recordmill.shards.reader import ShardReader


def fingerprint_of(readers: Sequence[ShardReader]) -> str:
    """Format, number of records, and a digest of each shard's frame lengths and some of its bytes, in order.

    Parameters
    ----------
    readers : sequence of ShardReader

    Returns
    -------
    str
    """
    import hashlib

    name, digest = readers[0].format, hashlib.sha256()
    for reader in readers:
        lengths = reader.index.lengths.astype("<i8").view(np.uint8)
        digest.update(f"{len(reader)} {_core.crc32c(lengths)} {identity_of(reader.sidecar)}\n".encode())
    return f"{name}-{sum(map(len, readers))}-{digest.hexdigest()[:16]}"

"""Read records of remote shards: load only the indexes that are needed, and request all frames of a batch at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from recordmill import _core
from recordmill.concurrency.threads import map_range
from recordmill.shards.native_errors import native_errors
from recordmill.shards.open import OpenShard

if TYPE_CHECKING:
    from recordmill.shards.reader import ShardReader
    from recordmill.storage.remote import FetchedRanges, RemoteStorage

Ints = NDArray[np.int64]

# Number of indexes that are loaded at the same time.
_MAX_INDEXES = 32


def load_indexes(readers: Sequence[ShardReader]) -> None:
    """Load the indexes of shards at the same time."""
    map_range(lambda number: readers[number].load_index(), len(readers), _MAX_INDEXES)


def locate_frames(readers: Sequence[ShardReader], starts: Sequence[int], positions: Ints) -> tuple[Any, ...]:
    """Return the shard of each record, its position in the shard, and the location of its frame.

    Returns ((index into the used shards per record, used shards), records, offsets, lengths, checksums).
    """
    first_positions = np.asarray(starts, np.int64)
    numbers = np.searchsorted(first_positions, positions, side="right") - 1
    used, which = np.unique(numbers, return_inverse=True)
    load_indexes([readers[number] for number in used.tolist()])
    rows = positions - first_positions[numbers]
    offsets, lengths = np.empty_like(rows), np.empty_like(rows)
    checksums = np.full_like(rows, -1)
    for ordinal, number in enumerate(used.tolist()):
        reader, chosen = readers[number], np.flatnonzero(which == ordinal)
        records = rows[chosen]
        reader.raise_damage(records.tolist())
        offsets[chosen], lengths[chosen] = reader.index.offsets[records], reader.index.lengths[records]
        if reader.checksums is not None:
            checksums[chosen] = reader.checksums[records]
    known = checksums if (checksums >= 0).any() else None
    return (which.astype(np.int64), used.tolist()), rows, offsets, lengths, known


def fetch_sources(
    shards: Sequence[OpenShard], which: Ints, offsets: Ints, lengths: Ints, max_record_bytes: int
) -> list[_core.Source]:
    """Request the frames of records from all shards, and return sources of these frames."""
    fetched = [
        _request_frames(shard, offsets[which == number], lengths[which == number])
        for number, shard in enumerate(shards)
    ]
    sources = []
    for shard, ranges in zip(shards, fetched, strict=True):
        if ranges is None:
            sources.append(shard.source)
            continue
        with native_errors(shard.name):
            parts = [part.result() for part in ranges.parts]
            num_bytes = shard.source.num_bytes or 0
            source = _core.Source.from_ranges(num_bytes, ranges.starts.tolist(), parts)
            sources.append(source.with_record_limit(max_record_bytes))
    return sources


def _request_frames(shard: OpenShard, offsets: Ints, lengths: Ints) -> FetchedRanges | None:
    """Request frames; return None if the shard must be read as a stream, because it is compressed or several files."""
    if shard.compression is not None or len(shard.paths) > 1 or not len(offsets):
        return None
    storage: RemoteStorage = shard.storage  # type: ignore[assignment]
    stops = np.minimum(offsets + lengths, shard.source.num_bytes or 0)
    return storage.request_ranges(shard.paths[0], offsets, stops)

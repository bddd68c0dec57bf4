"""Read records of remote shards: load only the indexes that are needed, and request all frames of a batch at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from recordmill import _core
from recordmill.concurrency.daemon_pool import map_in_daemons
from recordmill.shards.native_errors import native_errors
from recordmill.shards.open import OpenShard

if TYPE_CHECKING:
    from recordmill.shards.reader import ShardReader
    from recordmill.storage.ranges import FetchedRanges
    from recordmill.storage.remote import RemoteStorage

Ints = NDArray[np.int64]

# Number of indexes that are loaded at the same time.
_MAX_INDEXES = 32


def load_indexes(readers: Sequence[ShardReader]) -> None:
    """Load the indexes of shards at the same time."""
    map_in_daemons(lambda number: readers[number].load_index(), len(readers), _MAX_INDEXES)


def locate_frames(readers: Sequence[ShardReader], starts: Sequence[int], positions: Ints) -> tuple[Any, ...]:
    """Locate each record: return its shard, its position in this shard, and the location of its frame.

    Returns ((positions in the list of used shards, used shards), positions in the shards, offsets, lengths, checksums).
    All except the used shards have one entry per record.
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


def request_frames(shards: Sequence[OpenShard], which: Ints, offsets: Ints, lengths: Ints) -> dict[str, FetchedRanges]:
    """Request the frames of records from all shards; return a dict from shard paths to requested ranges.

    Shards that must be read as a stream, because they are compressed or consist of several files, are omitted.
    """
    return {
        path: storage.request_ranges(path, starts, stops)
        for storage, path, starts, stops in _list_frames(shards, which, offsets, lengths)
    }


def request_frames_ahead(
    shards: Sequence[OpenShard], which: Ints, offsets: Ints, lengths: Ints
) -> dict[str, FetchedRanges]:
    """Request frames that will be read soon, as `request_frames` does, but omit ranges that are in the cache."""
    requested = {
        path: storage.request_ahead(path, starts, stops)
        for storage, path, starts, stops in _list_frames(shards, which, offsets, lengths)
    }
    return {path: ranges for path, ranges in requested.items() if ranges is not None}


def _list_frames(
    shards: Sequence[OpenShard], which: Ints, offsets: Ints, lengths: Ints
) -> Iterator[tuple[RemoteStorage, str, Ints, Ints]]:
    """Yield the storage, the path and the ranges of frames of each shard that can be read at any offset."""
    for number, shard in enumerate(shards):
        chosen = which == number
        if _has_random_access(shard) and chosen.any():
            stops = np.minimum(offsets[chosen] + lengths[chosen], shard.source.num_bytes or 0)
            storage: RemoteStorage = shard.storage  # type: ignore[assignment]
            yield storage, shard.paths[0], offsets[chosen], stops


def _has_random_access(shard: OpenShard) -> bool:
    return shard.compression is None and len(shard.paths) == 1


def fetch_sources(
    shards: Sequence[OpenShard], which: Ints, offsets: Ints, lengths: Ints, max_record_bytes: int
) -> list[_core.Source]:
    """Request the frames of records from all shards; return one source with the frames of each shard."""
    frames = (shards, which, offsets, lengths)
    try:
        return _wait_for_sources(shards, request_frames(*frames), max_record_bytes)
    except FileNotFoundError:
        storage: RemoteStorage = shards[0].storage  # type: ignore[assignment]
        if storage.cache is None:
            raise
        # Another process or the user has removed files from the cache.
        storage.cache.forget_checked()
        return _wait_for_sources(shards, request_frames(*frames), max_record_bytes)


def _wait_for_sources(
    shards: Sequence[OpenShard], requested: dict[str, FetchedRanges], max_record_bytes: int
) -> list[_core.Source]:
    """Wait for requested ranges; return one source per shard. A shard without requests keeps its own source."""
    sources = []
    for shard in shards:
        ranges = requested.get(shard.paths[0])
        if ranges is None:
            sources.append(shard.source)
            continue
        with native_errors(shard.name):
            source = _core.Source.from_ranges(shard.source.num_bytes or 0, *ranges.wait())
            sources.append(source.with_record_limit(max_record_bytes))
    return sources

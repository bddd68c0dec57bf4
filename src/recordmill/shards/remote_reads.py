"""Read records of remote shards: load only the indexes that are needed, and request all frames of a batch at once."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from recordmill import _core
from recordmill.concurrency.daemon_pool import map_in_daemons
from recordmill.shards.open import OpenShard
from recordmill.storage.ranges import RangeTable, RequestedRange, wait_for_ranges

if TYPE_CHECKING:
    from recordmill.shards.reader import ShardReader
    from recordmill.storage.remote import RemoteStorage

Ints = NDArray[np.int64]

# Number of indexes that are loaded at the same time.
_MAX_INDEXES = 32
# An integer in the table of `FramesAhead` consists of a shard number and an offset in the shard, with these numbers of
# bits. So only the first 16 TiB of a shard, and only the first 524,288 shards, can be prefetched.
_OFFSET_BITS, _NUMBER_BITS = 44, 19


def load_indexes(readers: Sequence[ShardReader]) -> None:
    """Load the indexes of several shards concurrently."""
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


class FramesAhead:
    """Prefetched frames of several remote shards.

    One table contains the requested ranges of all shards, so that one search finds the frames of a batch. The high bits
    of its positions are the number of the shard, and the low bits are the offset in the shard.

    Parameters
    ----------
    numbers : ndarray of int64
        Numbers of the shards in their collection.
    shards : list of OpenShard
    which, offsets, lengths : ndarray of int64
        For each frame, the position of its shard in `numbers` and `shards`, and the location of the frame.
    """

    def __init__(self, numbers: Ints, shards: Sequence[OpenShard], which: Ints, offsets: Ints, lengths: Ints) -> None:
        self._process = os.getpid()
        # If an offset or a shard number has too many bits for the table, no frames are prefetched.
        is_small = not (offsets + lengths >> _OFFSET_BITS).any() and not (numbers >> _NUMBER_BITS).any()
        requested = [
            (int(numbers[position]), each)
            for position, storage, path, starts, stops in _list_frames(shards, which, offsets, lengths)
            if is_small
            for each in storage.request_ahead(path, starts, stops)
        ]
        self._requested = sorted(requested, key=lambda entry: (entry[0], entry[1].start))
        edges = [(number, each.start, each.stop) for number, each in self._requested]
        shard_numbers, starts, stops = np.array(edges, np.int64).reshape(-1, 3).T
        bases = shard_numbers << _OFFSET_BITS
        self._table = RangeTable(bases + starts, bases + stops)

    def find(
        self, numbers: Ints, which: Ints, offsets: Ints, lengths: Ints
    ) -> tuple[list[tuple[int, RequestedRange]], NDArray[np.bool_]]:
        """Return the prefetched byte ranges that contain the given frames, and a mask of the frames not prefetched.

        Each range is returned with the number of its shard.
        """
        if self._process != os.getpid():
            # A forked process has no threads that could receive what its parent has requested.
            return [], np.ones(len(which), bool)
        starts = (numbers << _OFFSET_BITS)[which] + offsets
        rows, missing = self._table.find(starts, starts + lengths)
        return [self._requested[row] for row in rows], missing

    def drop(self) -> None:
        """Cancel the requests that are not yet sent."""
        if self._process == os.getpid():
            for _, requested in self._requested:
                requested.content.cancel()


def _list_frames(
    shards: Sequence[OpenShard], which: Ints, offsets: Ints, lengths: Ints
) -> Iterator[tuple[int, RemoteStorage, str, Ints, Ints]]:
    """Yield (position of the shard, storage, path, starts of frames, stops of frames) for each shard with frames.

    Shards without random access are omitted.
    """
    for number, shard in enumerate(shards):
        chosen = which == number
        if _has_random_access(shard) and chosen.any():
            stops = np.minimum(offsets[chosen] + lengths[chosen], shard.source.num_bytes or 0)
            storage: RemoteStorage = shard.storage  # type: ignore[assignment]
            yield number, storage, shard.paths[0], offsets[chosen], stops


def _has_random_access(shard: OpenShard) -> bool:
    return shard.compression is None and len(shard.paths) == 1


def fetch_sources(
    shards: Sequence[OpenShard],
    frames: tuple[Ints, Ints, Ints, Ints],
    ahead: Sequence[FramesAhead],
    max_record_bytes: int,
) -> list[_core.Source]:
    """Wait until all frames are fetched, and return one `_core.Source` per shard.

    Frames that were not prefetched are requested first. `frames` contains the arguments of `FramesAhead.find`.
    """
    try:
        return _wait_for_sources(shards, _request_frames(shards, frames, ahead), max_record_bytes)
    except FileNotFoundError:
        storage: RemoteStorage = shards[0].storage  # type: ignore[assignment]
        if storage.cache is None:
            raise
        # Another process or the user has removed files from the cache.
        storage.cache.forget_verified()
        return _wait_for_sources(shards, _request_frames(shards, frames, ahead), max_record_bytes)


def _request_frames(
    shards: Sequence[OpenShard], frames: tuple[Ints, Ints, Ints, Ints], ahead: Sequence[FramesAhead]
) -> dict[int, list[RequestedRange]]:
    """Return a dict from the position of a shard in `shards` to the requested byte ranges of this shard.

    The ranges contain all given frames. Frames that are missing from `ahead` are requested now. Compressed shards
    and shards of several files are omitted, because they must be read as a stream.
    """
    numbers, which, offsets, lengths = frames
    found: dict[int, list[RequestedRange]] = {}
    positions = {number: position for position, number in enumerate(numbers.tolist())}
    for window in ahead:
        requested, missing = window.find(numbers, which, offsets, lengths)
        for number, each in requested:
            found.setdefault(positions[number], []).append(each)
        if not missing.any():
            return found
        which, offsets, lengths = which[missing], offsets[missing], lengths[missing]
    for position, storage, path, starts, stops in _list_frames(shards, which, offsets, lengths):
        found.setdefault(position, []).extend(storage.request_ranges(path, starts, stops))
    return found


def _wait_for_sources(
    shards: Sequence[OpenShard], requested: dict[int, list[RequestedRange]], max_record_bytes: int
) -> list[_core.Source]:
    """Wait for the requested byte ranges, and return one `_core.Source` per shard.

    For a shard without requested ranges, `shard.source` is returned.
    """
    sources = []
    for position, shard in enumerate(shards):
        if position in requested:
            starts, parts = wait_for_ranges(requested[position])
            source = _core.Source.from_ranges(shard.source.num_bytes or 0, starts, parts, max_record_bytes)
            sources.append(source)
        else:
            sources.append(shard.source)
    return sources

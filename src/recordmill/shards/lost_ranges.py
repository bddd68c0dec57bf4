"""The byte ranges of a damaged shard that contain no intact records, and the number of records that were in them."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.shards.intact_records import ONE_RECORD, DamagedArea, IntactRecords, list_gaps
from recordmill.shards.native_errors import native_errors
from recordmill.shards.verify import STREAM_FAULTS, Inspection
from recordmill.types import Fault

# At most this many zero bytes at the end of a shard are regarded as padding by the file system, not as lost records.
_MAX_ZERO_FILL = 64 << 10


@dataclass(frozen=True, slots=True)
class LostRange:
    """A range of bytes whose records `salvage` could not copy.

    Parameters
    ----------
    shard : str
        Path of the damaged shard.
    start : int
        First lost byte, in bytes from the start of the uncompressed shard.
    stop : int or None
        End of the range (exclusive). None if the rest of the shard is lost and its length is unknown. If the
        shard was truncated and its index states the original length, the range extends beyond the end of the file.
    kind : str
        Kind of the first fault in the range, such as ``"payload_checksum"``.
    reason : str
        Description of the first fault.
    num_records : int
        Number of lost records.
    is_exact : bool
        Whether `num_records` is exact. Otherwise it is an estimate, or a minimum if `stop` is None.
    """

    shard: str
    start: int
    stop: int | None
    kind: str
    reason: str
    num_records: int
    is_exact: bool

    def to_json(self) -> dict[str, Any]:
        """Return the range as a dict that can be written as JSON.

        Returns
        -------
        dict
            The attributes by name.
        """
        names = ("shard", "start", "stop", "kind", "reason", "num_records", "is_exact")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True)
class LostRanges:
    """Byte ranges of one shard in which records are lost.

    Parameters
    ----------
    ranges : list of LostRange
        The ranges whose faults are known; the native verification describes at most 10,000 faults per shard.
    num_ranges, num_records : int
        Number of all ranges, and of the records in them.
    is_exact : bool
        Whether the number of records is exact.
    """

    ranges: list[LostRange]
    num_ranges: int
    num_records: int
    is_exact: bool


def find_lost_ranges(records: IntactRecords) -> LostRanges:
    """Find the bytes of a shard that are not part of intact records."""
    starts, stops = list_gaps(records.inspection, records.frames)
    is_lost = starts < stops
    # The range of a fault after the last record may be empty, for example if the end of a compressed stream is missing.
    is_lost[-1] |= any(area.start == starts[-1] for area in records.areas)
    starts, stops = starts[is_lost], stops[is_lost]
    counts, is_exact = _count_records(records, starts, stops)
    ranges = []
    area_starts = [area.start for area in records.areas]
    for row, (start, stop) in enumerate(zip(starts.tolist(), stops.tolist(), strict=True)):
        position = bisect_right(area_starts, start) - 1
        if position >= 0 and stop <= records.areas[position].stop:
            faults = _select_faults(records.areas[position], start, stop)
            found = _describe_range(records.inspection, faults, (start, stop), int(counts[row]), bool(is_exact[row]))
            counts[row], is_exact[row] = found.num_records, found.is_exact
            ranges.append(found)
    return LostRanges(ranges, len(starts), int(counts.sum()), bool(is_exact.all()))


def _select_faults(area: DamagedArea, start: int, stop: int) -> list[Fault]:
    """Return the faults between two offsets of a damaged area; if there are none, return all faults of the area."""

    def is_in_range(fault: Fault) -> bool:
        # The offset of a stream fault is the end of the readable bytes. It may equal `stop`, so `stop` is included.
        end = stop + (fault.kind in STREAM_FAULTS)
        return fault.offset is not None and start <= fault.offset < end

    return list(filter(is_in_range, area.faults)) or area.faults


def _count_records(
    records: IntactRecords, starts: NDArray[np.int64], stops: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Count the records of the index in each range, and estimate the number of records that are not in the index."""
    frames, index = records.frames, records.inspection.index
    mean = float(frames.lengths.mean()) if len(frames) else np.inf
    if index is None:
        return np.maximum(np.rint((stops - starts) / mean), 1).astype(np.int64), np.zeros(len(starts), np.bool_)
    offsets, end = index.sidecar.index.offsets, index.sidecar.end
    indexed = np.searchsorted(offsets, stops) - np.searchsorted(offsets, starts)
    num_unindexed = stops - np.maximum(starts, end)
    is_exact = (num_unindexed <= 0) | (index.condition != "appended")
    estimated = np.where(is_exact, 0, np.maximum(np.rint(num_unindexed / mean), 1))
    return (indexed + estimated).astype(np.int64), is_exact


def _describe_range(
    inspection: Inspection, faults: list[Fault], span: tuple[int, int], num_records: int, is_exact: bool
) -> LostRange:
    """Describe one lost range. If the number of records is an estimate, improve it with the help of the faults."""
    start, end = span
    shard, sidecar = inspection.shard, inspection.sidecar
    if not is_exact:
        if all(fault.kind in ONE_RECORD for fault in faults):
            num_records, is_exact = len(faults), shard.format.framing.has_checksum
        elif start == end or _is_zero_fill(inspection, start, end):
            num_records = 0
    is_unreadable = faults[-1].kind in STREAM_FAULTS
    is_end_known = not is_unreadable or (sidecar is not None and end == sidecar.end)
    num_more = len(faults) - 1
    more = f" (and {num_more:,} more {'fault' if num_more == 1 else 'faults'} in this range)" if num_more else ""
    reason = faults[0].message + more
    return LostRange(shard.name, start, end if is_end_known else None, faults[0].kind, reason, num_records, is_exact)


def _is_zero_fill(inspection: Inspection, start: int, end: int) -> bool:
    """Return True if a range is at the end of a shard and contains only zeros.

    Return False if the range contains records of the index, or is longer than `_MAX_ZERO_FILL` bytes.
    """
    is_indexed = inspection.sidecar is not None and start < inspection.sidecar.end
    if is_indexed or end != inspection.shard.source.num_bytes or end - start > _MAX_ZERO_FILL:
        return False
    with native_errors(inspection.shard.name):
        return not np.frombuffer(memoryview(inspection.shard.source.read(start, end - start)), np.uint8).any()

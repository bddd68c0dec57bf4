"""Find the records of a damaged shard that can be copied.

These are the records that `verify` counts as intact, and three kinds that it does not count:

- records with a correct checksum whose payload is of another type,
- records whose only fault is that padding bytes are not zero,
- records that begin inside a frame whose length is damaged.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from recordmill import _core
from recordmill.shards.index import ShardIndex
from recordmill.shards.native_errors import native_errors
from recordmill.shards.open import OpenShard
from recordmill.shards.sidecar import Sidecar, has_any_equal_block
from recordmill.shards.verify import STREAM_FAULTS, Inspection, choose_codec, find_index, inspect_shard
from recordmill.types import Fault, FrameIndex, Ragged

# Each of these faults damages exactly one record. The length of the record is readable, so the start of the next
# record is known.
ONE_RECORD = ("payload_checksum", "sidecar_checksum", "bad_payload", "bad_padding", "record_too_long")
_KNOWN_END = (*ONE_RECORD, *STREAM_FAULTS)
# If more than this share of the payloads cannot be parsed, assume records of several types instead of damage.
_MAX_UNPARSED = 0.25
# Maximum number of frames that one native call finds in a damaged area.
_SEARCH_RECORDS = 64
# Frames found in a damaged area may overlap. Their total length is limited to this multiple of the size of the area.
_MAX_REREADS = 8
_TOO_LONG = "another record begins before the end of the record"
# The search for record starts reads blocks of this size. Consecutive blocks overlap, so that no header is split.
_PIECE_BYTES = 4 << 20
_OVERLAP_BYTES = 8


@dataclass(frozen=True, slots=True)
class DamagedArea:
    """A range of bytes between two intact records, and the faults in this range."""

    start: int
    stop: int
    faults: list[Fault]


@dataclass(frozen=True, slots=True)
class IntactRecords:
    """The records of a shard that can be copied.

    Parameters
    ----------
    inspection : Inspection
    frames : FrameIndex
        Frames of the records, in ascending order.
    areas : list of DamagedArea
        Damaged areas with their faults, in ascending order. An area may contain some of `frames`.
    """

    inspection: Inspection
    frames: FrameIndex
    areas: list[DamagedArea]


def find_intact_records(shard: OpenShard, payload: str | None) -> IntactRecords:
    """Find the records of a shard that can be copied; `payload` has the same meaning as in `verify`."""
    index = find_index(shard)
    inspection = _choose_codec_and_inspect_shard(shard, index, payload)
    if index is not None and _is_index_of_replaced_file(inspection, index):
        index = None
        inspection = _choose_codec_and_inspect_shard(shard, index, payload)
    num_unparsed = _count_unparsed(inspection)
    if payload == "auto" and num_unparsed > _MAX_UNPARSED * (len(inspection.intact) + num_unparsed):
        inspection = inspect_shard(shard, index, None)
    records = IntactRecords(inspection, inspection.intact, list(_list_damaged_areas(inspection)))
    with native_errors(shard.name):
        return _add_hidden_records(_add_padded_records(records))


def _choose_codec_and_inspect_shard(shard: OpenShard, index: ShardIndex | None, payload: str | None) -> Inspection:
    # A record with a correct checksum is intact, even if its payload cannot be parsed.
    is_checked = shard.format.framing.has_checksum or _has_all_checksums(index)
    codec = None if is_checked and payload == "auto" else choose_codec(shard, index, payload)
    return inspect_shard(shard, index, codec)


def _has_all_checksums(index: ShardIndex | None) -> bool:
    if index is None or index.sidecar.checksums is None or index.condition == "appended":
        return False
    return len(index.sidecar.checksums) == index.sidecar.num_records


def _is_index_of_replaced_file(inspection: Inspection, index: ShardIndex) -> bool:
    """Return True if the index describes an earlier file that was replaced by a shard of the same size."""
    if index.condition != "damaged" or inspection.num_faults <= len(inspection.intact):
        return False
    with native_errors(inspection.shard.name):
        return not has_any_equal_block(index.sidecar, inspection.shard.source)


def find_end(inspection: Inspection) -> int:
    """Return the offset at which the shard ends, in decompressed bytes.

    This is the maximum of the number of readable bytes, the end of the index, and the offsets of stream faults.
    """
    known_end = 0 if inspection.sidecar is None else inspection.sidecar.end
    fault_end = max((fault.offset or 0 for fault in inspection.faults if fault.kind in STREAM_FAULTS), default=0)
    return max(inspection.shard.source.num_bytes or 0, known_end, fault_end)


def list_gaps(inspection: Inspection, frames: FrameIndex) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the start and end offsets of the gaps before each frame and of the gap after the last one."""
    starts = np.concatenate(([0], frames.offsets + frames.lengths)).astype(np.int64)
    return starts, np.concatenate((frames.offsets, [max(find_end(inspection), starts[-1])])).astype(np.int64)


def _count_unparsed(inspection: Inspection) -> float:
    """Return the number of payloads that cannot be parsed. It is an estimate if `faults` does not list all faults."""
    faults = inspection.faults
    share = sum(fault.kind == "bad_payload" for fault in faults) / max(len(faults), 1)
    return share * inspection.num_faults


def _list_damaged_areas(inspection: Inspection) -> Iterator[DamagedArea]:
    starts, stops = list_gaps(inspection, inspection.intact)
    groups: dict[int, list[Fault]] = {}
    for gap, fault in zip(inspection.list_gaps(), inspection.faults, strict=True):
        groups.setdefault(gap, []).append(fault)
    for gap, faults in groups.items():
        yield DamagedArea(int(starts[gap]), int(stops[gap]), faults)


def _add_hidden_records(records: IntactRecords) -> IntactRecords:
    """Add the records that begin inside damaged frames. Remove frames that contain the start of another record.

    `verify` skips a damaged frame as a whole. In a format without checksums, a frame whose length is damaged may look
    intact although it contains other records.
    """
    shard, sidecar = records.inspection.shard, records.inspection.sidecar
    if not shard.format.framing.can_resync:
        return records
    num_indexed_bytes = 0 if sidecar is None else sidecar.end
    starts = _find_record_starts(records, num_indexed_bytes)
    spans = [(area.start, area.stop) for area in records.areas if _may_hide_records(area, num_indexed_bytes, starts)]
    records = replace(
        records, frames=_merge_frames(records.frames, _find_frames_inside(records.inspection, spans, starts))
    )
    if starts is not None and (rows := _find_overlong_frames(records.frames, starts)):
        records = _replace_overlong_frames(records, rows, starts)
    return replace(records, areas=_merge_areas(records.areas))


def _may_hide_records(area: DamagedArea, num_indexed_bytes: int, starts: NDArray[np.int64] | None) -> bool:
    """Return True if an area may contain records at offsets where `verify` does not look for them."""
    if area.start < num_indexed_bytes or all(fault.kind in _KNOWN_END for fault in area.faults):
        return False
    # If `starts` is None, search only areas with several faults, in which `verify` may have skipped whole frames. After
    # a single damaged header, `verify` has already searched every byte for the next record.
    return starts is not None or len(area.faults) > 1


def _find_record_starts(records: IntactRecords, begin: int) -> NDArray[np.int64] | None:
    """Find the offsets after `begin` where records certainly begin.

    Returns None if other bytes can look like the start of a record in this format. The size of a damaged compressed
    stream is unknown, so the search in it ends at the last intact record.
    """
    shard, frames = records.inspection.shard, records.frames
    find_starts, starts = shard.format.framing.find_starts, [np.zeros(0, np.int64)]
    if find_starts is None:
        return None
    end = shard.source.num_bytes
    if end is None:
        end = int(frames.offsets[-1] + frames.lengths[-1]) if len(frames) else 0
    for first in range(begin - begin % 8, end, _PIECE_BYTES):
        data = memoryview(shard.source.read(first, min(_PIECE_BYTES + _OVERLAP_BYTES, end - first)))
        starts.append(first + find_starts(data))
    return np.unique(np.concatenate(starts))


def _find_overlong_frames(frames: FrameIndex, starts: NDArray[np.int64]) -> list[int]:
    """Return the rows of frames that contain the start of another record. The lengths of these frames are wrong."""
    if not len(frames):
        return []
    rows = np.maximum(np.searchsorted(frames.offsets, starts, side="right") - 1, 0)
    offsets = frames.offsets[rows]
    is_inside = (starts > offsets) & (starts < offsets + frames.lengths[rows])
    return list(np.unique(rows[is_inside]).tolist())


def _replace_overlong_frames(records: IntactRecords, rows: list[int], known: NDArray[np.int64]) -> IntactRecords:
    """Remove the frames at `rows`, because their lengths are wrong, and add the frames that begin inside them."""
    inspection, frames = records.inspection, records.frames
    starts, stops = frames.offsets[rows], list_gaps(inspection, frames)[1][np.array(rows) + 1]
    added = _find_frames_inside(inspection, list(zip(starts.tolist(), stops.tolist(), strict=True)), known)
    kept = FrameIndex(np.delete(frames.offsets, rows), np.delete(frames.lengths, rows))
    areas = [
        DamagedArea(start, stop, [Fault("bad_length", inspection.shard.name, None, start, _TOO_LONG)])
        for start, stop in zip(starts.tolist(), (starts + frames.lengths[rows]).tolist(), strict=True)
    ]
    return IntactRecords(inspection, _merge_frames(kept, added), records.areas + areas)


def _merge_areas(areas: list[DamagedArea]) -> list[DamagedArea]:
    """Sort damaged areas by offset, and merge areas that touch or overlap."""
    merged: list[DamagedArea] = []
    for area in sorted(areas, key=lambda area: (area.start, area.stop)):
        if merged and merged[-1].stop >= area.start:
            last = merged.pop()
            area = DamagedArea(last.start, max(last.stop, area.stop), last.faults + area.faults)  # noqa: PLW2901
        merged.append(area)
    return merged


def _find_frames_inside(
    inspection: Inspection, spans: list[tuple[int, int]], starts: NDArray[np.int64] | None
) -> list[tuple[int, int]]:
    """Return the intact frames inside byte ranges.

    The first byte of each range is skipped, because the damaged frame itself begins there.
    """
    found: list[tuple[int, int]] = []
    for begin, stop in spans:
        if starts is None:
            found += _find_frames_at_all_bytes(inspection, begin + 1, stop)
        else:
            candidates = _find_frames_at_candidates(inspection, begin + 1, stop, starts)
            found += [frame for frame in candidates if _is_payload_intact(inspection, frame)]
    return found


def _find_frames_at_candidates(
    inspection: Inspection, begin: int, stop: int, starts: NDArray[np.int64]
) -> Iterator[tuple[int, int]]:
    """Yield the complete frames that begin at one of `starts` and do not extend beyond the next start."""
    source, kind = inspection.shard.source, inspection.shard.format.framing.kind
    while (row := int(np.searchsorted(starts, begin))) < len(starts) and starts[row] < stop:
        blocks = _core.scan(source, kind, start=int(starts[row]), max_records=_SEARCH_RECORDS)
        begin = int(starts[row]) + 1
        for offset, length in zip(np.asarray(blocks[0]).tolist(), np.asarray(blocks[1]).tolist(), strict=True):
            row = int(np.searchsorted(starts, offset, side="right"))
            if offset + length > min(stop, int(starts[row]) if row < len(starts) else stop):
                break
            yield offset, length
            begin = offset + length


def _find_frames_at_all_bytes(inspection: Inspection, begin: int, stop: int) -> Iterator[tuple[int, int]]:
    """Yield the intact frames between two offsets, including frames inside damaged ones.

    A malicious shard can nest any number of damaged frames. Therefore the number of bytes that are read more than once
    is limited.
    """
    source, kind = inspection.shard.source, inspection.shard.format.framing.kind
    num_rereadable = _MAX_REREADS * (stop - begin)
    while begin < stop:
        blocks = _core.scan(source, kind, start=begin, max_records=2, resync=True)
        damaged = {fault[1] for fault in blocks[3]}
        frames = zip(np.asarray(blocks[0]).tolist(), np.asarray(blocks[1]).tolist(), strict=True)
        offset, length = next((frame for row, frame in enumerate(frames) if row not in damaged), (stop, 0))
        begin = offset + 1
        if length and offset + length <= stop and num_rereadable > 0:
            if _is_payload_intact(inspection, (offset, length)):
                yield offset, length
                begin = offset + length
            num_rereadable -= length


def _add_padded_records(records: IntactRecords) -> IntactRecords:
    """Add the records whose only fault is padding that is not zero, because padding is not part of the payload."""
    inspection = records.inspection
    if not any(fault.kind == "bad_padding" for fault in inspection.faults):
        return records
    added = [frame for frame in _find_frames_with_bad_padding(inspection) if _is_payload_intact(inspection, frame)]
    starts = np.array([offset for offset, _ in added], np.int64)
    ends = starts + np.array([length for _, length in added], np.int64)

    def is_outside_added_frames(fault: Fault) -> bool:
        row = int(np.searchsorted(starts, fault.offset or 0, side="right")) - 1
        return row < 0 or (fault.offset or 0) >= int(ends[row])

    areas = [replace(area, faults=list(filter(is_outside_added_frames, area.faults))) for area in records.areas]
    areas = [area for area in areas if area.faults]
    return IntactRecords(inspection, _merge_frames(records.frames, added), areas)


def _find_frames_with_bad_padding(inspection: Inspection) -> Iterator[tuple[int, int]]:
    """Yield the frames that a scan accepts and `verify` rejects. Only `verify` checks the padding.

    A frame directly before other damage is omitted. Bytes may have been inserted into its payload, so that the bytes at
    the position of the padding belong to the payload.
    """
    source, kind = inspection.shard.source, inspection.shard.format.framing.kind
    blocks = _core.scan(source, kind, resync=True)
    offsets, lengths = np.asarray(blocks[0]), np.asarray(blocks[1])
    is_complete = np.ones(len(offsets) + 1, np.bool_)
    is_complete[[fault[1] or 0 for fault in blocks[3]]] = False
    is_padded = is_complete[:-1] & is_complete[1:] & ~np.isin(offsets, inspection.intact.offsets)
    if inspection.sidecar is not None:
        is_padded &= _matches_index(offsets, lengths, inspection.sidecar)
    yield from zip(offsets[is_padded].tolist(), lengths[is_padded].tolist(), strict=True)


def _matches_index(offsets: NDArray[np.int64], lengths: NDArray[np.int64], sidecar: Sidecar) -> NDArray[np.bool_]:
    """Return a mask of the frames that the index lists with the same length, or that begin after the indexed bytes."""
    if not sidecar.num_records:
        return np.ones(len(offsets), np.bool_)
    rows = np.minimum(np.searchsorted(sidecar.index.offsets, offsets), sidecar.num_records - 1)
    is_equal = (sidecar.index.offsets[rows] == offsets) & (sidecar.index.lengths[rows] == lengths)
    return np.asarray(is_equal | (offsets >= sidecar.end))


def _is_payload_intact(inspection: Inspection, frame: tuple[int, int]) -> bool:
    """Return True if the payload of a frame matches its checksums and, if there is a codec, can be parsed."""
    shard, codec, sidecar = inspection.shard, inspection.codec, inspection.sidecar
    offsets, lengths = np.array([frame[0]], np.int64), np.array([frame[1]], np.int64)
    checksums = None
    if sidecar is not None and frame[0] < sidecar.end and sidecar.checksums is not None:
        row = int(np.searchsorted(sidecar.index.offsets, frame[0]))
        checksums = sidecar.checksums[row : row + 1].astype(np.int64) if row < len(sidecar.checksums) else None
    try:
        blocks = _core.fetch(shard.source, shard.format.framing.kind, offsets, lengths, checksums=checksums)
    except _core.CoreFault:
        return False
    return codec is None or codec.kind is None or codec.infer_features(Ragged.from_blocks(*blocks)).fault is None


def _merge_frames(frames: FrameIndex, added: list[tuple[int, int]]) -> FrameIndex:
    """Add frames, given as (offset, length) pairs, and sort all frames by offset."""
    columns = np.array(added, np.int64).reshape(-1, 2)
    offsets = np.concatenate((frames.offsets, columns[:, 0]))
    lengths = np.concatenate((frames.lengths, columns[:, 1]))
    order = np.argsort(offsets, kind="stable")
    return FrameIndex(offsets[order], lengths[order])

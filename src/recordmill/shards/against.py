"""Compares a shard with what was kept about it when it was written or indexed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recordmill import _core
from recordmill.dataclass import dataclass
from recordmill.shards import sidecar as sidecars
from recordmill.shards.index import kept_sidecars
from recordmill.shards.opening import OpenShard
from recordmill.shards.pacing import records_at_once
from recordmill.shards.sidecar import Sidecar
from recordmill.types import Fault, FrameIndex


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a sidecar shows of a shard.

    Parameters
    ----------
    faults : list of Fault
    num_compared : int
        Payloads whose checksum was kept, and that stand where they stood.
    fits : bool
        Whether it was made of this shard at all.
    """

    faults: list[Fault]
    num_compared: int = 0
    fits: bool = True


def compare_with_kept(shard: OpenShard, sound: FrameIndex, walked: list[Fault]) -> Comparison:
    """Compare the sound records of a shard with its sidecar: the first that was made of it.

    Parameters
    ----------
    shard : OpenShard
    sound : FrameIndex
        Records whose frames are whole.
    walked : list of Fault
        What a walk through the shard found already.

    Returns
    -------
    Comparison
    """
    fits = True
    for kept in kept_sidecars(shard.paths[0]) if len(shard.paths) == 1 else ():
        found = _compare(shard, kept, sound, walked)
        if found.fits:
            return found
        fits = False
    return Comparison([], fits=fits)


def _compare(shard: OpenShard, kept: Sidecar, sound: FrameIndex, walked: list[Fault]) -> Comparison:
    stored = shard.source.num_stored_bytes or 0
    if not _is_of(kept, shard, stored):
        return Comparison([], fits=False)
    rows = _rows_in_place(kept, sound)
    faults = _turned(shard, kept, rows)
    missing = np.setdiff1d(np.arange(len(kept.index)), rows)
    if stored < kept.num_stored_bytes and not any(fault.kind.startswith("truncated") for fault in walked):
        faults.append(_cut(shard, kept, int(missing[0]), stored))
    elif not walked and len(missing):
        message = "the records are not where they were when the index was made"
        faults.append(Fault("sidecar_checksum", shard.name, int(missing[0]), None, message))
    return Comparison(faults, 0 if kept.checksums is None else int(np.sum(rows < len(kept.checksums))))


def _is_of(kept: Sidecar, shard: OpenShard, stored: int) -> bool:
    """Whether an index was made of this shard, as it was before bits turned, its end was lost or more was appended."""
    if (kept.format, kept.compression) != (shard.format.name, shard.compression):
        return False
    if stored < kept.num_stored_bytes:
        return sidecars.is_cut(kept, shard.source)
    same_size = stored == kept.num_stored_bytes
    # Without checksums nothing but its blocks tells a shard whose bits turned from one that took its place.
    return (same_size and kept.checksums is not None) or sidecars.fits(kept, shard.source)


def _rows_in_place(kept: Sidecar, sound: FrameIndex) -> NDArray[np.int64]:
    """Records of a sidecar whose frames are sound and where they were."""
    _, rows, found = np.intersect1d(kept.index.offsets, sound.offsets, assume_unique=True, return_indices=True)
    return np.asarray(rows[kept.index.lengths[rows] == sound.lengths[found]], np.int64)


def _turned(shard: OpenShard, kept: Sidecar, rows: NDArray[np.int64]) -> list[Fault]:
    """Payloads that are not what their checksums say."""
    if kept.checksums is None:
        return []
    faults: list[Fault] = []
    rows, kind = rows[rows < len(kept.checksums)], shard.format.framing.kind
    at_once = records_at_once(shard, kept.index)
    for start in range(0, len(rows), at_once):
        some = rows[start : start + at_once]
        frames, expected = kept.index[some], kept.checksums[some]
        data, splits = _core.fetch(shard.source, kind, frames.offsets, frames.lengths)
        sums = np.asarray(_core.row_checksums(data, splits))
        for row in np.flatnonzero(sums != expected):
            values = f"(expected {expected[row]:#010x}, found {sums[row]:#010x})"
            message = f"the payload is not what it was when its checksum was kept {values}"
            faults.append(Fault("sidecar_checksum", shard.name, int(some[row]), int(frames.offsets[row]), message))
    return faults


def _cut(shard: OpenShard, kept: Sidecar, record: int, stored: int) -> Fault:
    message = (
        f"the end of the shard is missing: it had {len(kept.index)} records when its index was made "
        f"(expected {kept.num_stored_bytes} bytes, found {stored})"
    )
    return Fault("truncated_shard", shard.name, record, int(kept.index.offsets[record]), message)

"""Compares a shard with what was kept about it when it was written or indexed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill import _core
from recordmill.errors import RecordmillError
from recordmill.formats.base import PayloadCodec
from recordmill.formats.registry import get_payload
from recordmill.shards import sidecar as sidecars
from recordmill.shards.index import find_sidecar, load_sidecars
from recordmill.shards.inference import detect_payload
from recordmill.shards.native_errors import native_errors
from recordmill.shards.open import OpenShard, open_shard
from recordmill.shards.paths import Paths, expand_paths
from recordmill.shards.reader import records_per_read
from recordmill.shards.sidecar import Sidecar
from recordmill.shards.spanning import groups
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
    """Compare the sound records of a shard with its sidecar: the first that was made of it."""
    fits = True
    for kept in load_sidecars(shard.paths[0]) if len(shard.paths) == 1 else ():
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
        return sidecars.is_truncated(kept, shard.source)
    same_size = stored == kept.num_stored_bytes
    # Without checksums nothing but its blocks tells a shard whose bits turned from one that took its place.
    return (same_size and kept.checksums is not None) or sidecars.matches_source(kept, shard.source)


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
    at_once = records_per_read(shard, kept.index)
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


# Faults of a shard that are listed; the native walk keeps as many.
_MOST = 10_000
# Stored bytes up to which the native walk parses payloads and looks at padding.
_INSPECTED = 64 << 20


@dataclass(frozen=True, slots=True)
class Report:
    """What a check found.

    Parameters
    ----------
    num_records : int
        Sound records.
    faults : list of Fault
        In order of shard and offset; at most 10,000 per shard.
    num_faults : int
        All of them.
    guarantees : dict of str to list of str
        Per format, what the check could show and what no check can.
    """

    num_records: int = 0
    faults: list[Fault] = field(default_factory=list)
    num_faults: int = 0
    guarantees: dict[str, list[str]] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether nothing was found wrong."""
        return self.num_faults == 0

    def to_json(self) -> dict[str, Any]:
        """Plain form.

        Returns
        -------
        dict
            ``{"ok", "num_records", "num_faults", "faults", "guarantees"}``
        """
        return {
            "ok": self.ok,
            "num_records": self.num_records,
            "num_faults": self.num_faults,
            "faults": [fault.to_json() for fault in self.faults],
            "guarantees": self.guarantees,
        }


def verify(
    paths: Paths,
    *,
    format: str | None = None,  # noqa: A002
    compression: str | None = "auto",
    payload: str | None = "auto",
    max_decompressed_bytes: int | None = None,
) -> Report:
    """Check shards from their first to their last byte; OFRecord parts whose records go on in the next as one.

    Parameters
    ----------
    paths : path, pattern, folder, or iterable of them
    format : {"tfrecord", "ofrecord", "recordio"}, optional
        What content says by default.
    compression : {"auto", "gzip", "zlib"} or None
    payload : str or None
        Codec by which payloads are parsed too; "auto" for what the first records are, None for not at all.
    max_decompressed_bytes : int, optional
        Largest number of bytes that a compressed shard may inflate to.

    Returns
    -------
    Report

    Raises
    ------
    FileNotFoundError
        No such shard.
    """
    options = {"format": format, "compression": compression, "max_decompressed_bytes": max_decompressed_bytes}
    reports = [_verify_one(files, options, payload) for files in groups(expand_paths(paths), options)]
    return Report(
        sum(report.num_records for report in reports),
        [fault for report in reports for fault in report.faults],
        sum(report.num_faults for report in reports),
        _of_all([report.guarantees for report in reports]),
    )


def _of_all(each: list[dict[str, list[str]]]) -> dict[str, list[str]]:
    """What could be shown of all shards of a format, and of how many of them what holds for some alone."""
    joined = {}
    for name in dict.fromkeys(name for said in each for name in said):
        lists = [said[name] for said in each if name in said]
        counts = Counter(line for lines in lists for line in lines)
        joined[name] = [
            line if count == len(lists) else f"{line} ({count} of {len(lists)} shards)"
            for line, count in counts.items()
        ]
    return joined


def _verify_one(files: list[str], options: dict[str, Any], payload: str | None) -> Report:
    path = files[0]
    try:
        shard = open_shard(files, **options)
        path, codec = shard.name, _codec(shard, payload)
        with native_errors(path):
            kind = shard.format.framing.kind
            found = _core.verify(shard.source, kind, None if codec is None else codec.kind)
            walked = [_fault(path, entry) for entry in found[1]]
            sound = FrameIndex(*(np.frombuffer(memoryview(block), np.int64) for block in found[4:]))
            against = compare_with_kept(shard, sound, walked)
    except RecordmillError as error:
        fault = Fault(error.kind or "unreadable", path, error.record, error.offset, _first_line(error))
        return Report(0, [fault], 1)
    faults = sorted(walked + against.faults, key=lambda fault: -1 if fault.offset is None else fault.offset)
    spoilt = sum(fault.kind == "sidecar_checksum" and fault.offset is not None for fault in against.faults)
    num_records, num_faults = found[0] - spoilt, found[2] + len(against.faults)
    said = guarantees(shard, codec, sound, against)
    return Report(num_records, faults[:_MOST], num_faults, {shard.format.name: said})


def _first_line(error: RecordmillError) -> str:
    return str(error).splitlines()[0]


def _codec(shard: OpenShard, payload: str | None) -> PayloadCodec | None:
    if payload is None:
        return None
    return detect_payload(shard, find_sidecar(shard)) if payload == "auto" else get_payload(payload, shard.format)


def _fault(path: str, parts: tuple[Any, ...]) -> Fault:
    kind, record, offset, expected, found, message = parts
    values = f" (expected {expected}, found {found})" if found else ""
    return Fault(kind, path, record, offset, message + values)


def guarantees(shard: OpenShard, codec: PayloadCodec | None, sound: FrameIndex, against: Comparison) -> list[str]:
    """Say what a check of a shard can show, and what it cannot."""
    framing = shard.format.framing
    lines = [_checksums_compared(framing.has_checksum, len(sound), against.num_compared)]
    if not against.fits:
        lines.append("the sidecar index is of another file, or one that changed since, and was not used")
    if not framing.can_resync:
        lines.append("behind a damaged length no record can be found again")
    if shard.compression is not None:
        lines.append(f"the {shard.compression} stream was compared with its checksum")
    if codec is not None and codec.kind is not None:
        num_large = int(np.count_nonzero(sound.lengths > _INSPECTED))
        but = f"; {num_large} of more than 64 MiB left out" if num_large else ""
        lines.append(f"every payload was parsed as {codec.name}{but}")
    return lines


def _checksums_compared(has_checksum: bool, num_records: int, num_compared: int) -> str:
    if has_checksum:
        return "every length and every payload was compared with its CRC-32C"
    if not num_compared:
        return "the format has no checksums: a flipped bit inside a payload shows only where it breaks the message"
    which = "every payload was" if num_compared == num_records else f"{num_compared} of {num_records} payloads were"
    return f"{which} compared with the CRC-32C kept in the sidecar index"

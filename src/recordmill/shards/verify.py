"""Verification of shards: a scan of all bytes, and a comparison with the sidecar index.

The native scan finds frames that are damaged. The sidecar, which was written with the shard or when the shard was
indexed, shows more: flipped bits in formats without checksums, and records that are missing at the end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill import _core
from recordmill.errors import RecordmillError
from recordmill.formats.base import PayloadCodec
from recordmill.formats.registry import get_payload
from recordmill.shards.index import find_sidecar, load_sidecars
from recordmill.shards.inference import detect_payload
from recordmill.shards.native_errors import native_errors
from recordmill.shards.open import OpenShard, open_shard
from recordmill.shards.paths import Paths, expand_paths
from recordmill.shards.reader import records_per_read
from recordmill.shards.sidecar import Sidecar, has_equal_blocks, is_truncated
from recordmill.shards.spanning import group_spanning_files
from recordmill.storage.base import Storage
from recordmill.storage.local import LOCAL
from recordmill.types import Fault, FrameIndex

# Maximum number of faults that a report lists per shard; the native scan has the same limit.
_MAX_FAULTS = 10_000
# The native scan does not parse payloads with more stored bytes, nor check their padding.
_MAX_PARSED_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class Report:
    """Result of `verify`.

    Parameters
    ----------
    num_records : int
        Number of sound records.
    faults : list of Fault
        Faults in the order of shards and offsets, at most 10,000 per shard.
    num_faults : int
        Number of all faults.
    guarantees : dict of str to list of str
        For each format, sentences that state what the verification can detect and what it cannot.
    """

    num_records: int = 0
    faults: list[Fault] = field(default_factory=list)
    num_faults: int = 0
    guarantees: dict[str, list[str]] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """True if there are no faults."""
        return self.num_faults == 0

    def to_json(self) -> dict[str, Any]:
        """Return the report as a dict that can be written as JSON.

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
    """Verify all bytes of shards and report every fault.

    OFRecord parts whose records continue in the next file are verified as one stream.

    Parameters
    ----------
    paths : path, pattern, directory, or iterable of them
        The shards.
    format : str, optional
        Record format, such as "tfrecord", "ofrecord" or "recordio"; detected from the content by default.
    compression : str or None
        Compression of the shards; "auto" detects it from their content. One of "auto", "gzip" or "zlib".
    payload : str or None
        Codec with which all payloads are parsed; "auto" detects it from the first records, None parses no payloads. One
        of "auto", "example", "sequence_example", "ofrecord", "irheader" or "raw".
    max_decompressed_bytes : int, optional
        Maximum size of a compressed shard after decompression, in bytes. The default is 4 GiB or 250 times the file
        size, whichever is larger.

    Returns
    -------
    Report

    Raises
    ------
    FileNotFoundError
        If a path or pattern matches no file.

    Examples
    --------
    >>> report = rm.verify("train.tfrecord")
    >>> report.ok, report.num_records
    (True, 8)
    """
    options = {"format": format, "compression": compression, "max_decompressed_bytes": max_decompressed_bytes}
    return verify_shards(LOCAL, paths, options, payload)


def verify_shards(storage: Storage, paths: Paths, options: Mapping[str, Any], payload: str | None) -> Report:
    """Verify shards of a storage; `options` are those of `open_shard`."""
    groups = group_spanning_files(expand_paths(paths, storage), options, storage)
    reports = [_verify_shard(storage, files, options, payload) for files in groups]
    return Report(
        sum(report.num_records for report in reports),
        [fault for report in reports for fault in report.faults],
        sum(report.num_faults for report in reports),
        _merge_guarantees([report.guarantees for report in reports]),
    )


def _merge_guarantees(guarantees: list[dict[str, list[str]]]) -> dict[str, list[str]]:
    """Merge the sentences of all shards by format; add the number of shards if a sentence does not apply to all."""
    merged = {}
    for name in dict.fromkeys(name for by_format in guarantees for name in by_format):
        shards = [by_format[name] for by_format in guarantees if name in by_format]
        counts = Counter(line for lines in shards for line in lines)
        merged[name] = [
            line if count == len(shards) else f"{line} ({count} of {len(shards)} shards)"
            for line, count in counts.items()
        ]
    return merged


def _verify_shard(storage: Storage, files: list[str], options: Mapping[str, Any], payload: str | None) -> Report:
    name = files[0]
    try:
        shard = open_shard(files, **options, storage=storage)
        name, codec = shard.name, _choose_codec(shard, payload)
        with native_errors(name):
            kind = None if codec is None else codec.kind
            num_sound, native_faults, num_faults, _, *blocks = _core.verify(
                shard.source, shard.format.framing.kind, kind
            )
            scan_faults = [_convert_fault(name, fault) for fault in native_faults]
            sound = FrameIndex(*(np.frombuffer(memoryview(block), np.int64) for block in blocks))
            comparison = _compare_with_sidecars(shard, sound, scan_faults)
    except RecordmillError as error:
        message = str(error).splitlines()[0]
        return Report(0, [Fault(error.kind or "unreadable", name, error.record, error.offset, message)], 1)
    faults = sorted(scan_faults + comparison.faults, key=lambda fault: -1 if fault.offset is None else fault.offset)
    num_changed = sum(fault.kind == "sidecar_checksum" and fault.offset is not None for fault in comparison.faults)
    guarantees = {shard.format.name: _describe_guarantees(shard, codec, sound, comparison)}
    return Report(num_sound - num_changed, faults[:_MAX_FAULTS], num_faults + len(comparison.faults), guarantees)


def _choose_codec(shard: OpenShard, payload: str | None) -> PayloadCodec | None:
    if payload is None:
        return None
    return detect_payload(shard, find_sidecar(shard)) if payload == "auto" else get_payload(payload, shard.format)


def _convert_fault(name: str, fault: tuple[Any, ...]) -> Fault:
    kind, record, offset, expected, found, message = fault
    values = f" (expected {expected}, found {found})" if found else ""
    return Fault(kind, name, record, offset, message + values)


@dataclass(frozen=True, slots=True)
class _Comparison:
    """Result of the comparison of a shard with its sidecar.

    Parameters
    ----------
    faults : list of Fault
    num_compared : int
        Number of payloads that were compared with their checksums.
    has_unrelated_sidecar : bool
        True if sidecars exist, but all belong to other content.
    """

    faults: list[Fault]
    num_compared: int = 0
    has_unrelated_sidecar: bool = False


def _compare_with_sidecars(shard: OpenShard, sound: FrameIndex, scan_faults: list[Fault]) -> _Comparison:
    """Compare the sound records of a shard with the first of its sidecars that was written for this shard."""
    sidecars = list(load_sidecars(shard.paths[0], shard.storage)) if len(shard.paths) == 1 else []
    for sidecar in sidecars:
        if _belongs_to(sidecar, shard):
            return _compare_with_sidecar(shard, sidecar, sound, scan_faults)
    return _Comparison([], has_unrelated_sidecar=bool(sidecars))


def _belongs_to(sidecar: Sidecar, shard: OpenShard) -> bool:
    """Return True if a sidecar was written for this shard before bits flipped, its end was lost or records appended."""
    if (sidecar.format, sidecar.compression) != (shard.format.name, shard.compression):
        return False
    stored = shard.source.num_stored_bytes or 0
    if stored < sidecar.num_stored_bytes:
        return is_truncated(sidecar, shard.source)
    # With checksums, a shard of the same size is compared payload by payload. Without them, only the probed blocks
    # distinguish flipped bits from another shard that replaced this one.
    has_checksums = stored == sidecar.num_stored_bytes and sidecar.checksums is not None
    return has_checksums or has_equal_blocks(sidecar, shard.source)


def _compare_with_sidecar(
    shard: OpenShard, sidecar: Sidecar, sound: FrameIndex, scan_faults: list[Fault]
) -> _Comparison:
    stored = shard.source.num_stored_bytes or 0
    rows = _find_unmoved_records(sidecar, sound)
    faults = _find_changed_payloads(shard, sidecar, rows)
    missing = np.setdiff1d(np.arange(len(sidecar.index)), rows)
    if stored < sidecar.num_stored_bytes and not any(fault.kind.startswith("truncated") for fault in scan_faults):
        faults.append(_truncation_fault(shard, sidecar, int(missing[0]), stored))
    elif not scan_faults and len(missing):
        message = "records are not at the offsets that the sidecar index lists"
        faults.append(Fault("sidecar_checksum", shard.name, int(missing[0]), None, message))
    return _Comparison(faults, 0 if sidecar.checksums is None else int(np.sum(rows < len(sidecar.checksums))))


def _find_unmoved_records(sidecar: Sidecar, sound: FrameIndex) -> NDArray[np.int64]:
    """Return the records of a sidecar whose frames are sound and have the same offset and length."""
    _, rows, sound_rows = np.intersect1d(sidecar.index.offsets, sound.offsets, assume_unique=True, return_indices=True)
    return np.asarray(rows[sidecar.index.lengths[rows] == sound.lengths[sound_rows]], np.int64)


def _find_changed_payloads(shard: OpenShard, sidecar: Sidecar, rows: NDArray[np.int64]) -> list[Fault]:
    """Return a fault for each payload that differs from its checksum in the sidecar."""
    if sidecar.checksums is None:
        return []
    faults: list[Fault] = []
    rows, kind = rows[rows < len(sidecar.checksums)], shard.format.framing.kind
    step = records_per_read(shard, sidecar.index)
    for start in range(0, len(rows), step):
        records = rows[start : start + step]
        frames, expected = sidecar.index[records], sidecar.checksums[records]
        data, splits = _core.fetch(shard.source, kind, frames.offsets, frames.lengths)
        checksums = np.asarray(_core.row_checksums(data, splits))
        for row in np.flatnonzero(checksums != expected):
            message = (
                "the payload does not match its checksum in the sidecar index "
                f"(expected {expected[row]:#010x}, found {checksums[row]:#010x})"
            )
            fault = Fault("sidecar_checksum", shard.name, int(records[row]), int(frames.offsets[row]), message)
            faults.append(fault)
    return faults


def _truncation_fault(shard: OpenShard, sidecar: Sidecar, record: int, stored: int) -> Fault:
    message = (
        f"the end of the shard is missing: its sidecar index lists {len(sidecar.index)} records "
        f"(expected {sidecar.num_stored_bytes} bytes, found {stored})"
    )
    return Fault("truncated_shard", shard.name, record, int(sidecar.index.offsets[record]), message)


def _describe_guarantees(
    shard: OpenShard, codec: PayloadCodec | None, sound: FrameIndex, comparison: _Comparison
) -> list[str]:
    """State what the verification of a shard can detect and what it cannot."""
    framing = shard.format.framing
    lines = [_describe_checksums(framing.has_checksum, len(sound), comparison.num_compared)]
    if comparison.has_unrelated_sidecar:
        lines.append("the sidecar index was not used: it belongs to another file or to an earlier version of this file")
    if not framing.can_resync:
        lines.append("records after a damaged length cannot be found")
    if shard.compression is not None:
        lines.append(f"the {shard.compression} stream was compared with its checksum")
    if codec is not None and codec.kind is not None:
        num_large = int(np.count_nonzero(sound.lengths > _MAX_PARSED_BYTES))
        exception = f", except {num_large} larger than 64 MiB" if num_large else ""
        lines.append(f"every payload was parsed as {codec.name}{exception}")
    return lines


def _describe_checksums(has_checksum: bool, num_records: int, num_compared: int) -> str:
    if has_checksum:
        return "every length and every payload was compared with its CRC-32C"
    if not num_compared:
        return "the format has no checksums: a flipped bit in a payload is found only if it makes the message invalid"
    subject = "every payload was" if num_compared == num_records else f"{num_compared} of {num_records} payloads were"
    return f"{subject} compared with the CRC-32C in the sidecar index"

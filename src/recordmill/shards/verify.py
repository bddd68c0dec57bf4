"""Verification of shards: a scan of all bytes, and a comparison with the sidecar index.

The native scan finds damaged frames. The sidecar was written with the shard or when the shard was indexed. With it,
`verify` also finds flipped bits in formats without checksums, records that are missing at the end, and the records
after a damaged length.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from recordmill import _core
from recordmill.errors import RecordmillError
from recordmill.formats.base import PayloadCodec
from recordmill.formats.registry import get_payload
from recordmill.shards.completeness import Selection, ShardContent, select_shards
from recordmill.shards.index import ShardIndex, find_sidecar, load_sidecars
from recordmill.shards.inference import detect_payload
from recordmill.shards.native_errors import native_errors
from recordmill.shards.open import OpenShard, open_shard
from recordmill.shards.paths import Paths
from recordmill.shards.sidecar import Sidecar, compute_probes
from recordmill.shards.spanning import group_spanning_files
from recordmill.storage.addresses import describe_path
from recordmill.storage.base import Storage
from recordmill.types import Fault, FrameIndex

# Maximum number of faults that a report lists per shard; the native scan has the same limit.
_MAX_FAULTS = 10_000
_MAX_PRINTED_FAULTS = 10
# Kinds of faults after which the rest of a compressed stream is not read.
STREAM_FAULTS = ("bad_compression", "limit_exceeded")
# Payloads above this size are not parsed by the native scan, and their padding is not checked.
_MAX_PARSED_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class Report:
    """Result of `verify`.

    Parameters
    ----------
    num_records : int
        Number of intact records.
    faults : list of Fault
        First the missing, foreign and replaced shards of whole datasets. Then the faults inside the shards, in the
        order of shards and offsets, at most 10,000 per shard.
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

    def __str__(self) -> str:
        """Return the number of records and faults, and the first faults, as text of several lines."""
        lines = [
            f"intact records: {self.num_records:,}, faults: {self.num_faults:,}",
            *map(str, self.faults[:_MAX_PRINTED_FAULTS]),
        ]
        num_more = self.num_faults - len(lines) + 1
        return "\n".join(lines + ([f"and {num_more:,} more"] if num_more else []))

    def _repr_html_(self) -> str:
        """Return the number of records and faults, and the first faults, as HTML for notebooks."""
        from recordmill.shards.summary_html import format_report_html

        return format_report_html(self)

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


@dataclass(frozen=True, slots=True)
class Inspection:
    """The intact records and the faults of one shard.

    Parameters
    ----------
    shard : OpenShard
    index : ShardIndex or None
        Sidecar of the shard with which the records were compared.
    codec : PayloadCodec or None
        Codec with which the payloads were parsed; None if they were not parsed.
    intact : FrameIndex
        Frames of the intact records.
    faults : list of Fault
        The first faults, in the order of their offsets. `Fault.record` counts intact records and faults.
    num_faults : int
        Number of all faults.
    """

    shard: OpenShard
    index: ShardIndex | None
    codec: PayloadCodec | None
    intact: FrameIndex
    faults: list[Fault]
    num_faults: int

    @property
    def sidecar(self) -> Sidecar | None:
        """Sidecar with which the records were compared."""
        return None if self.index is None else self.index.sidecar

    def list_gaps(self) -> list[int]:
        """Return the number of intact records before each fault."""
        num_intact = len(self.intact)
        ordinals = [num_intact if fault.record is None else fault.record for fault in self.faults]
        return [min(ordinal - number, num_intact) for number, ordinal in enumerate(ordinals)]

    def find_ordinal(self, offset: int) -> int:
        """Return the position of the record that starts at an offset; damaged records are counted, too."""
        row = int(np.searchsorted(self.intact.offsets, offset))
        return row + sum(gap <= row for gap in self.list_gaps())


def verify_shards(storage: Storage, paths: Paths, options: Mapping[str, Any], payload: str | None) -> Report:
    """Verify all bytes of shards and return a report; `options` are keyword arguments of `open_shard`."""
    selection = select_shards(paths, storage)
    groups = group_spanning_files(selection.files, options, storage)
    reports = [verify_shard(storage, files, options, payload, selection) for files in groups]
    dataset_faults = selection.list_faults(storage)
    return Report(
        sum(report.num_records for report in reports),
        [*dataset_faults, *(fault for report in reports for fault in report.faults)],
        len(dataset_faults) + sum(report.num_faults for report in reports),
        merge_guarantees([report.guarantees for report in reports]),
    )


def merge_guarantees(guarantees: list[dict[str, list[str]]]) -> dict[str, list[str]]:
    """Merge the sentences that state which faults could be detected in each shard. Return one list per format.

    If a sentence holds only for some shards, the number of these shards is appended.
    """
    merged = {}
    for name in dict.fromkeys(name for by_format in guarantees for name in by_format):
        shards = [by_format[name] for by_format in guarantees if name in by_format]
        counts = Counter(line for lines in shards for line in lines)
        merged[name] = [
            line if count == len(shards) else f"{line} ({count} of {len(shards)} shards)"
            for line, count in counts.items()
        ]
    return merged


def verify_shard(
    storage: Storage, files: list[str], options: Mapping[str, Any], payload: str | None, selection: Selection
) -> Report:
    """Verify one shard, and compare its content with the manifest of its dataset."""
    name = describe_path(files[0])
    try:
        shard = open_shard(files, **options, storage=storage)
        name = shard.name
        found = find_index(shard)
        inspection = inspect_shard(shard, found, choose_codec(shard, found, payload))
    except RecordmillError as error:
        message = str(error).splitlines()[0]
        return Report(0, [Fault(error.kind or "unreadable", name, error.record, error.offset, message)], 1)
    if len(files) == 1:
        selection.compare(_build_shard_content(inspection))
    guarantees = {shard.format.name: _describe_guarantees(inspection)}
    return Report(len(inspection.intact), inspection.faults[:_MAX_FAULTS], inspection.num_faults, guarantees)


def _build_shard_content(inspection: Inspection) -> ShardContent:
    shard, sidecar = inspection.shard, inspection.sidecar
    if sidecar is not None:
        counts, probes = (sidecar.num_stored_bytes, sidecar.num_records), sidecar.probes
    else:
        num_bytes = shard.source.num_stored_bytes or 0
        counts = num_bytes, len(inspection.intact) + inspection.num_faults
        with native_errors(shard.name):
            probes = compute_probes(shard.source, num_bytes)
    return ShardContent(shard.paths[0], *counts, probes, lambda: inspection.num_faults > 0)


def find_index(shard: OpenShard) -> ShardIndex | None:
    """Find the sidecar that belongs to a shard; raise an error if the shard cannot be read."""
    with native_errors(shard.name):
        found = find_sidecar(shard)
    return None if found is None else ShardIndex(*found)


def inspect_shard(shard: OpenShard, index: ShardIndex | None, codec: PayloadCodec | None) -> Inspection:
    """Find the intact records and the faults of a shard; also parse the payloads, unless the codec is None."""
    sidecar = None if index is None else index.sidecar
    with native_errors(shard.name):
        _, native_faults, num_faults, _, *blocks = _core.verify(
            shard.source,
            shard.format.framing.kind,
            None if codec is None else codec.kind,
            index=None if sidecar is None else _build_native_index(sidecar),
        )
    intact = FrameIndex(*(np.frombuffer(memoryview(block), np.int64) for block in blocks))
    faults = [_convert_fault(shard.name, fault) for fault in native_faults]
    is_cut = index is not None and index.condition == "truncated"
    if sidecar is not None and is_cut and not any(fault.kind.startswith("truncated") for fault in faults):
        faults.append(_truncation_fault(shard, sidecar))
        num_faults += 1
    return Inspection(shard, index, codec, intact, faults, num_faults)


def choose_codec(shard: OpenShard, index: ShardIndex | None, payload: str | None) -> PayloadCodec | None:
    """Return the codec with which `verify` parses the payloads of a shard; None if it does not parse them."""
    if payload is None:
        return None
    if payload != "auto":
        return get_payload(payload, shard.format)
    with native_errors(shard.name):
        return detect_payload(shard, None if index is None else index.sidecar)


def _build_native_index(sidecar: Sidecar) -> tuple[Any, Any, Any]:
    return sidecar.index.offsets, sidecar.index.lengths, sidecar.payload_checksums()


def _convert_fault(name: str, fault: tuple[Any, ...]) -> Fault:
    kind, record, offset, expected, found, message = fault
    values = f" (expected {expected}, found {found})" if found else ""
    return Fault(kind, name, record, offset, message + values)


def _truncation_fault(shard: OpenShard, sidecar: Sidecar) -> Fault:
    """Create the fault for a shard that ends after a whole record, although its sidecar index lists more records."""
    stored = shard.source.num_stored_bytes or 0
    record = int(np.searchsorted(sidecar.index.offsets, shard.source.num_bytes or 0))
    message = (
        f"the end of the shard is missing: its sidecar index lists {len(sidecar.index)} records "
        f"(expected {sidecar.num_stored_bytes} bytes, found {stored})"
    )
    return Fault("truncated_shard", shard.name, record, int(sidecar.index.offsets[record]), message)


def _describe_guarantees(inspection: Inspection) -> list[str]:
    """Return sentences that state which faults this verification could detect, and which it could not."""
    shard, sidecar, codec = inspection.shard, inspection.sidecar, inspection.codec
    intact, faults = inspection.intact, inspection.faults
    framing = shard.format.framing
    num_different = sum(fault.kind == "sidecar_checksum" for fault in faults)
    num_compared = 0 if sidecar is None else _count_compared_records(sidecar, intact) + num_different
    lines = [_describe_checksums(framing.has_checksum, len(intact) + num_different, num_compared)]
    if sidecar is None and len(shard.paths) == 1 and any(load_sidecars(shard.paths[0], shard.storage)):
        lines.append("the sidecar index was not used: it belongs to another file or to an earlier version of this file")
    if not framing.can_resync and sidecar is None:
        lines.append("records after a damaged length cannot be found")
    if shard.compression is not None and not any(fault.kind in STREAM_FAULTS for fault in faults):
        lines.append(f"the {shard.compression} stream was compared with its checksum")
    if codec is not None and codec.kind is not None:
        num_large = int(np.count_nonzero(intact.lengths > _MAX_PARSED_BYTES))
        exception = f", except {num_large} larger than 64 MiB" if num_large else ""
        lines.append(f"every payload was parsed as {codec.name}{exception}")
    return lines


def _count_compared_records(sidecar: Sidecar, intact: FrameIndex) -> int:
    """Return the number of intact records whose payloads were compared with checksums in the sidecar."""
    num_checksums = 0 if sidecar.checksums is None else len(sidecar.checksums)
    return int(np.count_nonzero(np.isin(intact.offsets, sidecar.index.offsets[:num_checksums])))


def _describe_checksums(has_checksum: bool, num_records: int, num_compared: int) -> str:
    if has_checksum:
        return "every length and every payload was compared with its CRC-32C"
    if not num_compared:
        return "the format has no checksums: a flipped bit in a payload is found only if it makes the message invalid"
    subject = "every payload was" if num_compared == num_records else f"{num_compared} of {num_records} payloads were"
    return f"{subject} compared with the CRC-32C in the sidecar index"

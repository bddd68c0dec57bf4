"""The sidecar file of a shard: its layout, its validation, and the check that it belongs to a shard.

Layout: magic (8 bytes), u32 length of the description, JSON description, the sections that it lists (each aligned to 8
bytes), u32 CRC-32C of everything before. All numbers are little-endian.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from recordmill import _core
from recordmill.schema import Schema
from recordmill.types import FrameIndex

MAGIC = b"RMINDEX\x01"
_PROBE_BYTES = 4096
_NUM_PROBES = 8
# Largest shard size that is accepted in a sidecar, so that sums of sizes cannot overflow.
_MAX_STORED_BYTES = 1 << 50
# Deflate expands data by at most this factor.
_MAX_RATIO = 1032

# Offsets and CRC-32C checksums of several blocks of a file.
Probes = tuple[tuple[int, int], ...]


class ProbedFile(Protocol):
    """Interface of objects that identify a file by its size and by checksums of some of its blocks."""

    @property
    def num_stored_bytes(self) -> int:
        """Size of the file in bytes at the time when `probes` was computed."""
        ...

    @property
    def probes(self) -> Probes:
        """Result of `compute_probes` for the file."""
        ...


@dataclass(slots=True)
class Sidecar:
    """Content of a sidecar file.

    Parameters
    ----------
    format, compression : str
        Format and compression of the shard; compression may be None.
    num_stored_bytes : int
        Size of the shard file.
    probes : tuple of (int, int)
        Offset and CRC-32C of blocks of the shard file, which detect a replaced file.
    index : FrameIndex
    end : int
        End of the last frame in the uncompressed shard, in bytes.
    checksums : ndarray of uint32, shape (n,), or None
        CRC-32C of the first n payloads, for formats without checksums; n is less than the number of records if
        records were appended later.
    schema : Schema or None
        Schema from the writer, or inferred from the first records.
    payload : str or None
        Name of the payload codec, from the writer or inferred.
    seek_points : bytes or None
        Positions in a compressed shard at which decompression can start.
    num_uncompressed_bytes : int or None
    is_inferred : bool
        True if schema and payload were inferred.
    classes : list of str or None
        Class names in the order of the label numbers, from the writer.
    """

    format: str
    compression: str | None
    num_stored_bytes: int
    probes: Probes
    index: FrameIndex
    end: int
    checksums: NDArray[np.uint32] | None = None
    schema: Schema | None = None
    payload: str | None = None
    seek_points: bytes | None = None
    num_uncompressed_bytes: int | None = None
    is_inferred: bool = False
    classes: list[str] | None = None

    @property
    def num_records(self) -> int:
        """Number of indexed records."""
        return len(self.index.offsets)

    def payload_checksums(self) -> NDArray[np.int64] | None:
        """Return the CRC-32C of each payload, or -1 if it is unknown. Return None if the index has no checksums."""
        if self.checksums is None:
            return None
        checksums = np.full(self.num_records, -1, np.int64)
        checksums[: len(self.checksums)] = self.checksums
        return checksums


def compute_probes(source: _core.Source, num_bytes: int) -> Probes:
    """Return offsets and checksums of blocks that are spread evenly over a file, from the first to the last byte."""
    last = max(num_bytes - _PROBE_BYTES, 0)
    offsets = sorted({last * step // (_NUM_PROBES - 1) for step in range(_NUM_PROBES)})
    return _checksum_blocks(source, offsets, num_bytes) if num_bytes else ()


def has_equal_blocks(probed: ProbedFile, source: _core.Source) -> bool:
    """Return True if all blocks in `probed.probes` are unchanged in a file, even if the file has grown since."""
    stored = source.num_stored_bytes
    if stored is None or stored < probed.num_stored_bytes:
        return False
    return _has_unchanged_blocks(source, probed.probes, probed.num_stored_bytes)


def has_any_equal_block(probed: ProbedFile, source: _core.Source) -> bool:
    """Return True if `probed.probes` has several blocks and at least one of them is unchanged in a file."""
    return len(probed.probes) > 1 and any(
        _has_unchanged_blocks(source, (probe,), probed.num_stored_bytes) for probe in probed.probes
    )


def is_truncated(probed: ProbedFile, source: _core.Source) -> bool:
    """Return True if a file became shorter, and the blocks of `probed.probes` before the new end are unchanged."""
    stored = source.num_stored_bytes
    if stored is None or stored >= probed.num_stored_bytes:
        return False
    total = probed.num_stored_bytes
    remaining = tuple(probe for probe in probed.probes if min(probe[0] + _PROBE_BYTES, total) <= stored)
    return _has_unchanged_blocks(source, remaining, total) and (bool(remaining) or stored == 0)


def _has_unchanged_blocks(source: _core.Source, probes: Probes, num_bytes: int) -> bool:
    return _checksum_blocks(source, [offset for offset, _ in probes], num_bytes) == probes


def _checksum_blocks(source: _core.Source, offsets: Iterable[int], num_bytes: int) -> Probes:
    probes = []
    for offset in offsets:
        block = source.read_stored(offset, min(_PROBE_BYTES, num_bytes - offset))
        probes.append((offset, _core.crc32c(block)))
    return tuple(probes)


def serialize_sidecar(sidecar: Sidecar) -> bytes:
    """Return the bytes of a sidecar file."""
    sections: dict[str, bytes] = {
        "offsets": sidecar.index.offsets.astype("<i8").tobytes(),
        "lengths": sidecar.index.lengths.astype("<i8").tobytes(),
    }
    if sidecar.checksums is not None:
        sections["checksums"] = sidecar.checksums.astype("<u4").tobytes()
    if sidecar.seek_points is not None:
        sections["seek_points"] = sidecar.seek_points
    description: dict[str, Any] = {
        "format": sidecar.format,
        "compression": sidecar.compression,
        "num_stored_bytes": sidecar.num_stored_bytes,
        "num_uncompressed_bytes": sidecar.num_uncompressed_bytes,
        "num_records": sidecar.num_records,
        "end": sidecar.end,
        "probes": sidecar.probes,
        "payload": sidecar.payload,
        "schema": None if sidecar.schema is None else sidecar.schema.to_json(),
        "is_inferred": sidecar.is_inferred,
        "sections": {name: len(data) for name, data in sections.items()},
    }
    if sidecar.classes is not None:
        description["classes"] = sidecar.classes
    text = json.dumps(description, separators=(",", ":")).encode()
    body = _pad_to_8_bytes(MAGIC + len(text).to_bytes(4, "little") + text)
    for data in sections.values():
        body += _pad_to_8_bytes(data)
    return body + _core.crc32c(body).to_bytes(4, "little")


def _pad_to_8_bytes(data: bytes) -> bytes:
    return data + bytes(-len(data) % 8)


def parse_sidecar(data: bytes) -> Sidecar | None:
    """Parse a sidecar file; return None if it is damaged or inconsistent."""
    if (
        len(data) < 16
        or data[:8] != MAGIC
        or _core.crc32c(memoryview(data)[:-4]) != int.from_bytes(data[-4:], "little")
    ):
        return None
    end = 12 + int.from_bytes(data[8:12], "little")
    try:
        description = json.loads(data[12:end])
        return _build_sidecar(description, _split_sections(description["sections"], data, end))
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        return None


def _split_sections(lengths: Mapping[str, int], data: bytes, start: int) -> dict[str, memoryview]:
    sections, view, offset = {}, memoryview(data), start
    for name, length in lengths.items():
        offset += -offset % 8
        sections[name] = view[offset : offset + length]
        offset += length
    return sections


def _build_sidecar(description: Mapping[str, Any], sections: Mapping[str, memoryview]) -> Sidecar:
    offsets, lengths = np.frombuffer(sections["offsets"], "<i8"), np.frombuffer(sections["lengths"], "<i8")
    checksums = np.frombuffer(sections["checksums"], "<u4") if "checksums" in sections else None
    if len(offsets) != description["num_records"] or len(lengths) != len(offsets):
        raise ValueError("there must be one offset and one length per record")
    if checksums is not None and len(checksums) > len(offsets):
        raise ValueError("there must not be more checksums than records")
    schema, payload = description["schema"], description["payload"]
    if payload is not None and not isinstance(payload, str):
        raise TypeError("the codec name in a sidecar must be a str or None")
    sidecar = Sidecar(
        format=description["format"],
        compression=description["compression"],
        num_stored_bytes=int(description["num_stored_bytes"]),
        probes=tuple([(int(offset), int(crc)) for offset, crc in description["probes"]]),
        index=FrameIndex(offsets, lengths),
        end=int(description["end"]),
        checksums=checksums,
        schema=None if schema is None else Schema.from_json(schema),
        payload=payload,
        seek_points=bytes(sections["seek_points"]) if "seek_points" in sections else None,
        num_uncompressed_bytes=description["num_uncompressed_bytes"],
        is_inferred=bool(description.get("is_inferred", False)),
        classes=None if description.get("classes") is None else [str(name) for name in description["classes"]],
    )
    _check_offsets(sidecar)
    return sidecar


def _check_offsets(sidecar: Sidecar) -> None:
    """Raise ValueError if offsets or sizes are inconsistent.

    Frames must be contiguous from offset 0 to `end`. The file must be large enough for `end` and `probes`.
    """
    stored, end, probes = sidecar.num_stored_bytes, sidecar.end, sidecar.probes
    offsets, lengths = sidecar.index.offsets, sidecar.index.lengths
    max_end = stored if sidecar.compression is None else _MAX_RATIO * stored
    is_inside = 0 <= end <= max_end and 0 <= stored <= _MAX_STORED_BYTES and lengths.min(initial=1) > 0
    # Check the limits before the addition below, so that the sums cannot overflow.
    if not is_inside or max(lengths.max(initial=0), offsets.max(initial=0)) > end or offsets.min(initial=0) < 0:
        raise ValueError("frames must be inside the shard")
    boundaries = np.concatenate((offsets, [end]))
    if boundaries[0] != 0 or not np.array_equal(boundaries[1:], boundaries[:-1] + lengths):
        raise ValueError("frames must be contiguous")
    check_probes(probes, stored)


def check_probes(probes: Probes, num_stored_bytes: int) -> None:
    """Raise ValueError if a probe lies outside a file of the given size, or if a non-empty file has no probes."""
    is_inside = not probes or (min(probes)[0] >= 0 and max(probes)[0] < num_stored_bytes)
    if not is_inside or bool(probes) != bool(num_stored_bytes):
        raise ValueError("probes must be inside the file")

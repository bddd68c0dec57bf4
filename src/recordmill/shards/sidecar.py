"""The file that keeps a shard's index: its layout, its checksum, and whether it still fits the shard.

Layout: magic (8 bytes), u32 length of the description, JSON description, the sections that it lists (each from an
8-byte boundary), u32 CRC-32C of everything before. All numbers are little-endian.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from recordmill import _core
from recordmill.schema import Schema
from recordmill.types import FrameIndex

MAGIC = b"RMINDEX\x01"
_PROBE_BYTES = 4096
_NUM_PROBES = 8
# No file has as many bytes; sums of such numbers do not overflow, even of what they inflate to.
_LARGEST = 1 << 50
# Deflate makes at most 1,032 bytes of one.
_MAX_RATIO = 1032


class Probed(Protocol):
    """What was made of a file that can be told by its size and probes."""

    @property
    def num_stored_bytes(self) -> int:
        """Bytes that it was made of."""
        ...

    @property
    def probes(self) -> list[tuple[int, int]]:
        """What `make_probes` gave for them."""
        ...


@dataclass(slots=True)
class Sidecar:
    """What is kept about one shard.

    Parameters
    ----------
    format, compression : str
        As found when the index was made; compression may be None.
    num_stored_bytes : int
        Size of the file.
    probes : list of (int, int)
        Offset and CRC-32C of some blocks of the file, by which a replaced file is noticed.
    index : FrameIndex
    end : int
        Where the last frame ends in the uncompressed shard.
    checksums : ndarray of uint32, shape (n,), or None
        CRC-32C of the first n payloads, where the format has none of its own: of all, if none were appended since.
    schema : Schema or None
        Of the examples, if the writer knew it, or if it was inferred from the first records.
    payload : str or None
        Name of the payload codec, if the writer knew it, or if it was inferred.
    seek_points : bytes or None
        For random access to a compressed shard.
    num_uncompressed_bytes : int or None
    is_inferred : bool
        Whether schema and payload were inferred.
    """

    format: str
    compression: str | None
    num_stored_bytes: int
    probes: list[tuple[int, int]]
    index: FrameIndex
    end: int
    checksums: NDArray[np.uint32] | None = None
    schema: Schema | None = None
    payload: str | None = None
    seek_points: bytes | None = None
    num_uncompressed_bytes: int | None = field(default=None)
    is_inferred: bool = False


def make_probes(source: _core.Source, num_bytes: int) -> list[tuple[int, int]]:
    """Checksums of blocks spread evenly over a file, its first and last bytes among them."""
    last = max(num_bytes - _PROBE_BYTES, 0)
    offsets = sorted({last * step // (_NUM_PROBES - 1) for step in range(_NUM_PROBES)})
    return [(offset, _probe(source, offset, num_bytes)) for offset in offsets] if num_bytes else []


def matches_source(sidecar: Probed, source: _core.Source) -> bool:
    """Whether a file begins with the bytes that an index was made of."""
    stored = source.num_stored_bytes
    if stored is None or stored < sidecar.num_stored_bytes:
        return False
    return all(_probe(source, offset, sidecar.num_stored_bytes) == crc for offset, crc in sidecar.probes)


def is_truncated(sidecar: Probed, source: _core.Source) -> bool:
    """Whether a file is what an index was made of, but for an end that is missing."""
    stored = source.num_stored_bytes
    if stored is None or stored >= sidecar.num_stored_bytes:
        return False
    whole = [probe for probe in sidecar.probes if min(probe[0] + _PROBE_BYTES, sidecar.num_stored_bytes) <= stored]
    same = all(_probe(source, offset, sidecar.num_stored_bytes) == crc for offset, crc in whole)
    return same and (bool(whole) or stored == 0)


def _probe(source: _core.Source, offset: int, num_bytes: int) -> int:
    return _core.crc32c(source.read_stored(offset, min(_PROBE_BYTES, num_bytes - offset)))


def to_bytes(sidecar: Sidecar) -> bytes:
    """Bytes of a sidecar file."""
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
        "num_records": len(sidecar.index),
        "end": sidecar.end,
        "probes": sidecar.probes,
        "payload": sidecar.payload,
        "schema": None if sidecar.schema is None else sidecar.schema.to_json(),
        "is_inferred": sidecar.is_inferred,
        "sections": {name: len(data) for name, data in sections.items()},
    }
    text = json.dumps(description, separators=(",", ":")).encode()
    body = _padded(MAGIC + len(text).to_bytes(4, "little") + text)
    for data in sections.values():
        body += _padded(data)
    return body + _core.crc32c(body).to_bytes(4, "little")


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 8)


def from_bytes(data: bytes) -> Sidecar | None:
    """Read a sidecar file."""
    if (
        len(data) < 16
        or data[:8] != MAGIC
        or _core.crc32c(memoryview(data)[:-4]) != int.from_bytes(data[-4:], "little")
    ):
        return None
    end = 12 + int.from_bytes(data[8:12], "little")
    try:
        description = json.loads(data[12:end])
        return _build(description, _sections(description["sections"], data, end))
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        return None


def _sections(lengths: Mapping[str, int], data: bytes, at: int) -> dict[str, memoryview]:
    sections, view = {}, memoryview(data)
    for name, length in lengths.items():
        at += -at % 8
        sections[name] = view[at : at + length]
        at += length
    return sections


def _build(description: Mapping[str, Any], sections: Mapping[str, memoryview]) -> Sidecar:
    offsets, lengths = (np.frombuffer(sections[name], "<i8") for name in ("offsets", "lengths"))
    checksums = np.frombuffer(sections["checksums"], "<u4") if "checksums" in sections else None
    if len(offsets) != description["num_records"] or len(lengths) != len(offsets):
        raise ValueError("the sections do not fit the description")
    if checksums is not None and len(checksums) > len(offsets):
        raise ValueError("there are more checksums than records")
    _check_places(description, offsets, lengths)
    schema = description["schema"]
    return Sidecar(
        format=description["format"],
        compression=description["compression"],
        num_stored_bytes=int(description["num_stored_bytes"]),
        probes=[(int(offset), int(crc)) for offset, crc in description["probes"]],
        index=FrameIndex(offsets, lengths),
        end=int(description["end"]),
        checksums=checksums,
        schema=None if schema is None else Schema.from_json(schema),
        payload=description["payload"],
        seek_points=bytes(sections["seek_points"]) if "seek_points" in sections else None,
        num_uncompressed_bytes=description["num_uncompressed_bytes"],
        is_inferred=bool(description.get("is_inferred", False)),
    )


def _check_places(description: Mapping[str, Any], offsets: NDArray[np.int64], lengths: NDArray[np.int64]) -> None:
    """Raise unless frames follow one another from the first byte to `end`, and all places lie inside the file."""
    stored, end = int(description["num_stored_bytes"]), int(description["end"])
    room = stored if description["compression"] is None else _MAX_RATIO * stored
    inside = 0 <= end <= room and 0 <= stored <= _LARGEST and lengths.min(initial=1) > 0
    if not inside or max(lengths.max(initial=0), offsets.max(initial=0)) > end or offsets.min(initial=0) < 0:
        raise ValueError("a frame lies outside the shard")
    borders = np.concatenate((offsets, [end]))
    if borders[0] != 0 or not np.array_equal(borders[1:], borders[:-1] + lengths):
        raise ValueError("the frames do not follow one another")
    probed = [int(offset) for offset, _ in description["probes"]]
    if bool(probed) != bool(stored) or not all(0 <= offset < stored for offset in probed):
        raise ValueError("a probe lies outside the file")

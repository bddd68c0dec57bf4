"""The file that keeps a shard's index: its layout, its checksum, and whether it still fits the shard.

Layout: magic (8 bytes), u32 length of the description, JSON description, the sections that it lists (each from an
8-byte boundary), u32 CRC-32C of everything before. All numbers are little-endian.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from recordmill import _core
from recordmill.dataclass import dataclass
from recordmill.schema import Schema
from recordmill.types import FrameIndex

MAGIC = b"RMINDEX\x01"
_PROBE_BYTES = 4096
_NUM_PROBES = 8


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
    checksums : ndarray of uint32, shape (num_records,), or None
        CRC-32C of each payload, where the format has none of its own.
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
    """Checksums of blocks spread evenly over a file, its first and last bytes among them.

    Parameters
    ----------
    source : _core.Source
    num_bytes : int
        Bytes of the file that the index covers.

    Returns
    -------
    list of (int, int)
        Offset and CRC-32C.
    """
    last = max(num_bytes - _PROBE_BYTES, 0)
    offsets = sorted({last * step // (_NUM_PROBES - 1) for step in range(_NUM_PROBES)})
    return [(offset, _probe(source, offset, num_bytes)) for offset in offsets] if num_bytes else []


def fits(sidecar: Probed, source: _core.Source) -> bool:
    """Whether a file begins with the bytes that an index was made of.

    Parameters
    ----------
    sidecar : Probed
    source : _core.Source
        The file as it is now.

    Returns
    -------
    bool
    """
    stored = source.num_stored_bytes
    if stored is None or stored < sidecar.num_stored_bytes:
        return False
    return all(_probe(source, offset, sidecar.num_stored_bytes) == crc for offset, crc in sidecar.probes)


def _probe(source: _core.Source, offset: int, num_bytes: int) -> int:
    return _core.crc32c(source.read_stored(offset, min(_PROBE_BYTES, num_bytes - offset)))


def to_bytes(sidecar: Sidecar) -> bytes:
    """Bytes of a sidecar file.

    Parameters
    ----------
    sidecar : Sidecar

    Returns
    -------
    bytes
    """
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
    """Read a sidecar file.

    Parameters
    ----------
    data : bytes

    Returns
    -------
    Sidecar or None
        None if the bytes are not those of a whole and undamaged sidecar of this version.
    """
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
    except (ValueError, KeyError, TypeError):
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
    if len(offsets) != description["num_records"] or len(lengths) != len(offsets):
        raise ValueError("the sections do not fit the description")
    schema = description["schema"]
    return Sidecar(
        format=description["format"],
        compression=description["compression"],
        num_stored_bytes=int(description["num_stored_bytes"]),
        probes=[(int(offset), int(crc)) for offset, crc in description["probes"]],
        index=FrameIndex(offsets, lengths),
        end=int(description["end"]),
        checksums=np.frombuffer(sections["checksums"], "<u4") if "checksums" in sections else None,
        schema=None if schema is None else Schema.from_json(schema),
        payload=description["payload"],
        seek_points=bytes(sections["seek_points"]) if "seek_points" in sections else None,
        num_uncompressed_bytes=description["num_uncompressed_bytes"],
        is_inferred=bool(description.get("is_inferred", False)),
    )

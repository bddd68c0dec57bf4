"""Find the records of a damaged shard that its format allows to locate, in plain Python."""

from __future__ import annotations

import zlib

from recordmill.testing import ofrecord, recordio, tfrecord
from recordmill.testing.faults import OracleError, read_until_fault


def locate_records(format_name: str, data: bytes) -> list[tuple[int, int, bytes]]:
    """Return the offset, the end and the payload of each intact record that can be located without an index."""
    return {"tfrecord": _locate_tfrecord, "recordio": _locate_recordio, "ofrecord": _locate_ofrecord}[format_name](data)


def _locate_tfrecord(data: bytes) -> list[tuple[int, int, bytes]]:
    """A record may begin at any byte; its two checksums show that it is one."""
    found, offset = [], 0
    while offset < len(data):
        payload = next((payload for _, payload in read_until_fault(_first(data[offset:]))[0]), None)
        if payload is None:
            offset += 1
            continue
        end = offset + len(tfrecord.frame(payload))
        found.append((offset, end, payload))
        offset = end
    return found


def _first(data: bytes) -> list[tuple[int, bytes]]:
    try:
        return [next(iter(tfrecord.iter_records(data)))]
    except OracleError:
        return []


def _locate_recordio(data: bytes) -> list[tuple[int, int, bytes]]:
    """A record begins at each aligned magic word with a flag of a first part, and cannot contain another one."""
    found, starts = [], recordio.find_resync_offsets(data)
    for start in starts:
        try:
            parts = next(recordio.record_parts(data[start:]))
        except OracleError:
            continue
        end = start + parts[-1].end
        if not any(start < other < end for other in starts):
            found.append((start, end, recordio.MAGIC.join(part.data for part in parts)))
    return found


def has_bad_padding(data: bytes) -> bool:
    """Return True if a complete record of a RecordIO shard has padding bytes that are not zero."""
    for start in recordio.find_resync_offsets(data):
        found, _ = read_until_fault((0, b"") for parts in recordio.record_parts(data[start:]) if _is_padded(parts))
        if found:
            return True
    return False


def _is_padded(parts: list[recordio.RecordPart]) -> bool:
    return any(any(part.padding) for part in parts)


def _locate_ofrecord(data: bytes) -> list[tuple[int, int, bytes]]:
    """Records can be located only up to the first damaged length."""
    found, _ = read_until_fault(ofrecord.iter_records(data))
    return [(offset, offset + ofrecord.HEADER_BYTES + len(payload), payload) for offset, payload in found]


def decompress_before_damage(data: bytes, compression: str) -> bytes:
    """Return the bytes of a gzip or zlib stream before its first damage, also those of later gzip members."""
    content = b""
    while data:
        stream = zlib.decompressobj(31 if compression == "gzip" else 15)
        for byte in range(len(data)):
            try:
                content += stream.decompress(data[byte : byte + 1])
            except zlib.error:
                return content
        if not stream.eof or compression == "zlib":
            break
        data = stream.unused_data.lstrip(b"\0")
    return content

"""Write and read OFRecord frames, in plain Python.

A frame is an eight-byte length and a message. The parts of a dataset form one stream.

=======  ============================================
bytes    content
=======  ============================================
8        message length, signed, little-endian, 1 to 2^31 - 1
length   serialized OFRecord message
=======  ============================================

There is no checksum, no magic word and no padding. A record, and even its length, may continue in the next part file.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence

from recordmill.testing.faults import OracleError

HEADER_BYTES = 8
MAX_PAYLOAD_BYTES = 2**31 - 1


def frame(payload: bytes) -> bytes:
    """Return the frame of one payload: ``len(payload) + 8`` bytes.

    Raises
    ------
    ValueError
        If the payload is empty, because readers of this format reject a length of 0.
    """
    if not payload:
        raise ValueError("payload must not be empty")
    return struct.pack("<q", len(payload)) + payload


def iter_records(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the records of a shard until its end or its first fault.

    Parameters
    ----------
    data : bytes
        One shard, or the concatenated parts of a dataset.

    Yields
    ------
    offset : int
        Offset of the length field of the record.
    payload : bytes
        The message of the record.

    Raises
    ------
    OracleError
        At the offset of the record: ``truncated_header`` (fewer than 8 bytes remain), ``bad_length`` (less than 1, or
        2**31 or more), or ``truncated_payload`` (the shard ends inside the message).
    """
    offset = position = 0
    while offset < len(data):
        header = data[offset : offset + HEADER_BYTES]
        if len(header) < HEADER_BYTES:
            raise OracleError("truncated_header", offset, position)
        (length,) = struct.unpack("<q", header)
        if not 0 < length <= MAX_PAYLOAD_BYTES:
            raise OracleError("bad_length", offset, position)
        start, end = offset + HEADER_BYTES, offset + HEADER_BYTES + length
        if end > len(data):
            raise OracleError("truncated_payload", offset, position)
        yield offset, data[start:end]
        offset, position = end, position + 1


def read_all_records(data: bytes) -> list[tuple[int, bytes]]:
    """Return the (offset, payload) of all records of a shard; raise `OracleError` at the first fault."""
    return list(iter_records(data))


def build_part_name(number: int, prefix: str = "part-", suffix_length: int = -1) -> str:
    """Return the name of a part file: `prefix`, then `number` (from 0), zero-padded to `suffix_length` digits."""
    return prefix + str(number).zfill(max(suffix_length, 0))


def locate_in_parts(parts: Sequence[bytes], offset: int) -> tuple[int, int]:
    """Convert an offset in the concatenated part files to the index of a part file and the offset in this file."""
    for number, part in enumerate(parts):
        if offset < len(part):
            return number, offset
        offset -= len(part)
    raise ValueError(f"offset is {offset} bytes beyond the end of the parts")


def read_records_of_parts(parts: Sequence[bytes]) -> list[tuple[int, int, bytes]]:
    """Return all records of a dataset. The part files are read as one byte stream.

    Parameters
    ----------
    parts : sequence of bytes
        Contents of the part files, ordered by number. Parts may be empty.

    Returns
    -------
    list of (part, offset, payload)
        Number of the part in which the record begins, offset within this part, and payload.

    Raises
    ------
    OracleError
        See `iter_records`. Offsets are those of the concatenated parts.
    """
    return [(*locate_in_parts(parts, offset), payload) for offset, payload in iter_records(b"".join(parts))]

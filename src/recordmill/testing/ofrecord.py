"""OFRecord frames in plain Python: an eight-byte length and a message; all parts of a set are one stream.

=======  ============================================
bytes    content
=======  ============================================
8        message length, signed, little-endian, > 0
length   serialized OFRecord message
=======  ============================================

There is no checksum, no magic word and no padding. A record, even its length, may go on in the next part
file.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence

from recordmill.testing.faults import OracleError

HEADER_BYTES = 8


def frame(payload: bytes) -> bytes:
    """Return the frame of one payload: ``len(payload) + 8`` bytes.

    Raises
    ------
    ValueError
        The payload is empty: readers of this format refuse a length of 0.
    """
    if not payload:
        raise ValueError("an OFRecord payload has at least one byte")
    return struct.pack("<q", len(payload)) + payload


def records(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the records of a shard until its end or its first fault.

    Parameters
    ----------
    data : bytes
        One whole shard, or all parts of a data set one after the other.

    Yields
    ------
    offset : int
        Bytes from the start of the shard to the record's length field.
    payload : bytes
        The record's message.

    Raises
    ------
    OracleError
        At the record's offset: ``truncated_header`` (fewer than 8 bytes left), ``bad_length`` (0 or
        negative), ``truncated_payload`` (more than what is left).
    """
    offset = position = 0
    while offset < len(data):
        head = data[offset : offset + HEADER_BYTES]
        if len(head) < HEADER_BYTES:
            raise OracleError("truncated_header", offset, position)
        (length,) = struct.unpack("<q", head)
        if length <= 0:
            raise OracleError("bad_length", offset, position)
        start, end = offset + HEADER_BYTES, offset + HEADER_BYTES + length
        if end > len(data):
            raise OracleError("truncated_payload", offset, position)
        yield offset, data[start:end]
        offset, position = end, position + 1


def unframe(data: bytes) -> list[tuple[int, bytes]]:
    """Return offset and payload of every record of a sound shard; raise `OracleError` as `records` does."""
    return list(records(data))


def part_name(number: int, prefix: str = "part-", suffix_length: int = -1) -> str:
    """Return the file name of one part: its number from 0, filled with zeros to `suffix_length` digits."""
    return prefix + str(number).zfill(max(suffix_length, 0))


def locate(parts: Sequence[bytes], offset: int) -> tuple[int, int]:
    """Return the part that holds the byte at `offset` of the joined parts, and the offset within it."""
    for number, part in enumerate(parts):
        if offset < len(part):
            return number, offset
        offset -= len(part)
    raise ValueError(f"the parts end {offset} bytes before that byte")


def unframe_parts(parts: Sequence[bytes]) -> list[tuple[int, int, bytes]]:
    """Return every record of a data set whose parts form one byte stream.

    Parameters
    ----------
    parts : sequence of bytes
        The contents of the part files in the order of their numbers. Empty parts add nothing.

    Returns
    -------
    list of (part, offset, payload)
        Number of the part in which the record's length begins, the offset within that part, and the payload.

    Raises
    ------
    OracleError
        As `records` says, with offsets in the joined stream.
    """
    return [(*locate(parts, offset), payload) for offset, payload in records(b"".join(parts))]

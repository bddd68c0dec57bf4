"""MXNet RecordIO frames in plain Python: parts behind a magic word, payloads split where they hold it.

A shard is a concatenation of parts, all integers little-endian:

=======  =============================================================
bytes    content
=======  =============================================================
4        magic word 0xCED7230A
4        top 3 bits: cflag; low 29 bits: length of this part's data
length   data
0-3      zeros up to a multiple of 4
=======  =============================================================

A record is one part with cflag 0, or parts with the cflags 1, 2, ..., 2, 3. The magic word between two parts
of one record belongs to the payload and is not stored. So an aligned magic word with cflag 0 or 1 is always a
record's start.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from recordmill.testing.faults import OracleError

MAGIC = struct.pack("<I", 0xCED7230A)
HEAD_BYTES = 8
MAX_PAYLOAD_BYTES = 2**29 - 1

WHOLE, FIRST, MIDDLE, LAST = 0, 1, 2, 3  # the cflags


@dataclass(frozen=True)
class Part:
    """One part as it stands in a shard: its first byte, cflag, data and padding."""

    offset: int
    cflag: int
    data: bytes
    padding: bytes

    @property
    def end(self) -> int:
        """Bytes from the start of the shard to whatever follows this part."""
        return self.offset + HEAD_BYTES + len(self.data) + len(self.padding)


def split(payload: bytes) -> list[bytes]:
    """Cut a payload at every magic word that starts at a multiple of 4, and drop those words.

    ``MAGIC.join(split(payload)) == payload``; all pieces but the last have a length that is a multiple of 4.
    """
    pieces = []
    start = 0
    for at in range(0, len(payload) // 4 * 4, 4):
        if payload[at : at + 4] == MAGIC:
            pieces.append(payload[start:at])
            start = at + 4
    return [*pieces, payload[start:]]


def frame_part(cflag: int, data: bytes) -> bytes:
    """Return one part: head, data and padding."""
    return MAGIC + struct.pack("<I", cflag << 29 | len(data)) + data + bytes(-len(data) % 4)


def frame(payload: bytes) -> bytes:
    """Return the frame of one payload, in as many parts as its aligned magic words demand.

    Raises
    ------
    ValueError
        The payload has 2**29 bytes or more.
    """
    if len(payload) > MAX_PAYLOAD_BYTES:
        raise ValueError(f"payload has {len(payload)} bytes, RecordIO holds at most {MAX_PAYLOAD_BYTES}")
    pieces = split(payload)
    if len(pieces) == 1:
        return frame_part(WHOLE, payload)
    cflags = [FIRST, *[MIDDLE] * (len(pieces) - 2), LAST]
    return b"".join(frame_part(cflag, piece) for cflag, piece in zip(cflags, pieces, strict=True))


def _read_part(data: bytes, offset: int, allowed: tuple[int, int], record: int, position: int) -> Part:
    head = data[offset : offset + HEAD_BYTES]
    if len(head) < HEAD_BYTES:
        raise OracleError("truncated_header", offset, position)
    if head[:4] != MAGIC:
        raise OracleError("bad_magic", offset, position)
    (word,) = struct.unpack("<I", head[4:])
    cflag, length = word >> 29, word & (2**29 - 1)
    if cflag not in allowed:
        raise OracleError("bad_continuation", offset, position)
    start, end = offset + HEAD_BYTES, offset + HEAD_BYTES + length
    padded = end + -length % 4
    if padded > len(data):
        raise OracleError("truncated_payload", record, position)
    return Part(offset, cflag, data[start:end], data[end:padded])


def record_parts(data: bytes) -> Iterator[list[Part]]:
    """Yield the parts of one record after the other until the shard's end or its first fault.

    Raises
    ------
    OracleError
        ``truncated_header``, ``bad_magic`` and ``bad_continuation`` (a cflag that must not stand here, or the
        shard's end where another part must follow) at the part's offset; ``truncated_payload`` (the shard
        ends inside data or padding) at the offset of the record's first part.
    """
    offset = position = 0
    while offset < len(data):
        parts = [_read_part(data, offset, (WHOLE, FIRST), offset, position)]
        while parts[-1].cflag not in (WHOLE, LAST):
            if parts[-1].end == len(data):
                raise OracleError("bad_continuation", len(data), position)
            parts.append(_read_part(data, parts[-1].end, (MIDDLE, LAST), offset, position))
        yield parts
        offset, position = parts[-1].end, position + 1


def records(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the records of a shard until its end or its first fault.

    Parameters
    ----------
    data : bytes
        One whole shard.

    Yields
    ------
    offset : int
        Bytes from the start of the shard to the record's first magic word, as an ``.idx`` file has it.
    payload : bytes
        The record's payload, its parts rejoined.

    Raises
    ------
    OracleError
        As `record_parts` says. Padding that is not zero is no error for a reader; see `bad_padding`.
    """
    for parts in record_parts(data):
        yield parts[0].offset, MAGIC.join(part.data for part in parts)


def unframe(data: bytes) -> list[tuple[int, bytes]]:
    """Return offset and payload of every record of a sound shard; raise `OracleError` as `records` does."""
    return list(records(data))


def bad_padding(data: bytes) -> list[tuple[int, int]]:
    """Return the offset of each part with padding other than zeros, and its record's position."""
    return [
        (part.offset, position)
        for position, parts in enumerate(record_parts(data))
        for part in parts
        if any(part.padding)
    ]


def resync_positions(data: bytes, start: int = 0) -> list[int]:
    """Return every offset from `start` on where a record must begin: aligned, magic word, cflag 0 or 1."""
    aligned = range(start + -start % 4, len(data) - HEAD_BYTES + 1, 4)
    return [at for at in aligned if data[at : at + 4] == MAGIC and data[at + 7] >> 5 in (WHOLE, FIRST)]

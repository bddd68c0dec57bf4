"""Write and read MXNet RecordIO frames, in plain Python.

Each part of a record starts with a magic word. A payload is split into parts at the aligned magic words in it.

A shard is a concatenation of parts, all integers little-endian:

=======  =============================================================
bytes    content
=======  =============================================================
4        magic word 0xCED7230A
4        top 3 bits: cflag; low 29 bits: length of this part's data
length   data
0-3      zeros that pad the data to a multiple of 4
=======  =============================================================

A record is one part with cflag 0, or parts with the cflags 1, 2, ..., 2, 3. Between two parts, the payload contains a
magic word, which is not stored. An aligned magic word with cflag 0 or 1 is therefore always the start of a record.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from recordmill.testing.faults import OracleError

MAGIC = struct.pack("<I", 0xCED7230A)
HEADER_BYTES = 8
MAX_PAYLOAD_BYTES = 2**29 - 1

# cflag in the header of a part: the part is a whole record, or the first, a middle or the last part of a record.
WHOLE, FIRST, MIDDLE, LAST = 0, 1, 2, 3


@dataclass(frozen=True)
class RecordPart:
    """One part of a record in a shard."""

    offset: int
    cflag: int
    data: bytes
    padding: bytes

    @property
    def end(self) -> int:
        """Offset of the byte after this part."""
        return self.offset + HEADER_BYTES + len(self.data) + len(self.padding)


def split_payload(payload: bytes) -> list[bytes]:
    """Split a payload at the magic words that start at multiples of 4, and drop these words.

    ``MAGIC.join(split_payload(payload)) == payload``. The length of each piece except the last is a multiple of 4.
    """
    pieces = []
    start = 0
    for offset in range(0, len(payload) // 4 * 4, 4):
        if payload[offset : offset + 4] == MAGIC:
            pieces.append(payload[start:offset])
            start = offset + 4
    return [*pieces, payload[start:]]


def frame_part(cflag: int, data: bytes) -> bytes:
    """Return the bytes of one part: header, data and padding."""
    return MAGIC + struct.pack("<I", cflag << 29 | len(data)) + data + bytes(-len(data) % 4)


def frame(payload: bytes) -> bytes:
    """Return the frame of one payload, split at its aligned magic words.

    Raises
    ------
    ValueError
        If the payload has 2**29 bytes or more.
    """
    if len(payload) > MAX_PAYLOAD_BYTES:
        raise ValueError(f"payload must have at most {MAX_PAYLOAD_BYTES} bytes, got {len(payload)}")
    pieces = split_payload(payload)
    if len(pieces) == 1:
        return frame_part(WHOLE, payload)
    cflags = [FIRST, *[MIDDLE] * (len(pieces) - 2), LAST]
    return b"".join(frame_part(cflag, piece) for cflag, piece in zip(cflags, pieces, strict=True))


def _read_part(data: bytes, offset: int, allowed: tuple[int, int], record: int, position: int) -> RecordPart:
    header = data[offset : offset + HEADER_BYTES]
    if len(header) < HEADER_BYTES:
        raise OracleError("truncated_header", offset, position)
    if header[:4] != MAGIC:
        raise OracleError("bad_magic", offset, position)
    (word,) = struct.unpack("<I", header[4:])
    cflag, length = word >> 29, word & (2**29 - 1)
    if cflag not in allowed:
        raise OracleError("bad_continuation", offset, position)
    start, end = offset + HEADER_BYTES, offset + HEADER_BYTES + length
    padded = end + -length % 4
    if padded > len(data):
        raise OracleError("truncated_payload", record, position)
    return RecordPart(offset, cflag, data[start:end], data[end:padded])


def record_parts(data: bytes) -> Iterator[list[RecordPart]]:
    """Yield the parts of each record until the end of the shard or its first fault.

    Raises
    ------
    OracleError
        At the offset of the part: ``truncated_header``, ``bad_magic`` or ``bad_continuation`` (the cflag is unexpected,
        or the shard ends before the last part of the record). At the offset of the record: ``truncated_payload`` (the
        shard ends inside data or padding) or ``bad_length`` (the payload has 2**29 bytes or more).
    """
    offset = position = 0
    while offset < len(data):
        parts = [_read_part(data, offset, (WHOLE, FIRST), offset, position)]
        while parts[-1].cflag not in (WHOLE, LAST):
            if parts[-1].end == len(data):
                raise OracleError("bad_continuation", len(data), position)
            parts.append(_read_part(data, parts[-1].end, (MIDDLE, LAST), offset, position))
            if sum(len(part.data) for part in parts) + len(MAGIC) * (len(parts) - 1) > MAX_PAYLOAD_BYTES:
                raise OracleError("bad_length", offset, position)
        yield parts
        offset, position = parts[-1].end, position + 1


def iter_records(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the records of a shard until its end or its first fault.

    Parameters
    ----------
    data : bytes
        One whole shard.

    Yields
    ------
    offset : int
        Offset of the first magic word of the record, as in an ``.idx`` file.
    payload : bytes
        The payload of the record, joined from its parts.

    Raises
    ------
    OracleError
        See `record_parts`. Readers ignore padding that is not zero; see `find_bad_padding`.
    """
    for parts in record_parts(data):
        yield parts[0].offset, MAGIC.join(part.data for part in parts)


def read_all_records(data: bytes) -> list[tuple[int, bytes]]:
    """Return the (offset, payload) of all records of a shard; raise `OracleError` at the first fault."""
    return list(iter_records(data))


def find_bad_padding(data: bytes) -> list[tuple[int, int]]:
    """Return the (offset, record position) of each part whose padding is not zero."""
    return [
        (part.offset, position)
        for position, parts in enumerate(record_parts(data))
        for part in parts
        if any(part.padding)
    ]


def find_resync_offsets(data: bytes, start: int = 0) -> list[int]:
    """Return all offsets from `start` on at which a record can begin.

    Such an offset is a multiple of 4. At this offset, there is a magic word, and then a cflag of 0 (whole record) or 1
    (first part of a record).
    """
    aligned = range(start + -start % 4, len(data) - HEADER_BYTES + 1, 4)
    return [
        offset for offset in aligned if data[offset : offset + 4] == MAGIC and data[offset + 7] >> 5 in (WHOLE, FIRST)
    ]

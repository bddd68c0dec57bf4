"""Encode and parse the protobuf wire format, in plain Python: varints, tags, and the fields of one message.

A message is a sequence of fields. A field starts with a tag, which is the varint of ``number << 3 | wire_type``. The
content that follows depends on the wire type:

=========  ===========  ==================================================================
wire type  name         content
=========  ===========  ==================================================================
0          VARINT       7 bits per byte, least significant first, high bit set on all but the last byte
1          FIXED64      8 bytes
2          BYTES        a length as varint and that many bytes: byte string, message or packed list
3, 4       GROUP, END   fields up to the END tag with the same number
5          FIXED32      4 bytes
=========  ===========  ==================================================================

The limits are those of protobuf for Python (upb). Varints have up to 10 bytes; only their low 64 bits count. Tags and
lengths have up to 5 bytes; tags are below 2**32, lengths below 2**31. Messages and groups are nested up to 100 levels
deep.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from recordmill.testing.faults import OracleError

VARINT, FIXED64, BYTES, GROUP, END_GROUP, FIXED32 = 0, 1, 2, 3, 4, 5

MAX_DEPTH = 100
MAX_VARINT_BYTES = 10
MAX_TAG_BYTES = 5

_FIXED_BYTES = {FIXED64: 8, FIXED32: 4}


@dataclass(frozen=True)
class Field:
    """One field of a message.

    Attributes
    ----------
    number, wire_type : int
        The two parts of the tag.
    content : bytes
        Bytes after the tag and the length: the varint, the fixed bytes, the string, or the fields of a group.
    offset : int
        Bytes from the start of the payload to `content`.
    depth : int
        Number of messages that enclose the message of this field.
    """

    number: int
    wire_type: int
    content: bytes
    offset: int
    depth: int

    def parse_fields(self) -> list[Field]:
        """Parse the content of this field as a message, and return its fields."""
        if self.depth == MAX_DEPTH:
            raise OracleError("bad_payload", self.offset)
        return split_fields(self.content, self.offset, self.depth + 1)


def encode_varint(value: int, width: int = 0) -> bytes:
    """Encode `value` modulo 2**64 as a varint, padded to at least `width` bytes."""
    value &= 2**64 - 1
    out = bytearray()
    while value > 0x7F or len(out) + 1 < width:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def encode_tag(number: int, wire_type: int) -> bytes:
    """Encode the tag of a field: number and wire type."""
    return encode_varint(number << 3 | wire_type)


def encode_bytes_field(number: int, content: bytes) -> bytes:
    """Encode a field of wire type BYTES, with its tag and length."""
    return encode_tag(number, BYTES) + encode_varint(len(content)) + content


def find_varint_end(data: bytes, start: int, max_bytes: int = MAX_VARINT_BYTES) -> int:
    """Return the end of the varint at `start`; raise ValueError if the varint exceeds `max_bytes` or the data."""
    for position in range(start, min(start + max_bytes, len(data))):
        if data[position] < 0x80:
            return position + 1
    raise ValueError("varint is truncated or too long")


def decode_varint(content: bytes) -> int:
    """Decode a varint to a number from 0 to 2**64 - 1."""
    value = sum((byte & 0x7F) << (7 * position) for position, byte in enumerate(content))
    return value & (2**64 - 1)


def split_fields(message: bytes, base: int = 0, depth: int = 0) -> list[Field]:
    """Return the fields of a message in order.

    Parameters
    ----------
    message : bytes
        The bytes of one message.
    base : int
        Offset of the message from the start of the payload, used for `Field.offset` and errors.
    depth : int
        Number of messages that enclose this message.

    Raises
    ------
    OracleError
        If a field cannot be parsed: ``bad_payload`` at its first byte.
    """
    found = []
    start = 0
    while start < len(message):
        try:
            number, wire_type, content_start, end, next_start = _find_field_bounds(message, start, depth)
        except ValueError:
            raise OracleError("bad_payload", base + start) from None
        if number == 0 or wire_type == END_GROUP:
            raise OracleError("bad_payload", base + start)
        found.append(Field(number, wire_type, message[content_start:end], base + content_start, depth))
        start = next_start
    return found


def select_fields(fields: Iterable[Field], number: int) -> list[Field]:
    """Return the fields with this field number and wire type BYTES. Other wire types are ignored, as in protobuf."""
    return [field for field in fields if field.number == number and field.wire_type == BYTES]


def merge_submessages(fields: Iterable[Field], number: int) -> list[Field]:
    """Merge all submessages that have this field number, and return the fields of the merged message."""
    return [inner for piece in select_fields(fields, number) for inner in piece.parse_fields()]


def _find_field_bounds(data: bytes, start: int, depth: int) -> tuple[int, int, int, int, int]:
    tag_end = find_varint_end(data, start, MAX_TAG_BYTES)
    value = decode_varint(data[start:tag_end])
    number, wire_type = value >> 3, value & 7
    if value >= 2**32:
        raise ValueError("tag must be below 2**32")
    content_start = tag_end
    if wire_type == VARINT:
        end = next_start = find_varint_end(data, tag_end)
    elif wire_type in _FIXED_BYTES:
        end = next_start = tag_end + _FIXED_BYTES[wire_type]
    elif wire_type == BYTES:
        content_start = find_varint_end(data, tag_end, MAX_TAG_BYTES)
        end = next_start = content_start + decode_varint(data[tag_end:content_start])
    elif wire_type == GROUP:
        end, next_start = _find_group_end(data, tag_end, number, depth + 1)
    elif wire_type == END_GROUP:
        end = next_start = tag_end
    else:
        raise ValueError("wire types 6 and 7 do not exist")
    if next_start > len(data):
        raise ValueError("the message ends inside a field")
    return number, wire_type, content_start, end, next_start


def _find_group_end(data: bytes, start: int, number: int, depth: int) -> tuple[int, int]:
    if depth > MAX_DEPTH:
        raise ValueError("groups are nested too deep")
    while True:
        inner_number, wire_type, _, _, end = _find_field_bounds(data, start, depth)
        if wire_type == END_GROUP:
            if inner_number != number:
                raise ValueError("END tag belongs to another group")
            return start, end
        start = end

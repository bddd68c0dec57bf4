"""Protobuf messages put together by hand, for encodings that no serializer emits."""

from __future__ import annotations

import struct
from collections.abc import Iterable

VARINT, FIXED64, BYTES, GROUP, END_GROUP, FIXED32 = 0, 1, 2, 3, 4, 5


def varint(value: int, width: int = 0) -> bytes:
    """Return the varint of `value` modulo 2**64, stretched with empty groups to at least `width` bytes."""
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F or len(out) + 1 < width:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def tag(number: int, wire_type: int) -> bytes:
    """Return the tag of field `number`."""
    return varint(number << 3 | wire_type)


def field(number: int, content: bytes) -> bytes:
    """Return a length-delimited field."""
    return tag(number, BYTES) + varint(len(content)) + content


def packed_ints(*values: int) -> bytes:
    """Return one packed chunk (field 1) of integers."""
    return field(1, b"".join(varint(value) for value in values))


def unpacked_ints(*values: int) -> bytes:
    """Return integers with one tag (field 1) each."""
    return b"".join(tag(1, VARINT) + varint(value) for value in values)


def packed_floats(*values: float) -> bytes:
    """Return one packed chunk (field 1) of float32 values."""
    return field(1, struct.pack(f"<{len(values)}f", *values))


def unpacked_floats(*values: float) -> bytes:
    """Return float32 values with one tag (field 1) each."""
    return b"".join(tag(1, FIXED32) + struct.pack("<f", value) for value in values)


def strings(*values: bytes) -> bytes:
    """Return byte strings, each a field 1."""
    return b"".join(field(1, value) for value in values)


def entry(key: str | bytes, feature: bytes) -> bytes:
    """Return the content of a map entry."""
    raw = key.encode() if isinstance(key, str) else key
    return field(1, raw) + field(2, feature)


def features(entries: Iterable[bytes]) -> bytes:
    """Return the content of a Features message from map entries."""
    return b"".join(field(1, item) for item in entries)


def example(*entries: bytes) -> bytes:
    """Return an Example from map entries."""
    return field(1, features(entries))


def unknown_fields(number: int = 15) -> dict[str, bytes]:
    """Return one unknown field of every wire type, by name."""
    inner = tag(number + 1, GROUP) + tag(3, VARINT) + varint(7) + tag(number + 1, END_GROUP)
    return {
        "varint": tag(number, VARINT) + varint(300),
        "fixed64": tag(number, FIXED64) + b"\x01" * 8,
        "bytes": field(number, b"unknown"),
        "group": tag(number, GROUP) + field(2, b"in a group") + inner + tag(number, END_GROUP),
        "fixed32": tag(number, FIXED32) + b"\x02" * 4,
    }

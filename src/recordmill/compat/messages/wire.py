"""Protobuf's wire format: varints, tags, and fields that nobody knows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

VARINT, FIXED64, BYTES, GROUP, END_GROUP, FIXED32 = range(6)
MAX_VARINT_BYTES = 10
# Of tags and lengths, which have 32 bits.
MAX_LENGTH_BYTES = 5
_MAX_GROUPS = 100
_MASK = (1 << 64) - 1
_SHORTEST = tuple(bytes((value,)) for value in range(0x80))
# So many numbers repay the calls of NumPy.
MANY = 24


class WireError(ValueError):
    """Bytes that are no message."""

    def __init__(self, offset: int, message: str) -> None:
        super().__init__(message)
        self.offset = offset


def read_varint(data: bytes, start: int, stop: int) -> tuple[int, int]:
    """Read one varint."""
    if start < stop and data[start] < 0x80:
        return data[start], start + 1
    value = shift = 0
    for place in range(start, min(stop, start + MAX_VARINT_BYTES)):
        byte = data[place]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & _MASK, place + 1
        shift += 7
    raise WireError(start, "a varint does not end")


def read_tag(data: bytes, start: int, stop: int) -> tuple[int, int, int]:
    """Read one tag."""
    if start < stop and 8 <= (tag := data[start]) < 0x80:
        return tag >> 3, tag & 7, start + 1
    tag, place = _any_tag(data, start, stop)
    if not tag >> 3:
        raise WireError(start, f"a tag of {tag} has no field number")
    return tag >> 3, tag & 7, place


def _any_tag(data: bytes, start: int, stop: int) -> tuple[int, int]:
    tag, place = read_varint(data, start, stop)
    if tag >> 32 or place - start > MAX_LENGTH_BYTES:
        raise WireError(start, f"a tag of {tag} has more than 32 bits")
    return tag, place


def read_length(data: bytes, start: int, stop: int) -> tuple[int, int]:
    """Read the length of a field, and check that the field is there."""
    if start < stop and (length := data[start]) < 0x80 and start + 1 + length <= stop:
        return start + 1, start + 1 + length
    length, place = read_varint(data, start, stop)
    if place - start > MAX_LENGTH_BYTES or length > stop - place:
        raise WireError(start, f"a field of {length} bytes has {stop - place}")
    return place, place + length


def skip(data: bytes, number: int, wire: int, start: int, stop: int) -> int:
    """Find the end of a field's value."""
    groups: list[int] = []
    place = start
    while True:
        if wire == GROUP:
            groups.append(number)
            if len(groups) > _MAX_GROUPS:
                raise WireError(place, f"groups lie more than {_MAX_GROUPS} deep")
        elif wire == END_GROUP:
            if not groups or groups.pop() != number:
                raise WireError(place, f"group {number} ends and was not open")
        else:
            place = _skip_value(data, wire, place, stop)
        if not groups:
            return place
        # Inside a group upb takes any field number, 0 too.
        tag, place = _any_tag(data, place, stop)
        number, wire = tag >> 3, tag & 7


def _skip_value(data: bytes, wire: int, start: int, stop: int) -> int:
    if wire == VARINT:
        return read_varint(data, start, stop)[1]
    if wire == BYTES:
        return read_length(data, start, stop)[1]
    if wire not in (FIXED32, FIXED64):
        raise WireError(start, f"there is no wire type {wire}")
    end = start + (4 if wire == FIXED32 else 8)
    if end > stop:
        raise WireError(start, f"a number of {end - start} bytes has {stop - start}")
    return end


def varint(value: int) -> bytes:
    """Shortest varint of a number."""
    if value < 0x80:
        return _SHORTEST[value]
    pieces = bytearray()
    while value > 0x7F:
        pieces.append(value & 0x7F | 0x80)
        value >>= 7
    pieces.append(value)
    return bytes(pieces)


def varints(values: Sequence[int]) -> bytes:
    """Varints of signed 64-bit numbers, back to back."""
    if len(values) < MANY:
        return b"".join([varint(value & _MASK) for value in values])
    words = np.array(values, np.int64).view(np.uint64)
    shifts = np.arange(0, 70, 7, dtype=np.uint64)
    groups = words[:, None] >> shifts
    counts = np.maximum((groups != 0).sum(axis=1), 1)
    places = np.arange(MAX_VARINT_BYTES)
    more = np.where(places < counts[:, None] - 1, 0x80, 0)
    octets = ((groups & np.uint64(0x7F)) | more.astype(np.uint64)).astype(np.uint8)
    return bytes(octets[places < counts[:, None]])


def read_varints(data: bytes, start: int, stop: int) -> list[int]:
    """Read a packed list of varints."""
    if stop - start < MANY:
        return _read_few(data, start, stop)
    octets = np.frombuffer(data, np.uint8, stop - start, start)
    ends = np.flatnonzero(octets < 0x80)
    starts = np.concatenate(([0], ends[:-1] + 1))
    longest = int((ends - starts).max(initial=0)) + 1
    if not len(ends) or ends[-1] != len(octets) - 1 or longest > MAX_VARINT_BYTES:
        return _read_few(data, start, stop)
    inside = np.arange(len(octets)) - np.repeat(starts, ends - starts + 1)
    parts = (octets & 0x7F).astype(np.uint64) << (7 * inside).astype(np.uint64)
    found: list[int] = np.bitwise_or.reduceat(parts, starts).view(np.int64).tolist()
    return found


def _read_few(data: bytes, start: int, stop: int) -> list[int]:
    found = []
    while start < stop:
        value, start = read_varint(data, start, stop)
        found.append(signed(value))
    return found


def signed(value: int) -> int:
    """Read 64 bits as a signed number."""
    return value - (1 << 64) if value >> 63 else value

"""Read records of all three formats and their images in plain Python, independently of recordmill."""

from __future__ import annotations

import struct
from collections.abc import Iterator

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_MAGIC = 0xCED7230A


def tfrecord_payloads(path: str) -> Iterator[bytes]:
    """Yield the payloads of a TFRecord file without checking checksums."""
    with open(path, "rb") as file:
        while header := file.read(12):
            yield file.read(struct.unpack_from("<Q", header)[0])
            file.read(4)


def ofrecord_payloads(path: str) -> Iterator[bytes]:
    """Yield the payloads of an OFRecord part file."""
    with open(path, "rb") as file:
        while header := file.read(8):
            yield file.read(struct.unpack("<q", header)[0])


def recordio_payloads(path: str) -> Iterator[bytes]:
    """Yield the payloads of an MXNet RecordIO file, joined from their parts."""
    parts: list[bytes] = []
    with open(path, "rb") as file:
        while header := file.read(8):
            magic, word = struct.unpack("<II", header)
            if magic != _MAGIC:
                raise ValueError(f"{path}: a record must begin with the magic word")
            length, flag = word & (1 << 29) - 1, word >> 29
            parts.append(file.read(length))
            file.read(-length % 4)
            if flag in (0, 3):
                yield struct.pack("<I", _MAGIC).join(parts)
                parts = []


def fields(message: bytes | memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Yield the fields of a protobuf message: number, and the value of the varint or the bytes."""
    view, at = memoryview(message), 0
    while at < len(view):
        tag, at = _varint(view, at)
        if tag & 7 == _VARINT:
            value, at = _varint(view, at)
            yield tag >> 3, value
            continue
        length = {_FIXED64: 8, _FIXED32: 4}.get(tag & 7)
        if length is None:
            length, at = _varint(view, at)
        yield tag >> 3, view[at : at + length]
        at += length


def _varint(view: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = view[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def features(payload: bytes | memoryview, *, wrapped: bool) -> dict[str, memoryview]:
    """Return the value lists of an OFRecord by name, or with `wrapped` of an Example, whose map is an inner message."""
    maps = [value for number, value in fields(payload) if number == 1] if wrapped else [payload]
    found = {}
    for feature_map in maps:
        for _, entry in fields(feature_map):
            parts = dict(fields(entry))
            found[bytes(parts[1]).decode()] = next(value for _, value in fields(parts[2]))
    return found


def integer(value_list: memoryview) -> int:
    """Return the first value of a list of integers, packed or not."""
    first = next(value for _, value in fields(value_list))
    return first if isinstance(first, int) else _varint(first, 0)[0]


def example_image(payload: bytes) -> tuple[bytes, int]:
    """Return image and label of an Example with the features `image` and `label`."""
    found = features(payload, wrapped=True)
    return bytes(next(value for _, value in fields(found["image"]))), integer(found["label"])


def ofrecord_image(payload: bytes) -> tuple[bytes, int]:
    """Return image and label of an OFRecord with the features `images` and `labels`."""
    found = features(payload, wrapped=False)
    return bytes(next(value for _, value in fields(found["images"]))), integer(found["labels"])


def recordio_image(payload: bytes) -> tuple[bytes, int]:
    """Return image and label of a record with an IRHeader."""
    flag, label = struct.unpack_from("<If", payload)
    return payload[24 + 4 * flag :], int(label)

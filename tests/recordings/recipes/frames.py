"""Frames of the three formats written by hand, so that damaged files do not depend on any writer."""

from __future__ import annotations

import struct

MAGIC = 0xCED7230A


def _table() -> list[int]:
    rows = []
    for byte in range(256):
        row = byte
        for _ in range(8):
            row = row >> 1 ^ (0x82F63B78 if row & 1 else 0)
        rows.append(row)
    return rows


_CRC32C = _table()


def masked_crc32c(data: bytes) -> int:
    """Return the masked CRC-32C that TFRecord stores."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _CRC32C[(crc ^ byte) & 0xFF] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def tfrecord_header(length: int) -> bytes:
    """Return a TFRecord length field with its correct checksum, whatever follows it."""
    raw = struct.pack("<Q", length)
    return raw + struct.pack("<I", masked_crc32c(raw))


def tfrecord(payload: bytes) -> bytes:
    """Return one TFRecord record."""
    return tfrecord_header(len(payload)) + payload + struct.pack("<I", masked_crc32c(payload))


def recordio_part(data: bytes, cflag: int = 0, length: int | None = None) -> bytes:
    """Return one RecordIO part, zero-padded; `length` is stored in place of the true one when given."""
    size = len(data) if length is None else length
    return struct.pack("<II", MAGIC, cflag << 29 | size) + data + bytes(-len(data) % 4)


def ofrecord(message: bytes, length: int | None = None) -> bytes:
    """Return one OFRecord record; `length` is stored in place of the true one when given."""
    return struct.pack("<q", len(message) if length is None else length) + message

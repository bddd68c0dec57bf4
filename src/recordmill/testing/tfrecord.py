"""Write and read TFRecord frames, in plain Python.

A frame is an eight-byte length and the payload, each followed by its masked CRC-32C.

A shard is a plain concatenation of frames, all integers little-endian:

=======  ==================================================
bytes    content
=======  ==================================================
8        payload length, unsigned
4        masked CRC-32C of those 8 bytes
length   payload
4        masked CRC-32C of the payload
=======  ==================================================
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from recordmill.testing.faults import OracleError

HEADER_BYTES = 12
FOOTER_BYTES = 4
MAX_LENGTH = 2**63 - 1

_POLYNOMIAL = 0x82F63B78  # Castagnoli polynomial with reversed bits
_MASK_DELTA = 0xA282EAD8
_WORD = 0xFFFFFFFF


def _compute_byte_crc(value: int) -> int:
    for _ in range(8):
        value = (value >> 1) ^ (_POLYNOMIAL if value & 1 else 0)
    return value


_TABLE = [_compute_byte_crc(value) for value in range(256)]


def crc32c(data: bytes) -> int:
    """Return the CRC-32C of `data`: reflected Castagnoli polynomial, initial value and final xor 0xFFFFFFFF."""
    crc = _WORD
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ _WORD


def mask_checksum(crc: int) -> int:
    """Mask a checksum as TFRecord stores it: rotate it right by 15 bits and add a constant, modulo 2**32."""
    rotated = (crc >> 15) | (crc << 17)
    return (rotated + _MASK_DELTA) & _WORD


def unmask_checksum(masked: int) -> int:
    """Reverse `mask_checksum`: convert a masked checksum to the original checksum."""
    rotated = (masked - _MASK_DELTA) & _WORD
    return ((rotated << 15) | (rotated >> 17)) & _WORD


def encode_masked_crc(data: bytes) -> bytes:
    """Return the masked checksum of `data` as four bytes, as a frame stores it."""
    return struct.pack("<I", mask_checksum(crc32c(data)))


def build_header(length: int) -> bytes:
    """Return the twelve header bytes for a payload of `length` bytes, from 0 to 2**64 - 1."""
    raw = struct.pack("<Q", length)
    return raw + encode_masked_crc(raw)


def frame(payload: bytes) -> bytes:
    """Return the frame of one payload: ``len(payload) + 16`` bytes."""
    return build_header(len(payload)) + payload + encode_masked_crc(payload)


def iter_records(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the records of a shard until its end or its first fault.

    Parameters
    ----------
    data : bytes
        One uncompressed shard.

    Yields
    ------
    offset : int
        Offset of the length field of the record.
    payload : bytes
        The payload of the record, whose checksum is correct.

    Raises
    ------
    OracleError
        At the offset of the record: ``truncated_header`` (fewer than 12 bytes remain), ``length_checksum``,
        ``bad_length`` (2**63 or more with a correct checksum), ``truncated_payload`` (the shard ends inside the payload
        or its checksum), or ``payload_checksum``.
    """
    offset = position = 0
    while offset < len(data):
        header_bytes = data[offset : offset + HEADER_BYTES]
        if len(header_bytes) < HEADER_BYTES:
            raise OracleError("truncated_header", offset, position)
        if header_bytes[8:] != encode_masked_crc(header_bytes[:8]):
            raise OracleError("length_checksum", offset, position)
        (length,) = struct.unpack("<Q", header_bytes[:8])
        if length > MAX_LENGTH:
            raise OracleError("bad_length", offset, position)
        start = offset + HEADER_BYTES
        end = start + length + FOOTER_BYTES
        if end > len(data):
            raise OracleError("truncated_payload", offset, position)
        payload = data[start : start + length]
        if data[start + length : end] != encode_masked_crc(payload):
            raise OracleError("payload_checksum", offset, position)
        yield offset, payload
        offset, position = end, position + 1


def read_all_records(data: bytes) -> list[tuple[int, bytes]]:
    """Return the (offset, payload) of all records of a shard; raise `OracleError` at the first fault."""
    return list(iter_records(data))

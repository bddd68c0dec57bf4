"""Damaged TFRecord shards. The checksums of this format cover every bit."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from recordmill.testing import recordio
from recordmill.testing.damage.base import (
    Damage,
    DamageFunction,
    IntactShard,
    cut_between_records,
    empty_file,
    files_of_other_formats,
    flip_bit,
    zero_range,
)
from recordmill.testing.tfrecord import FOOTER_BYTES, HEADER_BYTES, build_header, crc32c, frame

__all__ = ["TABLE", "frame"]


def cut_inside_header(shard: IntactShard) -> Iterator[Damage]:
    """Truncate the shard after 1 to 11 bytes of its last 12-byte header; TensorFlow treats this as a normal end."""
    for left in range(1, HEADER_BYTES):
        data = shard.data[: shard.offset(shard.last) + left]
        yield shard.damage_at(f"cut_inside_header_{left}", data, "truncated_header", shard.last)


def cut_inside_payload(shard: IntactShard) -> Iterator[Damage]:
    """Yield shards whose last record is truncated: after the header, inside the payload, or inside the footer."""
    start = shard.offset(shard.last)
    length = len(shard.payloads[-1])
    lefts = {"after_header": HEADER_BYTES, "inside_payload": HEADER_BYTES + length // 2}
    lefts |= {f"inside_footer_{left}": HEADER_BYTES + length + left for left in range(FOOTER_BYTES)}
    for name, left in lefts.items():
        yield shard.damage_at(f"cut_{name}", shard.data[: start + left], "truncated_payload", shard.last)


def flipped_bit(shard: IntactShard) -> Iterator[Damage]:
    """Flip one bit of a frame: in the length, in the payload, or in one of the two checksums."""
    frame, length = shard.frames[shard.middle], len(shard.payloads[shard.middle])
    rows = [
        ("length_low", 0, "length_checksum"),
        ("length_high", 8 * 7 + 7, "length_checksum"),
        ("length_crc", 8 * 9, "length_checksum"),
        ("payload_first", 8 * HEADER_BYTES, "payload_checksum"),
        ("payload_last", 8 * (HEADER_BYTES + length) - 1, "payload_checksum"),
        ("payload_crc", 8 * len(frame) - 1, "payload_checksum"),
    ]
    for name, bit, kind in rows:
        data = shard.replace_frame(shard.middle, flip_bit(frame, bit))
        yield shard.damage_at(f"flipped_{name}", data, kind, shard.middle)


def flipped_first_header(shard: IntactShard) -> Iterator[Damage]:
    """Flip one bit of the first record's length, so that no record can be read."""
    yield shard.damage_at("flipped_first_header", flip_bit(shard.data, 3), "length_checksum", 0)


def append_zeros(shard: IntactShard) -> Iterator[Damage]:
    """Append zeros. They are not a valid header, because the checksum of the length 0 is not 0."""
    for count in (1, 11, 12, 16, 4096):
        kind = "truncated_header" if count < HEADER_BYTES else "length_checksum"
        yield shard.damage_at(f"zeros_appended_{count}", shard.data + bytes(count), kind, len(shard.payloads))


def append_stray_bytes(shard: IntactShard) -> Iterator[Damage]:
    """Append bytes that do not form a valid header."""
    for count in (1, 11, 12, 40):
        kind = "truncated_header" if count < HEADER_BYTES else "length_checksum"
        yield shard.damage_at(f"stray_bytes_appended_{count}", shard.data + b"\xff" * count, kind, len(shard.payloads))


def zero_header_or_payload(shard: IntactShard) -> Iterator[Damage]:
    """Set a range of bytes to zero, as a file system may do after a crash."""
    frame = shard.frames[shard.middle]
    holes = [
        ("header", 0, HEADER_BYTES, "length_checksum"),
        ("payload", HEADER_BYTES + 4, HEADER_BYTES + 12, "payload_checksum"),
        ("whole_record", 0, len(frame), "length_checksum"),
    ]
    for name, start, end, kind in holes:
        data = shard.replace_frame(shard.middle, zero_range(frame, start, end))
        yield shard.damage_at(f"zero_hole_{name}", data, kind, shard.middle)


def inserted_or_removed_byte(shard: IntactShard) -> Iterator[Damage]:
    """Insert or remove one byte, which shifts everything after it."""
    frame = shard.frames[shard.middle]
    for name, at, kind in [
        ("header", 3, "length_checksum"),
        ("payload", HEADER_BYTES + 5, "payload_checksum"),
    ]:
        inserted = frame[:at] + b"\x5a" + frame[at:]
        removed = frame[:at] + frame[at + 1 :]
        yield shard.damage_at(f"byte_inserted_{name}", shard.replace_frame(shard.middle, inserted), kind, shard.middle)
        yield shard.damage_at(f"byte_removed_{name}", shard.replace_frame(shard.middle, removed), kind, shard.middle)


def length_with_right_checksum(shard: IntactShard) -> Iterator[Damage]:
    """Store a wrong length with a valid checksum; readers must not allocate memory of this length."""
    lengths = {f"2_to_{power}": 2**power for power in (31, 32, 40, 62, 63)}
    # With this length, the frame has 2**63 - 1 bytes, the largest size that fits into a signed 64-bit integer.
    lengths["2_to_63_minus_17"] = 2**63 - 17
    lengths |= {"2_to_64_minus_16": 2**64 - 16, "2_to_64_minus_5": 2**64 - 5, "2_to_64_minus_1": 2**64 - 1}
    for name, length in lengths.items():
        data = shard.replace_frame(shard.middle, build_header(length) + shard.frames[shard.middle][HEADER_BYTES:])
        kind = "truncated_payload" if length < 2**63 else "bad_length"
        yield shard.damage_at(f"length_{name}", data, kind, shard.middle)
    true_length = len(shard.payloads[shard.middle])
    for name, length in {"one_more": true_length + 1, "one_less": true_length - 1, "zero": 0}.items():
        data = shard.replace_frame(shard.middle, build_header(length) + shard.frames[shard.middle][HEADER_BYTES:])
        yield shard.damage_at(f"length_{name}", data, "payload_checksum", shard.middle)


def unmasked_checksum(shard: IntactShard) -> Iterator[Damage]:
    """Store a CRC-32C that is not masked, as an incorrect writer would."""
    length = struct.pack("<Q", len(shard.payloads[shard.middle]))
    record = length + struct.pack("<I", crc32c(length)) + shard.frames[shard.middle][HEADER_BYTES:]
    yield shard.damage_at(
        "unmasked_checksum", shard.replace_frame(shard.middle, record), "length_checksum", shard.middle
    )


def zero_length_record(shard: IntactShard) -> Iterator[Damage]:
    """Store an empty record, which is valid and must not end the iteration."""
    payloads = [*shard.payloads[: shard.middle], b"", *shard.payloads[shard.middle + 1 :]]
    yield Damage("zero_length_record", shard.replace_frame(shard.middle, frame(b"")), payloads)


def recordio_file(shard: IntactShard) -> Iterator[Damage]:
    """Yield a RecordIO shard. TFRecord readers must reject this shard, because the length checksum is wrong."""
    data = b"".join(recordio.frame(payload) for payload in shard.payloads)
    yield shard.damage_at("recordio_file", data, "length_checksum", 0)


TABLE: tuple[DamageFunction, ...] = (
    empty_file,
    cut_between_records,
    cut_inside_header,
    cut_inside_payload,
    flipped_bit,
    flipped_first_header,
    append_zeros,
    append_stray_bytes,
    zero_header_or_payload,
    inserted_or_removed_byte,
    length_with_right_checksum,
    unmasked_checksum,
    zero_length_record,
    recordio_file,
    files_of_other_formats({"html": "length_checksum", "gzip": "length_checksum"}),
)

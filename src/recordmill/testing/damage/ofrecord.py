"""Damaged OFRecord shards. The format can detect only impossible lengths."""

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
from recordmill.testing.ofrecord import HEADER_BYTES, frame

__all__ = ["TABLE", "frame"]


def cut_inside_header(shard: IntactShard) -> Iterator[Damage]:
    """Remove the end of the shard, so that it ends inside the length field of the last record."""
    for left in range(1, HEADER_BYTES):
        data = shard.data[: shard.offset(shard.last) + left]
        yield shard.damage_at(f"cut_inside_header_{left}", data, "truncated_header", shard.last)


def cut_inside_payload(shard: IntactShard) -> Iterator[Damage]:
    """Truncate the shard inside its last message."""
    ends = {"after_header": shard.offset(shard.last) + HEADER_BYTES, "before_last_byte": len(shard.data) - 1}
    for name, end in ends.items():
        yield shard.damage_at(f"cut_{name}", shard.data[:end], "truncated_payload", shard.last)


def impossible_length(shard: IntactShard) -> Iterator[Damage]:
    """Store a length that is forbidden or exceeds the file; readers must not allocate memory of this length."""
    rows = [("zero", 0, "bad_length"), ("minus_1", -1, "bad_length"), ("lowest", -(2**63), "bad_length")]
    rows += [(f"2_to_{power}", 2**power, "bad_length") for power in (31, 32, 40, 62)]
    rows += [("2_to_63_minus_9", 2**63 - 9, "bad_length"), ("2_to_31_minus_1", 2**31 - 1, "truncated_payload")]
    for name, length, kind in rows:
        changed = struct.pack("<q", length) + shard.frames[shard.middle][HEADER_BYTES:]
        yield shard.damage_at(f"length_{name}", shard.replace_frame(shard.middle, changed), kind, shard.middle)


def flipped_length_bit(shard: IntactShard) -> Iterator[Damage]:
    """Flip the sign of a length, or a bit that makes it too large for the format or for the file."""
    for name, bit, kind in [("sign", 63, "bad_length"), ("high", 40, "bad_length"), ("low", 30, "truncated_payload")]:
        data = shard.replace_frame(shard.middle, flip_bit(shard.frames[shard.middle], bit))
        yield shard.damage_at(f"flipped_length_{name}", data, kind, shard.middle)


def length_off_by_one(shard: IntactShard) -> Iterator[Damage]:
    """Store a wrong length of the last record: 1 too large (exceeds the file), or 1 too small (leaves a byte)."""
    payload = shard.payloads[-1]
    data = shard.replace_frame(shard.last, struct.pack("<q", len(payload) + 1) + payload)
    yield shard.damage_at("length_one_more", data, "truncated_payload", shard.last)
    data = shard.replace_frame(shard.last, struct.pack("<q", len(payload) - 1) + payload)
    before = [*shard.payloads[:-1], payload[:-1]]
    yield Damage("length_one_less", data, before, "truncated_header", len(data) - 1, len(shard.payloads))


def flipped_payload_bit(shard: IntactShard) -> Iterator[Damage]:
    """Flip one bit of a message. The framing cannot detect this."""
    data = shard.replace_frame(shard.middle, flip_bit(shard.frames[shard.middle], 8 * HEADER_BYTES + 3))
    changed = flip_bit(shard.payloads[shard.middle], 3)
    yield Damage("flipped_payload_bit", data, _replace_middle_payload(shard, changed))


def append_zeros(shard: IntactShard) -> Iterator[Damage]:
    """Append zeros, which readers see as a truncated length or as a length of 0."""
    for count in (1, 3, 7, 8, 4096):
        kind = "truncated_header" if count < HEADER_BYTES else "bad_length"
        yield shard.damage_at(f"zeros_appended_{count}", shard.data + bytes(count), kind, len(shard.payloads))


def append_stray_bytes(shard: IntactShard) -> Iterator[Damage]:
    """Append bytes that readers parse as an invalid length: truncated, negative, or too large for format or file."""
    rows = [
        (b"\xff" * 7, "truncated_header"),
        (b"\xff" * 8, "bad_length"),
        (b"\x7f" * 40, "bad_length"),
        (b"\x7f" * 4 + bytes(7), "truncated_payload"),
    ]
    for stray, kind in rows:
        name = f"stray_bytes_appended_{len(stray)}"
        yield shard.damage_at(name, shard.data + stray, kind, len(shard.payloads))


def zero_header_or_payload(shard: IntactShard) -> Iterator[Damage]:
    """Set the header, the frame, or a part of the payload to zero. Readers cannot detect damage inside the payload."""
    middle = shard.frames[shard.middle]
    for name, end in [("header", HEADER_BYTES), ("whole_record", len(middle))]:
        data = shard.replace_frame(shard.middle, zero_range(middle, 0, end))
        yield shard.damage_at(f"zero_hole_{name}", data, "bad_length", shard.middle)
    data = shard.replace_frame(shard.middle, zero_range(middle, HEADER_BYTES + 4, HEADER_BYTES + 12))
    yield Damage(
        "zero_hole_payload", data, _replace_middle_payload(shard, zero_range(shard.payloads[shard.middle], 4, 12))
    )


def byte_inserted_last_payload(shard: IntactShard) -> Iterator[Damage]:
    """Insert a byte into the last message, but keep the stored length. Readers parse the surplus byte as a header."""
    payload = shard.payloads[-1]
    changed = payload[:1] + b"\x5a" + payload[1:]
    data = shard.replace_frame(shard.last, struct.pack("<q", len(payload)) + changed)
    before = [*shard.payloads[:-1], changed[:-1]]
    yield Damage("byte_inserted_last_payload", data, before, "truncated_header", len(data) - 1, len(shard.payloads))


def byte_removed_last_payload(shard: IntactShard) -> Iterator[Damage]:
    """Remove a byte of the last message."""
    payload = shard.payloads[-1]
    data = shard.replace_frame(shard.last, struct.pack("<q", len(payload)) + payload[1:])
    yield shard.damage_at("byte_removed_last_payload", data, "truncated_payload", shard.last)


def recordio_file(shard: IntactShard) -> Iterator[Damage]:
    """Yield a RecordIO shard. OFRecord readers parse the RecordIO magic word and length as one impossible length."""
    data = b"".join(recordio.frame(payload) for payload in shard.payloads)
    yield shard.damage_at("recordio_file", data, "bad_length", 0)


def _replace_middle_payload(shard: IntactShard, payload: bytes) -> list[bytes]:
    return [*shard.payloads[: shard.middle], payload, *shard.payloads[shard.middle + 1 :]]


TABLE: tuple[DamageFunction, ...] = (
    empty_file,
    cut_between_records,
    cut_inside_header,
    cut_inside_payload,
    impossible_length,
    flipped_length_bit,
    length_off_by_one,
    flipped_payload_bit,
    append_zeros,
    append_stray_bytes,
    zero_header_or_payload,
    byte_inserted_last_payload,
    byte_removed_last_payload,
    recordio_file,
    files_of_other_formats({"html": "bad_length", "gzip": "truncated_payload"}),
)

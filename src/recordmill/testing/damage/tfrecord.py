"""Damage to TFRecord shards, where every bit is covered by a checksum."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from recordmill.testing import recordio
from recordmill.testing.damage.base import (
    Damage,
    Maker,
    Sound,
    cut_between_records,
    empty_file,
    flip,
    not_this_format,
    zeroed,
)
from recordmill.testing.tfrecord import FOOTER_BYTES, HEADER_BYTES, crc32c, frame, header

__all__ = ["TABLE", "frame"]


def cut_inside_header(sound: Sound) -> Iterator[Damage]:
    """Leave 1 to 11 bytes of the last header; TensorFlow takes this for a clean end."""
    for left in range(1, HEADER_BYTES):
        data = sound.data[: sound.offset(sound.last) + left]
        yield sound.fault(f"cut_inside_header_{left}", data, "truncated_header", sound.last)


def cut_inside_payload(sound: Sound) -> Iterator[Damage]:
    """Leave the last header whole, but not its payload or footer."""
    start = sound.offset(sound.last)
    length = len(sound.payloads[-1])
    lefts = {"behind_header": HEADER_BYTES, "inside_payload": HEADER_BYTES + length // 2}
    lefts |= {f"inside_footer_{left}": HEADER_BYTES + length + left for left in range(FOOTER_BYTES)}
    for name, left in lefts.items():
        yield sound.fault(f"cut_{name}", sound.data[: start + left], "truncated_payload", sound.last)


def flipped_bit(sound: Sound) -> Iterator[Damage]:
    """Change one bit of each of a frame's four parts."""
    frame, length = sound.frames[sound.victim], len(sound.payloads[sound.victim])
    rows = [
        ("length_low", 0, "length_checksum"),
        ("length_high", 8 * 7 + 7, "length_checksum"),
        ("length_crc", 8 * 9, "length_checksum"),
        ("payload_first", 8 * HEADER_BYTES, "payload_checksum"),
        ("payload_last", 8 * (HEADER_BYTES + length) - 1, "payload_checksum"),
        ("payload_crc", 8 * len(frame) - 1, "payload_checksum"),
    ]
    for name, bit, kind in rows:
        data = sound.replaced(sound.victim, flip(frame, bit))
        yield sound.fault(f"flipped_{name}", data, kind, sound.victim)


def flipped_first_header(sound: Sound) -> Iterator[Damage]:
    """Change one bit of the very first length, so that nothing is delivered."""
    yield sound.fault("flipped_first_header", flip(sound.data, 3), "length_checksum", 0)


def zeros_appended(sound: Sound) -> Iterator[Damage]:
    """Append zeros, which are no records: the checksum of a length of 0 is not 0."""
    for count in (1, 11, 12, 16, 4096):
        kind = "truncated_header" if count < HEADER_BYTES else "length_checksum"
        yield sound.fault(f"zeros_appended_{count}", sound.data + bytes(count), kind, len(sound.payloads))


def stray_bytes_appended(sound: Sound) -> Iterator[Damage]:
    """Append bytes of something else."""
    for count in (1, 11, 12, 40):
        kind = "truncated_header" if count < HEADER_BYTES else "length_checksum"
        yield sound.fault(f"stray_bytes_appended_{count}", sound.data + b"\xff" * count, kind, len(sound.payloads))


def zero_hole(sound: Sound) -> Iterator[Damage]:
    """Put zeros over a range, as a file system may after a crash."""
    frame = sound.frames[sound.victim]
    holes = [
        ("header", 0, HEADER_BYTES, "length_checksum"),
        ("payload", HEADER_BYTES + 4, HEADER_BYTES + 12, "payload_checksum"),
        ("whole_record", 0, len(frame), "length_checksum"),
    ]
    for name, start, end, kind in holes:
        data = sound.replaced(sound.victim, zeroed(frame, start, end))
        yield sound.fault(f"zero_hole_{name}", data, kind, sound.victim)


def inserted_or_removed_byte(sound: Sound) -> Iterator[Damage]:
    """Shift everything behind one byte."""
    frame = sound.frames[sound.victim]
    for name, at, kind in [
        ("header", 3, "length_checksum"),
        ("payload", HEADER_BYTES + 5, "payload_checksum"),
    ]:
        inserted = frame[:at] + b"\x5a" + frame[at:]
        removed = frame[:at] + frame[at + 1 :]
        yield sound.fault(f"byte_inserted_{name}", sound.replaced(sound.victim, inserted), kind, sound.victim)
        yield sound.fault(f"byte_removed_{name}", sound.replaced(sound.victim, removed), kind, sound.victim)


def length_with_right_checksum(sound: Sound) -> Iterator[Damage]:
    """Store a wrong length with its right checksum; nothing may be allocated for it."""
    lengths = {f"2_to_{power}": 2**power for power in (31, 32, 40, 62, 63)}
    lengths["2_to_63_minus_17"] = 2**63 - 17  # the whole frame still ends at a signed 64-bit offset
    lengths |= {"2_to_64_minus_16": 2**64 - 16, "2_to_64_minus_5": 2**64 - 5, "2_to_64_minus_1": 2**64 - 1}
    for name, length in lengths.items():
        data = sound.replaced(sound.victim, header(length) + sound.frames[sound.victim][HEADER_BYTES:])
        kind = "truncated_payload" if length < 2**63 else "bad_length"
        yield sound.fault(f"length_{name}", data, kind, sound.victim)
    true_length = len(sound.payloads[sound.victim])
    for name, length in {"one_more": true_length + 1, "one_less": true_length - 1, "zero": 0}.items():
        data = sound.replaced(sound.victim, header(length) + sound.frames[sound.victim][HEADER_BYTES:])
        yield sound.fault(f"length_{name}", data, "payload_checksum", sound.victim)


def unmasked_checksum(sound: Sound) -> Iterator[Damage]:
    """Store a plain CRC-32C in place of the masked one, as a wrong writer would."""
    length = struct.pack("<Q", len(sound.payloads[sound.victim]))
    record = length + struct.pack("<I", crc32c(length)) + sound.frames[sound.victim][HEADER_BYTES:]
    yield sound.fault("unmasked_checksum", sound.replaced(sound.victim, record), "length_checksum", sound.victim)


def zero_length_record(sound: Sound) -> Iterator[Damage]:
    """Store a record without bytes, which is legal and must not end the iteration."""
    payloads = [*sound.payloads[: sound.victim], b"", *sound.payloads[sound.victim + 1 :]]
    yield Damage("zero_length_record", sound.replaced(sound.victim, frame(b"")), payloads)


def recordio_file(sound: Sound) -> Iterator[Damage]:
    """Hand over a shard of another format."""
    data = b"".join(recordio.frame(payload) for payload in sound.payloads)
    yield sound.fault("recordio_file", data, "length_checksum", 0)


TABLE: tuple[Maker, ...] = (
    empty_file,
    cut_between_records,
    cut_inside_header,
    cut_inside_payload,
    flipped_bit,
    flipped_first_header,
    zeros_appended,
    stray_bytes_appended,
    zero_hole,
    inserted_or_removed_byte,
    length_with_right_checksum,
    unmasked_checksum,
    zero_length_record,
    recordio_file,
    not_this_format({"html": "length_checksum", "gzip": "length_checksum"}),
)

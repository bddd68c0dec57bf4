"""Damage to OFRecord shards, where only impossible lengths can be seen."""

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
from recordmill.testing.ofrecord import HEADER_BYTES, frame

__all__ = ["TABLE", "frame"]


def cut_inside_header(sound: Sound) -> Iterator[Damage]:
    """Leave 1 to 7 bytes of the last length."""
    for left in range(1, HEADER_BYTES):
        data = sound.data[: sound.offset(sound.last) + left]
        yield sound.fault(f"cut_inside_header_{left}", data, "truncated_header", sound.last)


def cut_inside_payload(sound: Sound) -> Iterator[Damage]:
    """Leave the last length whole, but not its message."""
    ends = {"behind_header": sound.offset(sound.last) + HEADER_BYTES, "before_last_byte": len(sound.data) - 1}
    for name, end in ends.items():
        yield sound.fault(f"cut_{name}", sound.data[:end], "truncated_payload", sound.last)


def impossible_length(sound: Sound) -> Iterator[Damage]:
    """Store a length of 0, a negative one, or one beyond the file; nothing may be allocated for it."""
    rows = [("zero", 0, "bad_length"), ("minus_1", -1, "bad_length"), ("lowest", -(2**63), "bad_length")]
    rows += [(f"2_to_{power}", 2**power, "truncated_payload") for power in (31, 32, 40, 62)]
    rows.append(("2_to_63_minus_9", 2**63 - 9, "truncated_payload"))
    for name, length, kind in rows:
        changed = struct.pack("<q", length) + sound.frames[sound.victim][HEADER_BYTES:]
        yield sound.fault(f"length_{name}", sound.replaced(sound.victim, changed), kind, sound.victim)


def flipped_length_bit(sound: Sound) -> Iterator[Damage]:
    """Change the sign of a length, or a bit that makes it huge."""
    for name, bit, kind in [("sign", 63, "bad_length"), ("high", 40, "truncated_payload")]:
        data = sound.replaced(sound.victim, flip(sound.frames[sound.victim], bit))
        yield sound.fault(f"flipped_length_{name}", data, kind, sound.victim)


def length_off_by_one(sound: Sound) -> Iterator[Damage]:
    """Store a length that is one too large, which shows, or one too small, which leaves a stray byte."""
    payload = sound.payloads[-1]
    data = sound.replaced(sound.last, struct.pack("<q", len(payload) + 1) + payload)
    yield sound.fault("length_one_more", data, "truncated_payload", sound.last)
    data = sound.replaced(sound.last, struct.pack("<q", len(payload) - 1) + payload)
    before = [*sound.payloads[:-1], payload[:-1]]
    yield Damage("length_one_less", data, before, "truncated_header", len(data) - 1, len(sound.payloads))


def flipped_payload_bit(sound: Sound) -> Iterator[Damage]:
    """Change one bit of a message, which the framing cannot show."""
    data = sound.replaced(sound.victim, flip(sound.frames[sound.victim], 8 * HEADER_BYTES + 3))
    changed = flip(sound.payloads[sound.victim], 3)
    yield Damage("flipped_payload_bit", data, _with_victim(sound, changed))


def zeros_appended(sound: Sound) -> Iterator[Damage]:
    """Append zeros: a length that is cut, or a length of 0."""
    for count in (1, 3, 7, 8, 4096):
        kind = "truncated_header" if count < HEADER_BYTES else "bad_length"
        yield sound.fault(f"zeros_appended_{count}", sound.data + bytes(count), kind, len(sound.payloads))


def stray_bytes_appended(sound: Sound) -> Iterator[Damage]:
    """Append bytes that are a cut length, a negative one, or one beyond the file."""
    rows = [
        (b"\xff" * 7, "truncated_header"),
        (b"\xff" * 8, "bad_length"),
        (b"\x7f" * 40, "truncated_payload"),
    ]
    for stray, kind in rows:
        name = f"stray_bytes_appended_{len(stray)}"
        yield sound.fault(name, sound.data + stray, kind, len(sound.payloads))


def zero_hole(sound: Sound) -> Iterator[Damage]:
    """Put zeros over a range; over a message alone the framing cannot show it."""
    victim = sound.frames[sound.victim]
    for name, end in [("header", HEADER_BYTES), ("whole_record", len(victim))]:
        data = sound.replaced(sound.victim, zeroed(victim, 0, end))
        yield sound.fault(f"zero_hole_{name}", data, "bad_length", sound.victim)
    data = sound.replaced(sound.victim, zeroed(victim, HEADER_BYTES + 4, HEADER_BYTES + 12))
    yield Damage("zero_hole_payload", data, _with_victim(sound, zeroed(sound.payloads[sound.victim], 4, 12)))


def byte_inserted_last_payload(sound: Sound) -> Iterator[Damage]:
    """Shift the end of the last message, which leaves a stray byte where a length should be."""
    payload = sound.payloads[-1]
    changed = payload[:1] + b"\x5a" + payload[1:]
    data = sound.replaced(sound.last, struct.pack("<q", len(payload)) + changed)
    before = [*sound.payloads[:-1], changed[:-1]]
    yield Damage("byte_inserted_last_payload", data, before, "truncated_header", len(data) - 1, len(sound.payloads))


def byte_removed_last_payload(sound: Sound) -> Iterator[Damage]:
    """Store a byte less than the last length promises."""
    payload = sound.payloads[-1]
    data = sound.replaced(sound.last, struct.pack("<q", len(payload)) + payload[1:])
    yield sound.fault("byte_removed_last_payload", data, "truncated_payload", sound.last)


def recordio_file(sound: Sound) -> Iterator[Damage]:
    """Hand over a shard of another format, whose magic word and part length are one huge length here."""
    data = b"".join(recordio.frame(payload) for payload in sound.payloads)
    yield sound.fault("recordio_file", data, "truncated_payload", 0)


def _with_victim(sound: Sound, payload: bytes) -> list[bytes]:
    return [*sound.payloads[: sound.victim], payload, *sound.payloads[sound.victim + 1 :]]


TABLE: tuple[Maker, ...] = (
    empty_file,
    cut_between_records,
    cut_inside_header,
    cut_inside_payload,
    impossible_length,
    flipped_length_bit,
    length_off_by_one,
    flipped_payload_bit,
    zeros_appended,
    stray_bytes_appended,
    zero_hole,
    byte_inserted_last_payload,
    byte_removed_last_payload,
    recordio_file,
    not_this_format({"html": "truncated_payload", "gzip": "truncated_payload"}),
)

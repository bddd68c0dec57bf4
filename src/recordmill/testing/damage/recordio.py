"""Damage to RecordIO shards, which have no checksum but a magic word in front of every part."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from recordmill.testing import tfrecord
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
from recordmill.testing.recordio import FIRST, HEAD_BYTES, LAST, MAGIC, MIDDLE, WHOLE, frame, frame_part

__all__ = ["TABLE", "frame"]

# A record of three parts: 4, 8 and 3 bytes, so that the last one has a byte of padding.
_PIECES = [b"left", b"in there", b"end"]
_SPLIT_PAYLOAD = MAGIC.join(_PIECES)
_PART_OFFSETS = [0, 12, 28]


def _split(cflags: tuple[int, int, int] = (FIRST, MIDDLE, LAST)) -> bytes:
    return b"".join(frame_part(cflag, piece) for cflag, piece in zip(cflags, _PIECES, strict=True))


def cut_inside_head(sound: Sound) -> Iterator[Damage]:
    """Leave 1 to 7 bytes of the last record's head."""
    for left in range(1, HEAD_BYTES):
        data = sound.data[: sound.offset(sound.last) + left]
        yield sound.fault(f"cut_inside_head_{left}", data, "truncated_header", sound.last)


def cut_inside_payload(sound: Sound) -> Iterator[Damage]:
    """Leave the last head whole, but not its data or padding."""
    start = sound.offset(sound.last)
    for name, left in [("behind_head", HEAD_BYTES), ("inside_payload", HEAD_BYTES + 1)]:
        yield sound.fault(f"cut_{name}", sound.data[: start + left], "truncated_payload", sound.last)
    padded = sound.replaced(sound.last, frame(b"12345"))
    for missing in (1, 2, 3):
        data = padded[:-missing]
        yield sound.fault(f"cut_inside_padding_{missing}", data, "truncated_payload", sound.last)


def cut_inside_split_record(sound: Sound) -> Iterator[Damage]:
    """End the file between two parts of a record, or inside a later part."""
    whole = sound.replaced(sound.last, _split())
    start = sound.offset(sound.last)
    for part, at in list(enumerate(_PART_OFFSETS))[1:]:
        rows = [("before", 0, "bad_continuation", at), ("inside_head_of", 5, "truncated_header", at)]
        rows += [("inside_data_of", HEAD_BYTES + 2, "truncated_payload", 0)]
        for name, left, kind, reported in rows:
            data = whole[: start + at + left]
            yield sound.fault(f"cut_{name}_part_{part}", data, kind, sound.last, reported)


def flipped_payload_bit(sound: Sound) -> Iterator[Damage]:
    """Change one bit of a payload, which this format cannot show."""
    data = sound.replaced(sound.victim, flip(sound.frames[sound.victim], 8 * HEAD_BYTES + 3))
    changed = flip(sound.payloads[sound.victim], 3)
    payloads = [*sound.payloads[: sound.victim], changed, *sound.payloads[sound.victim + 1 :]]
    yield Damage("flipped_payload_bit", data, payloads)


def wrong_length(sound: Sound) -> Iterator[Damage]:
    """Store a length beyond the file, seen at once, or a short one, seen where the next magic is missing."""
    victim = sound.frames[sound.victim]
    data = sound.replaced(sound.victim, flip(victim, 8 * 4 + 28))
    yield sound.fault("flipped_length_high", data, "truncated_payload", sound.victim)
    payload = sound.payloads[sound.victim]
    for name, length in {"four_less": len(payload) - 4, "zero": 0}.items():
        data = sound.replaced(sound.victim, MAGIC + struct.pack("<I", length) + victim[HEAD_BYTES:])
        offset = sound.offset(sound.victim) + HEAD_BYTES + length + -length % 4
        before = [*sound.payloads[: sound.victim], payload[:length]]
        yield Damage(f"length_{name}", data, before, "bad_magic", offset, sound.victim + 1)


def damaged_magic(sound: Sound) -> Iterator[Damage]:
    """Change one bit of a magic word: of the first record, a later one, a later part."""
    yield sound.fault("damaged_magic_first_record", flip(sound.data, 9), "bad_magic", 0)
    data = sound.replaced(sound.victim, flip(sound.frames[sound.victim], 31))
    yield sound.fault("damaged_magic_later_record", data, "bad_magic", sound.victim)
    for part, at in list(enumerate(_PART_OFFSETS))[1:]:
        data = sound.replaced(sound.victim, flip(_split(), 8 * at))
        yield sound.fault(f"damaged_magic_part_{part}", data, "bad_magic", sound.victim, at)


def wrong_cflag(sound: Sound) -> Iterator[Damage]:
    """Store parts that do not follow one another as 0 or 1, 2, ..., 2, 3."""
    payload = sound.payloads[sound.victim]
    for cflag in (MIDDLE, LAST, 4, 5, 6, 7):
        data = sound.replaced(sound.victim, frame_part(cflag, payload))
        yield sound.fault(f"cflag_{cflag}_at_start", data, "bad_continuation", sound.victim)
    data = sound.replaced(sound.victim, frame_part(FIRST, payload))
    at = len(sound.frames[sound.victim])
    yield sound.fault("cflag_1_alone", data, "bad_continuation", sound.victim, at)
    data = sound.replaced(sound.last, frame_part(FIRST, sound.payloads[-1]))
    yield sound.fault("cflag_1_alone_at_end", data, "bad_continuation", sound.last, len(sound.frames[-1]))
    for wrong in (WHOLE, FIRST, 4, 7):
        for part in (1, 2):
            cflags = (FIRST, wrong, LAST) if part == 1 else (FIRST, MIDDLE, wrong)
            data = sound.replaced(sound.victim, _split(cflags))
            at = _PART_OFFSETS[part]
            yield sound.fault(f"cflag_{wrong}_in_part_{part}", data, "bad_continuation", sound.victim, at)


def nonzero_padding(sound: Sound) -> Iterator[Damage]:
    """Store padding other than zeros, which harms no reader but which no writer makes."""
    data = sound.replaced(sound.victim, frame(b"12345")[:-1] + b"\x01")
    payloads = [*sound.payloads[: sound.victim], b"12345", *sound.payloads[sound.victim + 1 :]]
    offset = sound.offset(sound.victim)
    yield Damage("nonzero_padding", data, payloads, "bad_padding", offset, sound.victim, verify_only=True)
    data = sound.replaced(sound.victim, _split()[:-1] + b"\xff")
    payloads = [*sound.payloads[: sound.victim], _SPLIT_PAYLOAD, *sound.payloads[sound.victim + 1 :]]
    offset += _PART_OFFSETS[2]
    yield Damage("nonzero_padding_part_2", data, payloads, "bad_padding", offset, sound.victim, verify_only=True)


def bytes_appended(sound: Sound) -> Iterator[Damage]:
    """Append bytes that begin no record."""
    for name, byte in [("zeros", b"\0"), ("stray_bytes", b"\xff")]:
        for count in (1, 3, 4, 7, 8, 4096):
            kind = "truncated_header" if count < HEAD_BYTES else "bad_magic"
            yield sound.fault(f"{name}_appended_{count}", sound.data + byte * count, kind, len(sound.payloads))


def zero_hole(sound: Sound) -> Iterator[Damage]:
    """Put zeros over a range; over data alone this format cannot show it."""
    victim = sound.frames[sound.victim]
    for name, end in [("head", HEAD_BYTES), ("whole_record", len(victim))]:
        data = sound.replaced(sound.victim, zeroed(victim, 0, end))
        yield sound.fault(f"zero_hole_{name}", data, "bad_magic", sound.victim)
    data = sound.replaced(sound.victim, zeroed(victim, HEAD_BYTES + 4, HEAD_BYTES + 12))
    changed = zeroed(sound.payloads[sound.victim], 4, 12)
    payloads = [*sound.payloads[: sound.victim], changed, *sound.payloads[sound.victim + 1 :]]
    yield Damage("zero_hole_payload", data, payloads)


def inserted_or_removed_byte(sound: Sound) -> Iterator[Damage]:
    """Shift everything behind one byte: a wrong payload comes out, then a magic word is missing."""
    victim, length = sound.frames[sound.victim], len(sound.payloads[sound.victim])
    at = HEAD_BYTES + 5
    changes = {"inserted": victim[:at] + b"\x5a" + victim[at:], "removed": victim[:at] + victim[at + 1 :]}
    for name, changed in changes.items():
        data = sound.replaced(sound.victim, changed)
        start = sound.offset(sound.victim) + HEAD_BYTES
        before = [*sound.payloads[: sound.victim], data[start : start + length]]
        next_offset = sound.offset(sound.victim + 1)
        yield Damage(f"byte_{name}_payload", data, before, "bad_magic", next_offset, sound.victim + 1)


def zero_length_record(sound: Sound) -> Iterator[Damage]:
    """Store a record without bytes, which is legal and must not end the iteration."""
    payloads = [*sound.payloads[: sound.victim], b"", *sound.payloads[sound.victim + 1 :]]
    yield Damage("zero_length_record", sound.replaced(sound.victim, frame(b"")), payloads)


def tfrecord_file(sound: Sound) -> Iterator[Damage]:
    """Hand over a shard of another format."""
    data = b"".join(tfrecord.frame(payload) for payload in sound.payloads)
    yield sound.fault("tfrecord_file", data, "bad_magic", 0)


TABLE: tuple[Maker, ...] = (
    empty_file,
    cut_between_records,
    cut_inside_head,
    cut_inside_payload,
    cut_inside_split_record,
    flipped_payload_bit,
    wrong_length,
    damaged_magic,
    wrong_cflag,
    nonzero_padding,
    bytes_appended,
    zero_hole,
    inserted_or_removed_byte,
    zero_length_record,
    tfrecord_file,
    not_this_format({"html": "bad_magic", "gzip": "bad_magic"}),
)

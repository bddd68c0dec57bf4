"""Damaged RecordIO shards. The format has no checksum, but a magic word at the start of every part."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from recordmill.testing import tfrecord
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
from recordmill.testing.recordio import FIRST, HEADER_BYTES, LAST, MAGIC, MIDDLE, WHOLE, frame, frame_part

__all__ = ["TABLE", "frame"]

# A record of three parts with 4, 8 and 3 bytes. The last part has a byte of padding.
_PIECES = [b"left", b"in there", b"end"]
_SPLIT_PAYLOAD = MAGIC.join(_PIECES)
_PART_OFFSETS = [0, 12, 28]


def _frame_split_record(cflags: tuple[int, int, int] = (FIRST, MIDDLE, LAST)) -> bytes:
    return b"".join(frame_part(cflag, piece) for cflag, piece in zip(cflags, _PIECES, strict=True))


def cut_inside_header(shard: IntactShard) -> Iterator[Damage]:
    """Truncate the shard inside the 8-byte header of its last record, after 1 to 7 bytes."""
    for left in range(1, HEADER_BYTES):
        data = shard.data[: shard.offset(shard.last) + left]
        yield shard.damage_at(f"cut_inside_header_{left}", data, "truncated_header", shard.last)


def cut_inside_payload(shard: IntactShard) -> Iterator[Damage]:
    """Truncate the shard inside the data or the padding of its last record."""
    start = shard.offset(shard.last)
    for name, left in [("after_header", HEADER_BYTES), ("inside_payload", HEADER_BYTES + 1)]:
        yield shard.damage_at(f"cut_{name}", shard.data[: start + left], "truncated_payload", shard.last)
    padded = shard.replace_frame(shard.last, frame(b"12345"))
    for missing in (1, 2, 3):
        data = padded[:-missing]
        yield shard.damage_at(f"cut_inside_padding_{missing}", data, "truncated_payload", shard.last)


def cut_inside_split_record(shard: IntactShard) -> Iterator[Damage]:
    """Truncate the file between two parts of a record, or inside the second or third part."""
    whole = shard.replace_frame(shard.last, _frame_split_record())
    start = shard.offset(shard.last)
    for part, at in list(enumerate(_PART_OFFSETS))[1:]:
        rows = [("before", 0, "bad_continuation", at), ("inside_header_of", 5, "truncated_header", at)]
        rows += [("inside_data_of", HEADER_BYTES + 2, "truncated_payload", 0)]
        for name, left, kind, reported in rows:
            data = whole[: start + at + left]
            yield shard.damage_at(f"cut_{name}_part_{part}", data, kind, shard.last, reported)


def flipped_payload_bit(shard: IntactShard) -> Iterator[Damage]:
    """Flip one bit of a payload. This format cannot detect it."""
    data = shard.replace_frame(shard.middle, flip_bit(shard.frames[shard.middle], 8 * HEADER_BYTES + 3))
    changed = flip_bit(shard.payloads[shard.middle], 3)
    payloads = [*shard.payloads[: shard.middle], changed, *shard.payloads[shard.middle + 1 :]]
    yield Damage("flipped_payload_bit", data, payloads)


def wrong_length(shard: IntactShard) -> Iterator[Damage]:
    """Store a wrong length: larger than the rest of the file, or so small that no magic word follows the data."""
    middle = shard.frames[shard.middle]
    data = shard.replace_frame(shard.middle, flip_bit(middle, 8 * 4 + 28))
    yield shard.damage_at("flipped_length_high", data, "truncated_payload", shard.middle)
    payload = shard.payloads[shard.middle]
    for name, length in {"four_less": len(payload) - 4, "zero": 0}.items():
        data = shard.replace_frame(shard.middle, MAGIC + struct.pack("<I", length) + middle[HEADER_BYTES:])
        offset = shard.offset(shard.middle) + HEADER_BYTES + length + -length % 4
        before = [*shard.payloads[: shard.middle], payload[:length]]
        yield Damage(f"length_{name}", data, before, "bad_magic", offset, shard.middle + 1)


def damaged_magic(shard: IntactShard) -> Iterator[Damage]:
    """Flip one bit of a magic word: in the first record, in a later record, or in a later part of a record."""
    yield shard.damage_at("damaged_magic_first_record", flip_bit(shard.data, 9), "bad_magic", 0)
    data = shard.replace_frame(shard.middle, flip_bit(shard.frames[shard.middle], 31))
    yield shard.damage_at("damaged_magic_later_record", data, "bad_magic", shard.middle)
    for part, at in list(enumerate(_PART_OFFSETS))[1:]:
        data = shard.replace_frame(shard.middle, flip_bit(_frame_split_record(), 8 * at))
        yield shard.damage_at(f"damaged_magic_part_{part}", data, "bad_magic", shard.middle, at)


def wrong_cflag(shard: IntactShard) -> Iterator[Damage]:
    """Store an invalid sequence of cflags. A valid sequence is a single 0, or a 1, any number of 2s, and a 3."""
    payload = shard.payloads[shard.middle]
    for cflag in (MIDDLE, LAST, 4, 5, 6, 7):
        data = shard.replace_frame(shard.middle, frame_part(cflag, payload))
        yield shard.damage_at(f"cflag_{cflag}_at_start", data, "bad_continuation", shard.middle)
    data = shard.replace_frame(shard.middle, frame_part(FIRST, payload))
    at = len(shard.frames[shard.middle])
    yield shard.damage_at("cflag_1_alone", data, "bad_continuation", shard.middle, at)
    data = shard.replace_frame(shard.last, frame_part(FIRST, shard.payloads[-1]))
    yield shard.damage_at("cflag_1_alone_at_end", data, "bad_continuation", shard.last, len(shard.frames[-1]))
    for wrong in (WHOLE, FIRST, 4, 7):
        for part in (1, 2):
            cflags = (FIRST, wrong, LAST) if part == 1 else (FIRST, MIDDLE, wrong)
            data = shard.replace_frame(shard.middle, _frame_split_record(cflags))
            at = _PART_OFFSETS[part]
            yield shard.damage_at(f"cflag_{wrong}_in_part_{part}", data, "bad_continuation", shard.middle, at)


def nonzero_padding(shard: IntactShard) -> Iterator[Damage]:
    """Change the padding bytes, which are zeros in shards of all writers and are ignored by readers."""
    data = shard.replace_frame(shard.middle, frame(b"12345")[:-1] + b"\x01")
    payloads = [*shard.payloads[: shard.middle], b"12345", *shard.payloads[shard.middle + 1 :]]
    offset = shard.offset(shard.middle)
    yield Damage("nonzero_padding", data, payloads, "bad_padding", offset, shard.middle, verify_only=True)
    data = shard.replace_frame(shard.middle, _frame_split_record()[:-1] + b"\xff")
    payloads = [*shard.payloads[: shard.middle], _SPLIT_PAYLOAD, *shard.payloads[shard.middle + 1 :]]
    offset += _PART_OFFSETS[2]
    yield Damage("nonzero_padding_part_2", data, payloads, "bad_padding", offset, shard.middle, verify_only=True)


def append_bytes(shard: IntactShard) -> Iterator[Damage]:
    """Append bytes that do not begin with a magic word."""
    for name, byte in [("zeros", b"\0"), ("stray_bytes", b"\xff")]:
        for count in (1, 3, 4, 7, 8, 4096):
            kind = "truncated_header" if count < HEADER_BYTES else "bad_magic"
            yield shard.damage_at(f"{name}_appended_{count}", shard.data + byte * count, kind, len(shard.payloads))


def zero_header_or_payload(shard: IntactShard) -> Iterator[Damage]:
    """Set the header, the frame, or a part of the payload to zero. Readers cannot detect damage inside the payload."""
    middle = shard.frames[shard.middle]
    for name, end in [("header", HEADER_BYTES), ("whole_record", len(middle))]:
        data = shard.replace_frame(shard.middle, zero_range(middle, 0, end))
        yield shard.damage_at(f"zero_hole_{name}", data, "bad_magic", shard.middle)
    data = shard.replace_frame(shard.middle, zero_range(middle, HEADER_BYTES + 4, HEADER_BYTES + 12))
    changed = zero_range(shard.payloads[shard.middle], 4, 12)
    payloads = [*shard.payloads[: shard.middle], changed, *shard.payloads[shard.middle + 1 :]]
    yield Damage("zero_hole_payload", data, payloads)


def inserted_or_removed_byte(shard: IntactShard) -> Iterator[Damage]:
    """Insert or remove a byte of data. Readers return a wrong payload, and then find no magic word."""
    middle, length = shard.frames[shard.middle], len(shard.payloads[shard.middle])
    at = HEADER_BYTES + 5
    changes = {"inserted": middle[:at] + b"\x5a" + middle[at:], "removed": middle[:at] + middle[at + 1 :]}
    for name, changed in changes.items():
        data = shard.replace_frame(shard.middle, changed)
        start = shard.offset(shard.middle) + HEADER_BYTES
        before = [*shard.payloads[: shard.middle], data[start : start + length]]
        next_offset = shard.offset(shard.middle + 1)
        yield Damage(f"byte_{name}_payload", data, before, "bad_magic", next_offset, shard.middle + 1)


def zero_length_record(shard: IntactShard) -> Iterator[Damage]:
    """Store an empty record, which is valid and must not end the iteration."""
    payloads = [*shard.payloads[: shard.middle], b"", *shard.payloads[shard.middle + 1 :]]
    yield Damage("zero_length_record", shard.replace_frame(shard.middle, frame(b"")), payloads)


def tfrecord_file(shard: IntactShard) -> Iterator[Damage]:
    """Yield a TFRecord shard. RecordIO readers must reject this shard, because the magic word is missing."""
    data = b"".join(tfrecord.frame(payload) for payload in shard.payloads)
    yield shard.damage_at("tfrecord_file", data, "bad_magic", 0)


TABLE: tuple[DamageFunction, ...] = (
    empty_file,
    cut_between_records,
    cut_inside_header,
    cut_inside_payload,
    cut_inside_split_record,
    flipped_payload_bit,
    wrong_length,
    damaged_magic,
    wrong_cflag,
    nonzero_padding,
    append_bytes,
    zero_header_or_payload,
    inserted_or_removed_byte,
    zero_length_record,
    tfrecord_file,
    files_of_other_formats({"html": "bad_magic", "gzip": "bad_magic"}),
)

"""Encode Example, SequenceExample and OFRecord messages in valid but unusual ways.

The encodings have padded varints; unpacked and mixed lists; lists and messages in several pieces; values that a later
field overrides; map entries with the value before the key, without key or without value; map entries that parsers drop;
and unknown fields. A `random.Random` makes all choices, so that a seed or Hypothesis determines them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import TypeVar

from recordmill.testing.messages import (
    EXAMPLE_KINDS,
    OFRECORD_KINDS,
    WIRE_TYPES,
    Feature,
    Value,
    encode_feature,
    encode_value,
)
from recordmill.testing.protobuf_wire import (
    BYTES,
    END_GROUP,
    FIXED32,
    FIXED64,
    GROUP,
    MAX_TAG_BYTES,
    MAX_VARINT_BYTES,
    VARINT,
    encode_varint,
)

T = TypeVar("T")

UNKNOWN_NUMBERS = (6, 15, 16, 2047, 2**29 - 1)


def encode_unusual_example(features: Mapping[str, Feature], rng: Random) -> bytes:
    """Encode an Example with these features in a valid but unusual way."""
    return _encode_message(1, _encode_entries(features, EXAMPLE_KINDS, rng), rng)


def encode_unusual_ofrecord(features: Mapping[str, Feature], rng: Random) -> bytes:
    """Encode an OFRecord with these features in a valid but unusual way."""
    return b"".join(_insert_unknown_field(_encode_entries(features, OFRECORD_KINDS, rng), rng))


def encode_unusual_sequence_example(
    context: Mapping[str, Feature], lists: Mapping[str, Sequence[Feature]], rng: Random
) -> bytes:
    """Encode a SequenceExample with this context and these feature lists in a valid but unusual way."""
    entries = []
    for name, steps in _shuffle(lists.items(), rng):
        pieces = [_encode_field(1, b"".join(_encode_feature_fields(step, EXAMPLE_KINDS, rng)), rng) for step in steps]
        entries.append(_encode_field(1, _encode_entry(name, _insert_unknown_field(pieces, rng), rng), rng))
    halves = [_encode_message(1, _encode_entries(context, EXAMPLE_KINDS, rng), rng), _encode_message(2, entries, rng)]
    return b"".join(_shuffle(halves, rng))


def _encode_entries(features: Mapping[str, Feature], kinds: Mapping[int, str], rng: Random) -> list[bytes]:
    entries: list[bytes] = []
    for name, feature in _shuffle(features.items(), rng):
        if rng.random() < 0.2:
            entries.append(
                _encode_field(
                    1, _encode_entry(name, _encode_feature_fields(_random_feature(kinds, rng), kinds, rng), rng), rng
                )
            )
        entry, unusual = _encode_entry(name, _encode_feature_fields(feature, kinds, rng), rng), rng.random() < 0.2
        if unusual and kinds is OFRECORD_KINDS:
            # The parser of OneFlow keeps map entries with unknown fields, unlike the parser of TensorFlow.
            entry += _random_unknown_field(rng, (1, VARINT), (2, FIXED64))
        entries.append(_encode_field(1, entry, rng))
        if unusual and kinds is not OFRECORD_KINDS:
            dropped = _encode_entry(name, _encode_feature_fields(_random_feature(kinds, rng), kinds, rng), rng)
            entries.append(_encode_field(1, dropped + _random_unknown_field(rng, (1, VARINT), (2, FIXED64)), rng))
    return entries


def _encode_entry(name: str, value_pieces: list[bytes], rng: Random) -> bytes:
    keys = [name.encode(errors="surrogateescape")] if name or rng.random() < 0.5 else []
    if keys and rng.random() < 0.2:
        keys.insert(0, b"overridden")
    values = _split_randomly(value_pieces, rng) if value_pieces or rng.random() < 0.5 else []
    encoded_keys = [_encode_field(1, key, rng) for key in keys]
    encoded_values = [_encode_field(2, b"".join(group), rng) for group in values]
    return b"".join(_interleave(encoded_keys, encoded_values, rng))


def _encode_feature_fields(feature: Feature, kinds: Mapping[int, str], rng: Random) -> list[bytes]:
    kind, values = feature
    if kind is None:
        return _insert_unknown_field([], rng)
    (number,) = (number for number, name in kinds.items() if name == kind)
    lists = [b"".join(_encode_list_fields(kind, group, rng)) for group in _split_randomly(values, rng)]
    pieces = _insert_unknown_field([_encode_field(number, content, rng) for content in lists], rng)
    if rng.random() < 0.3:
        overridden = rng.choice([other for other in kinds.values() if other != kind])
        pieces.insert(0, encode_feature((overridden, _random_values(overridden, rng)), kinds))
    return pieces


def _encode_list_fields(kind: str, values: Sequence[Value], rng: Random) -> list[bytes]:
    pieces = []
    for group in _split_randomly(values, rng):
        encoded = [_encode_padded_value(kind, value, rng) for value in group]
        if kind == "bytes":
            pieces += [_encode_field(1, value, rng) for value in encoded]
        elif rng.random() < 0.5:
            pieces.append(_encode_field(1, b"".join(encoded), rng))
        else:
            pieces += [_encode_padded_tag(1, WIRE_TYPES[kind], rng) + value for value in encoded]
    wrong_type = FIXED32 if kind != "float32" else VARINT
    return _insert_unknown_field(pieces, rng, (1, wrong_type))


def _encode_padded_value(kind: str, value: Value, rng: Random) -> bytes:
    if WIRE_TYPES[kind] == VARINT and isinstance(value, int):
        return encode_varint(value, rng.choice((0, 0, rng.randint(1, MAX_VARINT_BYTES))))
    return encode_value(kind, value)


def _encode_message(number: int, pieces: Sequence[bytes], rng: Random) -> bytes:
    groups = _split_randomly(pieces, rng) if pieces or rng.random() < 0.5 else []
    whole = [_encode_field(number, b"".join(_insert_unknown_field(group, rng)), rng) for group in groups]
    return b"".join(_insert_unknown_field(whole, rng))


def _random_feature(kinds: Mapping[int, str], rng: Random) -> Feature:
    kind = rng.choice([None, *kinds.values()])
    return kind, _random_values(kind, rng) if kind else []


def _random_values(kind: str, rng: Random) -> list[Value]:
    count = rng.randint(0, 3)
    return [b"decoy"] * count if kind == "bytes" else [-7] * count


def _random_unknown_field(rng: Random, *wrong: tuple[int, int]) -> bytes:
    choices = [(number, wire_type) for number in UNKNOWN_NUMBERS for wire_type in (0, 1, 2, 3, 5)]
    number, wire_type = rng.choice(choices if rng.random() < 0.7 else [*wrong, *choices])
    contents = {
        VARINT: encode_varint(rng.getrandbits(64), rng.randint(1, MAX_VARINT_BYTES)),
        FIXED64: b"\x01" * 8,
        FIXED32: b"\x02" * 4,
        BYTES: encode_varint(7) + b"unknown",
    }
    if wire_type == GROUP:
        inner = _random_unknown_field(rng) if rng.random() < 0.5 else b""
        return _encode_padded_tag(number, GROUP, rng) + inner + _encode_padded_tag(number, END_GROUP, rng)
    return _encode_padded_tag(number, wire_type, rng) + contents[wire_type]


def _insert_unknown_field(pieces: Iterable[bytes], rng: Random, *wrong: tuple[int, int]) -> list[bytes]:
    unknown = [_random_unknown_field(rng, *wrong)] if rng.random() < 0.2 else []
    return _interleave(list(pieces), unknown, rng)


def _encode_padded_tag(number: int, wire_type: int, rng: Random) -> bytes:
    return encode_varint(number << 3 | wire_type, rng.choice((0, 0, rng.randint(1, MAX_TAG_BYTES))))


def _encode_field(number: int, content: bytes, rng: Random) -> bytes:
    length = encode_varint(len(content), rng.choice((0, 0, rng.randint(1, MAX_TAG_BYTES))))
    return _encode_padded_tag(number, BYTES, rng) + length + content


def _split_randomly(items: Sequence[T], rng: Random) -> list[Sequence[T]]:
    """Split items into one to three parts, some of which may be empty."""
    cuts = sorted(rng.randint(0, len(items)) for _ in range(rng.choice((0, 0, 1, 2))))
    return [items[start:end] for start, end in zip([0, *cuts], [*cuts, len(items)], strict=True)]


def _interleave(left: Sequence[T], right: Sequence[T], rng: Random) -> list[T]:
    """Merge two sequences into one list in random order. Items of the same sequence keep their order."""
    out = list(left)
    position = len(out)
    for item in reversed(right):
        position = rng.randint(0, position)
        out.insert(position, item)
    return out


def _shuffle(items: Iterable[T], rng: Random) -> list[T]:
    out = list(items)
    rng.shuffle(out)
    return out

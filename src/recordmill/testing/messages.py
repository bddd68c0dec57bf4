"""Encode and decode Example, SequenceExample and OFRecord messages in plain Python, with the same results as protobuf.

=================  ====================================================================================
message            fields
=================  ====================================================================================
Example            1 Features
SequenceExample    1 Features (context), 2 FeatureLists
OFRecord           1 map entry, as in Features
Features           1 map entry: 1 key (UTF-8), 2 Feature
FeatureLists       1 map entry: 1 key (UTF-8), 2 FeatureList
FeatureList        1 Feature, once per step
Feature            one list; Example: 1 bytes, 2 float32, 3 int64;
                   OFRecord: 1 bytes, 2 float32, 3 float64, 4 int32, 5 int64
list               1 value, once per value, or several in one packed field (BYTES); bytes are never packed
=================  ====================================================================================

Unusual messages are decoded by these rules:

- If two entries have the same key, the last entry counts. If one entry has two keys, the last key counts.
- A message that occurs twice is merged.
- In a Feature, the last kind counts. Consecutive lists of that kind are concatenated.
- A field with an unknown number or the wrong wire type is skipped. A map entry with such a field is dropped, except in
  an OFRecord, because OneFlow's protobuf keeps it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

import numpy as np

from recordmill.testing.faults import OracleError
from recordmill.testing.protobuf_wire import (
    BYTES,
    FIXED32,
    FIXED64,
    VARINT,
    Field,
    decode_varint,
    encode_bytes_field,
    encode_varint,
    find_varint_end,
    merge_submessages,
    select_fields,
    split_fields,
)

T = TypeVar("T")

Value = bytes | float | int
Feature = tuple[str | None, Sequence[Value]]
Features = dict[str, Feature]
FeatureLists = dict[str, list[Feature]]
SequenceExample = tuple[Features, FeatureLists]

EXAMPLE_KINDS = {1: "bytes", 2: "float32", 3: "int64"}
OFRECORD_KINDS = {1: "bytes", 2: "float32", 3: "float64", 4: "int32", 5: "int64"}

WIRE_TYPES = {"bytes": BYTES, "float32": FIXED32, "float64": FIXED64, "int32": VARINT, "int64": VARINT}
_FLOAT_BYTES = {"float32": 4, "float64": 8}
_INT_RANGES = {"int32": range(-(2**31), 2**31), "int64": range(-(2**63), 2**63)}


def encode_value(kind: str, value: Value) -> bytes:
    """Encode one value of a list, without a tag; floats that exceed the range of float32 become infinite."""
    if isinstance(value, bytes):
        return value
    if kind == "float32":
        with np.errstate(over="ignore"):
            return np.array(value, dtype="<f4").tobytes()
    if kind == "float64":
        return struct.pack("<d", value)
    if not isinstance(value, int) or value not in _INT_RANGES[kind]:
        raise ValueError(f"value must be of kind {kind}, got {value!r}")
    return encode_varint(value)


def encode_feature(feature: Feature, kinds: Mapping[int, str]) -> bytes:
    """Encode a Feature message with one list; numbers are packed. If the kind is None, the message is empty."""
    kind, values = feature
    if kind is None:
        return b""
    (number,) = (number for number, name in kinds.items() if name == kind)
    encoded = [encode_value(kind, value) for value in values]
    if kind == "bytes":
        return encode_bytes_field(number, b"".join(encode_bytes_field(1, value) for value in encoded))
    return encode_bytes_field(number, encode_bytes_field(1, b"".join(encoded)) if values else b"")


def encode_map(entries: Mapping[str, bytes]) -> bytes:
    """Encode a map of keys to messages, sorted by the bytes of the keys, as protobuf (upb) does.

    A key comes before any key that is a prefix of it.
    """
    named = [(key.encode(errors="surrogateescape"), value) for key, value in entries.items()]
    raw = sorted(named, key=lambda entry: (*entry[0], 256))
    return b"".join(
        encode_bytes_field(1, encode_bytes_field(1, key) + encode_bytes_field(2, value)) for key, value in raw
    )


def encode_features(features: Mapping[str, Feature], kinds: Mapping[int, str] = EXAMPLE_KINDS) -> bytes:
    """Encode a Features message, or an OFRecord message if `kinds` is `OFRECORD_KINDS`."""
    return encode_map({name: encode_feature(feature, kinds) for name, feature in features.items()})


def encode_example(features: Mapping[str, Feature]) -> bytes:
    """Encode an Example canonically; without features, the result is empty."""
    return encode_bytes_field(1, encode_features(features)) if features else b""


def encode_ofrecord(features: Mapping[str, Feature]) -> bytes:
    """Encode an OFRecord canonically."""
    return encode_features(features, OFRECORD_KINDS)


def encode_sequence_example(context: Mapping[str, Feature], lists: Mapping[str, Sequence[Feature]]) -> bytes:
    """Encode a SequenceExample canonically; omit an empty context and an empty map of feature lists."""
    steps = {
        name: b"".join(encode_bytes_field(1, encode_feature(step, EXAMPLE_KINDS)) for step in steps)
        for name, steps in lists.items()
    }
    return encode_example(context) + (encode_bytes_field(2, encode_map(steps)) if steps else b"")


def decode_example(payload: bytes) -> Features:
    """Decode an Example; return its features by name.

    Parameters
    ----------
    payload : bytes
        One serialized message.

    Returns
    -------
    dict of str to (kind, values)
        The kind is "bytes", "float32" or "int64"; in an OFRecord, it can also be "float64" or "int32". It is None for a
        feature without a list. The values are a list of bytes, float or int.

    Raises
    ------
    OracleError
        If Python's protobuf raises DecodeError: ``bad_payload``.
    """
    return _decode_features(merge_submessages(split_fields(payload), 1), EXAMPLE_KINDS, utf8=True)


def decode_ofrecord(payload: bytes, *, drop_unknown: bool = False) -> Features:
    """Decode an OFRecord; return its features by name.

    Invalid UTF-8 in a key becomes surrogate escapes, because this is a proto2 message. OneFlow's protobuf keeps
    entries that have unknown fields; with `drop_unknown` they are dropped, as in upb.
    """
    return _decode_features(split_fields(payload), OFRECORD_KINDS, utf8=False, drop_unknown=drop_unknown)


def decode_sequence_example(payload: bytes) -> SequenceExample:
    """Decode a SequenceExample; return its context and its feature lists, by name.

    Returns
    -------
    context : dict of str to (kind, values)
    lists : dict of str to list of (kind, values)
        One feature per step.

    Raises
    ------
    OracleError
        If Python's protobuf raises DecodeError: ``bad_payload``.
    """
    message = split_fields(payload)
    context = _decode_features(merge_submessages(message, 1), EXAMPLE_KINDS, utf8=True)
    return context, _decode_map(merge_submessages(message, 2), _decode_feature_list, utf8=True)


def to_comparable(features: Mapping[str, Feature]) -> dict[str, tuple[str | None, list[str]]]:
    """Return features with the `repr` of their values, so that NaN equals NaN and -0.0 differs from 0.0."""
    return {name: (kind, [repr(value) for value in values]) for name, (kind, values) in features.items()}


def _decode_features(
    message: list[Field], kinds: Mapping[int, str], *, utf8: bool, drop_unknown: bool = True
) -> Features:
    return _decode_map(message, lambda value: _decode_feature(value, kinds), utf8=utf8, drop_unknown=drop_unknown)


def _decode_feature_list(message: list[Field]) -> list[Feature]:
    return [_decode_feature(step.parse_fields(), EXAMPLE_KINDS) for step in select_fields(message, 1)]


def _decode_map(
    message: list[Field], decode: Callable[[list[Field]], T], *, utf8: bool, drop_unknown: bool = True
) -> dict[str, T]:
    found: dict[str, T] = {}
    for entry in select_fields(message, 1):
        inner = entry.parse_fields()
        keys = [_decode_key(piece, utf8) for piece in select_fields(inner, 1)]
        value = decode(merge_submessages(inner, 2))
        if not drop_unknown or all(piece.number in (1, 2) and piece.wire_type == BYTES for piece in inner):
            found[keys[-1] if keys else ""] = value
    return found


def _decode_key(piece: Field, utf8: bool) -> str:
    try:
        return piece.content.decode(errors="strict" if utf8 else "surrogateescape")
    except UnicodeDecodeError:
        raise OracleError("bad_payload", piece.offset) from None


def _decode_feature(message: list[Field], kinds: Mapping[int, str]) -> Feature:
    kind: str | None = None
    values: list[Value] = []
    for piece in message:
        if piece.number not in kinds or piece.wire_type != BYTES:
            continue
        if kinds[piece.number] != kind:
            kind, values = kinds[piece.number], []
        values.extend(_decode_list(piece, kind))
    return kind, values


def _decode_list(piece: Field, kind: str) -> Iterator[Value]:
    for item in piece.parse_fields():
        if item.number != 1:
            continue
        if item.wire_type == WIRE_TYPES[kind]:
            yield _decode_value(kind, item.content)
        elif item.wire_type == BYTES:
            yield from (_decode_value(kind, content) for content in _split_packed_values(kind, item))


def _split_packed_values(kind: str, chunk: Field) -> Iterator[bytes]:
    data, start = chunk.content, 0
    while start < len(data):
        try:
            end = start + _FLOAT_BYTES[kind] if kind in _FLOAT_BYTES else find_varint_end(data, start)
        except ValueError:
            end = len(data) + 1
        if end > len(data):
            raise OracleError("bad_payload", chunk.offset)
        yield data[start:end]
        start = end


def _decode_value(kind: str, content: bytes) -> Value:
    if kind == "bytes":
        return content
    if kind in _FLOAT_BYTES:
        number: float = struct.unpack("<f" if kind == "float32" else "<d", content)[0]
        return number
    span = 2**32 if kind == "int32" else 2**64
    value = decode_varint(content) % span
    return value - span if value >= span // 2 else value

"""Example, SequenceExample and OFRecord messages in plain Python, read as Python's protobuf reads them.

=================  ====================================================================================
message            fields
=================  ====================================================================================
Example            1 Features
SequenceExample    1 Features (context), 2 FeatureLists
OFRecord           1 map entry of a Feature, as in Features
Features           1 map entry: 1 key (UTF-8), 2 Feature
FeatureLists       1 map entry: 1 key (UTF-8), 2 FeatureList
FeatureList        1 Feature, once per step
Feature            one list; Example: 1 bytes, 2 float32, 3 int64;
                   OFRecord: 1 bytes, 2 float32, 3 float64, 4 int32, 5 int64
list               1 value, once per value or many in one packed chunk (BYTES); bytes are never packed
=================  ====================================================================================

How odd messages are read: of two entries with one key the last counts; of two keys in one entry the last
counts; a message given twice is merged; in a Feature the last kind counts, and lists of that kind
with no other kind between them are joined; a field with an unknown number or the wrong wire type is
skipped, but an entry that has one is dropped (not in an OFRecord: OneFlow's protobuf keeps it).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

import numpy as np

from recordmill.testing.faults import OracleError
from recordmill.testing.wire import (
    BYTES,
    FIXED32,
    FIXED64,
    VARINT,
    Field,
    chosen,
    field,
    merged,
    split,
    varint,
    varint_end,
    varint_value,
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
    """Return one value as it stands in a list, without tag; floats beyond float32 become infinite."""
    if isinstance(value, bytes):
        return value
    if kind == "float32":
        with np.errstate(over="ignore"):
            return np.array(value, dtype="<f4").tobytes()
    if kind == "float64":
        return struct.pack("<d", value)
    if not isinstance(value, int) or value not in _INT_RANGES[kind]:
        raise ValueError(f"{value!r} is no {kind}")
    return varint(value)


def encode_feature(feature: Feature, kinds: Mapping[int, str]) -> bytes:
    """Return a Feature message: no bytes without a kind, else its list, numbers in one packed chunk."""
    kind, values = feature
    if kind is None:
        return b""
    (number,) = (number for number, name in kinds.items() if name == kind)
    encoded = [encode_value(kind, value) for value in values]
    if kind == "bytes":
        return field(number, b"".join(field(1, value) for value in encoded))
    return field(number, field(1, b"".join(encoded)) if values else b"")


def encode_map(entries: Mapping[str, bytes]) -> bytes:
    """Return the entries of a map from key to message, sorted by key as protobuf (upb) does.

    Bytes decide; where one key begins with the other, the longer comes first.
    """
    named = [(key.encode(errors="surrogateescape"), value) for key, value in entries.items()]
    raw = sorted(named, key=lambda entry: (*entry[0], 256))
    return b"".join(field(1, field(1, key) + field(2, value)) for key, value in raw)


def encode_features(features: Mapping[str, Feature], kinds: Mapping[int, str] = EXAMPLE_KINDS) -> bytes:
    """Return a Features message; with `OFRECORD_KINDS` it is an OFRecord."""
    return encode_map({name: encode_feature(feature, kinds) for name, feature in features.items()})


def encode_example(features: Mapping[str, Feature]) -> bytes:
    """Return the canonical bytes of an Example; no bytes at all for one without features."""
    return field(1, encode_features(features)) if features else b""


def encode_ofrecord(features: Mapping[str, Feature]) -> bytes:
    """Return the canonical bytes of an OFRecord."""
    return encode_features(features, OFRECORD_KINDS)


def encode_sequence_example(context: Mapping[str, Feature], lists: Mapping[str, Sequence[Feature]]) -> bytes:
    """Return the canonical bytes of a SequenceExample; an empty half is left out."""
    steps = {
        name: b"".join(field(1, encode_feature(step, EXAMPLE_KINDS)) for step in steps) for name, steps in lists.items()
    }
    return encode_example(context) + (field(2, encode_map(steps)) if steps else b"")


def decode_example(payload: bytes) -> Features:
    """Return the features of an Example by name.

    Parameters
    ----------
    payload : bytes
        One serialized message.

    Returns
    -------
    dict of str to (kind, values)
        kind is "bytes", "float32", "int64" (an OFRecord also has "float64" and "int32"), or None for a
        feature without a list; values are a list of bytes, float or int.

    Raises
    ------
    OracleError
        ``bad_payload``, wherever Python's protobuf raises DecodeError.
    """
    return _features(merged(split(payload), 1), EXAMPLE_KINDS, utf8=True)


def decode_ofrecord(payload: bytes, *, drops_odd_entries: bool = False) -> Features:
    """Return the features of an OFRecord by name, as `decode_example` does.

    This message is proto2: a key that is not UTF-8 is no error; its odd bytes become surrogate escapes. OneFlow's
    protobuf keeps an entry that has an unknown field; with `drops_odd_entries` it is left out, as upb does.
    """
    return _features(split(payload), OFRECORD_KINDS, utf8=False, drops=drops_odd_entries)


def decode_sequence_example(payload: bytes) -> SequenceExample:
    """Return context and feature lists of a SequenceExample.

    Returns
    -------
    context : dict of str to (kind, values)
    lists : dict of str to list of (kind, values)
        One feature per step.

    Raises
    ------
    OracleError
        ``bad_payload``, wherever Python's protobuf raises DecodeError.
    """
    message = split(payload)
    context = _features(merged(message, 1), EXAMPLE_KINDS, utf8=True)
    return context, _decode_map(merged(message, 2), _steps, utf8=True)


def comparable(features: Mapping[str, Feature]) -> dict[str, tuple[str | None, list[str]]]:
    """Return features with their values spelled out: ``==`` takes NaN for NaN and tells -0.0 from 0.0."""
    return {name: (kind, [repr(value) for value in values]) for name, (kind, values) in features.items()}


def _features(message: list[Field], kinds: Mapping[int, str], *, utf8: bool, drops: bool = True) -> Features:
    return _decode_map(message, lambda value: _feature(value, kinds), utf8=utf8, drops=drops)


def _steps(message: list[Field]) -> list[Feature]:
    return [_feature(step.fields(), EXAMPLE_KINDS) for step in chosen(message, 1)]


def _decode_map(
    message: list[Field], decode: Callable[[list[Field]], T], *, utf8: bool, drops: bool = True
) -> dict[str, T]:
    found: dict[str, T] = {}
    for entry in chosen(message, 1):
        inner = entry.fields()
        keys = [_key(piece, utf8) for piece in chosen(inner, 1)]
        value = decode(merged(inner, 2))
        if not drops or all(piece.number in (1, 2) and piece.wire_type == BYTES for piece in inner):
            found[keys[-1] if keys else ""] = value
    return found


def _key(piece: Field, utf8: bool) -> str:
    try:
        return piece.content.decode(errors="strict" if utf8 else "surrogateescape")
    except UnicodeDecodeError:
        raise OracleError("bad_payload", piece.offset) from None


def _feature(message: list[Field], kinds: Mapping[int, str]) -> Feature:
    kind: str | None = None
    values: list[Value] = []
    for piece in message:
        if piece.number not in kinds or piece.wire_type != BYTES:
            continue
        if kinds[piece.number] != kind:
            kind, values = kinds[piece.number], []
        values.extend(_list_values(piece, kind))
    return kind, values


def _list_values(piece: Field, kind: str) -> Iterator[Value]:
    for item in piece.fields():
        if item.number != 1:
            continue
        if item.wire_type == WIRE_TYPES[kind]:
            yield _value(kind, item.content)
        elif item.wire_type == BYTES:
            yield from (_value(kind, content) for content in _packed(kind, item))


def _packed(kind: str, chunk: Field) -> Iterator[bytes]:
    data, start = chunk.content, 0
    while start < len(data):
        try:
            end = start + _FLOAT_BYTES[kind] if kind in _FLOAT_BYTES else varint_end(data, start)
        except ValueError:
            end = len(data) + 1
        if end > len(data):
            raise OracleError("bad_payload", chunk.offset)
        yield data[start:end]
        start = end


def _value(kind: str, content: bytes) -> Value:
    if kind == "bytes":
        return content
    if kind in _FLOAT_BYTES:
        number: float = struct.unpack("<f" if kind == "float32" else "<d", content)[0]
        return number
    span = 2**32 if kind == "int32" else 2**64
    value = varint_value(content) % span
    return value - span if value >= span // 2 else value

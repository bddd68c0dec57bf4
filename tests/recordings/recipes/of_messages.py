"""OFRecord messages: canonical bytes of varied values, and unusual encodings as protobuf and the decoders read them."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from typing import Any

from google.protobuf.message import DecodeError
from oneflow.core.record import record_pb2

from recipes import isolate, wire
from recipes.edges import FLOAT_EDGES, INT_EDGES, KEYS, feature
from recipes.frames import ofrecord
from recipes.of_reading import decode, outcome
from recipes.values import features_json, unspell, write_json
from recipes.wire import entry, field

BYTES, FLOAT, DOUBLE, INT32, INT64 = 1, 2, 3, 4, 5
INT32_EDGES = [0, 1, -1, 127, 128, -128, 2**31 - 1, -(2**31)]
DOUBLE_EDGES = ["0000000000000000", "8000000000000000", "3fb999999999999a", "7ff0000000000000", "7ff8000000000000"]
DOUBLE_EDGES += ["0000000000000001", "7fefffffffffffff", "c340000000000001"]


def record_of(*entries: bytes) -> bytes:
    """Return an OFRecord from map entries."""
    return b"".join(field(1, item) for item in entries)


def one(feature_bytes: bytes) -> bytes:
    """Return an OFRecord with one feature under k."""
    return record_of(entry("k", feature_bytes))


def odd_messages() -> dict[str, tuple[bytes, dict[str, Any] | None]]:
    """Return by name a message and the decoder to read `k` with, if any."""
    packed, unpacked, strings = wire.packed_ints, wire.unpacked_ints, wire.strings
    i64 = {size: {"decoder": "raw", "dtype": "int64", "shape": [size]} for size in range(5)}
    i32 = {size: {"decoder": "raw", "dtype": "int32", "shape": [size]} for size in range(5)}
    f32 = {size: {"decoder": "raw", "dtype": "float32", "shape": [size]} for size in range(5)}
    raw: dict[str, Any] = {"decoder": "bytes"}
    two_doubles = b"\x00" * 6 + b"\xf8\x3f" + b"\x00" * 6 + b"\x04\xc0"
    unpacked_doubles = b"".join(wire.tag(1, wire.FIXED64) + two_doubles[at : at + 8] for at in (0, 8))
    f64 = {"decoder": "raw", "dtype": "float64", "shape": [2]}
    int32_wide = field(INT32, packed(2**32 + 5, -1, 2**31))
    key, value, other = field(1, b"k"), field(2, field(INT64, packed(1))), field(2, field(INT64, packed(2)))
    cases: dict[str, tuple[bytes, dict[str, Any] | None]] = {
        "bytes": (one(field(BYTES, strings(b"picture"))), raw),
        "two byte strings": (one(field(BYTES, strings(b"a", b"b"))), raw),
        "no byte string": (one(field(BYTES, b"")), raw),
        "unpacked int64": (one(field(INT64, unpacked(1, -2, 300))), i64[3]),
        "packed, then unpacked int64": (one(field(INT64, packed(1) + unpacked(2, 3))), i64[3]),
        "unpacked, then packed int64": (one(field(INT64, unpacked(1) + packed(2, 3))), i64[3]),
        "unpacked, then packed floats": (
            one(field(FLOAT, wire.unpacked_floats(1.5) + wire.packed_floats(2.5))),
            f32[2],
        ),
        "negative int32 in ten bytes": (one(field(INT32, packed(-1, -(2**31)))), i32[2]),
        "negative int32 in five bytes": (one(field(INT32, field(1, b"\xff\xff\xff\xff\x0f"))), i32[1]),
        "int32 values wider than 32 bits": (one(int32_wide), i32[3]),
        "unpacked int32": (one(field(INT32, unpacked(7, -8))), i32[2]),
        "unpacked floats": (one(field(FLOAT, wire.unpacked_floats(1.5, -2.5))), f32[2]),
        "two chunks of floats": (one(field(FLOAT, wire.packed_floats(1.5) + wire.packed_floats(2.5))), f32[2]),
        "packed doubles": (one(field(DOUBLE, field(1, two_doubles))), f64),
        "unpacked doubles": (one(field(DOUBLE, unpacked_doubles)), f64),
        "the same list twice": (one(field(INT64, packed(1)) + field(INT64, packed(2))), i64[2]),
        "two kinds, the last wins": (one(field(FLOAT, wire.packed_floats(1.5)) + field(INT64, packed(9))), i64[1]),
        "two kinds, the last is empty": (one(field(INT64, packed(9)) + field(FLOAT, b"")), f32[0]),
        "over-long varints": (one(field(INT64, field(1, wire.varint(5, 10) + wire.varint(0, 3)))), i64[2]),
        "a key twice": (record_of(entry("k", field(INT64, packed(1))), entry("k", field(INT64, packed(8, 9)))), i64[2]),
        "value before key": (record_of(value + key), i64[1]),
        "value twice": (record_of(key + value + other), i64[2]),
        "no value": (record_of(key), None),
        "no key": (record_of(value), None),
        "an empty entry": (record_of(b""), None),
        "a feature without a kind": (one(b""), i64[1]),
        "an empty list": (one(field(INT64, b"")), i64[1]),
        "a missing field": (record_of(entry("l", field(INT64, packed(1)))), i64[1]),
        "a key that is not UTF-8": (record_of(entry(b"\xff", field(INT64, packed(1))), key_entry(3)), i64[1]),
        "cut by one byte": (one(field(INT64, packed(1)))[:-1], i64[1]),
        "a list one byte too long": (one(b"\x2a\x04\x0a\x03\x01\x02"), i64[2]),
        "a tf.train.Example": (wire.example(entry("k", field(3, packed(1)))), None),
    }
    for name, unknown in wire.unknown_fields().items():
        cases[f"unknown {name} everywhere"] = (
            unknown + record_of(entry("k", unknown + field(INT64, unknown + packed(6) + unknown) + unknown)) + unknown,
            i64[1],
        )
        cases[f"unknown {name} in an entry"] = (record_of(entry("k", field(INT64, packed(6))) + unknown), i64[1])
    return cases


def key_entry(value: int) -> bytes:
    """Return the entry of `k` with one integer."""
    return entry("k", field(INT64, wire.packed_ints(value)))


def look(name: str) -> dict[str, Any]:
    """Return what the decoder of an odd message gives."""
    raw, field_settings = odd_messages()[name]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "part-0").write_bytes(ofrecord(raw))
        settings = {"num_parts": 1, "fields": {"k": field_settings}}
        return {"decoded": decode(Path(folder), settings, 1)["k"][0]}


def protobuf_reads(raw: bytes) -> dict[str, Any]:
    """Return {"features": ...} or {"error": ...}; keys that are not UTF-8, which it hands out as bytes, apart."""
    try:
        entries = record_pb2.OFRecord.FromString(raw).feature
        odd = [key for key in entries if isinstance(key, bytes)]
        found = {"features": features_json({key: entries[key] for key in entries if key not in odd})}
    except (DecodeError, UnicodeDecodeError) as error:
        return {"error": {"class": type(error).__name__, "message": str(error)}}
    return {**found, "keys_not_utf8": [key.hex() for key in odd]} if odd else found


def random_feature(source: random.Random) -> dict[str, Any]:
    """Return a feature of a random kind, length and content."""
    size = source.choice([0, 1, 1, 2, 3, 20])
    edges = {"float_list": FLOAT_EDGES, "double_list": DOUBLE_EDGES, "int32_list": INT32_EDGES, "int64_list": INT_EDGES}
    kind = source.choice(["bytes_list", *edges, None])
    if kind == "bytes_list":
        return feature(kind, [source.randbytes(source.choice([0, 1, 5, 30])).hex() for _ in range(min(size, 8))])
    return feature(kind, [source.choice(edges[kind]) for _ in range(size)] if kind else [])


def message_of(forms: dict[str, Any]) -> Any:
    """Return the OFRecord message of a map of JSON forms."""
    message = record_pb2.OFRecord()
    for key, form in forms.items():
        target = message.feature[key]
        target.SetInParent()
        if form["kind"]:
            chosen = getattr(target, form["kind"])
            chosen.SetInParent()
            chosen.value.extend(unspell(form))
    return message


def _canonical() -> list[dict[str, Any]]:
    source, rows = random.Random(4), []
    for _ in range(100):
        forms = {key: random_feature(source) for key in source.sample(KEYS, source.randrange(0, 7))}
        message = message_of(forms)
        if features_json(message.feature) != forms:
            raise RuntimeError(f"protobuf changed a value of {forms}")
        rows.append({"features": forms, "serialized": message.SerializeToString(deterministic=True).hex()})
    return rows


def record(out: Path, script: Path) -> None:
    """Write OUT/messages.json."""
    odd = odd_messages()
    asked = [name for name, (_, settings) in odd.items() if settings]
    found = isolate.run_cases(script, [f"message:{name}" for name in asked], out, at_once=1)
    rows = []
    for name, (raw, settings) in odd.items():
        row: dict[str, Any] = {"name": name, "serialized": raw.hex(), "protobuf": protobuf_reads(raw)}
        if settings:
            row |= {"decoder": settings, "oneflow": outcome(found[f"message:{name}"])}
        rows.append(row)
    write_json(out / "messages.json", {"canonical": _canonical(), "odd": rows})

"""Examples put together by hand: legal but unusual encodings, then broken ones."""

from __future__ import annotations

from recipes import wire
from recipes.wire import BYTES, FIXED32, FIXED64, VARINT, entry, example, field, tag, varint

INTS, FLOATS, RAW = "int64_list", "float_list", "bytes_list"
Case = tuple[str, bytes, dict[str, str]]


def ints(content: bytes) -> bytes:
    """Return a Feature holding an Int64List."""
    return field(3, content)


def floats(content: bytes) -> bytes:
    """Return a Feature holding a FloatList."""
    return field(2, content)


def raws(content: bytes) -> bytes:
    """Return a Feature holding a BytesList."""
    return field(1, content)


def _one(name: str, feature: bytes, kind: str) -> Case:
    return name, example(entry("k", feature)), {"k": kind}


def lists() -> list[Case]:
    """Return lists packed, unpacked, split, repeated and mixed."""
    packed, unpacked = wire.packed_ints, wire.unpacked_ints
    fpacked, funpacked = wire.packed_floats, wire.unpacked_floats
    return [
        _one("packed integers", ints(packed(1, -2, 300)), INTS),
        _one("unpacked integers", ints(unpacked(1, -2, 300)), INTS),
        _one("two packed chunks of integers", ints(packed(1, 2) + packed(3)), INTS),
        _one("an empty packed chunk, then values", ints(packed() + packed(3)), INTS),
        _one("only an empty packed chunk of integers", ints(packed()), INTS),
        _one("packed, then unpacked integers", ints(packed(1, 2) + unpacked(3)), INTS),
        _one("unpacked, then packed integers", ints(unpacked(1) + packed(2, 3)), INTS),
        _one("packed floats", floats(fpacked(1.5, -2.5)), FLOATS),
        _one("unpacked floats", floats(funpacked(1.5, -2.5)), FLOATS),
        _one("two packed chunks of floats", floats(fpacked(1.5) + fpacked(2.5, 3.5)), FLOATS),
        _one("only an empty packed chunk of floats", floats(fpacked()), FLOATS),
        _one("packed, then unpacked floats", floats(fpacked(1.5) + funpacked(2.5)), FLOATS),
        _one("unpacked, then packed floats", floats(funpacked(1.5) + fpacked(2.5)), FLOATS),
        _one("the same integer list twice", ints(packed(1)) + ints(packed(2, 3)), INTS),
        _one("the same float list twice", floats(fpacked(1.5)) + floats(fpacked(2.5)), FLOATS),
        _one("the same bytes list twice", raws(wire.strings(b"a")) + raws(wire.strings(b"b")), RAW),
        _one("an empty integer list", ints(b""), INTS),
        _one("an empty float list", floats(b""), FLOATS),
        _one("an empty bytes list", raws(b""), RAW),
        _one("a feature without a kind", b"", INTS),
    ]


def varints() -> list[Case]:
    """Return integers and lengths whose varints are longer than they need to be."""
    over = {width: b"".join(varint(value, width) for value in (0, 5, 127)) for width in (2, 5, 9, 10)}
    rows = [_one(f"integers stretched to {width} bytes", ints(field(1, raw)), INTS) for width, raw in over.items()]
    top = b"\xff" * 9
    value = field(2, ints(wire.packed_ints(9)))
    stretched_key = tag(1, BYTES) + varint(1, 4) + b"k" + value
    item = field(1, b"k") + value
    return [
        *rows,
        _one("a tenth byte of 1", ints(field(1, top + b"\x01")), INTS),
        _one("a tenth byte with lost bits", ints(field(1, top + b"\x7f")), INTS),
        _one("an integer of eleven bytes", ints(field(1, b"\x80" * 10 + b"\x01")), INTS),
        ("a stretched key length", field(1, field(1, stretched_key)), {"k": INTS}),
        ("a stretched tag", field(1, field(1, varint(10, 3) + b"\x01k" + value)), {"k": INTS}),
        ("a stretched entry length", field(1, tag(1, BYTES) + varint(len(item), 5) + item), {"k": INTS}),
    ]


def kinds() -> list[Case]:
    """Return features with two kinds, and keys that come twice."""
    i, f, b = ints(wire.packed_ints(1)), floats(wire.packed_floats(2.5)), raws(wire.strings(b"x"))
    pairs = {"integers, then floats": (i + f, FLOATS), "floats, then integers": (f + i, FLOATS)}
    pairs |= {
        "bytes, then integers": (b + i, RAW),
        "integers, bytes, integers": (i + b + ints(wire.packed_ints(7)), INTS),
    }
    rows = [_one(f"two kinds: {name}", feature, kind) for name, (feature, kind) in pairs.items()]
    return [
        *rows,
        _one("two kinds: integers, then an empty float list", i + floats(b""), INTS),
        ("a key twice", example(entry("k", i), entry("k", ints(wire.packed_ints(8, 9)))), {"k": INTS}),
        ("a key twice, other kind", example(entry("k", i), entry("k", f)), {"k": FLOATS}),
        ("a key twice, the last without a kind", example(entry("k", i), entry("k", b"")), {"k": INTS}),
        ("a key twice, another between", example(entry("k", i), entry("l", f), entry("k", b)), {"k": RAW, "l": FLOATS}),
    ]


def entries() -> list[Case]:
    """Return map entries in odd order, incomplete, or with parts repeated."""
    key, value, other = field(1, b"k"), field(2, ints(wire.packed_ints(1))), field(2, ints(wire.packed_ints(2)))
    double = field(2, floats(wire.packed_floats(2.5)))
    shapes = {
        "value before key": value + key,
        "no value": key,
        "no key": value,
        "nothing": b"",
        "key twice": field(1, b"a") + key + value,
        "value twice": key + value + other,
        "value twice, other kind": key + value + double,
        "value, key, value": value + key + other,
    }
    rows: list[Case] = [(f"an entry: {name}", example(shape), {"k": INTS}) for name, shape in shapes.items()]
    whole, extra = entry("k", ints(wire.packed_ints(1))), entry("l", ints(wire.packed_ints(2)))
    return [
        *rows,
        ("features split over two fields", example(whole) + example(extra), {"k": INTS, "l": INTS}),
        ("features split, key in both", example(whole) + example(entry("k", ints(wire.packed_ints(3)))), {"k": INTS}),
        ("an empty features field", field(1, b""), {"k": INTS}),
        ("nothing at all", b"", {"k": INTS}),
        ("the empty key", example(entry("", ints(wire.packed_ints(4)))), {"": INTS}),
        ("a key with NUL", example(entry("a\0b", ints(wire.packed_ints(4)))), {"a\0b": INTS}),
    ]


def unknown() -> list[Case]:
    """Return an unknown field of every wire type at every level."""
    rows: list[Case] = []
    packed = wire.packed_ints(1, 2)
    for name, raw in wire.unknown_fields().items():
        value = ints(packed)
        item = entry("k", value)
        rows += [
            (f"unknown {name} before the features", raw + example(item), {"k": INTS}),
            (f"unknown {name} after the features", example(item) + raw, {"k": INTS}),
            (f"unknown {name} in Features, first", field(1, raw + field(1, item)), {"k": INTS}),
            (f"unknown {name} in Features, last", field(1, field(1, item) + raw), {"k": INTS}),
            (f"unknown {name} in an entry", example(item + raw, entry("l", value)), {"k": INTS, "l": INTS}),
            (f"unknown {name} first in an entry", example(raw + item, entry("l", value)), {"k": INTS, "l": INTS}),
            _one(f"unknown {name} in Feature before the list", raw + value, INTS),
            _one(f"unknown {name} in Feature after the list", value + raw, INTS),
            _one(f"unknown {name} in the list before the values", ints(raw + packed), INTS),
            _one(f"unknown {name} in the list after the values", ints(packed + raw), INTS),
        ]
    return rows


def wrong_types() -> list[Case]:
    """Return known field numbers with a wire type that is not theirs: protobuf takes them as unknown fields."""
    good = ints(wire.packed_ints(1))
    return [
        _one("Int64List.value as fixed64", ints(tag(1, FIXED64) + b"\x01" * 8 + wire.packed_ints(2)), INTS),
        _one("Int64List.value as fixed32", ints(tag(1, FIXED32) + b"\x01" * 4), INTS),
        _one("FloatList.value as varint", floats(tag(1, VARINT) + b"\x05"), FLOATS),
        _one("FloatList.value as fixed64", floats(tag(1, FIXED64) + b"\x01" * 8), FLOATS),
        _one("BytesList.value as varint", raws(tag(1, VARINT) + b"\x05" + wire.strings(b"a")), RAW),
        _one("Feature.int64_list as varint", tag(3, VARINT) + b"\x05", INTS),
        _one("Feature.int64_list as varint, then right", tag(3, VARINT) + b"\x05" + good, INTS),
        ("Features.feature as varint", field(1, tag(1, VARINT) + b"\x05" + field(1, entry("k", good))), {"k": INTS}),
        ("Example.features as varint", tag(1, VARINT) + b"\x05" + example(entry("k", good)), {"k": INTS}),
        ("a key as varint", example(tag(1, VARINT) + b"\x05" + field(2, good)), {"k": INTS}),
        ("a value as varint", example(field(1, b"k") + tag(2, VARINT) + b"\x05"), {"k": INTS}),
    ]


def broken() -> list[Case]:
    """Return messages that protobuf refuses, most of them damaged in one place."""
    good, end_group = example(entry("k", ints(wire.packed_ints(1)))), tag(15, wire.END_GROUP)
    deep = [
        (f"{depth} groups in each other", tag(15, wire.GROUP) * depth + end_group * depth) for depth in (99, 100, 101)
    ]
    return [
        (
            "a key that is not UTF-8",
            example(entry(b"\xff\xfe", ints(wire.packed_ints(1))), entry("k", b"")),
            {"k": INTS},
        ),
        ("a key with a lone surrogate", example(entry(b"\xed\xa0\x80", ints(wire.packed_ints(1)))), {"k": INTS}),
        ("a key in overlong UTF-8", example(entry(b"\xc0\x80", ints(wire.packed_ints(1)))), {"k": INTS}),
        (
            "a broken value nobody asks for",
            example(entry("bad", b"\x1a\x7f"), entry("k", ints(b"\x08\x01"))),
            {"k": INTS},
        ),
        ("cut by one byte", good[:-1], {"k": INTS}),
        ("cut inside the key", good[:5], {"k": INTS}),
        ("only a tag", b"\x0a", {"k": INTS}),
        ("a length beyond the end", b"\x0a\x7f", {"k": INTS}),
        ("a length of 2**64 - 1", b"\x0a" + b"\xff" * 9 + b"\x01", {"k": INTS}),
        ("a length of 2**31", b"\x0a" + varint(2**31), {"k": INTS}),
        ("field number 0", b"\x02\x00" + good, {"k": INTS}),
        ("wire type 6", b"\x7e\x00" + good, {"k": INTS}),
        ("wire type 7", b"\x7f\x00" + good, {"k": INTS}),
        ("a group that does not end", tag(15, wire.GROUP) + good, {"k": INTS}),
        ("a group that ends as another", tag(15, wire.GROUP) + tag(14, wire.END_GROUP) + good, {"k": INTS}),
        ("the end of no group", end_group + good, {"k": INTS}),
        *((name, raw + good, {"k": INTS}) for name, raw in deep),
        ("a field number above the limit", varint(2**29 << 3) + b"\x01" + good, {"k": INTS}),
        ("the largest field number", varint((2**29 - 1) << 3) + b"\x01" + good, {"k": INTS}),
        ("a tag of more than 32 bits", varint(1 << 35 | 10) + good[1:], {"k": INTS}),
        ("floats of five bytes", example(entry("k", floats(field(1, bytes(5))))), {"k": FLOATS}),
        ("a packed integer cut", example(entry("k", ints(field(1, b"\x01\x80")))), {"k": INTS}),
        ("a packed chunk beyond its list", example(entry("k", ints(b"\x0a\x05\x01"))), {"k": INTS}),
        ("an unpacked float cut", example(entry("k", floats(tag(1, FIXED32) + b"\x00\x00"))), {"k": FLOATS}),
    ]


def odd_examples() -> list[Case]:
    """Return every case: its name, the serialized Example, and {key: kind} to ask tf.io.parse_example for."""
    return [*lists(), *varints(), *kinds(), *entries(), *unknown(), *wrong_types(), *broken()]

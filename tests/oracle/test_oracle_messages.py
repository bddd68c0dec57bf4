"""The message oracle against encodings written out by hand, and against its own odd encoder."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given

from recordmill.testing import messages, strategies
from recordmill.testing.faults import OracleError
from recordmill.testing.messages import Features, SequenceExample, decode_example, decode_ofrecord, to_comparable
from recordmill.testing.protobuf_wire import FIXED32, GROUP, VARINT, encode_bytes_field, encode_tag, encode_varint

UNKNOWN = encode_tag(15, VARINT) + encode_varint(300)
ONE, TWO = encode_bytes_field(3, encode_bytes_field(1, b"\x01")), encode_bytes_field(3, encode_bytes_field(1, b"\x02"))
TEXT = encode_bytes_field(1, encode_bytes_field(1, b"text"))


def example(*entries: bytes) -> bytes:
    return encode_bytes_field(1, b"".join(encode_bytes_field(1, entry) for entry in entries))


def entry(key: bytes, *pieces: bytes) -> bytes:
    return encode_bytes_field(1, key) + encode_bytes_field(2, b"".join(pieces))


def test_encode_example_writes_bytes_of_specification() -> None:
    features: Features = {"f": ("float32", [1.5]), "b": ("bytes", [b"", b"x"]), "i": ("int64", [-1, 300])}
    expected = (
        "0a34"
        "0a0c 0a0162 1207 0a05 0a00 0a0178"
        "0a0d 0a0166 1208 1206 0a04 0000c03f"
        "0a15 0a0169 1210 1a0e 0a0c ffffffffffffffffff01 ac02"
    )
    assert messages.encode_example(features).hex() == expected.replace(" ", "")


def test_encode_example_without_features_has_no_bytes() -> None:
    assert messages.encode_example({}) == b""
    assert decode_example(b"") == {}


def test_encode_feature_without_kind_differs_from_one_without_values() -> None:
    data = messages.encode_example({"a": (None, []), "b": ("int64", [])})
    assert data == example(bytes.fromhex("0a0161 1200"), bytes.fromhex("0a0162 1202 1a00"))
    assert decode_example(data) == {"a": (None, []), "b": ("int64", [])}


def test_encode_example_of_keys_and_their_beginnings_puts_the_longer_first() -> None:
    names = ["b", "ab", "", "a", "é", "\U00010000", "\uffff"]
    data = messages.encode_example(dict.fromkeys(names, (None, [])))
    assert list(decode_example(data)) == ["ab", "a", "b", "é", "\uffff", "\U00010000", ""]


def test_decode_ofrecord_of_entry_with_an_unknown_field_keeps_it_as_oneflow_does() -> None:
    data = bytes.fromhex("0a0d 0a016b 12052a030a0106 78ac02")
    assert decode_ofrecord(data) == {"k": ("int64", [6])}
    assert decode_ofrecord(data, drop_unknown=True) == {}


def test_encode_ofrecord_of_negative_int32_takes_ten_bytes() -> None:
    data = messages.encode_ofrecord({"n": ("int32", [-1])})
    assert data.hex() == "0a130a016e120e220c0a0affffffffffffffffff01"
    assert decode_ofrecord(data) == {"n": ("int32", [-1])}


def test_encode_value_beyond_float32_is_infinite() -> None:
    assert decode_example(messages.encode_example({"x": ("float32", [1e39])})) == {"x": ("float32", [float("inf")])}


def test_encode_rejects_integer_out_of_range() -> None:
    with pytest.raises(ValueError, match="value must be of kind int32"):
        messages.encode_ofrecord({"x": ("int32", [2**31])})


@pytest.mark.parametrize(
    "message, features",
    [
        (
            example(
                entry(b"a", encode_bytes_field(3, encode_bytes_field(1, b"\x01") + encode_bytes_field(1, b"\x02")))
            ),
            {"a": ("int64", [1, 2])},
        ),
        (
            example(entry(b"a", encode_bytes_field(3, encode_bytes_field(1, b"\x01") + b"\x08\x02"))),
            {"a": ("int64", [1, 2])},
        ),
        (example(entry(b"a", encode_bytes_field(2, b"\x0d\0\0\xc0\x3f"))), {"a": ("float32", [1.5])}),
        (example(entry(b"a", ONE, TWO)), {"a": ("int64", [1, 2])}),
        (example(entry(b"a", ONE, TEXT)), {"a": ("bytes", [b"text"])}),
        (example(entry(b"a", ONE, TEXT, TWO)), {"a": ("int64", [2])}),
        (example(encode_bytes_field(2, ONE) + encode_bytes_field(1, b"a")), {"a": ("int64", [1])}),
        (example(encode_bytes_field(1, b"a")), {"a": (None, [])}),
        (example(encode_bytes_field(2, ONE)), {"": ("int64", [1])}),
        (example(b""), {"": (None, [])}),
        (example(encode_bytes_field(1, b"z") + entry(b"a", ONE)), {"a": ("int64", [1])}),
        (example(entry(b"a", ONE) + encode_bytes_field(2, TWO)), {"a": ("int64", [1, 2])}),
        (example(entry(b"a", ONE), entry(b"a", TEXT)), {"a": ("bytes", [b"text"])}),
        (example(entry(b"a", ONE)) + example(entry(b"b", TWO)), {"a": ("int64", [1]), "b": ("int64", [2])}),
        (UNKNOWN + example(entry(b"a", ONE)), {"a": ("int64", [1])}),
        (encode_bytes_field(1, UNKNOWN + encode_bytes_field(1, entry(b"a", ONE))), {"a": ("int64", [1])}),
        (example(entry(b"a", ONE), entry(b"a", TWO) + UNKNOWN), {"a": ("int64", [1])}),
        (example(entry(b"a", UNKNOWN, ONE)), {"a": ("int64", [1])}),
        (example(entry(b"a", encode_bytes_field(3, UNKNOWN + encode_bytes_field(1, b"\x01")))), {"a": ("int64", [1])}),
        (example(entry(b"a", encode_bytes_field(3, encode_tag(1, FIXED32) + b"1234"))), {"a": ("int64", [])}),
        (
            example(entry(b"a", encode_bytes_field(3, encode_bytes_field(1, encode_varint(5, 10))))),
            {"a": ("int64", [5])},
        ),
        (b"\x8a\x80\x80\x80\x00\x80\x80\x80\x80\x00", {}),
    ],
)
def test_decode_example_of_unusual_encoding_agrees_with_protobuf(message: bytes, features: Features) -> None:
    assert decode_example(message) == features


@pytest.mark.parametrize(
    "message",
    [
        example(entry(b"\xff", ONE)),
        example(entry(b"a", encode_bytes_field(2, encode_bytes_field(1, b"123")))),
        example(entry(b"a", encode_bytes_field(3, encode_bytes_field(1, b"\x80")))),
        example(entry(b"a", encode_bytes_field(3, encode_bytes_field(1, encode_varint(1, 11))))),
        example(entry(b"a", ONE))[:-1],
        encode_varint(1 << 3 | 2, 6) + b"\0",
        encode_tag(15, 2) + encode_varint(0, 6),
        b"\0\0",
        encode_tag(15, 6),
        encode_tag(15, 4),
        encode_tag(15, GROUP) + encode_tag(16, 4),
        encode_tag(15, GROUP) * 101 + encode_tag(15, 4) * 101,
        encode_tag(15, 2) + encode_varint(2**31),
    ],
)
def test_decode_example_rejects_malformed_message(message: bytes) -> None:
    with pytest.raises(OracleError, match="bad_payload"):
        decode_example(message)


def test_decode_ofrecord_of_key_that_is_no_utf8_keeps_its_bytes() -> None:
    features = decode_ofrecord(encode_bytes_field(1, entry(b"\xff", b"")))
    assert [key.encode(errors="surrogateescape") for key in features] == [b"\xff"]


def test_decode_sequence_example_of_two_lists_has_their_steps() -> None:
    lists = {"words": [("int64", [1]), ("int64", [])], "none": []}
    context: Features = {"id": ("bytes", [b"x"])}
    data = messages.encode_sequence_example(context, lists)
    assert data.startswith(messages.encode_example(context))
    assert messages.decode_sequence_example(data) == (context, lists)


@given(strategies.unusual_examples())
def test_decode_example_of_any_legal_encoding_returns_its_features(drawn: tuple[bytes, Features]) -> None:
    message, features = drawn
    assert to_comparable(decode_example(message)) == to_comparable(features)


@given(strategies.unusual_ofrecords())
def test_decode_ofrecord_of_any_legal_encoding_returns_its_features(drawn: tuple[bytes, Features]) -> None:
    message, features = drawn
    assert to_comparable(decode_ofrecord(message)) == to_comparable(features)


@given(strategies.unusual_sequence_examples())
def test_decode_sequence_example_of_any_legal_encoding_returns_its_lists(
    drawn: tuple[bytes, SequenceExample],
) -> None:
    message, (context, lists) = drawn
    found_context, found_lists = messages.decode_sequence_example(message)
    assert to_comparable(found_context) == to_comparable(context)
    assert found_lists.keys() == lists.keys()
    for name, steps in lists.items():
        found = dict(enumerate(found_lists[name]))
        assert to_comparable(found) == to_comparable(dict(enumerate(steps)))


def error_of(decode: Callable[[bytes], object], message: bytes) -> OracleError | None:
    try:
        decode(message)
    except OracleError as error:
        return error
    return None


@given(strategies.damaged_messages())
def test_decode_of_damaged_message_returns_values_or_raises_oracle_error(message: bytes) -> None:
    for decode in (decode_example, decode_ofrecord, messages.decode_sequence_example):
        error = error_of(decode, message)
        assert error is None or error.kind == "bad_payload"
        assert error is None or 0 <= error.offset < len(message)

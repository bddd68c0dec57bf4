"""Values that callers give: what is taken, as which kind, and what is refused with the feature's name."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from recordmill.errors import FeatureError
from recordmill.formats.native import NativeCodec
from recordmill.formats.ofrecord.payload import OFRECORD_MESSAGE
from recordmill.formats.raw import RAW
from recordmill.formats.tfrecord.payload import EXAMPLE, SEQUENCE_EXAMPLE
from recordmill.schema import Feature, Schema
from recordmill.testing import messages
from recordmill.types import FeatureList, Ragged


def _create_test_id(value: Any) -> str:
    """Return a test id without memory addresses, which differ between processes."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))[:30]


TAKEN: list[tuple[Any, tuple[str, list[Any]], tuple[str, list[Any]]]] = [
    # value, in an Example, in an OFRecord
    (3, ("int64", [3]), ("int64", [3])),
    (-(2**63), ("int64", [-(2**63)]), ("int64", [-(2**63)])),
    (True, ("int64", [1]), ("int64", [1])),
    (0.5, ("float32", [0.5]), ("float64", [0.5])),
    (b"raw", ("bytes", [b"raw"]), ("bytes", [b"raw"])),
    ("té", ("bytes", ["té".encode()]), ("bytes", ["té".encode()])),
    (bytearray(b"x"), ("bytes", [b"x"]), ("bytes", [b"x"])),
    (memoryview(b"x"), ("bytes", [b"x"]), ("bytes", [b"x"])),
    ([b"a", "b", b""], ("bytes", [b"a", b"b", b""]), ("bytes", [b"a", b"b", b""])),
    ((1, 2), ("int64", [1, 2]), ("int64", [1, 2])),
    ([[1, 2], [3, 4]], ("int64", [1, 2, 3, 4]), ("int64", [1, 2, 3, 4])),
    (np.int32(-5), ("int64", [-5]), ("int32", [-5])),
    (np.uint8(200), ("int64", [200]), ("int32", [200])),
    (np.int16([1, 2]), ("int64", [1, 2]), ("int32", [1, 2])),
    (np.uint32(2**32 - 1), ("int64", [2**32 - 1]), ("int64", [2**32 - 1])),
    (np.uint64(5), ("int64", [5]), ("int64", [5])),
    (np.bool_(True), ("int64", [1]), ("int64", [1])),
    (np.float32(0.25), ("float32", [0.25]), ("float32", [0.25])),
    (np.float16(0.25), ("float32", [0.25]), ("float32", [0.25])),
    (np.float64(0.25), ("float32", [0.25]), ("float64", [0.25])),
    (np.array(7), ("int64", [7]), ("int64", [7])),
    (np.arange(6).reshape(2, 3).T, ("int64", [0, 3, 1, 4, 2, 5]), ("int64", [0, 3, 1, 4, 2, 5])),
    (np.array([1, 2], ">i4"), ("int64", [1, 2]), ("int32", [1, 2])),
    (np.array([b"a", b"bc"]), ("bytes", [b"a", b"bc"]), ("bytes", [b"a", b"bc"])),
    (np.arange(10)[::3], ("int64", [0, 3, 6, 9]), ("int64", [0, 3, 6, 9])),
]


@pytest.mark.parametrize("value, example, ofrecord", TAKEN, ids=_create_test_id)
def test_serialize_infers_kind_of_value(value: Any, example: Any, ofrecord: Any) -> None:
    assert messages.decode_example(EXAMPLE.serialize([{"v": value}], None, 0)[0]) == {"v": example}
    assert messages.decode_ofrecord(OFRECORD_MESSAGE.serialize([{"v": value}], None, 0)[0]) == {"v": ofrecord}


REFUSED: list[Any] = [
    object(),
    2**63,
    -(2**63) - 1,
    [1, "a"],
    [b"a", 1],
    [[1], [2, 3]],
    [1, 2.5],
    {"a": 1},
    1j,
    np.datetime64("2026-01-01"),
    np.array([1j]),
    np.array([2**63], np.uint64),
    [object()],
    {1, 2},
]


@pytest.mark.parametrize("codec", [EXAMPLE, OFRECORD_MESSAGE, SEQUENCE_EXAMPLE], ids=lambda codec: codec.name)
@pytest.mark.parametrize("value", REFUSED, ids=_create_test_id)
def test_serialize_names_feature_that_cannot_be_stored(codec: NativeCodec, value: Any) -> None:
    with pytest.raises(FeatureError) as caught:
        codec.serialize([{"the feature": value}], None, 0)
    assert "the feature" in str(caught.value)
    assert caught.value.kind == "feature_mismatch"


MISFITS = [
    (Feature("int64"), 0.5),
    (Feature("int64"), b"a"),
    (Feature("int64"), [1, 2]),
    (Feature("int64", (2,)), [1, 2, 3]),
    (Feature("int64", (2, 2)), [1, 2, 3]),
    (Feature("int64"), 2**64),
    (Feature("bytes"), 5),
    (Feature("bytes"), [b"a", b"b"]),
    (Feature("float32"), "text"),
    (Feature("int64"), FeatureList([1])),
    (Feature("int64", (None,), sequence=True), [1]),
]


@pytest.mark.parametrize("feature, value", MISFITS, ids=_create_test_id)
def test_serialize_rejects_value_that_violates_schema(feature: Feature, value: Any) -> None:
    with pytest.raises(FeatureError):
        SEQUENCE_EXAMPLE.serialize([{"v": value}], Schema({"v": feature}), 0)


def test_ofrecord_rejects_int32_out_of_range() -> None:
    schema = Schema({"v": Feature("int32")})
    for value in (2**31, -(2**31) - 1):
        with pytest.raises(FeatureError, match="int32"):
            OFRECORD_MESSAGE.serialize([{"v": value}], schema, 0)
    assert OFRECORD_MESSAGE.serialize([{"v": -(2**31)}], schema, 0)[0].endswith(
        b"\x80\x80\x80\x80\xf8\xff\xff\xff\xff\x01"
    )


def test_float64_beyond_float32_becomes_infinite() -> None:
    payload = EXAMPLE.serialize([{"v": np.array([1e39, -1e39, 0.1])}], None, 0)[0]
    assert messages.decode_example(payload)["v"][1] == [np.inf, -np.inf, float(np.float32(0.1))]


def test_serialize_rejects_missing_and_additional_features() -> None:
    schema = Schema({"a": Feature("int64"), "b": Feature("int64", (None,), optional=True)})
    assert EXAMPLE.serialize([{"a": 1}], schema, 0)[0] == messages.encode_example({"a": ("int64", [1])})
    for row in ({"b": [1]}, {"a": 1, "c": 2}):
        with pytest.raises(FeatureError):
            EXAMPLE.serialize([row], schema, 0)


def test_serialize_rejects_feature_missing_in_some_examples() -> None:
    schema = Schema({"a": Feature("int64"), "b": Feature("int64")})
    with pytest.raises(FeatureError):
        EXAMPLE.serialize([{"a": 1, "b": 2}, {"a": 1}], schema, 0)


def test_serialize_rejects_mixed_kinds() -> None:
    for values in ([1, 0.5], [0.5, 1], [1, b"a"], [b"a", 1]):
        with pytest.raises(FeatureError):
            EXAMPLE.serialize([{"v": value} for value in values], None, 0)


def test_serialize_omits_feature_that_is_none() -> None:
    found = EXAMPLE.serialize([{"v": None, "w": 1}, {"v": 2, "w": 3}], None, 0)
    assert [messages.decode_example(row) for row in found] == [
        {"w": ("int64", [1])},
        {"v": ("int64", [2]), "w": ("int64", [3])},
    ]


def test_raw_rejects_other_features() -> None:
    assert list(RAW.serialize([{"payload": b"a"}, {"payload": b""}], None, 0)) == [b"a", b""]
    with pytest.raises(FeatureError):
        RAW.serialize([{"image": b"a"}], None, 0)
    with pytest.raises(FeatureError):
        RAW.compile_schema(Schema({"image": Feature("bytes")}))


def test_compile_schema_rejects_kind_that_message_cannot_hold() -> None:
    for kind in ("float64", "int32", "uint64"):
        with pytest.raises(FeatureError, match=kind):
            EXAMPLE.compile_schema(Schema({"v": Feature(kind)}))


def test_parse_fills_missing_feature_with_default() -> None:
    payloads = Ragged.from_rows([b"", messages.encode_example({"v": ("int64", [5, 6])})])
    schema = Schema({"v": Feature("int64", (2,), default=[8, 9])})
    assert EXAMPLE.parse(payloads, schema)["v"].tolist() == [[8, 9], [5, 6]]
    with pytest.raises(FeatureError):
        EXAMPLE.compile_schema(Schema({"v": Feature("int64", (2,), default=[8])}))

"""MXNet's image header: exact bytes, MXNet's own packing, the oracle, and headers that make no sense."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from recordmill import _core
from recordmill.errors import FeatureError
from recordmill.formats.recordio.payload import IRHEADER
from recordmill.schema import Feature, Schema
from recordmill.testing import image_header, strategies
from recordmill.testing.faults import OracleError
from recordmill.testing.framing_suite import pack_payloads
from recordmill.testing.payload_suite import value_reprs
from tests.recorded import floats_from_bits, load_cases, load_recording

SCHEMA = Schema(
    {
        "flag": Feature("int64"),
        "label": Feature("float32", (None,)),
        "id": Feature("uint64"),
        "id2": Feature("uint64"),
        "image": Feature("bytes"),
    }
)
PACKS = load_cases("mxnet/headers/expected.json", "packs")
BROKEN = load_cases("mxnet/headers/expected.json", "broken")
ODD_FLOATS = {"nan": np.nan, "inf": np.inf, "-inf": -np.inf}
# MXNet stores not a number for None, and rounds integers that float32 cannot represent.
REFUSED_HERE = ("label: none", "label: integer above 2**24", "label: list with rounding", "label: vector of int64")


def unpacked(payload: bytes) -> tuple[Any, ...]:
    """Flag, labels, ids and data of one payload."""
    packed = pack_payloads([payload])
    parsed = _core.parse(packed.data, packed.row_splits, IRHEADER.compile_schema(SCHEMA))
    columns = IRHEADER.build_columns(parsed, SCHEMA, 1)
    values = [int(columns[name][0]) for name in ("flag", "id", "id2")]
    return values[0], columns["label"][0], values[1], values[2], columns["image"][0]


def label_of(case: dict[str, Any]) -> Any:
    form, values = case["label"]["as"], case["label"]["values"]
    if form in ("list", "tuple"):
        values = [ODD_FLOATS.get(value, value) if isinstance(value, str) else value for value in values]
        return tuple(values) if form == "tuple" else values
    if form.startswith("array "):
        return np.array(values, form.removeprefix("array "))
    if form in ("int", "float", "bool"):
        return ODD_FLOATS.get(values, values) if isinstance(values, str) else values
    return values if form in ("text", "none") else np.dtype(form).type(values)


def test_packings_are_recorded() -> None:
    assert len(load_recording("mxnet/headers/expected.json")["packs"]) > 30
    assert len(BROKEN) == 8


@pytest.mark.parametrize("case", PACKS, ids=lambda case: case["name"])
def test_header_is_written_like_mxnet(case: dict[str, Any]) -> None:
    example = {"label": label_of(case), "id": case["id"], "id2": case["id2"], "image": bytes.fromhex(case["data"])}
    if "packed" in case and case["name"] not in REFUSED_HERE:
        assert IRHEADER.serialize([example], None, 0)[0].hex() == case["packed"]
    else:
        with pytest.raises(FeatureError):
            IRHEADER.serialize([example], None, 0)


@pytest.mark.parametrize("case", [case for case in PACKS + BROKEN if "packed" in case], ids=lambda case: case["name"])
def test_header_is_parsed_like_mxnet(case: dict[str, Any]) -> None:
    payload, expected = bytes.fromhex(case["packed"]), case["unpacked"]
    if "error" in expected:
        with pytest.raises(_core.CoreFault) as caught:
            unpacked(payload)
        assert caught.value.args[0] == "bad_payload"
        return
    flag, label, id_, id2, data = unpacked(payload)
    labels = expected["label"] if isinstance(expected["label"], list) else [expected["label"]]
    assert label.view("u4").tolist() == floats_from_bits(labels).view("u4").tolist()
    assert (flag, id_, id2, data.hex()) == (expected["flag"], expected["id"], expected["id2"], expected["data"])


@given(strategies.image_headers())
def test_header_round_trip_agrees_with_oracle(drawn: tuple[Any, int, int, bytes]) -> None:
    label, id_, id2, data = drawn
    payload = IRHEADER.serialize([{"label": label, "id": id_, "id2": id2, "image": data}], None, 0)[0]
    assert payload == image_header.pack(label, id_, id2, data)
    expected = image_header.unpack(payload)
    found = unpacked(payload)
    assert (found[0], *found[2:]) == (expected.flag, expected.id, expected.id2, expected.data)
    assert value_reprs(found[1]) == value_reprs(np.atleast_1d(np.float32(expected.label)))


@given(st.binary(max_size=60), st.integers(0, 12))
def test_header_of_any_bytes_agrees_with_oracle(tail: bytes, flag: int) -> None:
    payload = flag.to_bytes(4, "little") + tail
    try:
        expected = image_header.unpack(payload)
    except OracleError:
        with pytest.raises(_core.CoreFault, match="bad_payload"):
            unpacked(payload)
    else:
        found = unpacked(payload)
        assert (found[0], *found[2:]) == (expected.flag, expected.id, expected.id2, expected.data)


@given(st.lists(strategies.image_headers(), min_size=1, max_size=6), st.integers(0, 2**40))
def test_serialize_stores_each_label_independent_of_other_examples(drawn: list[Any], first: int) -> None:
    examples = [{"label": label, "image": data} for label, _, _, data in drawn]
    found = list(IRHEADER.serialize(examples, None, first))
    assert found == [image_header.pack(label, first + row, 0, data) for row, (label, _, _, data) in enumerate(drawn)]


@pytest.mark.parametrize(
    "example",
    [
        {},
        {"label": 1},
        {"image": b"", "mask": b""},
        {"image": b"", "flag": 3},
        {"image": b"", "weight": 1.0},
        {"image": 3},
    ],
)
def test_serialize_rejects_example_that_is_not_an_image_record(example: dict[str, Any]) -> None:
    with pytest.raises(FeatureError):
        IRHEADER.serialize([example], None, 0)


def test_compile_schema_rejects_features_that_the_header_lacks() -> None:
    with pytest.raises(FeatureError):
        IRHEADER.compile_schema(Schema({"weight": Feature("float32")}))
    with pytest.raises(FeatureError):
        IRHEADER.compile_schema(Schema({"label": Feature("float64")}))

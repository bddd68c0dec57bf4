"""Messages as TensorFlow and protobuf recorded them: read exactly, and written byte for byte."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from recordmill.errors import FeatureError
from recordmill.formats.native import NativeCodec
from recordmill.formats.tfrecord.payload import EXAMPLE, SEQUENCE_EXAMPLE
from recordmill.schema import Feature, Schema
from recordmill.testing.framing_suite import pack_payloads
from recordmill.types import FeatureList, Ragged
from tests.recorded import (
    KINDS,
    decode_features,
    decode_values,
    floats_from_bits,
    load_cases,
    load_recording,
    to_comparable,
    to_writable,
)

DTYPES = {"int64": "int64", "float32": "float32", "string": "bytes"}
ENCODINGS = [
    *((EXAMPLE, case) for case in load_cases("tensorflow/encodings.json", "examples")),
    *((SEQUENCE_EXAMPLE, case) for case in load_cases("tensorflow/encodings.json", "sequence_examples")),
]
CANONICAL = [
    *((EXAMPLE, case) for case in load_cases("tensorflow/examples/canonical.json", "examples")),
    *((SEQUENCE_EXAMPLE, case) for case in load_cases("tensorflow/examples/canonical.json", "sequence_examples")),
]


def read(codec: NativeCodec, payload: bytes) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Context and feature lists of a payload with the bits of floats; None if it does not parse."""
    packed = pack_payloads([payload])
    found = codec.infer_features(packed)
    if found.fault is not None:
        return None
    wide = Schema({name: allow_any_count(summary.feature) for name, summary in found.features.items()})
    context: dict[str, Any] = {}
    lists: dict[str, Any] = {}
    for name, column in codec.parse(packed, wide).items():
        kind = wide[name].kind
        if wide[name].sequence:
            lists[name] = (kind, [to_comparable(kind, frame) for frame in column[0]])
        else:
            key = codec.native_key(name, wide).decode()
            context[key] = (kind, to_comparable(kind, column[0]))
    return context, lists


def allow_any_count(feature: Feature) -> Feature:
    """The same feature with any number of values."""
    shape = (None, None) if feature.sequence else (None,)
    return Feature(feature.kind, shape, feature.sequence, optional=True)


def recorded_lists(lists: dict[str, Any]) -> dict[str, Any]:
    """Recorded feature lists of one kind, a row per frame; lists that hold several kinds are no column."""
    rows = {}
    for name, frames in lists.items():
        kinds = sorted({KINDS[frame["kind"]] for frame in frames if frame["kind"]})
        if len(kinds) == 1:
            rows[name] = (kinds[0], [decode_values(frame) if frame["kind"] else [] for frame in frames])
    return rows


def mixed_names(lists: dict[str, Any]) -> set[str]:
    return {name for name, frames in lists.items() if len({frame["kind"] for frame in frames} - {None}) > 1}


def test_messages_are_recorded() -> None:
    assert len(ENCODINGS) == len(load_recording("tensorflow/encodings.json")["examples"]) + 46
    assert len(CANONICAL) == 264


@pytest.mark.parametrize("codec, case", ENCODINGS, ids=lambda value: value["name"] if isinstance(value, dict) else "")
def test_parse_of_unusual_encoding_agrees_with_protobuf(codec: NativeCodec, case: dict[str, Any]) -> None:
    expected = case["protobuf"]
    lists = expected.get("feature_lists", {})
    if mixed_names(lists):
        found = codec.infer_features(pack_payloads([bytes.fromhex(case["serialized"])]))
        assert {name for name, entry in found.features.items() if entry.mixed_kinds} == mixed_names(lists)
        return
    found = read(codec, bytes.fromhex(case["serialized"]))
    if "error" in expected:
        assert found is None
    else:
        context = expected["features"] if codec is EXAMPLE else expected["context"]
        assert found == (decode_features(context), recorded_lists(lists))


@pytest.mark.parametrize("place", range(264))
def test_serialize_writes_deterministic_bytes_of_protobuf(place: int) -> None:
    codec, case = CANONICAL[place]
    features = case["features"] if codec is EXAMPLE else case["context"]
    lists = case.get("feature_lists", {})
    payload = bytes.fromhex(case["serialized"])
    if (
        all(entry["kind"] for entry in features.values())
        and not (set(features) & set(lists))
        and has_one_kind_per_list(lists)
    ):
        example = {name: to_writable(entry) for name, entry in features.items()}
        frames = {name: FeatureList([to_writable(frame) for frame in rows]) for name, rows in lists.items()}
        kinds = {name: Feature(KINDS[entry["kind"]], (None,)) for name, entry in features.items()}
        kinds |= {name: Feature(KINDS[rows[0]["kind"]], (None, None), sequence=True) for name, rows in lists.items()}
        assert codec.serialize([example | frames], Schema(kinds), 0)[0] == payload
    if not mixed_names(lists):
        assert read(codec, payload) == (decode_features(features), recorded_lists(lists))


def has_one_kind_per_list(lists: dict[str, Any]) -> bool:
    """Whether a caller can write such lists: every frame of one kind."""
    return all(
        rows and len({frame["kind"] for frame in rows} | {None}) == 2 and rows[0]["kind"] for rows in lists.values()
    )


def test_most_canonical_messages_can_be_written() -> None:
    """The test above must not pass by writing nothing."""
    examples = [case for codec, case in CANONICAL if codec is EXAMPLE]
    assert sum(all(entry["kind"] for entry in case["features"].values()) for case in examples) > 90
    sequences = [case for codec, case in CANONICAL if codec is SEQUENCE_EXAMPLE]
    plain = [case for case in sequences if all(entry["kind"] for entry in case["context"].values())]
    assert sum(has_one_kind_per_list(case["feature_lists"]) and bool(case["feature_lists"]) for case in plain) >= 2


def feature_of(case: dict[str, Any]) -> Feature:
    kind, shape = DTYPES[case["dtype"]], tuple(case.get("shape", ()))
    default = case.get("default")
    if case.get("part") == "lists":
        return Feature(kind, (None, *(shape if case["form"] == "padded" else (None,))), sequence=True, optional=True)
    if case["form"] == "fixed":
        return Feature(kind, shape, default=default.encode() if isinstance(default, str) else default)
    return Feature(kind, (None,), optional=True)


def columns_of(folder: str, case: dict[str, Any]) -> Any:
    codec = SEQUENCE_EXAMPLE if "part" in case else EXAMPLE
    records = load_recording(f"{folder}/expected.json")["files"][0]["records"]
    payloads = [bytes.fromhex(records[row]) for row in case.get("rows", range(len(records)))]
    return codec.parse(pack_payloads(payloads), Schema({case["key"]: feature_of(case)}))[case["key"]]


def flatten_column(kind: str, column: Any) -> list[Any]:
    """All values of a column in order."""
    while isinstance(column, Ragged) and (kind != "bytes" or isinstance(column.data, Ragged)):
        column = column.data
    return to_comparable(kind, column.reshape(-1) if isinstance(column, np.ndarray) else column)


COLUMNS = [
    (folder, case)
    for folder in ("tensorflow/columns", "tensorflow/sequence")
    for case in load_cases(f"{folder}/columns.json", "columns")
]


@pytest.mark.parametrize("folder, case", COLUMNS, ids=lambda value: value["name"] if isinstance(value, dict) else "")
def test_parse_returns_values_of_parse_example(folder: str, case: dict[str, Any]) -> None:
    found = case["found"]
    if "error" in found:
        if case["name"] == "padded threes":
            return_value = columns_of(folder, case)  # any count is legal here: reshaping is the caller's
            assert isinstance(return_value, Ragged)
            return
        if case["name"] == "name, without a kind":
            assert list(columns_of(folder, case)) == [b"one", *[b"none"] * 4]  # one rule for all: no kind, no feature
            return
        with pytest.raises((FeatureError, Exception)) as caught:
            columns_of(folder, case)
        assert "feature_mismatch" in (getattr(caught.value, "kind", ""), *map(str, caught.value.args))
        return
    column = columns_of(folder, case)
    kind = DTYPES[case["dtype"]]
    values = found["values"]
    want = (
        [bytes.fromhex(v) for v in values]
        if kind == "bytes"
        else [int(v, 16) for v in values]
        if kind == "float32"
        else values
    )
    if case["form"] == "padded":
        default = case.get("default", 0)
        check_padded(column, kind, want, found, default)
    elif case["form"] == "fixed":
        assert flatten_column(kind, column) == want
        assert kind == "bytes" or list(column.shape) == found["shape"]
    else:
        assert flatten_column(kind, column) == want
        if "row_splits" in found:
            splits = [column.row_splits.tolist()]
            splits += [column.data.row_splits.tolist()] if len(found["row_splits"]) == 2 else []
            assert splits == found["row_splits"]


def check_padded(column: Ragged, kind: str, want: list[Any], found: dict[str, Any], default: Any) -> None:
    """Compare rows with the padded array that TensorFlow returned."""
    if "lengths" in found:
        assert np.diff(column.row_splits).tolist() == found["lengths"]
    width = int(np.prod(found["shape"][1:]))
    rows = [want[start : start + width] for start in range(0, len(want), width or 1)]
    for row, padded in zip(column, rows, strict=width > 0):
        mine = flatten_column(kind, row)
        fill = b"" if kind == "bytes" else default
        assert mine + [fill] * (width - len(mine)) == padded


def test_bits_preserve_every_nan() -> None:
    assert floats_from_bits(["7fc12301", "80000000"]).view("u4").tolist() == [0x7FC12301, 0x80000000]

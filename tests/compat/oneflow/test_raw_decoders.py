"""Decoders of numbers and byte strings, compared with recorded results of OneFlow."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import recordmill.compat.oneflow as flow
from recordmill.compat.oneflow.raw_decoders import cast_like_c
from recordmill.compat.oneflow.record_pb2 import BytesList, DoubleList, Feature, FloatList, Int64List, OFRecord
from recordmill.errors import FeatureError, PayloadError
from tests.compat.oneflow.parts import batch_of, message
from tests.recorded import load_recording

RECORDED = load_recording("oneflow/decoders.json")
ODD = [row for row in load_recording("oneflow/messages.json")["odd"] if "decoder" in row]
# Messages that protobuf rejects raise an error, even if OneFlow's parser accepts them.
READ = [row for row in ODD if "decoded" in row["oneflow"] and "features" in row["protobuf"]]


def decoded(batch: Any, name: str, settings: dict[str, Any]) -> str:
    if settings["decoder"] == "bytes":
        return str(flow.nn.OFRecordBytesDecoder(name)(batch).numpy()[0].tobytes().hex())
    shape, dtype = tuple(settings["shape"]), settings["dtype"]
    decoder = flow.nn.OFRecordRawDecoder(name, shape=shape, dtype=dtype, truncate=settings.get("truncate", False))
    return str(decoder(batch).numpy()[0].tobytes().hex())


def searchable_part(check: str) -> str:
    """Return the part of a recorded error that users search for."""
    if "UNIMPLEMENTED" in check:
        return "UNIMPLEMENTED"
    return "Field absent not found" if "not found" in check else check.split("Check failed: ")[1]


@pytest.mark.parametrize("row", RECORDED["cases"], ids=lambda row: row["name"])
def test_decoded_values_and_errors_equal_those_of_oneflow(row: dict[str, Any], tmp_path: Path) -> None:
    batch = batch_of(tmp_path, bytes.fromhex(RECORDED["serialized"]))
    if "decoded" in row["found"]:
        assert decoded(batch, row["feature"], row) == row["found"]["decoded"]
        return
    with pytest.raises(FeatureError) as caught:
        decoded(batch, row["feature"], row)
    assert searchable_part(row["found"]["checks"][0]) in str(caught.value)
    assert (caught.value.shard, caught.value.record, caught.value.offset) == (str(tmp_path / "part-0"), 0, 0)


@pytest.mark.parametrize("row", READ, ids=lambda row: row["name"])
def test_unusual_encodings_decode_as_in_oneflow(row: dict[str, Any], tmp_path: Path) -> None:
    batch = batch_of(tmp_path, bytes.fromhex(row["serialized"]))
    assert decoded(batch, "k", row["decoder"]) == row["oneflow"]["decoded"]


@pytest.mark.parametrize("row", [row for row in ODD if row not in READ], ids=lambda row: row["name"])
def test_encodings_that_end_oneflow_raise_or_decode_as_in_protobuf(row: dict[str, Any], tmp_path: Path) -> None:
    batch = batch_of(tmp_path, bytes.fromhex(row["serialized"]))
    if row["name"].startswith("unpacked, then packed"):
        decoder = flow.nn.OFRecordRawDecoder("k", shape=row["decoder"]["shape"], dtype=row["decoder"]["dtype"])
        (name, feature), *_ = OFRecord.FromString(batch.payloads[0]).feature.items()
        assert decoder(batch).numpy()[0].tolist() == list(getattr(feature, feature.WhichOneof("kind")).value), name
        return
    with pytest.raises((FeatureError, PayloadError)) as caught:
        decoded(batch, "k", row["decoder"])
    assert caught.value.shard == str(tmp_path / "part-0") and caught.value.record == 0


@pytest.mark.parametrize("row", load_recording("oneflow/messages.json")["canonical"][::3])
def test_serialized_message_has_the_same_bytes_in_any_entry_order(row: dict[str, Any]) -> None:
    data = bytes.fromhex(row["serialized"])
    written = OFRecord.FromString(data).SerializeToString()
    assert sorted(written) == sorted(data)
    found = {name: feature.WhichOneof("kind") for name, feature in OFRecord.FromString(written).feature.items()}
    assert found == {name: feature["kind"] for name, feature in row["features"].items()}


@pytest.mark.parametrize(
    "value, dtype, expected",
    [
        (300.5, "int8", 44),
        (300.5, "uint8", 44),
        (3e9, "uint8", 0),
        (3e9, "int32", -(2**31)),
        (float("nan"), "int8", 0),
        (float("nan"), "int64", -(2**63)),
        (float("-inf"), "int64", -(2**63)),
        (2.0**63, "int64", -(2**63)),
        (-2.9, "int32", -2),
        (-1.0, "uint8", 255),
        (2.0**31 - 1, "int32", 2**31 - 1),
    ],
)
def test_cast_of_floats_out_of_range_equals_c(value: float, dtype: str, expected: int) -> None:
    assert cast_like_c(np.array([value]), np.dtype(dtype)).tolist() == [expected]


@given(st.lists(st.floats(-(2.0**31), 2.0**31 - 1), max_size=20))
def test_cast_like_c_truncates_fractions(values: list[float]) -> None:
    assert cast_like_c(np.array(values, np.float64), np.dtype("int32")).tolist() == [int(value) for value in values]


def test_raw_decoder_casts_records_of_different_kinds(tmp_path: Path) -> None:
    kinds = [
        Feature(int64_list=Int64List(value=[1, 300])),
        Feature(float_list=FloatList(value=[2.5, -1])),
        Feature(bytes_list=BytesList(value=[b"\xff"])),
        Feature(double_list=DoubleList(value=[7, 8])),
    ]
    batch = batch_of(tmp_path, *(message(x=feature) for feature in kinds))
    decoder = flow.nn.OFRecordRawDecoder("x", shape=[2], dtype=flow.int32)
    for _ in range(2):
        assert decoder(batch).numpy().tolist() == [[1, 300], [2, -1], [-1, 0], [7, 8]]


def test_raw_decoder_error_names_record_with_another_count(tmp_path: Path) -> None:
    long, short = Feature(int64_list=Int64List(value=[1, 2])), Feature(int64_list=Int64List(value=[3]))
    batch = batch_of(tmp_path, message(x=long), message(x=short), message(x=long))
    with pytest.raises(FeatureError, match=r"\(2 vs\. 1\)") as caught:
        flow.nn.OFRecordRawDecoder("x", shape=(2,), dtype=flow.int64)(batch)
    assert caught.value.record == 1 and caught.value.offset == len(message(x=long)) + 8
    padded = flow.nn.OFRecordRawDecoder("x", shape=(2,), dtype=flow.int64, truncate=True)(batch)
    assert padded.numpy().tolist() == [[1, 2], [3, 0], [1, 2]]


def test_bytes_decoder_returns_one_array_per_record(tmp_path: Path) -> None:
    values = [b"", b"abc", struct.pack("<d", 2.5)]
    found = flow.nn.OFRecordBytesDecoder("x")(batch_of(tmp_path, *(message(x=value) for value in values)))
    assert [array.tobytes() for array in found.numpy()] == values
    assert found.shape == (3,) and found[1].numpy()[0].tolist() == [97, 98, 99]
    assert [part.shape for part in found] == [(1,)] * 3 and repr(found) == "TensorBuffer((0,), (3,), (8,))"


@pytest.mark.parametrize(
    "options, kind, text",
    [
        ({"dim1_varying_length": True}, NotImplementedError, "dim1_varying_length"),
        ({"dtype": np.float16}, TypeError, "Cannot find the kernel"),
        ({"shape": 3}, TypeError, "shape"),
        ({"shape": (-1,)}, TypeError, "shape"),
    ],
)
def test_raw_decoder_error_names_unsupported_option(options: dict[str, Any], kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        flow.nn.OFRecordRawDecoder("x", **{"shape": (), "dtype": flow.int32, **options})


def test_raw_decoder_accepts_auto_zero_padding_as_truncate(tmp_path: Path) -> None:
    decoder = flow.nn.OFRecordRawDecoder("x", shape=(3,), dtype=flow.int32, auto_zero_padding=True)
    assert decoder(batch_of(tmp_path, message(x=5))).tolist() == [[5, 0, 0]]

"""Shards written by TensorFlow and MXNet: all records, offsets, keys and labels are equal; files have a provenance."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordmill as rm
from recordmill.errors import RecordmillError
from recordmill.formats.recordio.payload import IRHEADER
from recordmill.testing.framing_suite import pack_payloads
from tests.recorded import RECORDINGS, copy_recordings, floats_from_bits, load_cases, load_recording

COMPRESSIONS = {"": None, "GZIP": "gzip", "ZLIB": "zlib"}
FOLDERS = {
    "tensorflow/framing": 15,
    "tensorflow/examples": 1,
    "tensorflow/columns": 1,
    "tensorflow/sequence": 1,
    "mxnet/records": 6,
    "mxnet/headers": 1,
    "mxnet/images": 1,
    "mxnet/lists": 20,
    "mxnet/faces": 3,
}
FILES = [(folder, entry) for folder in FOLDERS for entry in load_cases(f"{folder}/expected.json", "files")]
# TensorFlow 2.21 stops at an empty gzip member and after the first zlib stream. We continue after the member, as
# RFC 1952 requires, and raise an error for data after the zlib stream.
JOINED = ("members.tfrecord.gz", "streams.tfrecord.zlib")
WHOLE_FILES = [row for row in FILES if row[1]["path"] not in JOINED]
DAMAGES = [
    (tool, case)
    for tool in ("tensorflow", "mxnet")
    for case in load_cases(f"{tool}/damage/expected.json", "cases")
    if case["path"] != "missing.tfrecord"
]


def name_of(value: Any) -> str:
    return value if isinstance(value, str) else str(value.get("path") or value.get("name") or value.get("idx"))


def payloads_of(entry: dict[str, Any]) -> list[bytes]:
    return [bytes.fromhex(text) for text in entry["records"]]


def test_recorded_files_match_provenance_table() -> None:
    table = load_recording("PROVENANCE.json")
    assert len(table) > 200
    wrong = [
        name
        for name, facts in table.items()
        if not (RECORDINGS / name).is_file()
        or hashlib.sha256((RECORDINGS / name).read_bytes()).hexdigest() != facts["sha256"]
    ]
    assert wrong == []


def test_recorded_files_all_have_provenance() -> None:
    names = {"tensorflow", "mxnet", "oneflow", "compat"}
    tools = [path for path in RECORDINGS.iterdir() if path.is_dir() and path.name in names]
    paths = (path for tool in tools for path in tool.rglob("*") if path.is_file())
    found = {str(path.relative_to(RECORDINGS)) for path in paths if path.suffix not in (".py", ".pyc")}
    assert {path.name for path in tools} == names
    assert sorted(found - set(load_recording("PROVENANCE.json"))) == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_recordings_are_complete(folder: str) -> None:
    assert len(load_recording(f"{folder}/expected.json")["files"]) == FOLDERS[folder]


@pytest.mark.parametrize("folder, entry", WHOLE_FILES, ids=name_of)
def test_recorded_shard_has_records_of_framework(folder: str, entry: dict[str, Any]) -> None:
    path, payloads = RECORDINGS / folder / entry["path"], payloads_of(entry)
    compression = COMPRESSIONS[entry.get("compression", "")]
    format_ = "recordio" if folder.startswith("mxnet") else "tfrecord"
    for declared in ("auto", compression):
        with rm.ShardReader(path, format=format_, compression=declared, index="never") as reader:
            assert list(reader) == payloads
            assert reader.compression == compression
            assert reader[:] == payloads
            assert [payload for batch in reader.batches(3, threads=2) for payload in batch] == payloads
            if "offsets" in entry:
                assert reader.index.offsets.tolist() == entry["offsets"]
    report = rm.verify(path, format=format_, payload=None)
    assert (report.ok, report.num_records) == (True, len(payloads))


@pytest.mark.parametrize("folder, entry", WHOLE_FILES, ids=name_of)
def test_rewritten_recorded_shard_is_byte_identical(folder: str, entry: dict[str, Any], tmp_path: Path) -> None:
    format_ = "recordio" if folder.startswith("mxnet") else "tfrecord"
    path = RECORDINGS / folder / entry["path"]
    out = tmp_path / ("shard.rec" if format_ == "recordio" else "shard.tfrecord")
    with rm.ShardWriter(out, format=format_, payload="raw") as writer:
        for payload in payloads_of(entry):
            writer.write(payload)
    with rm.ShardReader(path, format=format_, index="never") as reader:
        plain = bytes(memoryview(reader.shard.source.read(0, 1 << 30)))
    assert out.read_bytes() == plain


def test_empty_gzip_member_does_not_end_stream() -> None:
    records = {entry["path"]: payloads_of(entry) for folder, entry in FILES if folder == "tensorflow/framing"}
    expected = records["flushed.tfrecord.gz"] + records["stored_level0.tfrecord.gz"]
    assert list(rm.ShardReader(RECORDINGS / "tensorflow/framing/members.tfrecord.gz", index="never")) == expected
    assert records["members.tfrecord.gz"] == expected[: len(records["flushed.tfrecord.gz"])]


def test_data_after_zlib_stream_is_an_error() -> None:
    expected = next(payloads_of(entry) for _, entry in FILES if entry["path"] == "streams.tfrecord.zlib")
    found: list[bytes] = []
    reader = rm.ShardReader(RECORDINGS / "tensorflow/framing/streams.tfrecord.zlib", index="never")
    with pytest.raises(rm.CompressionError) as caught:
        found.extend(batch[0] for batch in reader.batches(1))
    assert found == expected
    assert caught.value.record == len(expected)


@pytest.mark.parametrize("folder, entry", [row for row in FILES if "idx" in row[1]], ids=name_of)
def test_recorded_idx_maps_keys_to_records(folder: str, entry: dict[str, Any]) -> None:
    payloads = payloads_of(entry)
    with rm.ShardReader(RECORDINGS / folder / entry["path"], format="recordio", index="never") as reader:
        assert reader.keys == [str(key) for key in entry["keys"]]
        for key, place in entry.get("by_key", [[key, row] for row, key in enumerate(entry["keys"])]):
            assert reader[reader.position_of(key)] == payloads[place]


@pytest.mark.parametrize("folder, entry", [row for row in FILES if "headers" in row[1]], ids=name_of)
def test_recorded_headers_have_labels_and_ids_of_mxnet(folder: str, entry: dict[str, Any]) -> None:
    schema = rm.Schema(
        {
            "label": rm.Feature("float32", (None,)),
            "flag": rm.Feature("int64"),
            "id": rm.Feature("uint64"),
            "id2": rm.Feature("uint64"),
            "image": rm.Feature("bytes"),
        }
    )
    columns = IRHEADER.parse(pack_payloads(payloads_of(entry)), schema)
    for row, header in enumerate(entry["headers"]):
        labels = header["label"] if isinstance(header["label"], list) else [header["label"]]
        assert columns["label"][row].view("u4").tolist() == floats_from_bits(labels).view("u4").tolist()
        assert [int(columns[name][row]) for name in ("flag", "id", "id2")] == [header[n] for n in ("flag", "id", "id2")]
        assert len(columns["image"][row]) == header["data"]


@pytest.mark.parametrize("case", load_cases("mxnet/index/expected.json", "cases"), ids=name_of)
def test_unusual_idx_is_read_like_mxnet(case: dict[str, Any], tmp_path: Path) -> None:
    records = [bytes.fromhex(text) for text in load_recording("mxnet/index/expected.json")["records"]]
    (tmp_path / "records.rec").write_bytes((RECORDINGS / "mxnet/index/records.rec").read_bytes())
    (tmp_path / "records.idx").write_bytes((RECORDINGS / "mxnet/index" / case["idx"]).read_bytes())
    found = case["found"]
    with rm.ShardReader(tmp_path / "records.rec") as reader:
        if "error" in found and not rejects_only_keys(case):
            with pytest.raises(rm.FormatError):
                _ = reader.keys
            return
        if "error" in found:
            assert len(reader.keys) > 0
            return
        assert [normalize_key(key) for key in reader.keys] == [str(key) for key in found["keys"]]
        for key, outcome in found["read"]:
            check_key(reader, {normalize_key(name): name for name in reader.keys}[str(key)], outcome, records)


def rejects_only_keys(case: dict[str, Any]) -> bool:
    """Return True if MXNet rejected only the keys; our keys are text without restrictions."""
    message = case["found"]["error"]["message"]
    return (
        case["key_type"] == "int"
        and "int()" in message
        and case["idx"] in ("key_is_no_integer.idx", "byte_order_mark.idx")
    )


def normalize_key(key: str) -> str:
    """Return the canonical form of a key that MXNet reads as an integer."""
    try:
        return str(int(key))
    except ValueError:
        return key


def check_key(reader: rm.ShardReader, key: str, outcome: dict[str, Any], records: list[bytes]) -> None:
    """Check that the key of a record returns it and that other keys raise."""
    if outcome.get("record") is not None:
        assert reader[reader.position_of(key)] == bytes.fromhex(outcome["record"])
        assert bytes.fromhex(outcome["record"]) in records
    else:
        with pytest.raises((KeyError, rm.FormatError)):
            reader.position_of(key)


@pytest.mark.parametrize("case", load_cases("tensorflow/framing/wrong_compression.json", "cases"), ids=name_of)
def test_recorded_shard_with_wrong_declared_compression_is_named(case: dict[str, Any]) -> None:
    path = RECORDINGS / "tensorflow/framing" / case["path"]
    true = {".gz": "gzip", ".zlib": "zlib"}.get(path.suffix)
    declared = COMPRESSIONS[case["compression"]]

    def read() -> int:
        with rm.ShardReader(path, format="tfrecord", compression=declared, index="never") as reader:
            return len(list(reader))

    if declared == true or path.stat().st_size == 0:
        assert read() == case["num_records"]
        assert case["error"] is None
    else:
        with pytest.raises(rm.FormatError) as caught:
            read()
        assert caught.value.kind == "wrong_compression"
        assert caught.value.found == (true or "no compression")


@pytest.mark.parametrize("tool, case", DAMAGES, ids=name_of)
def test_recorded_damage_loses_no_record_of_framework(tool: str, case: dict[str, Any]) -> None:
    """The reader may be stricter than the framework, but must not return records that do not exist."""
    format_ = "tfrecord" if tool == "tensorflow" else "recordio"
    path, crash = RECORDINGS / tool / "damage" / case["path"], "crash" in case
    theirs = [] if crash else payloads_of(case)
    is_rejected = crash or case["error"] is not None
    intact = [bytes.fromhex(text) for text in load_recording(f"{tool}/damage/expected.json")["payloads"]]
    ours: list[bytes] = []
    error: RecordmillError | None = None
    try:
        compression = COMPRESSIONS[case.get("compression", "")]
        with rm.ShardReader(path, format=format_, compression=compression, index="never") as reader:
            for payload in reader:
                ours.append(payload)  # noqa: PERF402
    except RecordmillError as caught:
        error = caught
    if case["path"] == "gzip_zeros_after.tfrecord":
        is_rejected = False  # Like gzip itself, we accept zeros as padding.
    if is_rejected:
        assert error is not None
    if error is None:
        assert ours == theirs
    else:
        assert error.shard == str(path)
        assert error.hint
        common = min(len(ours), len(theirs))
        assert ours[:common] == theirs[:common]
        assert tool == "mxnet" or ours == intact[: len(ours)] or not is_rejected


def test_open_of_faces_includes_header_and_identity_records(tmp_path: Path) -> None:
    folder = copy_recordings("mxnet/faces", tmp_path)
    expected = load_recording("mxnet/faces/expected.json")
    dataset = rm.open(folder / "scalar" / "train.rec")
    with rm.ShardReader(folder / "scalar" / "train.rec") as reader:
        first = dataset[reader.position_of(0)]
        num_images = int(first["label"][0]) - 1
        assert num_images == len(expected["identities"])
        labels = [dataset[reader.position_of(key)]["label"] for key in range(1, num_images + 1)]
    assert [int(np.asarray(label).reshape(-1)[0]) for label in labels] == expected["identities"]

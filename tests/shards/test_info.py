"""Summaries of shards by `info`, and the faults and guarantees that `verify` reports."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

import recordmill as rm
from recordmill.testing import messages
from tests.shards.helpers import FORMATS, encode_message, write_shard


@pytest.mark.parametrize("format_name", FORMATS)
def test_info_counts_records_and_describes_features(tmp_path: Path, format_name: str) -> None:
    for number in range(3):
        write_shard(
            tmp_path,
            format_name,
            [encode_message("tfrecord" if format_name == "recordio" else format_name, n) for n in range(20)],
            f"s{number}",
        )
    found = rm.info(tmp_path)
    assert (found.num_records, found.format, len(found.shards)) == (60, format_name, 3)
    assert found.num_bytes == sum(path.stat().st_size for path in tmp_path.glob("s*"))
    data = json.loads(json.dumps(found.to_json()))
    assert [entry["num_records"] for entry in data["shards"]] == [20, 20, 20]
    if format_name != "recordio":
        assert data["schema"] == {"id": {"kind": "int64", "shape": []}, "text": {"kind": "bytes", "shape": []}}
        assert data["features"]["text"]["num_bytes"] == [0, 6]
        assert data["features"]["id"]["missing_rate"] == 0


def test_info_reports_varying_and_missing_features(tmp_path: Path) -> None:
    rows = [{"a": ("int64", [1] * (n % 3)), **({"b": ("float32", [0.5])} if n % 4 == 0 else {})} for n in range(40)]
    write_shard(tmp_path, "tfrecord", [messages.encode_example(row) for row in rows])
    features = rm.info(tmp_path).to_json()["features"]
    assert (features["a"]["varying"], features["a"]["counts"], features["a"]["shape"]) == (True, [0, 2], [None])
    assert features["b"]["missing_rate"] == 0.75


def test_info_reports_mixed_kinds(tmp_path: Path) -> None:
    rows = [{"a": ("int64", [1])}, {"a": ("bytes", [b"x"])}]
    write_shard(tmp_path, "tfrecord", [messages.encode_example(row) for row in rows])
    assert rm.info(tmp_path).to_json()["features"]["a"]["mixed_kinds"] is True


def test_info_with_small_sample_counts_all_records(tmp_path: Path) -> None:
    write_shard(tmp_path, "tfrecord", [encode_message("tfrecord", number) for number in range(50)])
    found = rm.info(tmp_path, num_records=7)
    assert (found.num_records, found.num_sampled) == (50, 7)


def test_info_of_damaged_shard_counts_intact_records(tmp_path: Path) -> None:
    path = write_shard(tmp_path, "tfrecord", [encode_message("tfrecord", number) for number in range(50)])
    os.truncate(path, path.stat().st_size - 5)
    found = rm.info(path)
    assert found.num_records == 49
    assert "end inside a record" in (found.shards[0].damage or "")
    assert "damage" in found.to_json()["shards"][0]


def test_info_of_opaque_payloads_reports_raw(tmp_path: Path) -> None:
    write_shard(tmp_path, "tfrecord", [b"\xff\xff not a message", b"neither"])
    found = rm.info(tmp_path).to_json()
    assert found["payload"] == "raw"
    assert list(found["features"]) == ["payload"]


@pytest.mark.parametrize("position", [0, 3, 39])
@pytest.mark.parametrize("format_name", ["tfrecord", "ofrecord"])
def test_one_invalid_message_does_not_change_detected_payload(tmp_path: Path, format_name: str, position: int) -> None:
    payloads = [encode_message(format_name, number) for number in range(40)]
    payloads[position] = payloads[position][:-1] + b"\xff\xff"
    path = write_shard(tmp_path, format_name, payloads)
    assert sorted(rm.info(path).features) == ["id", "text"]
    report = rm.verify(path)
    assert [(fault.kind, fault.record) for fault in report.faults] == [("bad_payload", position)]
    assert report.num_records == 39


@pytest.mark.parametrize("format_name", FORMATS)
def test_verify_guarantees_depend_on_format(tmp_path: Path, format_name: str) -> None:
    path = write_shard(tmp_path, format_name, [encode_message(format_name, number) for number in range(5)])
    text = " ".join(rm.verify(path).guarantees[format_name])
    assert ("has no checksums" in text) == (format_name != "tfrecord")
    assert ("after a damaged length" in text) == (format_name == "ofrecord")
    rm.build_index(path)
    text = " ".join(rm.verify(path).guarantees[format_name])
    assert ("in the sidecar index" in text) == (format_name != "tfrecord")


@pytest.mark.parametrize("format_name", ["tfrecord", "ofrecord"])
def test_verify_names_record_with_invalid_payload(tmp_path: Path, format_name: str) -> None:
    payloads = [encode_message(format_name, number) for number in range(40)]
    payloads[35] = b"\x0a\x05\xff"
    path = write_shard(tmp_path, format_name, payloads)
    offset = int(rm.ShardReader(path).index.offsets[35])
    report = rm.verify(path)
    assert [(fault.kind, fault.record, fault.offset) for fault in report.faults] == [("bad_payload", 35, offset)]
    assert report.num_records == 39
    assert rm.verify(path, payload=None).ok
    with pytest.raises(rm.PayloadError) as caught:
        rm.open(path, schema={"id": rm.Feature("int64")})[:]
    assert (caught.value.record, caught.value.shard) == (35, str(path))
    assert caught.value.hint


def test_verify_names_shard_of_each_fault(tmp_path: Path) -> None:
    paths = [write_shard(tmp_path, "tfrecord", [b"abc", b"defg"], name=f"s{number}") for number in range(3)]
    for path in (paths[0], paths[2]):
        data = bytearray(path.read_bytes())
        data[12] ^= 1
        path.write_bytes(data)
    report = rm.verify(tmp_path, payload=None)
    assert [(fault.shard, fault.record, fault.kind) for fault in report.faults] == [
        (str(paths[0]), 0, "payload_checksum"),
        (str(paths[2]), 0, "payload_checksum"),
    ]
    assert (report.ok, report.num_records, report.num_faults) == (False, 4, 2)
    assert json.loads(json.dumps(report.to_json()))["ok"] is False


def test_ragged_slices_padding_and_lists_have_same_rows() -> None:
    rows = [np.arange(count, dtype=np.int64) for count in (2, 0, 3)]
    ragged = rm.Ragged.from_rows(rows)
    assert len(ragged) == 3
    assert ragged.to_list() == [[0, 1], [], [0, 1, 2]]
    assert ragged[1:].to_list() == [[], [0, 1, 2]]
    assert ragged[-1].tolist() == [0, 1, 2]
    assert ragged[2:1].to_list() == []
    assert ragged.to_padded(fill=-1).tolist() == [[0, 1, -1], [-1, -1, -1], [0, 1, 2]]
    assert ragged.to_padded(length=2).tolist() == [[0, 1], [0, 0], [0, 1]]
    assert list(rm.Ragged.from_rows([b"ab", b"", b"c"])) == [b"ab", b"", b"c"]
    with pytest.raises(IndexError):
        ragged[3]

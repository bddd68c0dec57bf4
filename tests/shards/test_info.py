"""What info tells of shards, and what verify says that it could and could not show."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

import recordmill as rm
from recordmill.testing import protobuf
from tests.shards.made import FAMILIES, message, shard


@pytest.mark.parametrize("family", FAMILIES)
def test_info_of_shards_when_asked_then_tells_records_sizes_and_features(tmp_path: Path, family: str) -> None:
    for number in range(3):
        shard(
            tmp_path,
            family,
            [message("tfrecord" if family == "recordio" else family, n) for n in range(20)],
            f"s{number}",
        )
    found = rm.info(tmp_path)
    assert (found.num_records, found.format, len(found.shards)) == (60, family, 3)
    assert found.num_bytes == sum(path.stat().st_size for path in tmp_path.glob("s*"))
    data = json.loads(json.dumps(found.to_json()))
    assert [entry["num_records"] for entry in data["shards"]] == [20, 20, 20]
    if family != "recordio":
        assert data["schema"] == {"id": {"kind": "int64", "shape": []}, "text": {"kind": "bytes", "shape": []}}
        assert data["features"]["text"]["num_bytes"] == [0, 6]
        assert data["features"]["id"]["missing_rate"] == 0


def test_info_when_features_vary_or_are_missing_then_says_how_often(tmp_path: Path) -> None:
    rows = [{"a": ("int64", [1] * (n % 3)), **({"b": ("float32", [0.5])} if n % 4 == 0 else {})} for n in range(40)]
    shard(tmp_path, "tfrecord", [protobuf.encode_example(row) for row in rows])
    features = rm.info(tmp_path).to_json()["features"]
    assert (features["a"]["varying"], features["a"]["counts"], features["a"]["shape"]) == (True, [0, 2], [None])
    assert features["b"]["missing_rate"] == 0.75


def test_info_when_kinds_are_mixed_then_says_so(tmp_path: Path) -> None:
    rows = [{"a": ("int64", [1])}, {"a": ("bytes", [b"x"])}]
    shard(tmp_path, "tfrecord", [protobuf.encode_example(row) for row in rows])
    assert rm.info(tmp_path).to_json()["features"]["a"]["mixed_kinds"] is True


def test_info_when_only_some_records_are_looked_at_then_counts_all(tmp_path: Path) -> None:
    shard(tmp_path, "tfrecord", [message("tfrecord", number) for number in range(50)])
    found = rm.info(tmp_path, num_records=7)
    assert (found.num_records, found.num_sampled) == (50, 7)


def test_info_of_damaged_shard_when_asked_then_tells_what_is_sound(tmp_path: Path) -> None:
    path = shard(tmp_path, "tfrecord", [message("tfrecord", number) for number in range(50)])
    os.truncate(path, path.stat().st_size - 5)
    found = rm.info(path)
    assert found.num_records == 49
    assert "end inside a record" in (found.shards[0].damage or "")
    assert "damage" in found.to_json()["shards"][0]


def test_info_of_opaque_payloads_when_asked_then_says_raw(tmp_path: Path) -> None:
    shard(tmp_path, "tfrecord", [b"\xff\xff not a message", b"neither"])
    found = rm.info(tmp_path).to_json()
    assert found["payload"] == "raw"
    assert list(found["features"]) == ["payload"]


@pytest.mark.parametrize("position", [0, 3, 39])
@pytest.mark.parametrize("family", ["tfrecord", "ofrecord"])
def test_message_when_it_does_not_parse_then_its_neighbors_are_no_opaque_bytes(
    tmp_path: Path, family: str, position: int
) -> None:
    payloads = [message(family, number) for number in range(40)]
    payloads[position] = payloads[position][:-1] + b"\xff\xff"
    path = shard(tmp_path, family, payloads)
    assert sorted(rm.info(path).features) == ["id", "text"]
    report = rm.verify(path)
    assert [(fault.kind, fault.record) for fault in report.faults] == [("bad_payload", position)]
    assert report.num_records == 39


@pytest.mark.parametrize("family", FAMILIES)
def test_guarantees_when_verified_then_follow_what_the_format_has(tmp_path: Path, family: str) -> None:
    path = shard(tmp_path, family, [message(family, number) for number in range(5)])
    text = " ".join(rm.verify(path).guarantees[family])
    assert ("has no checksums" in text) == (family != "tfrecord")
    assert ("after a damaged length" in text) == (family == "ofrecord")
    rm.build_index(path)
    text = " ".join(rm.verify(path).guarantees[family])
    assert ("in the sidecar index" in text) == (family != "tfrecord")


@pytest.mark.parametrize("family", ["tfrecord", "ofrecord"])
def test_payload_that_does_not_parse_when_verified_then_the_record_is_named(tmp_path: Path, family: str) -> None:
    payloads = [message(family, number) for number in range(40)]
    payloads[35] = b"\x0a\x05\xff"
    path = shard(tmp_path, family, payloads)
    offset = int(rm.ShardReader(path).index.offsets[35])
    report = rm.verify(path)
    assert [(fault.kind, fault.record, fault.offset) for fault in report.faults] == [("bad_payload", 35, offset)]
    assert report.num_records == 39
    assert rm.verify(path, payload=None).ok
    with pytest.raises(rm.PayloadError) as caught:
        rm.open(path, schema={"id": rm.Feature("int64")})[:]
    assert (caught.value.record, caught.value.shard) == (35, str(path))
    assert caught.value.hint


def test_several_shards_when_verified_then_each_fault_names_its_own(tmp_path: Path) -> None:
    paths = [shard(tmp_path, "tfrecord", [b"abc", b"defg"], name=f"s{number}") for number in range(3)]
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


def test_ragged_when_sliced_padded_and_listed_then_rows_are_the_same() -> None:
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

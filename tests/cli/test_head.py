"""`recordmill head` prints records, also those before damage."""

from __future__ import annotations

import hashlib
import json
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path

import pytest

import recordmill as rm
from tests.cli.conftest import Result, create_example

Run = Callable[..., Result]


def test_head_json_prints_one_object_per_record(run: Run, shards: Path) -> None:
    result = run("head", "--json", "-n", "3", shards / "train-00000-of-00002.tfrecord")
    assert result.code == 0 and result.err == ""
    records = [json.loads(line) for line in result.out.splitlines()]
    assert [record["record"] for record in records] == [0, 1, 2]
    second = create_example(2)
    assert records[1]["features"] == {
        "image": {"num_bytes": len(second["image"]), "image": "jpeg 32x20"},
        "label": 2,
        "name": {"num_bytes": 2, "text": "n2"},
        "noise": {"num_bytes": 4, "sha256": hashlib.sha256(second["noise"]).hexdigest()},
        "scores": {"kind": "float32", "shape": [3], "values": [0.0, 1.0, 2.0]},
        "tags": {
            "kind": "bytes",
            "shape": [2],
            "values": [{"num_bytes": 5, "text": "first"}, {"num_bytes": 6, "text": "second"}],
        },
    }


@pytest.fixture
def long(tmp_path: Path) -> Path:
    path = tmp_path / "long.tfrecord"
    example = {"ids": range(100), "texts": ["word"] * 9, "text": "x" * 99, "noise": bytes(range(256)), "few": [1, 2]}
    with rm.ShardWriter(path) as writer:
        writer.write(example | {"image": create_example(0)["image"]})
    return path


def test_head_json_flags_truncated_values(run: Run, long: Path) -> None:
    features = json.loads(run("head", "--json", long).out)["features"]
    assert {name for name, value in features.items() if "truncated" in value} == {"ids", "texts", "text"}
    assert features["ids"] == {"kind": "int64", "shape": [100], "values": list(range(16)), "truncated": True}
    assert features["text"] == {"num_bytes": 99, "text": "x" * 60, "truncated": True}
    assert features["few"] == {"kind": "int64", "shape": [2], "values": [1, 2]}


def test_head_full_json_prints_complete_values(run: Run, long: Path) -> None:
    features = json.loads(run("head", "--json", "--full", long).out)["features"]
    assert features["ids"] == {"kind": "int64", "shape": [100], "values": list(range(100))}
    assert features["texts"]["values"] == [{"num_bytes": 4, "text": "word"}] * 9
    assert features["text"] == {"num_bytes": 99, "text": "x" * 99}
    assert b64decode(features["noise"]["base64"]) == bytes(range(256))
    assert b64decode(features["image"]["base64"]) == create_example(0)["image"]


def test_head_full_without_json_exits_with_2(run: Run, long: Path) -> None:
    result = run("head", "--full", long)
    assert result.code == 2 and result.err == "error: --full requires --json\n"


def test_head_prints_five_records_by_default(run: Run, shards: Path) -> None:
    lines = run("head", shards).out.splitlines()
    assert [line for line in lines if line.startswith("record")] == [f"record {number}" for number in range(5)]
    assert any(line.split()[:4] == ["image", "bytes", "jpeg", "32x20,"] for line in lines)
    assert any(line.split() == ["label", "int64", "0"] for line in lines)


def test_head_prints_all_records_of_short_shards(run: Run, shards: Path) -> None:
    assert len(run("head", "--json", "-n", "100", shards).out.splitlines()) == 10


def test_head_raw_payload_prints_payloads(run: Run, shards: Path) -> None:
    record = json.loads(run("head", "--json", "-n", "1", "--payload", "raw", shards).out)
    with rm.ShardReader(shards / "train-00000-of-00002.tfrecord") as reader:
        assert record["features"]["payload"]["num_bytes"] == len(reader[0])


@pytest.mark.parametrize("format_", ["tfrecord", "ofrecord", "recordio"])
@pytest.mark.parametrize("num_records", [1, 50])
def test_head_prints_examples_before_broken_framing_and_error(
    run: Run, tmp_path: Path, format_: str, num_records: int
) -> None:
    path = tmp_path / "intact"
    with rm.ShardWriter(path, format=format_) as writer:
        for number in range(4):
            writer.write({"image": b"xyz", "label": float(number)})
    data = Path(writer.paths[0]).read_bytes()
    broken = tmp_path / "broken"
    broken.write_bytes(data[:-2])
    result = run("head", "--json", "-n", num_records, broken)
    records = [json.loads(line) for line in result.out.splitlines()]
    assert [record["features"]["label"] for record in records] == list(range(min(num_records, 3)))
    if num_records <= 3:
        assert (result.code, result.err) == (0, "")
    else:
        assert result.code == 1
        assert f"shard '{broken}', record 3, offset {len(data) // 4 * 3}" in result.err


def test_head_prints_records_before_corrupt_payload(run: Run, damaged: Path) -> None:
    result = run("head", "--json", damaged)
    assert result.code == 1 and [json.loads(line)["features"]["label"] for line in result.out.splitlines()] == [0, 2]
    assert f"shard '{damaged}', record 2, offset " in result.err


def test_head_prints_none_for_missing_feature(run: Run, tmp_path: Path) -> None:
    with rm.ShardWriter(tmp_path / "x.tfrecord") as writer:
        writer.write({"label": 1})
        writer.write({})
    result = run("head", "-n", "2", tmp_path / "x.tfrecord")
    assert result.code == 0 and result.out.splitlines()[-1].split() == ["label", "int64", "0", "none"]


@pytest.mark.parametrize("format_", ["tfrecord", "ofrecord", "recordio"])
def test_head_prints_label_and_image_of_any_format(run: Run, tmp_path: Path, format_: str) -> None:
    with rm.ShardWriter(tmp_path / "out" / "part", format=format_, shards=1) as writer:
        writer.write({"image": create_example(3)["image"], "label": 3})
    record = json.loads(run("head", "--json", tmp_path / "out").out)
    assert record["features"]["label"] == 3
    assert record["features"]["image"]["image"] == "jpeg 32x20"

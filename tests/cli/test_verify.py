"""`recordmill verify` lists faults of shards."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import recordmill as rm
from tests.cli.conftest import Result

Run = Callable[..., Result]


def test_verify_of_intact_shards_exits_with_0(run: Run, shards: Path) -> None:
    result = run("verify", "--json", shards)
    assert result.code == 0 and result.err == ""
    assert (result.json["ok"], result.json["num_records"], result.json["faults"]) == (True, 10, [])


def test_verify_json_locates_flipped_bit(run: Run, damaged: Path) -> None:
    result = run("verify", "--json", damaged)
    assert result.code == 1 and result.err == ""
    assert (result.json["ok"], result.json["num_records"]) == (False, 4)
    (fault,) = result.json["faults"]
    assert set(fault) == {"kind", "shard", "record", "offset", "message"}
    with rm.ShardReader(damaged, verify=False) as reader:
        expected = int(reader.index.offsets[2])
    assert (fault["kind"], fault["shard"], fault["record"]) == ("payload_checksum", str(damaged), 2)
    assert expected <= fault["offset"] < expected + 16


def test_verify_prints_one_line_per_fault(run: Run, damaged: Path) -> None:
    result = run("verify", damaged.parent)
    assert result.code == 1
    first, second = result.out.splitlines()[:2]
    assert first.startswith(f"{damaged}, record 2, offset ") and ": payload_checksum: " in first
    assert second == "9 intact records, 1 fault"


def test_verify_prints_guarantees_of_format(run: Run, shards: Path) -> None:
    lines = run("verify", shards).out.splitlines()
    assert lines[0] == "10 intact records, no faults"
    assert any(line.startswith("tfrecord: ") and "CRC-32C" in line for line in lines[1:])


def test_verify_reports_payloads_of_other_type(run: Run, tmp_path: Path) -> None:
    with rm.ShardWriter(tmp_path / "x.tfrecord") as writer:
        writer.write(b"\xff\xff no message")
    assert run("verify", "--payload", "none", tmp_path / "x.tfrecord").code == 0
    result = run("verify", "--json", "--payload", "example", tmp_path / "x.tfrecord")
    assert result.code == 1 and result.json["faults"][0]["kind"] == "bad_payload"


def test_verify_reports_other_file_as_fault(run: Run, tmp_path: Path) -> None:
    (tmp_path / "x.tfrecord").write_text("version https://git-lfs.github.com/spec/v1\n")
    result = run("verify", "--json", tmp_path / "x.tfrecord")
    assert result.code == 1 and "Git LFS pointer" in result.json["faults"][0]["message"]


def test_verify_reads_all_given_shards(run: Run, shards: Path, truncated: Path) -> None:
    result = run("verify", "--json", shards, truncated)
    assert result.code == 1 and result.json["num_records"] == 13
    assert [fault["shard"] for fault in result.json["faults"]] == [str(truncated)]

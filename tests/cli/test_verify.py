"""`recordmill verify`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import recordmill as rm
from tests.cli.conftest import Done

Run = Callable[..., Done]


def test_verify_when_sound_then_json_says_so_and_exit_code_0(run: Run, shards: Path) -> None:
    done = run("verify", "--json", shards)
    assert done.code == 0 and done.err == ""
    assert (done.json["ok"], done.json["num_records"], done.json["faults"]) == (True, 10, [])


def test_verify_when_a_bit_is_turned_then_json_tells_where_and_exit_code_1(run: Run, damaged: Path) -> None:
    done = run("verify", "--json", damaged)
    assert done.code == 1 and done.err == ""
    assert (done.json["ok"], done.json["num_records"]) == (False, 4)
    (fault,) = done.json["faults"]
    assert set(fault) == {"kind", "shard", "record", "offset", "message"}
    with rm.ShardReader(damaged, verify=False) as reader:
        expected = int(reader.index.offsets[2])
    assert (fault["kind"], fault["shard"], fault["record"]) == ("payload_checksum", str(damaged), 2)
    assert expected <= fault["offset"] < expected + 16


def test_verify_when_a_bit_is_turned_then_text_has_a_line_per_fault(run: Run, damaged: Path) -> None:
    done = run("verify", damaged.parent)
    assert done.code == 1
    first, second = done.out.splitlines()[:2]
    assert first.startswith(f"{damaged}, record 2, offset ") and ": payload_checksum: " in first
    assert second == "9 sound records, 1 fault"


def test_verify_when_text_then_says_what_the_format_could_show(run: Run, shards: Path) -> None:
    lines = run("verify", shards).out.splitlines()
    assert lines[0] == "10 sound records, no faults"
    assert any(line.startswith("tfrecord: ") and "CRC-32C" in line for line in lines[1:])


def test_verify_when_payload_is_another_then_faults_are_told(run: Run, tmp_path: Path) -> None:
    with rm.ShardWriter(tmp_path / "x.tfrecord") as writer:
        writer.write(b"\xff\xff no message")
    assert run("verify", "--payload", "none", tmp_path / "x.tfrecord").code == 0
    done = run("verify", "--json", "--payload", "example", tmp_path / "x.tfrecord")
    assert done.code == 1 and done.json["faults"][0]["kind"] == "bad_payload"


def test_verify_when_the_file_is_no_shard_then_is_a_fault(run: Run, tmp_path: Path) -> None:
    (tmp_path / "x.tfrecord").write_text("version https://git-lfs.github.com/spec/v1\n")
    done = run("verify", "--json", tmp_path / "x.tfrecord")
    assert done.code == 1 and "Git LFS pointer" in done.json["faults"][0]["message"]


def test_verify_when_several_shards_are_named_then_all_are_walked(run: Run, shards: Path, cut: Path) -> None:
    done = run("verify", "--json", shards, cut)
    assert done.code == 1 and done.json["num_records"] == 13
    assert [fault["shard"] for fault in done.json["faults"]] == [str(cut)]

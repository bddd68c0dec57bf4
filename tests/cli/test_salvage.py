"""`recordmill salvage` copies the intact records of damaged shards and lists what was lost."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import recordmill as rm
from recordmill.testing import tfrecord
from tests.cli.conftest import Result

Run = Callable[..., Result]


def test_salvage_of_intact_shards_exits_with_0(run: Run, shards: Path, tmp_path: Path) -> None:
    result = run("salvage", shards, tmp_path / "out" / "train")
    assert result.code == 0 and result.err == ""
    first, pattern = result.out.splitlines()
    assert first.startswith("10 records copied, ") and first.endswith("; nothing was lost")
    assert pattern == str(tmp_path / "out" / "train-*-of-00002.tfrecord")
    assert len(rm.open(pattern)) == 10


def test_salvage_prints_one_line_per_lost_range(run: Run, damaged: Path, tmp_path: Path) -> None:
    with rm.ShardReader(damaged, verify=False) as reader:
        start, stop = (int(value) for value in reader.index.offsets[2:4])
    result = run("salvage", damaged.parent, tmp_path / "out")
    assert result.code == 1 and result.err == ""
    first, second, *paths = result.out.splitlines()
    assert first.startswith(f"{damaged}, bytes {start} to {stop}: payload_checksum: ")
    assert first.endswith("; 1 record lost")
    assert second.startswith("9 records copied, ") and second.endswith("; 1 record lost in 1 range")
    assert len(rm.open(paths)) == 9


def test_salvage_marks_estimates(run: Run, truncated: Path, tmp_path: Path) -> None:
    result = run("salvage", truncated, tmp_path / "out")
    assert result.code == 1
    assert result.out.splitlines()[0].endswith("; about 1 record lost")
    assert "; about 1 record lost in 1 range" in result.out.splitlines()[1]


def test_salvage_json_has_lost_ranges(run: Run, damaged: Path, tmp_path: Path) -> None:
    result = run("salvage", "--json", damaged, tmp_path / "out.tfrecord")
    assert result.code == 1 and result.err == ""
    assert (result.json["ok"], result.json["num_records"]) == (False, 4)
    assert result.json["paths"] == [str(tmp_path / "out.tfrecord")]
    (lost,) = result.json["lost"]
    assert set(lost) == {"shard", "start", "stop", "kind", "reason", "num_records", "is_exact"}


def test_salvage_passes_options(run: Run, damaged: Path, tmp_path: Path) -> None:
    options = ("--format", "recordio", "--no-index", "--payload", "none", "--source-format", "tfrecord")
    result = run(
        "salvage", *options, "--source-compression", "none", "--max-record-bytes", "1GB", damaged, tmp_path / "o"
    )
    assert result.code == 1
    assert sorted(path.name for path in tmp_path.glob("o-*")) == ["o-00000-of-00001.idx", "o-00000-of-00001.rec"]
    assert run("salvage", *options, damaged, tmp_path / "o").code == 2
    again = run("salvage", *options, "--overwrite", damaged, tmp_path / "o")
    assert again.code == 1 and again.err == ""


def test_salvage_names_options_in_hints(run: Run, tmp_path: Path) -> None:
    source = tmp_path / "data.bin"
    source.write_bytes(b"\xfe" * 20 + tfrecord.frame(b"sound"))
    result = run("salvage", source, tmp_path / "out")
    assert result.code == 1 and "--source-format" in result.out.splitlines()[0]
    assert result.out.splitlines()[1].startswith("0 records copied")
    declared = run("salvage", "--source-format", "tfrecord", source, tmp_path / "out")
    assert declared.code == 1 and declared.out.splitlines()[1].startswith("1 record copied")


def test_salvage_exits_with_2_if_it_cannot_run(run: Run, damaged: Path, tmp_path: Path) -> None:
    missing = run("salvage", tmp_path / "missing", tmp_path / "out")
    assert missing.code == 2 and missing.err.startswith("error: ")
    onto_source = run("salvage", "--overwrite", damaged, damaged)
    assert onto_source.code == 2 and "one of the sources" in onto_source.err
    empty = tmp_path / "empty.tfrecord"
    empty.write_bytes(tfrecord.frame(b""))
    refused = run("salvage", "--format", "ofrecord", empty, tmp_path / "out")
    assert refused.code == 2 and "record 0" in refused.err and "--format" in refused.err


def test_salvage_runs_as_program(damaged: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "recordmill", "salvage", "--json", str(damaged), str(tmp_path / "out" / "x")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "")
    assert len(rm.open(json.loads(done.stdout)["paths"])) == 4

"""`recordmill info`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import recordmill as rm
from tests.cli.conftest import Done

Run = Callable[..., Done]
FIRST = "train-00000-of-00002.tfrecord"


def test_info_when_json_then_has_the_shape_that_programs_rely_on(run: Run, shards: Path) -> None:
    done = run("info", "--json", shards)
    assert done.code == 0 and done.err == ""
    plain = done.json
    assert {"num_records", "num_bytes", "format", "schema", "shards"} <= set(plain)
    assert (plain["num_records"], plain["format"]) == (10, "tfrecord")
    assert plain["num_bytes"] == sum(path.stat().st_size for path in shards.glob("train-*"))
    assert plain["schema"]["image"] == {"kind": "bytes", "shape": []}
    assert plain["schema"]["scores"] == {"kind": "float32", "shape": [None]}
    assert plain["shards"][0] == {
        "path": str(shards / FIRST),
        "format": "tfrecord",
        "compression": None,
        "num_records": 5,
        "num_bytes": (shards / FIRST).stat().st_size,
    }


def test_info_when_text_then_tells_sizes_and_features(run: Run, shards: Path) -> None:
    done = run("info", shards)
    lines = {line.split()[0]: line for line in done.out.splitlines() if line.strip()}
    assert done.out.startswith("tfrecord: 10 records in 2 shards, ")
    assert lines["scores"].split() == ["scores", "float32", "varying", "?", "1", "to", "3", "never"]
    assert lines["tags"].split() == ["tags", "bytes", "fixed", "2", "2", "5", "to", "6", "never"]
    assert lines["noise"].split() == ["noise", "bytes", "one", "value", "1", "4", "never"]


def test_info_when_a_feature_is_often_missing_then_tells_the_rate(run: Run, tmp_path: Path) -> None:
    with rm.ShardWriter(tmp_path / "x.tfrecord") as writer:
        for number in range(8):
            writer.write({"label": number, **({"rare": 1} if number % 4 == 0 else {})})
    done = run("info", tmp_path / "x.tfrecord", "-n", "8")
    assert next(line for line in done.out.splitlines() if "rare" in line).split()[-1] == "75.0%"


def test_info_when_a_shard_is_damaged_then_counts_what_is_before_and_exit_code_1(run: Run, cut: Path) -> None:
    done = run("info", cut)
    assert done.code == 1 and done.out.startswith("tfrecord: 3 records in 1 shard, ")
    assert f"damaged: {cut}: the data end inside a record" in done.err
    assert run("info", "--json", cut).json["shards"][0]["num_records"] == 3


def test_info_when_the_file_is_no_shard_then_says_what_it_is(run: Run, tmp_path: Path) -> None:
    page = tmp_path / "page.tfrecord"
    page.write_text("<!DOCTYPE html><html>404</html>")
    done = run("info", page)
    assert done.code == 2 and done.out == "" and "HTML" in done.err and str(page) in done.err


def test_info_when_shards_are_many_then_lists_some_and_json_all(run: Run, tmp_path: Path) -> None:
    with rm.ShardWriter(tmp_path / "train", shards=30) as writer:
        for number in range(30):
            writer.write({"label": number})
    done = run("info", tmp_path)
    assert "… and 20 shards more" in done.out
    assert len(run("info", "--json", tmp_path).json["shards"]) == 30


@pytest.mark.parametrize("compression", ["gzip", "zlib"])
def test_info_when_compressed_then_names_the_compression(run: Run, tmp_path: Path, compression: str) -> None:
    with rm.ShardWriter(tmp_path / "train", compression=compression) as writer:
        writer.write({"label": 1})
    assert run("info", "--json", tmp_path).json["shards"][0]["compression"] == compression
    assert compression in run("info", tmp_path).out


def test_info_when_a_name_would_drive_the_terminal_then_is_escaped(run: Run, tmp_path: Path) -> None:
    with rm.ShardWriter(tmp_path / "x.tfrecord") as writer:
        writer.write({"\x1b[2Jname": 1})
    done = run("info", tmp_path / "x.tfrecord")
    assert "\x1b" not in done.out and r"\x1b[2Jname" in done.out

"""`recordmill cat`, `count` and `diff`, through the real executable where bytes matter."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path

import pytest

import recordmill as rm
from recordmill.cli.main import COMMANDS
from tests.cli.conftest import Result, create_example

Run = Callable[..., Result]
COMMAND = [sys.executable, "-m", "recordmill"]


@pytest.mark.parametrize("options, span", [([], slice(0, 10)), (["--skip", "3", "-n", "4"], slice(3, 7))])
def test_cat_writes_payloads_without_framing(shards: Path, options: list[str], span: slice) -> None:
    result = subprocess.run([*COMMAND, "cat", *options, str(shards)], capture_output=True, check=True)
    assert result.stdout == b"".join(list(rm.iterate_payloads(shards))[span]) and result.stderr == b""


def test_cat_json_prints_complete_values(run: Run, shards: Path) -> None:
    result = run("cat", "--json", "--skip", "2", "-n", "3", shards)
    records = [json.loads(line) for line in result.out.splitlines()]
    assert [record["record"] for record in records] == [2, 3, 4]
    number = int(rm.open(shards)[2]["label"])
    features = records[0]["features"]
    assert features["label"] == number
    assert b64decode(features["image"]["base64"]) == create_example(number)["image"]


def test_cat_stops_at_damage_after_the_records_before_it(damaged: Path) -> None:
    result = subprocess.run([*COMMAND, "cat", str(damaged)], capture_output=True, check=False)
    assert result.returncode == 1 and b"record 2" in result.stderr and result.stdout


def test_count_prints_each_shard_and_the_total(run: Run, shards: Path) -> None:
    result = run("count", shards)
    assert [line.split() for line in result.out.splitlines()] == [
        ["5", str(shards / "train-00000-of-00002.tfrecord")],
        ["5", str(shards / "train-00001-of-00002.tfrecord")],
        ["10", "total"],
    ]
    assert run("count", "--json", shards).json["num_records"] == 10


def test_count_of_incomplete_dataset_exits_with_1(run: Run, shards: Path) -> None:
    (shards / "train-00001-of-00002.tfrecord").unlink()
    result = run("count", shards)
    assert result.code == 1 and "incomplete: " in result.err and result.out.startswith("5  ")


def test_diff_exits_with_0_or_1(run: Run, shards: Path, tmp_path: Path) -> None:
    same = run("diff", shards, shards)
    assert (same.code, same.out) == (0, "10 and 10 records: the same in the same order\n")
    first = shards / "train-00000-of-00002.tfrecord"
    other = run("diff", shards, first)
    assert other.code == 1 and "train-00001-of-00002.tfrecord, record 0" in other.out
    assert run("diff", "--json", shards, first).json["num_only_in_a"] == 5


def test_dash_reads_paths_from_standard_input(run: Run, shards: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = sorted(str(path) for path in shards.glob("*.tfrecord"))
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(names) + "\n"))
    assert run("count", "--json", "-").json["shards"] == dict.fromkeys(names, 5)
    for command, destination in (("convert", "all.tfrecord"), ("split", "parts")):
        monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(names) + "\n"))
        parts = ["a=0.5", "b=0.5"] if command == "split" else []
        assert run(command, "-", shards.parent / destination, *parts).code == 0
        assert len(rm.open(shards.parent / destination)) == 10
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    empty = run("count", "-")
    assert empty.code == 2 and "expected one path per line on standard input" in empty.err


@pytest.mark.parametrize(
    "arguments, hint",
    [
        (["inof", "x"], "hint: did you mean info?"),
        (["info", "--jsn", "x"], "hint: did you mean --json?"),
        (["head", "--format", "tfrecrod", "x"], "hint: did you mean tfrecord?"),
    ],
)
def test_misspelled_argument_is_answered_with_the_right_one(run: Run, arguments: list[str], hint: str) -> None:
    result = run(*arguments)
    assert result.code == 2 and result.err.splitlines()[-1] == hint


@pytest.mark.parametrize("name", [module.__name__.rpartition(".")[2] for module in COMMANDS])
def test_help_of_command_ends_with_an_example(run: Run, name: str) -> None:
    _, _, example = run(name, "--help").out.rpartition("\nexample:\n")
    assert example.startswith(f"  recordmill {name} ")


def test_pack_prints_a_pattern_instead_of_all_names(run: Run, photos: Path, tmp_path: Path) -> None:
    result = run("pack", photos, tmp_path / "out" / "train", "--shards", "3", "--quiet")
    summary, pattern = result.out.splitlines()
    assert (
        summary.startswith("6 records in 3 shards, ") and pattern == f"{tmp_path / 'out' / 'train'}-*-of-00003.tfrecord"
    )
    assert len(rm.open(pattern)) == 6

"""`recordmill convert` and `recordmill split`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import recordmill as rm
from tests.cli.conftest import Result

Run = Callable[..., Result]


def test_convert_prints_counts_and_paths(run: Run, shards: Path, tmp_path: Path) -> None:
    result = run("convert", shards, tmp_path / "out", "--where", "label < 4", "--drop", "noise,tags", "--shards", 2)
    assert result.code == 0 and result.err == ""
    first, *paths = result.out.splitlines()
    assert first.startswith("4 records in 2 shards, ")
    assert set(rm.open(paths).schema) == {"image", "label", "name", "scores"}


def test_convert_names_the_option_for_features_that_cannot_be_stored(run: Run, shards: Path, tmp_path: Path) -> None:
    result = run("convert", shards, tmp_path / "o.rec", "--select", "image,label")
    assert result.code == 2
    assert "feature 'label' cannot be stored" in result.err
    options = ("--cast", "label=float32", "--rename", "label=label", "--encode", "png", "--resize", 8)
    assert run("convert", shards, tmp_path / "o.rec", "--select", "image,label", *options).code == 0
    assert rm.decode_image(rm.open(tmp_path / "o.rec")[0]["image"]).shape[0] == 8


def test_convert_points_at_the_column_of_a_condition(run: Run, shards: Path, tmp_path: Path) -> None:
    result = run("convert", shards, tmp_path / "o", "--where", "label == 3 and lable == 2")
    assert result.code == 2
    lines = result.err.splitlines()
    assert lines[1].index("lable") == lines[2].index("^")
    assert "did you mean 'label'" in lines[3]


def test_convert_skips_damaged_records_and_exits_with_1(run: Run, damaged: Path, tmp_path: Path) -> None:
    assert run("convert", damaged, tmp_path / "o").code == 1
    result = run("convert", damaged, tmp_path / "o", "--on-error", "skip", "--json")
    assert result.code == 1
    assert [(record["shard"], record["record"]) for record in result.json["skipped"]] == [(str(damaged), 2)]


def test_split_prints_counts_per_class(run: Run, shards: Path, tmp_path: Path) -> None:
    result = run("split", shards, tmp_path / "parts", "train=0.8", "val=0.2", "--seed", 3)
    assert result.code == 0 and result.out.splitlines()[0].startswith("train: 8 records in 1 shard, ")
    result = run("split", shards, tmp_path / "p2", "train=0.5", "val=0.5", "--by", "name", "--json")
    assert sum(result.json["counts"]["train"].values()) == 5
    assert run("split", shards, tmp_path / "p3", "train").code == 2


def test_convert_and_split_run_as_executable(shards: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "recordmill"]
    subprocess.run([*command, "convert", shards, tmp_path / "a.rec", "--payload", "example"], check=True)
    subprocess.run([*command, "split", tmp_path / "a.rec", tmp_path / "b", "x=0.5", "y=0.5"], check=True)
    assert len(rm.open(tmp_path / "b" / "x")) == 5

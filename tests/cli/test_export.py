"""`recordmill export`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import recordmill as rm
from tests.cli.conftest import Result

Run = Callable[..., Result]
FORMS = {"folder": "photos", "jsonl": "a.jsonl", "csv": "a.csv", "webdataset": "tars"}


@pytest.mark.parametrize("form", FORMS)
def test_export_command_writes_each_form(run: Run, shards: Path, tmp_path: Path, form: str) -> None:
    result = run("export", shards, tmp_path / FORMS[form], "--to", form, "--json")
    assert result.code == 0 and result.json["num_records"] == 10 and (tmp_path / FORMS[form]).exists()


def test_export_command_runs_as_executable(shards: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "recordmill", "export", str(shards), str(tmp_path / "photos"), "--to", "folder"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout.startswith("10 records in 11 files")
    assert min(os.listdir(tmp_path / "photos")) == "labels.jsonl"
    again = subprocess.run(command, capture_output=True, text=True, check=False)
    assert again.returncode == 2 and "--overwrite" in again.stderr


def test_export_command_reports_renamed_keys(run: Run, tmp_path: Path) -> None:
    with rm.ShardWriter(tmp_path / "a.tfrecord") as writer:
        writer.write({"image": b"\xff\xd8\xff", "name": "../x"})
    result = run("export", tmp_path / "a.tfrecord", tmp_path / "photos", "--to", "folder")
    assert result.code == 0 and "1 key renamed" in result.out
    assert "renamed '../x' to 00000000.jpg" in result.err


def test_export_command_skips_damaged_records_and_exits_with_1(run: Run, damaged: Path, tmp_path: Path) -> None:
    assert run("export", damaged, tmp_path / "photos", "--to", "folder").code == 1
    assert not (tmp_path / "photos").exists()
    result = run("export", damaged, tmp_path / "photos", "--to", "folder", "--on-error", "skip")
    assert result.code == 1 and "record 2" in result.err and "1 record skipped" in result.out


def test_export_command_and_pack_take_file_of_class_names(run: Run, shards: Path, tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text("".join(f"class {number}\n" for number in range(10)))
    run("export", shards, tmp_path / "photos", "--to", "folder", "--classes", tmp_path / "names.txt")
    assert (tmp_path / "photos/class 3").is_dir()
    names = tmp_path / "photos/labels.txt"
    assert run("pack", tmp_path / "photos", tmp_path / "again/train", "--classes", names, "--quiet").code == 0
    assert rm.open(tmp_path / "again").classes == names.read_text().splitlines()


def test_head_shows_class_name_of_label(run: Run, shards: Path) -> None:
    (shards / "labels.txt").write_text("cat\ndog\n")
    text = run("head", "-n", 10, shards).out
    assert "0 (cat)" in text and "1 (dog)" in text and text.count("(") == 2
    records = map(json.loads, run("head", "-n", 10, shards, "--json").out.splitlines())
    assert {record["features"]["label"]: record["class"] for record in records if "class" in record} == {
        0: "cat",
        1: "dog",
    }

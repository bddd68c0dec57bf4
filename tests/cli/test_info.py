"""`recordmill info` prints format, sizes and features."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import recordmill as rm
from tests.cli.conftest import Result, encode_image

Run = Callable[..., Result]
FIRST = "train-00000-of-00002.tfrecord"


def test_info_json_has_documented_keys(run: Run, shards: Path) -> None:
    result = run("info", "--json", shards)
    assert result.code == 0 and result.err == ""
    plain = result.json
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


def test_info_prints_sizes_and_features(run: Run, shards: Path) -> None:
    result = run("info", shards)
    lines = {line.split()[0]: line for line in result.out.splitlines() if line.strip()}
    assert result.out.startswith("tfrecord: 10 records in 2 shards, ")
    assert lines["scores"].split() == ["scores", "float32", "varying", "?", "1", "to", "3", "never"]
    assert lines["tags"].split() == ["tags", "bytes", "fixed", "2", "2", "5", "to", "6", "never"]
    assert lines["noise"].split() == ["noise", "bytes", "one", "value", "1", "4", "never"]


def test_info_prints_rate_of_missing_feature(run: Run, tmp_path: Path) -> None:
    with rm.ShardWriter(tmp_path / "x.tfrecord") as writer:
        for number in range(8):
            writer.write({"label": number, **({"rare": 1} if number % 4 == 0 else {})})
    result = run("info", tmp_path / "x.tfrecord", "-n", "8")
    assert next(line for line in result.out.splitlines() if "rare" in line).split()[-1] == "75.0%"


def test_info_counts_records_before_damage_and_exits_with_1(run: Run, truncated: Path) -> None:
    result = run("info", truncated)
    assert result.code == 1 and result.out.startswith("tfrecord: 3 records in 1 shard, ")
    assert f"damaged: {truncated}: the data end inside a record" in result.err
    assert run("info", "--json", truncated).json["shards"][0]["num_records"] == 3


def test_info_names_type_of_other_file(run: Run, tmp_path: Path) -> None:
    page = tmp_path / "page.tfrecord"
    page.write_text("<!DOCTYPE html><html>404</html>")
    result = run("info", page)
    assert result.code == 2 and result.out == "" and "HTML" in result.err and str(page) in result.err


def test_info_lists_first_shards_and_json_all(run: Run, tmp_path: Path) -> None:
    with rm.ShardWriter(tmp_path / "train", shards=30) as writer:
        for number in range(30):
            writer.write({"label": number})
    result = run("info", tmp_path)
    assert "… and 20 shards more" in result.out
    assert len(run("info", "--json", tmp_path).json["shards"]) == 30


@pytest.mark.parametrize("compression", ["gzip", "zlib"])
def test_info_prints_compression(run: Run, tmp_path: Path, compression: str) -> None:
    with rm.ShardWriter(tmp_path / "train", compression=compression) as writer:
        writer.write({"label": 1})
    assert run("info", "--json", tmp_path).json["shards"][0]["compression"] == compression
    assert compression in run("info", tmp_path).out


def test_info_escapes_control_characters_in_names(run: Run, tmp_path: Path) -> None:
    with rm.ShardWriter(tmp_path / "x.tfrecord") as writer:
        writer.write({"\x1b[2Jname": 1})
    result = run("info", tmp_path / "x.tfrecord")
    assert "\x1b" not in result.out and r"\x1b[2Jname" in result.out


def test_info_stats_prints_ranges_images_and_labels(run: Run, tmp_path: Path) -> None:
    for name, count in (("cat", 3), ("dog", 2)):
        (tmp_path / "photos" / name).mkdir(parents=True)
        for number in range(count):
            (tmp_path / "photos" / name / f"{number}.jpg").write_bytes(encode_image(number, size=(64, 40 + number)))
    rm.pack(rm.ImageFolder(tmp_path / "photos"), tmp_path / "out" / "train")
    result = run("info", "--stats", tmp_path / "out")
    assert result.code == 0
    lines = [line.strip() for line in result.out.splitlines()]
    start = lines.index("statistics of all records: 5 records read")
    rows = {line.split()[0]: line.split()[1:] for line in lines[start + 2 : start + 4]}
    assert rows["label"] == ["5", "1", "0", "0", "1", "0.4", "0"]
    assert "image: 5 jpeg, width 64, height 40 to 42" in lines
    assert lines[lines.index("label: 2 distinct values") :][1:3] == ["3  0 (cat)", "2  1 (dog)"]


def test_info_stats_prints_at_most_20_lines_of_values(run: Run, tmp_path: Path) -> None:
    rm.pack([{"label": number} for number in range(50)], tmp_path / "x.tfrecord")
    lines = run("info", "--stats", tmp_path).out.splitlines()
    first = next(row for row, line in enumerate(lines) if "50 distinct values" in line)
    listed = [line for line in lines[first + 1 :] if line.startswith("    ")]
    assert len(listed) == 20 and listed[-1].strip() == "… and 31 more (--json lists all)"
    assert len(run("info", "--stats", "--json", tmp_path).json["statistics"]["features"]["label"]["value_counts"]) == 50


def test_info_stats_skips_damaged_record_and_exits_with_1(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "x.tfrecord"
    rm.pack([{"label": number} for number in range(10)], path)
    data = bytearray(path.read_bytes())
    data[-6] ^= 1
    path.write_bytes(data)
    result = run("info", "--stats", path)
    assert result.code == 1 and "9 records read; 1 damaged record skipped" in result.out
    assert f"damaged: {path}" in result.err

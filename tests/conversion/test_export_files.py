"""Export to JSON lines, CSV, WebDataset and Parquet: complete values and equal files."""

from __future__ import annotations

import base64
import csv
import io
import json
import math
import sys
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import recordmill as rm

JPEG = b"\xff\xd8\xff\xe0 a photograph"
EXAMPLES: list[dict[str, Any]] = [
    {"image": JPEG, "label": 1, "name": "a", "score": 0.5, "sizes": [1, 2], "tags": [b"x", b"\xff"]},
    {"image": b"", "label": -(2**62), "name": "base64:é,\n", "score": math.nan, "sizes": [], "tags": []},
    {"image": b"\0", "label": 2**62 + 1, "name": '"', "score": -math.inf, "sizes": [3], "tags": [b""]},
]


@pytest.fixture
def shard(tmp_path: Path) -> Path:
    path = tmp_path / "a.tfrecord"
    kinds = {"image": "bytes", "label": "int64", "name": "bytes", "score": "float32"}
    schema = {name: rm.Feature(kind) for name, kind in kinds.items()}
    schema |= {"sizes": rm.Feature("int64", (None,)), "tags": rm.Feature("bytes", (None,))}
    with rm.ShardWriter(path, schema=schema) as writer:
        for example in EXAMPLES:
            writer.write(example)
    return path


def decode_json(value: Any, kind: str) -> Any:
    """Return the value of a feature from the documented JSON."""
    if isinstance(value, list):
        return [decode_json(entry, kind) for entry in value]
    if kind == "bytes":
        return base64.b64decode(value["base64"]) if isinstance(value, dict) else value.encode()
    return float(value) if kind == "float32" else value


def expected_values(example: dict[str, Any]) -> dict[str, Any]:
    return example | {"name": example["name"].encode()}


def assert_equal(found: dict[str, Any], expected: dict[str, Any]) -> None:
    for name, value in expected.items():
        assert found[name] == value or (value != value and math.isnan(found[name])), name


def test_json_lines_contain_complete_values(shard: Path, tmp_path: Path) -> None:
    result = rm.export(shard, tmp_path / "a.jsonl", to="jsonl")
    lines = (tmp_path / "a.jsonl").read_bytes().splitlines()
    schema = rm.open(shard).schema
    for line, example in zip(lines, EXAMPLES, strict=True):
        values = json.loads(line, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
        assert_equal(
            {name: decode_json(value, schema[name].kind) for name, value in values.items()}, expected_values(example)
        )
    assert result.num_bytes == (tmp_path / "a.jsonl").stat().st_size
    assert json.loads(lines[0])["image"] == {"base64": base64.b64encode(JPEG).decode()}
    assert [json.loads(line)["score"] for line in lines] == [0.5, "NaN", "-Infinity"]


def test_csv_contains_complete_values(shard: Path, tmp_path: Path) -> None:
    rm.export(shard, tmp_path / "a.csv", to="csv")
    text = (tmp_path / "a.csv").read_bytes().decode()
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    schema = rm.open(shard).schema
    for row, example in zip(rows, EXAMPLES, strict=True):
        values = {name: decode_cell(cell, schema[name]) for name, cell in row.items()}
        assert_equal(values, expected_values(example))


def decode_cell(cell: str, feature: rm.Feature) -> Any:
    if feature.shape:
        return decode_json(json.loads(cell), feature.kind)
    if feature.kind == "bytes":
        return base64.b64decode(cell[7:]) if cell.startswith("base64:") else cell.encode()
    return float(cell) if feature.kind == "float32" else int(cell)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.binary(max_size=8) | st.text(max_size=8).map(lambda text: text.encode()), min_size=1, max_size=8))
def test_text_forms_keep_all_bytes(tmp_path_factory: pytest.TempPathFactory, values: list[bytes]) -> None:
    folder = tmp_path_factory.mktemp("export")
    with rm.ShardWriter(folder / "a.tfrecord", schema={"value": rm.Feature("bytes")}) as writer:
        for value in values:
            writer.write({"value": value})
    rm.export(folder / "a.tfrecord", folder / "a.jsonl", to="jsonl")
    rm.export(folder / "a.tfrecord", folder / "a.csv", to="csv")
    lines = (folder / "a.jsonl").read_bytes().decode().split("\n")[:-1]
    assert [decode_json(json.loads(line)["value"], "bytes") for line in lines] == values
    rows = list(csv.reader(io.StringIO((folder / "a.csv").read_bytes().decode(), newline="")))
    assert [decode_cell(row[0], rm.Feature("bytes")) for row in rows[1:]] == values


def test_file_export_writes_class_names_beside_it(tmp_path: Path) -> None:
    (tmp_path / "pets/cat").mkdir(parents=True)
    (tmp_path / "pets/cat/1.jpg").write_bytes(JPEG)
    rm.pack(tmp_path / "pets", tmp_path / "a.tfrecord")
    for to in ("jsonl", "csv"):
        assert rm.export(tmp_path / "a.tfrecord", tmp_path / f"a.{to}", to=to).num_files == 2
        assert (tmp_path / f"a.{to}.labels.txt").read_text() == "cat\n"


def test_file_export_refuses_existing_file_and_source(shard: Path, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("mine")
    with pytest.raises(rm.OutputExistsError):
        rm.export(shard, tmp_path / "a.csv", to="csv")
    assert (tmp_path / "a.csv").read_text() == "mine"
    rm.export(shard, tmp_path / "a.csv", to="csv", overwrite=True)
    assert (tmp_path / "a.csv").read_text().startswith("image,label")
    content = shard.read_bytes()
    with pytest.raises(rm.InputError):
        rm.export(shard, shard, to="jsonl", overwrite=True)
    assert shard.read_bytes() == content


def test_csv_reports_samples_with_other_features(shard: Path, tmp_path: Path) -> None:
    dataset = rm.open(shard).map(lambda sample: {"label": sample["label"], f"x{int(sample['label']) > 1}": 1})
    with pytest.raises(rm.MapError, match="xTrue"):
        rm.export(dataset, tmp_path / "a.csv", to="csv")
    assert not (tmp_path / "a.csv").exists()


def test_webdataset_has_members_of_each_sample(shard: Path, tmp_path: Path) -> None:
    rm.export(shard, tmp_path / "tars", to="webdataset", key_feature="name", classes=["x", "y"])
    with tarfile.open(tmp_path / "tars/000000.tar") as tar:
        members = {member.name: tar.extractfile(member).read() for member in tar}  # type: ignore[union-attr]
        assert all((member.mtime, member.uid, member.gid, member.uname) == (0, 0, 0, "") for member in tar)
    names = ["a.jpg", "a.cls", "a.json", *(f"0000000{row}.{end}" for row in (1, 2) for end in ("bin", "cls", "json"))]
    assert list(members) == names
    assert members["a.jpg"] == JPEG and members["a.cls"] == b"1"
    assert json.loads(members["a.json"]) == {
        "name": "a",
        "score": 0.5,
        "sizes": [1, 2],
        "tags": ["x", {"base64": "/w=="}],
    }
    assert (tmp_path / "tars/labels.txt").read_bytes() == b"x\ny\n"


def test_webdataset_begins_new_tar_files_and_is_deterministic(tmp_path: Path) -> None:
    with rm.ShardWriter(tmp_path / "a.tfrecord") as writer:
        for number in range(20):
            writer.write({"image": JPEG + bytes(3000), "label": number, "name": f"d/{number}.x.jpg"})
    for name in ("one", "two"):
        result = rm.export(tmp_path / "a.tfrecord", tmp_path / name, to="webdataset", max_shard_bytes=20_000)
    files = sorted((tmp_path / "one").iterdir())
    assert [path.name for path in files] == [f"{number:06}.tar" for number in range(len(files))] and len(files) > 3
    assert all(path.read_bytes() == (tmp_path / "two" / path.name).read_bytes() for path in files)
    assert all(path.stat().st_size <= 20_000 + 1024 for path in files)
    with tarfile.open(files[0]) as tar:
        assert tar.getnames()[:3] == ["d/0_x.jpg", "d/0_x.cls", "d/0_x.json"]
    assert [entry.name for entry in result.renamed] == [f"d/{number}_x" for number in range(20)]


def test_parquet_without_pyarrow_names_the_extra(shard: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(rm.MissingExtraError, match=r"recordmill\[arrow\]"):
        rm.export(shard, tmp_path / "a.parquet", to="parquet")
    assert not list(tmp_path.glob("*.parquet"))


@pytest.mark.deep
def test_parquet_contains_complete_values(shard: Path, tmp_path: Path) -> None:
    import pyarrow.parquet

    rm.export(shard, tmp_path / "a.parquet", to="parquet", classes=["cat", "dog"])
    table = pyarrow.parquet.read_table(tmp_path / "a.parquet")
    for row, example in zip(table.to_pylist(), EXAMPLES, strict=True):
        assert_equal(row, expected_values(example))
    assert json.loads(table.schema.metadata[b"recordmill.classes"]) == ["cat", "dog"]
    assert str(table.schema.field("score").type) == "float"


@pytest.mark.deep
def test_parquet_takes_types_of_mapped_samples(shard: Path, tmp_path: Path) -> None:
    import pyarrow.parquet

    dataset = rm.open(shard).map(lambda sample: {"grid": np.ones((2, 3), np.uint8), "text": str(sample["label"])})
    rm.export(dataset, tmp_path / "a.parquet", to="parquet")
    rows = pyarrow.parquet.read_table(tmp_path / "a.parquet").to_pylist()
    assert rows[0] == {"grid": [[1, 1, 1], [1, 1, 1]], "text": "1"} and len(rows) == 3
    changing = rm.open(shard).map(lambda sample: {"value": np.int64(1) if sample["label"] == 1 else b"x"})
    result = rm.export(changing, tmp_path / "b.parquet", to="parquet", on_error="skip")
    assert (result.num_records, result.num_skipped) == (1, 2)

"""Export of images to folders: bytes, labels, face sets, unsafe names, damage and interruptions."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import recordmill as rm
from recordmill.conversion.export import names
from tests.recorded import RECORDINGS, load_recording

JPEG, PNG = b"\xff\xd8\xff\xe0 a photograph ", b"\x89PNG\r\n\x1a\n photo "


def list_files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def write_shard(path: Path, examples: list[dict[str, Any]], **options: Any) -> Path:
    with rm.ShardWriter(path, **options) as writer:
        for example in examples:
            writer.write(example)
    return path


@pytest.fixture
def pets(tmp_path: Path) -> Path:
    """Six files in three class folders, whose order differs from that of the sorted names."""
    for name, data in [("cat/1.jpg", JPEG), ("cat/2.PNG", PNG), ("dog/a/3.jpeg", JPEG), ("ant/4.jpg", JPEG + b"4")]:
        (tmp_path / "pets" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "pets" / name).write_bytes(data + name.encode())
    return tmp_path / "pets"


@pytest.fixture
def packed(pets: Path, tmp_path: Path) -> Path:
    rm.pack(rm.ImageFolder(pets, classes=["dog", "cat", "ant"]), tmp_path / "out/train", shards=2, keep_name=True)
    return tmp_path / "out"


def test_export_writes_same_files_to_class_folders(packed: Path, pets: Path, tmp_path: Path) -> None:
    result = rm.export(packed, tmp_path / "copy", to="folder")
    files = list_files(tmp_path / "copy")
    assert files.pop("labels.txt") == b"dog\ncat\nant\n"
    lines = files.pop("labels.jsonl").decode().splitlines()
    assert {name: label for line in lines for name, label in json.loads(line).items()} == {
        "ant/4.jpg": 2,
        "cat/1.jpg": 1,
        "cat/2.PNG": 1,
        "dog/a/3.jpeg": 0,
    }
    assert files == list_files(pets)
    assert (result.num_records, result.num_files, result.num_renamed) == (4, 6, 0)
    assert result.num_bytes == sum(path.stat().st_size for path in (tmp_path / "copy").rglob("*") if path.is_file())


def test_exported_folder_packs_to_same_shards(packed: Path, tmp_path: Path) -> None:
    rm.export(packed, tmp_path / "copy", to="folder")
    names = (tmp_path / "copy/labels.txt").read_text().splitlines()
    rm.pack(rm.ImageFolder(tmp_path / "copy", classes=names), tmp_path / "a/train", shards=2, keep_name=True)
    by_list = rm.LabelFile(tmp_path / "copy/labels.jsonl", root=tmp_path / "copy")
    rm.pack(by_list, tmp_path / "b/train", shards=2, keep_name=True)
    for name in ("train-00000-of-00002.tfrecord", "train-00001-of-00002.tfrecord"):
        assert (tmp_path / "a" / name).read_bytes() == (packed / name).read_bytes()
        assert (tmp_path / "b" / name).read_bytes() == (packed / name).read_bytes()


def test_export_without_names_uses_positions_and_types(tmp_path: Path) -> None:
    webp = b"RIFF\0\0\0\0WEBPVP8 "
    shard = write_shard(tmp_path / "a.tfrecord", [{"image": data} for data in (JPEG, PNG, webp, b"other")])
    rm.export(shard, tmp_path / "photos", to="folder")
    assert list_files(tmp_path / "photos") == {
        "00000000.jpg": JPEG,
        "00000001.png": PNG,
        "00000002.webp": webp,
        "00000003.bin": b"other",
    }


def test_export_lists_vectors_of_labels_for_list_file(tmp_path: Path) -> None:
    examples = [{"image": JPEG, "label": np.float32([number, 0.5])} for number in range(3)]
    shard = write_shard(tmp_path / "a.rec", examples, format="recordio")
    rm.export(shard, tmp_path / "photos", to="folder")
    rm.pack(rm.ListFile(tmp_path / "photos/labels.lst"), tmp_path / "b.rec")
    assert [example["label"].tolist() for example in rm.open(tmp_path / "b.rec")] == [[0, 0.5], [1, 0.5], [2, 0.5]]


def test_export_takes_filtered_and_mapped_dataset(packed: Path, tmp_path: Path) -> None:
    dataset = rm.open(packed).filter(lambda sample: sample["label"] == 1).map(lambda sample: {"image": sample["image"]})
    assert rm.export(dataset, tmp_path / "cats", to="folder").num_records == 2
    assert sorted(list_files(tmp_path / "cats")) == ["00000000.jpg", "00000001.png", "labels.txt"]


@pytest.mark.parametrize("name", ["scalar", "vector"])
def test_export_of_faces_makes_folder_per_identity(tmp_path: Path, name: str) -> None:
    shutil.copytree(RECORDINGS / "mxnet" / "faces" / name, tmp_path / "faces")
    rm.export(tmp_path / "faces/train.rec", tmp_path / "people", to="folder")
    expected = load_recording("mxnet/faces/expected.json")["identities"]
    files = list_files(tmp_path / "people")
    assert files.pop("labels.txt") == b"000000\n000001\n000002\n"
    labels = [json.loads(line) for line in files.pop("labels.jsonl").splitlines()]
    assert [label for line in labels for label in line.values()] == expected
    assert [int(name.partition("/")[0]) for line in labels for name in line] == expected
    assert len(files) == len(expected) and all(data[:2] == b"\xff\xd8" for data in files.values())


UNSAFE = ["../x", "a\0b", "x" * 300, "/etc/x", "C:\\x", "a/../../x", "CON", "nul.jpg", ".hidden", "a//b", "b ", "a\nb"]


@pytest.mark.parametrize("key", UNSAFE)
def test_export_names_record_with_unsafe_key_after_position(tmp_path: Path, key: str) -> None:
    shard = write_shard(tmp_path / "a.tfrecord", [{"image": JPEG, "name": key}])
    result = rm.export(shard, tmp_path / "deep/photos", to="folder")
    assert list_files(tmp_path / "deep") == {"photos/00000000.jpg": JPEG}
    assert [(entry.key, entry.name) for entry in result.renamed] == [(key[:200], "00000000.jpg")]
    assert result.to_json()["renamed"][0]["reason"] == result.renamed[0].reason != ""


def test_export_never_overwrites_colliding_names(tmp_path: Path) -> None:
    keys = ["a.jpg", "A.jpg", "a.jpg", "é", "e\u0301", "b/c", "b", "B/d", "labels.jsonl", "00000001", "g", b"\xff"]
    examples = [{"image": JPEG + bytes([number]), "name": key} for number, key in enumerate(keys)]
    shard = write_shard(tmp_path / "a.tfrecord", examples)
    result = rm.export(shard, tmp_path / "photos", to="folder")
    files = list_files(tmp_path / "photos")
    assert sorted(files.values()) == sorted(example["image"] for example in examples)
    assert len({name.casefold() for name in files}) == len(files)
    assert {entry.key for entry in result.renamed} >= {"A.jpg", "a.jpg", "e\u0301", "B/d", "\\xff"}
    assert files["a.jpg"] == JPEG + b"\0" and files["b/c.jpg"] == JPEG + b"\5"


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(st.sampled_from("aAbB./\\\0:. é"), max_size=6), min_size=1, max_size=12))
def test_export_writes_each_record_once_inside_destination(
    tmp_path_factory: pytest.TempPathFactory, keys: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("export")
    examples = [{"image": JPEG + str(number).encode(), "name": key} for number, key in enumerate(keys)]
    shard = write_shard(folder / "a.tfrecord", examples)
    before = set(list_files(folder))
    rm.export(shard, folder / "photos", to="folder")
    assert sorted(list_files(folder / "photos").values()) == sorted(example["image"] for example in examples)
    assert {name for name in set(list_files(folder)) - before if not name.startswith("photos/")} == set()


def test_export_renames_class_folders_that_are_unsafe_or_collide(tmp_path: Path) -> None:
    shard = write_shard(tmp_path / "a.tfrecord", [{"image": JPEG, "label": label} for label in range(4)])
    result = rm.export(shard, tmp_path / "photos", to="folder", classes=["cat", "Cat", "../dog", "a/b"])
    names = {os.path.dirname(name) for name in list_files(tmp_path / "photos")} - {""}
    assert names == {"cat", "class-00001", "class-00002", "class-00003"}
    assert [entry.key for entry in result.renamed] == ["Cat", "../dog", "a/b"]


def damage_third_record(shard: Path) -> None:
    with rm.ShardReader(shard) as reader:
        offset = int(reader.index.offsets[2] + reader.index.lengths[2]) - 20
    content = bytearray(shard.read_bytes())
    content[offset] ^= 1
    shard.write_bytes(content)


def test_export_stops_at_damaged_record_and_writes_nothing(tmp_path: Path) -> None:
    shard = write_shard(tmp_path / "a.tfrecord", [{"image": JPEG * 9, "label": number} for number in range(5)])
    damage_third_record(shard)
    with pytest.raises(rm.ChecksumError) as caught:
        rm.export(shard, tmp_path / "photos", to="folder")
    assert (caught.value.shard, caught.value.record) == (str(shard), 2)
    assert [name for name in os.listdir(tmp_path) if "photos" in name] == []


@pytest.mark.parametrize("is_filtered", [False, True])
def test_export_skips_damaged_records_and_reports_them(tmp_path: Path, is_filtered: bool) -> None:
    shard = write_shard(tmp_path / "a.tfrecord", [{"image": JPEG * 9, "label": number} for number in range(5)])
    damage_third_record(shard)
    source = rm.open(shard).filter(lambda _: True) if is_filtered else shard
    result = rm.export(source, tmp_path / "photos", to="folder", on_error="skip")
    assert (result.num_records, result.num_skipped) == (4, 1)
    assert (result.skipped[0].shard, result.skipped[0].record, result.skipped[0].position) == (str(shard), 2, 2)
    assert len(list_files(tmp_path / "photos")) == 5


@pytest.mark.parametrize("label", [9, -1, 0.5, float("nan")])
def test_export_reports_label_that_is_no_class(tmp_path: Path, label: float) -> None:
    kind = "float32" if isinstance(label, float) else "int64"
    schema = {"image": rm.Feature("bytes"), "label": rm.Feature(kind)}
    examples = [{"image": JPEG, "label": type(label)(0)}, {"image": JPEG, "label": label}]
    shard = write_shard(tmp_path / "a.tfrecord", examples, schema=schema)
    with pytest.raises(rm.LabelError, match="not a class") as caught:
        rm.export(shard, tmp_path / "photos", to="folder", classes=["cat", "dog"])
    assert (caught.value.shard, caught.value.record) == (str(shard), 1)
    result = rm.export(shard, tmp_path / "photos", to="folder", classes=["cat", "dog"], on_error="skip")
    assert (result.num_records, result.skipped[0].record) == (1, 1)


def test_export_refuses_existing_destination(packed: Path, tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    rm.export(packed, tmp_path / "photos", to="folder")  # an empty folder is used
    before = list_files(tmp_path / "photos")
    with pytest.raises(rm.OutputExistsError, match="not empty"):
        rm.export(packed, tmp_path / "photos", to="folder", class_folders=False)
    assert list_files(tmp_path / "photos") == before
    rm.export(packed, tmp_path / "photos", to="folder", class_folders=False, overwrite=True)
    assert "cat/1.jpg" in list_files(tmp_path / "photos") and "a/3.jpeg" not in list_files(tmp_path / "photos")
    assert sorted(name for name in os.listdir(tmp_path) if "photos" in name) == ["photos"]


def test_export_never_replaces_folder_of_source_or_working_folder(
    packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = list_files(packed)
    with pytest.raises(rm.InputError) as caught:
        rm.export(packed, packed, to="folder", overwrite=True)
    assert caught.value.kind == "same_file" and list_files(packed) == before
    (tmp_path / "work/inner").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work/inner")
    with pytest.raises(rm.InputError) as caught:
        rm.export(packed, tmp_path / "work", to="folder", overwrite=True)
    assert caught.value.kind == "protected_folder" and (tmp_path / "work/inner").exists()


def test_export_removes_output_if_interrupted(packed: Path, tmp_path: Path) -> None:
    def interrupt(sample: dict[str, Any]) -> dict[str, Any]:
        if sample["label"] == 0:
            raise KeyboardInterrupt
        return sample

    before = sorted(os.listdir(tmp_path))
    with pytest.raises(KeyboardInterrupt):
        rm.export(rm.open(packed).map(interrupt), tmp_path / "photos", to="folder")
    assert sorted(os.listdir(tmp_path)) == before


@pytest.mark.parametrize(
    "options, message",
    [
        ({"to": "zip"}, "to must be one of"),
        ({"to": "jsonl", "class_folders": True}, "class_folders has no effect"),
        ({"to": "folder", "max_shard_bytes": 5}, "max_shard_bytes has no effect"),
        ({"to": "folder", "on_error": "raise"}, "on_error must be"),
        ({"to": "folder", "image_feature": "picture"}, "there is no feature 'picture'"),
    ],
)
def test_export_rejects_invalid_options(packed: Path, tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rm.export(packed, tmp_path / "x", **options)
    assert not (tmp_path / "x").exists()


def test_export_rejects_batches_and_endless_datasets(packed: Path, tmp_path: Path) -> None:
    for dataset in (rm.open(packed).batch(2), rm.open(packed).repeat()):
        with pytest.raises(ValueError, match=r"batched|endless"):
            rm.export(dataset, tmp_path / "x", to="folder")


@pytest.mark.parametrize(
    "count, num_recent",
    [(2_100, 1_000), pytest.param(210_000, 100_000, marks=pytest.mark.campaign)],
    ids=["lowered-limit", "real-limit"],
)
def test_export_finds_collisions_among_more_names_than_memory_keeps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int, num_recent: int
) -> None:
    monkeypatch.setattr(names, "_RECENT_NAMES", num_recent)
    last = f"99/{count - 1}"
    with rm.ShardWriter(tmp_path / "a.tfrecord") as writer:
        for number in range(count):
            writer.write({"image": b"", "name": f"{number % 100}/{number}"})
        for key in ("0/0", "1/1.BIN", last, "7"):
            writer.write({"image": b"x", "name": key})
    result = rm.export(tmp_path / "a.tfrecord", tmp_path / "files", to="folder")
    assert [entry.key for entry in result.renamed] == ["0/0", "1/1.BIN", last]
    assert result.num_files == count + 4
    assert [name for name in os.listdir(tmp_path / "files") if name.startswith(".")] == []

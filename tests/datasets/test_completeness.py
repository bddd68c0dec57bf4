"""A dataset that is opened as a whole must be complete according to its manifest or the totals in shard names."""

from __future__ import annotations

import json
import pickle
import shutil
from pathlib import Path
from typing import Any

import pytest

import recordmill as rm
from recordmill import _core
from tests.shards.helpers import FORMATS

WHOLE = ("", "/", "/train", "/*", "/train*", "/train-*")


def write(path: Path, family: str = "tfrecord", run: int = 1, count: int = 20, **options: Any) -> list[str]:
    with rm.ShardWriter(path, format=family, **({"shards": 4} | options)) as writer:
        for number in range(count):
            writer.write({"id": number, "image": b"image %d of run %d" % (number, run)})
    return writer.paths


def manifest_of(folder: Path, prefix: str = "train") -> Path:
    return folder / f".{prefix}.manifest.json"


def rewrite_manifest(path: Path, **changes: Any) -> None:
    """Change fields of a manifest, and update its checksum."""
    content = json.loads(path.read_text()) | changes
    content.pop("checksum")
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    path.write_text(json.dumps(content | {"checksum": f"{_core.crc32c(text.encode()):08x}"}))


# The manifest


def test_manifest_lists_shards_schema_and_classes(tmp_path: Path) -> None:
    for name in ("cat", "dog"):
        (tmp_path / "photos" / name).mkdir(parents=True)
        (tmp_path / "photos" / name / "1.png").write_bytes(b"\x89PNG\r\n\x1a\n and more bytes")
    paths = rm.pack(rm.ImageFolder(tmp_path / "photos"), tmp_path / "out" / "train", shards=2).paths
    content = json.loads(manifest_of(tmp_path / "out").read_text())
    assert content["version"] == 1 and content["format"] == "tfrecord" and content["payload"] == "example"
    assert content["classes"] == ["cat", "dog"] and list(content["schema"]) == ["image", "label"]
    shards = [(shard["name"], shard["num_bytes"], shard["num_records"]) for shard in content["shards"]]
    assert shards == [(Path(path).name, Path(path).stat().st_size, 1) for path in paths]
    assert str(tmp_path) not in manifest_of(tmp_path / "out").read_text()
    summary = rm.info(tmp_path / "out")
    assert summary.classes == ["cat", "dog"] and summary.complete is True and summary.problems == []
    assert summary.to_json()["complete"] is True and summary.to_json()["classes"] == ["cat", "dog"]


def test_classes_of_a_table_are_stored(tmp_path: Path) -> None:
    for name in ("a.png", "b.png"):
        (tmp_path / name).write_bytes(b"\x89PNG\r\n\x1a\n and more bytes")
    (tmp_path / "table.csv").write_text("file,label\na.png,dog\nb.png,cat\n")
    rm.pack(rm.Table(tmp_path / "table.csv", classes="auto"), tmp_path / "out" / "train")
    assert rm.info(tmp_path / "out").classes == ["cat", "dog"]


def test_equal_runs_write_equal_manifests(tmp_path: Path) -> None:
    for name in "ab":
        write(tmp_path / name / "train")
    assert manifest_of(tmp_path / "a").read_bytes() == manifest_of(tmp_path / "b").read_bytes()
    write(tmp_path / "b" / "train", run=2, overwrite=True)
    first, second = (json.loads(manifest_of(tmp_path / name).read_text()) for name in "ab")
    assert first["run_id"] != second["run_id"]


@pytest.mark.parametrize("family", FORMATS)
def test_moved_and_renamed_folder_is_complete(tmp_path: Path, family: str) -> None:
    write(tmp_path / "old" / "train", family)
    (tmp_path / "new").mkdir()
    (tmp_path / "old").rename(tmp_path / "new" / "renamed")
    assert len(rm.open(tmp_path / "new" / "renamed")) == 20 and rm.info(tmp_path / "new" / "renamed").complete


def test_newer_manifest_is_an_error_that_names_its_version_and_is_kept(tmp_path: Path) -> None:
    paths = write(tmp_path / "train")
    manifest = manifest_of(tmp_path)
    rewrite_manifest(manifest, version=7, something_new=[1, 2])
    before = manifest.read_bytes()
    for use in (rm.open, rm.info, rm.verify, lambda path: write(path / "train", overwrite=True)):
        with pytest.raises(rm.ManifestError, match="expected at most version 1, found version 7") as caught:
            use(tmp_path)
        assert caught.value.kind == "newer_version" and caught.value.shard == str(manifest)
    assert manifest.read_bytes() == before and len(rm.open(paths)) == 20


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:-20],
        lambda data: data.replace(b'"num_records": 5', b'"num_records": 6', 1),
        lambda data: b"[" * 100_000,
        lambda data: b"{}",
        lambda data: b'{"version": 0}',
        lambda data: b"\xff" * 100,
    ],
)
def test_damaged_manifest_is_an_error(tmp_path: Path, damage: Any) -> None:
    paths = write(tmp_path / "train")
    manifest = manifest_of(tmp_path)
    manifest.write_bytes(damage(manifest.read_bytes()))
    with pytest.raises(rm.ManifestError) as caught:
        rm.open(tmp_path)
    assert caught.value.kind == "bad_manifest" and caught.value.shard == str(manifest)
    assert len(rm.open(paths)) == 20


@pytest.mark.parametrize("name", ["../train-0", "/etc/passwd", "", "..", "a/b", "x\0y", 7])
def test_manifest_cannot_name_files_of_other_folders(tmp_path: Path, name: Any) -> None:
    write(tmp_path / "train")
    shards = json.loads(manifest_of(tmp_path).read_text())["shards"]
    rewrite_manifest(manifest_of(tmp_path), shards=[shards[0] | {"name": name}, *shards[1:]])
    with pytest.raises(rm.ManifestError, match="is not a file name"):
        rm.open(tmp_path)


# Missing, foreign and replaced shards


@pytest.mark.parametrize("source", WHOLE)
@pytest.mark.parametrize("family", FORMATS)
def test_missing_shard_is_an_error_that_lists_it(tmp_path: Path, family: str, source: str) -> None:
    paths = write(tmp_path / "train", family)
    Path(paths[2]).unlink()
    with pytest.raises(rm.IncompleteDatasetError, match="1 file is missing") as caught:
        rm.open(f"{tmp_path}{source}")
    error = pickle.loads(pickle.dumps(caught.value))
    assert (error.missing, error.foreign, error.replaced, error.kind) == ([paths[2]], [], [], "incomplete_dataset")
    assert len(rm.open(f"{tmp_path}{source}", allow_incomplete=True)) == 15
    summary = rm.info(f"{tmp_path}{source}")
    assert summary.complete is False and summary.problems == [f"1 file is missing: {paths[2]}"]
    report = rm.verify(f"{tmp_path}{source}")
    assert [(fault.kind, fault.shard) for fault in report.faults] == [("missing_shard", paths[2])] and not report.ok


@pytest.mark.parametrize("source", WHOLE)
def test_dataset_without_any_shard_is_an_error(tmp_path: Path, source: str) -> None:
    paths = write(tmp_path / "train")
    for path in paths:
        Path(path).unlink()
    with pytest.raises(rm.IncompleteDatasetError) as caught:
        rm.open(f"{tmp_path}{source}")
    assert caught.value.missing == paths


@pytest.mark.parametrize(
    "name", ["train-00004-of-00005.tfrecord", "extra.tfrecord", "val-00000-of-00001.tfrecord", "0"]
)
def test_foreign_shard_is_an_error_that_lists_it(tmp_path: Path, name: str) -> None:
    write(tmp_path / "train")
    shutil.copy(write(tmp_path / "other" / "x", run=2)[0], tmp_path / name)
    with pytest.raises(rm.IncompleteDatasetError, match="not part of the dataset") as caught:
        rm.open(tmp_path)
    assert caught.value.foreign == [str(tmp_path / name)]
    assert len(rm.open(tmp_path, allow_incomplete=True)) == 20
    assert [fault.kind for fault in rm.verify(tmp_path).faults] == ["foreign_shard"]


@pytest.mark.parametrize("with_sidecar", [False, True])
@pytest.mark.parametrize("family", FORMATS)
def test_shard_of_another_run_is_an_error_that_lists_it(tmp_path: Path, family: str, with_sidecar: bool) -> None:
    paths = write(tmp_path / "train", family)
    other = Path(write(tmp_path / "other" / "train", family, run=2)[1])
    shutil.copy(other, paths[1])
    sidecar = tmp_path / f".{other.name}.rmx"
    sidecar.unlink()
    if with_sidecar:
        shutil.copy(other.parent / sidecar.name, sidecar)
    with pytest.raises(rm.IncompleteDatasetError, match="different from the manifest") as caught:
        rm.open(tmp_path)
    assert caught.value.replaced == [paths[1]]
    assert len(rm.open(tmp_path, allow_incomplete=True)) == 15 and len(rm.open(paths)) == 20
    assert rm.info(tmp_path).complete is False
    assert ("replaced_shard", paths[1]) in [(fault.kind, fault.shard) for fault in rm.verify(tmp_path).faults]


def test_damaged_shard_is_not_a_replaced_one(tmp_path: Path) -> None:
    paths = write(tmp_path / "train")
    data = bytearray(Path(paths[1]).read_bytes())
    data[40] ^= 1
    Path(paths[1]).write_bytes(data)
    dataset = rm.open(tmp_path)
    assert len(dataset) == 20 and rm.info(tmp_path).complete
    with pytest.raises(rm.ChecksumError):
        list(dataset)


@pytest.mark.parametrize("source", ["explicit", "/train-0000[01]*", "/train-00002*"])
def test_selection_opens_and_is_not_complete(tmp_path: Path, source: str) -> None:
    paths = write(tmp_path / "train")
    Path(paths[3]).unlink()
    named: Any = paths[:3] if source == "explicit" else f"{tmp_path}{source}"
    assert len(rm.open(named)) in (5, 10, 15)
    assert rm.info(named).complete is False and rm.info(named).problems == [] and rm.verify(named).ok


@pytest.mark.parametrize("family", FORMATS)
def test_prefix_opens_only_its_own_dataset(tmp_path: Path, family: str) -> None:
    write(tmp_path / "train", family)
    write(tmp_path / "train-extra", family, count=4)
    write(tmp_path / "val", family, count=6)
    assert [len(rm.open(tmp_path / name)) for name in ("train", "val", "train-extra")] == [20, 6, 4]
    assert len(rm.open(tmp_path)) == 30 and rm.info(tmp_path).complete
    with pytest.raises(FileNotFoundError):
        rm.open(tmp_path / "tra")


def test_empty_folder_has_no_shards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "out").mkdir()
    monkeypatch.chdir(tmp_path)
    for source in ("out", tmp_path / "out", "out/", "out/*", "out/train"):
        with pytest.raises(FileNotFoundError):
            rm.open(source)


def test_single_file_is_a_complete_dataset_and_admits_other_files(tmp_path: Path) -> None:
    (path,) = write(tmp_path / "train.tfrecord", shards=1)
    assert rm.info(path).complete is True and rm.info(tmp_path).complete is True
    shutil.copy(path, tmp_path / "another.tfrecord")
    assert len(rm.open(tmp_path)) == 40 and rm.info(tmp_path).complete is None


def test_files_without_manifest_are_neither_complete_nor_incomplete(tmp_path: Path) -> None:
    (path,) = write(tmp_path / "a.tfrecord", shards=1)
    manifest_of(tmp_path, "a.tfrecord").unlink()
    assert rm.info(tmp_path).complete is None and rm.info(path).complete is False


# Totals in the names


NAMES = ["train-{:05d}-of-00004.tfrecord", "mnist-train.tfrecord-{:05d}-of-00004", "x-{:02d}-of-04.tfrecord.gz"]


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("pattern", NAMES)
def test_shards_without_manifest_are_counted(tmp_path: Path, pattern: str, first: int) -> None:
    compression = "gzip" if pattern.endswith(".gz") else None
    names = [pattern.format(number) for number in range(first, first + 4)]
    for name in names:
        with rm.PayloadWriter(tmp_path / name, format="tfrecord", compression=compression) as writer:
            writer.write(b"")
    assert len(rm.open(tmp_path)) == 4 and rm.info(tmp_path).complete is True
    assert rm.info(tmp_path / "*").complete is True
    (tmp_path / names[2]).unlink()
    for source in (tmp_path, tmp_path / "*", tmp_path / pattern.partition("{")[0].rstrip("-")):
        with pytest.raises(rm.IncompleteDatasetError) as caught:
            rm.open(source)
        assert caught.value.missing == [str(tmp_path / names[2])]
    part = rm.info(tmp_path / f"{names[0][:-2]}?[a-z0-9]")
    assert part.complete is False and part.problems == [] and len(part.shards) == 1


def test_two_totals_of_one_prefix_are_mixed(tmp_path: Path) -> None:
    for total in (2, 4):
        for number in range(total):
            with rm.PayloadWriter(tmp_path / f"t-{number:05d}-of-{total:05d}.tfrecord", format="tfrecord") as writer:
                writer.write(b"")
    with pytest.raises(rm.IncompleteDatasetError) as caught:
        rm.open(tmp_path)
    assert caught.value.foreign == [str(tmp_path / f"t-{number:05d}-of-00002.tfrecord") for number in range(2)]


def test_absurd_total_is_not_counted(tmp_path: Path) -> None:
    with rm.PayloadWriter(tmp_path / "t-00000-of-99999999999.tfrecord", format="tfrecord") as writer:
        writer.write(b"")
    assert len(rm.open(tmp_path)) == 1 and rm.info(tmp_path).complete is None

"""`pack(resume=True)`: what is kept after an interruption, and which changes are refused.

`tests/datasets/test_crash.py` resumes after a kill at any operation.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import recordmill as rm

NUM_IMAGES = 24


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Return a folder with two classes of images."""
    generator = np.random.default_rng(0)
    for number in range(NUM_IMAGES):
        path = tmp_path / "photos" / ("cat" if number % 2 else "dog") / f"{number:02}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(generator.integers(0, 255, (40, 30 + number), np.uint8)).save(path)
    return tmp_path / "photos"


class StopError(Exception):
    """Stops a run from its progress function."""


def pack(photos: Path, out: Path, stop_at: int | None = None, **options: Any) -> rm.PackResult:
    def stop(num_records: int, _: int | None) -> None:
        if stop_at is not None and num_records >= stop_at:
            raise StopError

    options = {"shards": 6, "resume": True} | options
    return rm.pack(rm.ImageFolder(photos), out / "train", progress=stop, **options)


def interrupt(photos: Path, out: Path, stop_at: int = 13, **options: Any) -> dict[str, int]:
    """Interrupt a run; return the inodes of the finished shards by their temporary names."""
    with pytest.raises(StopError):
        pack(photos, out, stop_at, **options)
    assert not [path for path in out.iterdir() if not path.name.startswith(".")]
    for path in out.glob(".*.tmp-*"):
        os.link(path, out.parent / path.name)  # so that its inode is not used for another file
    return {path.name: path.stat().st_ino for path in out.glob(".*.tmp-*")}


def read_files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


OPTIONS: list[dict[str, Any]] = [
    {},
    {"workers": 2},
    {"workers": 2, "worker_kind": "processes"},
    {"format": "recordio", "shuffle": 5},
    {"format": "ofrecord", "encode": "png", "resize": 20},
    {"compression": "gzip"},
    {"shards": None, "max_shard_bytes": 6000},
    {"shards": None, "max_shard_bytes": 6000, "compression": "zlib"},
    {"index": "never"},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_resumed_run_keeps_finished_shards_and_gives_the_same_bytes(
    photos: Path, tmp_path: Path, options: dict[str, Any]
) -> None:
    pack(photos, tmp_path / "undisturbed", **options | {"resume": False})
    kept = interrupt(photos, tmp_path / "out", **options)
    assert kept
    result = pack(photos, tmp_path / "out", **options)
    assert read_files(tmp_path / "out") == read_files(tmp_path / "undisturbed")
    inodes = {os.stat(path).st_ino for path in result.paths}
    assert inodes.issuperset(kept.values()) and result.num_records == NUM_IMAGES


def test_run_without_resume_removes_everything_after_an_error(photos: Path, tmp_path: Path) -> None:
    with pytest.raises(StopError):
        pack(photos, tmp_path / "out", 13, resume=False)
    assert list((tmp_path / "out").iterdir()) == []


def test_run_without_resume_starts_again(photos: Path, tmp_path: Path) -> None:
    kept = interrupt(photos, tmp_path / "out")
    paths = pack(photos, tmp_path / "out", resume=False).paths
    assert not {os.stat(path).st_ino for path in paths}.intersection(kept.values())
    assert not [name for name in os.listdir(tmp_path / "out") if ".tmp-" in name or "progress" in name]


def test_resume_without_interrupted_run_packs_and_a_finished_run_is_not_repeated(photos: Path, tmp_path: Path) -> None:
    first = pack(photos, tmp_path / "out")
    inodes = [os.stat(path).st_ino for path in first.paths]
    again = pack(photos, tmp_path / "out")
    assert (again.paths, again.num_records, again.num_bytes) == (first.paths, first.num_records, first.num_bytes)
    assert [os.stat(path).st_ino for path in again.paths] == inodes
    with pytest.raises(rm.OutputExistsError):
        pack(photos, tmp_path / "out", shards=5)


@pytest.mark.parametrize(
    "changes, named",
    [
        ({"shards": 5}, "shards is 5, but was 6"),
        ({"format": "recordio"}, "format is 'recordio', but was 'tfrecord'"),
        ({"encode": "png"}, "encode is 'png', but was None"),
        ({"encode": "jpeg", "quality": 80}, "encode is 'jpeg', but was None"),
        ({"shuffle": 1}, "shuffle is 1, but was None"),
        ({"label_feature": "class"}, "label_feature is 'class', but was None"),
        ({"on_error": "skip"}, "on_error is 'skip', but was 'stop'"),
        ({"compression": "gzip"}, "compression is 'gzip', but was None"),
    ],
    ids=str,
)
def test_changed_options_are_refused_with_the_difference_named(
    photos: Path, tmp_path: Path, changes: dict[str, Any], named: str
) -> None:
    kept = interrupt(photos, tmp_path / "out")
    with pytest.raises(rm.ResumeError) as caught:
        pack(photos, tmp_path / "out", **changes)
    assert named in str(caught.value) and caught.value.kind == "different_run"
    assert {path.name for path in (tmp_path / "out").glob(".*.tmp-*")} == set(kept)
    assert pack(photos, tmp_path / "out").num_records == NUM_IMAGES


def test_changed_quality_is_refused(photos: Path, tmp_path: Path) -> None:
    interrupt(photos, tmp_path / "out", encode="jpeg", quality=90)
    with pytest.raises(rm.ResumeError, match="quality is 80, but was 90"):
        pack(photos, tmp_path / "out", encode="jpeg", quality=80)


def test_changed_source_is_refused_with_the_difference_named(photos: Path, tmp_path: Path) -> None:
    interrupt(photos, tmp_path / "out")
    (photos / "cat" / "new.jpg").write_bytes((photos / "cat" / "01.jpg").read_bytes())
    with pytest.raises(rm.ResumeError, match="number of files is 25, but was 24"):
        pack(photos, tmp_path / "out")
    (photos / "cat" / "01.jpg").unlink()
    with pytest.raises(rm.ResumeError, match="the file names of the source changed"):
        pack(photos, tmp_path / "out")


def test_changed_image_of_a_finished_shard_is_named(photos: Path, tmp_path: Path) -> None:
    interrupt(photos, tmp_path / "out")
    changed = photos / "cat" / "01.jpg"
    data = changed.read_bytes()
    changed.write_bytes(data + b"\0")
    with pytest.raises(rm.ResumeError, match="has changed") as caught:
        pack(photos, tmp_path / "out")
    assert caught.value.shard == str(changed) and caught.value.kind == "changed_input"


@pytest.mark.parametrize("family", ["tfrecord", "recordio", "ofrecord"])
@pytest.mark.parametrize("damage", ["flip", "truncate", "remove"])
def test_damaged_finished_shard_is_packed_again(photos: Path, tmp_path: Path, family: str, damage: str) -> None:
    pack(photos, tmp_path / "undisturbed", format=family)
    kept = sorted(interrupt(photos, tmp_path / "out", format=family))
    path = tmp_path / "out" / kept[1]
    data = bytearray(path.read_bytes())
    data[-40] ^= 4
    if damage == "remove":
        path.unlink()
    else:
        path.write_bytes(data if damage == "flip" else data[:-1])
    pack(photos, tmp_path / "out", format=family)
    assert read_files(tmp_path / "out") == read_files(tmp_path / "undisturbed")


def test_record_with_an_incomplete_last_line_is_used_up_to_it(photos: Path, tmp_path: Path) -> None:
    pack(photos, tmp_path / "undisturbed")
    interrupt(photos, tmp_path / "out")
    record = tmp_path / "out" / ".train.progress.jsonl"
    record.write_bytes(record.read_bytes()[:-9])
    pack(photos, tmp_path / "out")
    assert read_files(tmp_path / "out") == read_files(tmp_path / "undisturbed")


def test_examples_cannot_be_resumed(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"resume .* require a source of files"):
        rm.pack([{"id": 1}], tmp_path / "train", resume=True)

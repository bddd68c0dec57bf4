"""Paths of shards: links, directories, missing names and invalid values."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import recordmill as rm
from tests.shards.helpers import encode_message, write_shard


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_shard(tmp_path, "tfrecord", [encode_message("tfrecord", number) for number in range(5)], "part-0")
    return tmp_path


@pytest.mark.parametrize("pattern", ["", "part-*"])
def test_open_raises_for_dangling_link(folder: Path, pattern: str) -> None:
    (folder / "part-1.tfrecord").symlink_to("annex/part-1.tfrecord")
    with pytest.raises(FileNotFoundError, match="points to 'annex/part-1") as caught:
        rm.open(os.path.join(folder, pattern))
    assert caught.value.filename == str(folder / "part-1.tfrecord")


def test_open_follows_links_to_shards(folder: Path, tmp_path: Path) -> None:
    links = tmp_path / "links"
    links.mkdir()
    (links / "part-0.tfrecord").symlink_to(folder / "part-0.tfrecord")
    (links / "elsewhere").symlink_to(folder)
    assert len(rm.open(links)) == 5


MISSING_NAMES = {
    "s3://bucket/part-*": "not URLs",
    "~/nothing-*": "expanduser",
    "part-{0,1}.tfrecord": "not braces",
    "[photos]/part-*": "glob.escape",
    "nothing": "no shard has this name",
}


@pytest.mark.parametrize("name", MISSING_NAMES)
def test_error_for_missing_name_explains_reason(name: str) -> None:
    with pytest.raises(FileNotFoundError, match=MISSING_NAMES[name]) as caught:
        rm.open(name)
    assert caught.value.filename == name


def test_open_of_empty_directory_raises(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="the directory contains no shards"):
        rm.open(tmp_path)


@pytest.mark.parametrize("paths", [None, 3, b"part", [b"part"], ["part", None]])
def test_open_rejects_values_that_are_not_paths(paths: Any) -> None:
    with pytest.raises(TypeError, match="must be a path, pattern, directory"):
        rm.open(paths)


def test_build_index_raises_if_index_cannot_be_saved(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recordmill.shards.build_index.save_sidecar", lambda path, sidecar, storage: None)
    assert len(rm.open(folder)) == 5
    with pytest.raises(rm.WriteError, match="RECORDMILL_CACHE"):
        rm.build_index(folder)


@pytest.mark.parametrize("other_name", ["README.md", "labels-1.txt"])
def test_error_for_other_file_suggests_pattern(tmp_path: Path, other_name: str) -> None:
    with rm.ShardWriter(tmp_path / "train", shards=3) as writer:
        for number in range(9):
            writer.write({"id": number})
    for name in (other_name, "CITATION.cff"):
        (tmp_path / name).write_text("# What these data are\n")
    with pytest.raises(rm.FormatError, match="the file is text") as caught:
        rm.open(tmp_path)
    hint, _, pattern = str(caught.value.hint).partition(", for example ")
    assert hint == "name only the shards" and len(rm.open(pattern.strip("'"))) == 9


def test_error_for_other_file_suggests_single_shard(folder: Path) -> None:
    (folder / "notes.txt").write_text("nothing of interest, and some more of it")
    with pytest.raises(rm.FormatError) as caught:
        rm.open(folder)
    assert str(caught.value.hint).endswith(f"for example '{folder / 'part-0.tfrecord'}'")

"""Shards and what stands beside them appear together, or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import recordmill as rm
from recordmill.errors import OutputExistsError, WriteError
from recordmill.shards.index import sidecar_path
from recordmill.shards.output import ShardOutput
from recordmill.storage.local import LocalOutputFile
from tests.shards.made import FAMILIES


def write(path: Path, family: str, count: int = 30, **options: Any) -> list[str]:
    with rm.ShardWriter(path, format=family, **options) as writer:
        for number in range(count):
            writer.write({"label": number, "image": bytes(50 + count)})
    return writer.paths


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("suffix", [".idx", ".rec"])
@pytest.mark.parametrize("overwrite", [False, True])
def test_index_files_when_there_is_no_room_for_one_then_everything_stays_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, overwrite: bool
) -> None:
    if overwrite:
        write(tmp_path / "a", "recordio", 20, shards=3)
    before, real = contents(tmp_path), LocalOutputFile.finish

    def full(self: LocalOutputFile) -> None:
        if self.path.endswith(f"a-00001-of-00003{suffix}"):
            raise WriteError("cannot bring the file to disk: No space left on device", shard=self.path)
        real(self)

    monkeypatch.setattr(LocalOutputFile, "finish", full)
    with pytest.raises(WriteError):
        write(tmp_path / "a", "recordio", shards=3, overwrite=overwrite)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("family", FAMILIES)
def test_renaming_when_it_fails_in_between_then_no_shard_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, family: str
) -> None:
    real, done = LocalOutputFile.commit, []

    def failing(self: LocalOutputFile) -> None:
        if len(done) == 2:
            raise KeyboardInterrupt
        real(self)
        done.append(self.path)

    monkeypatch.setattr(LocalOutputFile, "commit", failing)
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path / "a", family, shards=3)
    assert contents(tmp_path) == {}


def test_replacement_when_it_ends_behind_the_shard_then_no_old_index_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.rec"
    write(path, "recordio", 20)
    real = LocalOutputFile.commit

    def failing(self: LocalOutputFile) -> None:
        if self.path != str(path):
            raise KeyboardInterrupt
        real(self)

    monkeypatch.setattr(LocalOutputFile, "commit", failing)
    with pytest.raises(KeyboardInterrupt):
        write(path, "recordio", 30, overwrite=True)
    monkeypatch.undo()
    assert list(contents(tmp_path)) == ["a.rec"]
    assert len(rm.ShardReader(path).keys) == 30


@pytest.mark.parametrize("family", FAMILIES)
def test_writer_when_another_was_faster_then_leaves_everything_of_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, family: str
) -> None:
    slow = rm.ShardWriter(tmp_path / "a", format=family, shards=2)
    slow.write({"label": 1, "image": b"x"})
    monkeypatch.setattr(ShardOutput, "check_not_existing", lambda self: None)  # it had looked before
    write(tmp_path / "a", family, shards=2)
    there = {name: data for name, data in contents(tmp_path).items() if ".tmp-" not in name}
    with pytest.raises(OutputExistsError):
        slow.close()
    assert contents(tmp_path) == there


def test_foreign_index_when_its_shard_is_replaced_then_does_not_stay(tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecord"
    write(path, "tfrecord", 20)
    rm.build_index(path, foreign=True)
    assert (tmp_path / "a.tfindex").exists()
    write(path, "tfrecord", 30, overwrite=True)
    assert len(rm.ShardReader(path).keys) == 30
    assert sorted(contents(tmp_path)) == sorted([path.name, Path(sidecar_path(str(path))).name])

"""Names of committed files are durable: their folders are synced after the last rename."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

import recordmill as rm
from recordmill.errors import WriteError
from recordmill.storage.base import write_file_atomically
from recordmill.storage.local import LOCAL
from recordmill.testing.storage import FaultyStorage, MemoryStorage


@pytest.fixture
def recorded_calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Return the renames and syncs, each with the name of the new file or of the synced file or folder."""
    recorded: list[tuple[str, str]] = []
    real_fsync = os.fsync

    def fsync(fd: int) -> None:
        recorded.append(("fsync", os.readlink(f"/proc/self/fd/{fd}")))
        real_fsync(fd)

    def record(name: str) -> None:
        real: Any = getattr(os, name)

        def call(old: str, new: str) -> None:
            real(old, new)
            recorded.append(("rename", new))

        monkeypatch.setattr(os, name, call)

    monkeypatch.setattr(os, "fsync", fsync)
    for name in ("link", "replace", "rename"):
        record(name)
    return recorded


@pytest.mark.parametrize("options", [{"shards": 3}, {"max_shard_bytes": 3000}, {"overwrite": True}])
@pytest.mark.parametrize("family", ["tfrecord", "recordio"])
def test_writer_syncs_folder_once_after_the_last_rename(
    tmp_path: Path, recorded_calls: list[tuple[str, str]], family: str, options: dict[str, Any]
) -> None:
    with rm.ShardWriter(tmp_path / "part", format=family, payload="raw", **options) as writer:
        for _ in range(100):
            writer.write(bytes(100))
    renamed = [name for call, name in recorded_calls if call == "rename"]
    assert set(writer.paths) <= set(renamed) and len(renamed) >= 2 * len(writer.paths)
    # Once after the journal was written, and once after the last rename.
    assert recorded_calls[-1] == ("fsync", str(tmp_path)) and recorded_calls.count(("fsync", str(tmp_path))) == 2
    journaled = recorded_calls.index(("fsync", str(tmp_path)))
    synced = [row for row, (call, name) in enumerate(recorded_calls) if call == "fsync" and name != str(tmp_path)]
    assert max(synced) < journaled < min(recorded_calls.index(("rename", path)) for path in writer.paths)


def test_writer_syncs_parents_of_folders_that_it_creates(tmp_path: Path, recorded_calls: list[tuple[str, str]]) -> None:
    rm.pack([{"a": 1}], tmp_path / "one" / "two" / "part")
    synced = [name for call, name in recorded_calls if call == "fsync"]
    assert {str(tmp_path), str(tmp_path / "one"), str(tmp_path / "one" / "two")} <= set(synced)


def test_write_atomically_syncs_folder_after_rename(tmp_path: Path, recorded_calls: list[tuple[str, str]]) -> None:
    write_file_atomically(LOCAL, str(tmp_path / "file"), b"data")
    assert [call for call, _ in recorded_calls] == ["fsync", "rename", "fsync"]
    assert recorded_calls[1:] == [("rename", str(tmp_path / "file")), ("fsync", str(tmp_path))]


def test_entry_points_are_renamed_before_their_folder_is_synced(
    tmp_path: Path, recorded_calls: list[tuple[str, str]]
) -> None:
    from PIL import Image

    Image.effect_noise((256, 256), 40).save(tmp_path / "a.jpg", restart_marker_rows=0)
    path = tmp_path / "a.tfrecord"
    with rm.ShardWriter(path) as writer:
        writer.write({"image": (tmp_path / "a.jpg").read_bytes()})
    recorded_calls.clear()
    rm.build_index(path, entry_points=True)
    assert [Path(name).suffix for call, name in recorded_calls if call == "rename"] == [".rmx", ".rme"]
    assert recorded_calls[-1] == ("fsync", str(tmp_path))


@pytest.mark.parametrize("number", [errno.EINVAL, errno.ENOTSUP, errno.EIO])
def test_sync_of_folder_ignores_only_that_it_is_not_supported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    real_fsync = os.fsync

    def fsync(fd: int) -> None:
        if os.path.isdir(f"/proc/self/fd/{fd}"):
            raise OSError(number, os.strerror(number))
        real_fsync(fd)

    monkeypatch.setattr(os, "fsync", fsync)
    writer = rm.ShardWriter(tmp_path / "a.tfrecord")
    writer.write({"a": 1})
    if number == errno.EIO:
        with pytest.raises(WriteError, match="cannot sync the folder"):
            writer.close()
        assert list(tmp_path.iterdir()) == []
    else:
        writer.close()
        assert len(rm.open(tmp_path)) == 1


def test_folder_that_cannot_be_opened_is_not_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real_open = os.open

    def open_file(path: Any, flags: int, *args: Any, **options: Any) -> int:
        if os.path.isdir(path):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return real_open(path, flags, *args, **options)

    monkeypatch.setattr(os, "open", open_file)
    write_file_atomically(LOCAL, str(tmp_path / "file"), b"data")
    assert (tmp_path / "file").read_bytes() == b"data"


def test_writer_syncs_folders_of_any_storage_after_the_last_commit() -> None:
    storage = FaultyStorage(MemoryStorage())
    writer = type("Writer", (rm.ShardWriter,), {"_storage": storage})("out/part", format="recordio", shards=2)
    writer.write({"image": b"x"})
    writer.close()
    names = [name for name, _ in storage.operations if name in ("commit", "rename", "sync_folder")]
    assert names == ["commit", "sync_folder"] + ["rename"] * 7 + ["sync_folder"]
    assert ("sync_folder", "out") in storage.operations

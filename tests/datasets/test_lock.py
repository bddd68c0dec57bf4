"""A destination has one writer at a time; the lock of a dead process is taken over."""

from __future__ import annotations

import errno
import json
import os
import pickle
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

import recordmill as rm
from recordmill.storage.local import LocalStorage

WRITER = """
import sys, recordmill as rm
writer = rm.ShardWriter(sys.argv[1], shards=2)
writer.write({"id": 1})
writer.write({"id": 2})
print("ready", flush=True)
sys.stdin.readline()
writer.close()
"""


def write(path: Path, **options: Any) -> list[str]:
    with rm.ShardWriter(path, shards=2, **options) as writer:
        for number in range(10):
            writer.write({"id": number})
    return writer.paths


def start_writer(path: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    return process


def change_lock(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_second_writer_gets_an_error_that_names_the_first(tmp_path: Path) -> None:
    with start_writer(tmp_path / "train") as process:
        for attempt in (write, lambda path: rm.pack([{"id": 1}], path, overwrite=True)):
            with pytest.raises(rm.DestinationLockedError, match=f"process {process.pid} on ") as caught:
                attempt(tmp_path / "train")
            error = pickle.loads(pickle.dumps(caught.value))
            assert error.pid == process.pid and error.host and error.started and "break_lock" in str(error.hint)
        write(tmp_path / "val")
        process.communicate("\n")
    assert len(rm.open(tmp_path / "train")) == 2 and not (tmp_path / ".train.lock").exists()


def test_second_writer_of_the_same_process_gets_an_error(tmp_path: Path) -> None:
    writer = rm.ShardWriter(tmp_path / "train", shards=2)
    with pytest.raises(rm.DestinationLockedError, match=f"process {os.getpid()} "):
        rm.ShardWriter(tmp_path / "train", shards=2)
    writer.discard()
    write(tmp_path / "train")
    assert [path.name for path in tmp_path.glob(".*.lock")] == []


@pytest.mark.parametrize("flock", [True, False])
def test_lock_of_a_killed_process_is_taken_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flock: bool) -> None:
    with start_writer(tmp_path / "train") as process:
        process.kill()
    assert (tmp_path / ".train.lock").exists()
    if not flock:  # simulates a file system without hard links
        monkeypatch.setattr(os, "link", lambda *_: (_ for _ in ()).throw(PermissionError(1, "Operation not permitted")))
    write(tmp_path / "train")
    assert len(rm.open(tmp_path / "train")) == 10
    assert not [path for path in tmp_path.iterdir() if ".tmp-" in path.name or path.name.endswith(".lock")]


def test_lock_of_a_reused_process_id_is_taken_over(tmp_path: Path) -> None:
    with start_writer(tmp_path / "train") as process:
        change_lock(tmp_path / ".train.lock", process_start="an earlier process")
        write(tmp_path / "train")
        _, _ = process.communicate("\n")
        assert process.returncode == 1  # its lock was taken over
    assert len(rm.open(tmp_path / "train")) == 10


@pytest.mark.parametrize("change", [{"host": "another-machine"}, {"namespace": "pid:[1]"}])
def test_lock_of_another_machine_or_container_must_be_broken(tmp_path: Path, change: dict[str, str]) -> None:
    with start_writer(tmp_path / "train") as process:
        process.kill()
    change_lock(tmp_path / ".train.lock", **change)
    with pytest.raises(rm.DestinationLockedError):
        write(tmp_path / "train")
    with pytest.raises(rm.DestinationLockedError):
        rm.repair(tmp_path / "train")
    rm.repair(tmp_path / "train", break_lock=True)
    change_lock_of_nobody = tmp_path / ".train.lock"
    assert not change_lock_of_nobody.exists()
    write(tmp_path / "train", break_lock=True)
    assert len(rm.open(tmp_path / "train")) == 10


def test_writer_whose_lock_was_broken_writes_nothing(tmp_path: Path) -> None:
    with start_writer(tmp_path / "train") as process:
        write(tmp_path / "train", break_lock=True)
        before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
        process.communicate("\n")
        assert process.returncode == 1
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("content", [b"", b"not JSON", b"{}", b"[1]"])
def test_unreadable_lock_must_be_broken(tmp_path: Path, content: bytes) -> None:
    (tmp_path / ".train.lock").write_bytes(content)
    with pytest.raises(rm.DestinationLockedError, match="an unknown process"):
        write(tmp_path / "train")
    assert len(rm.open(write(tmp_path / "train", break_lock=True))) == 10


def test_temporary_files_of_dead_runs_are_removed_by_the_next_run(tmp_path: Path) -> None:
    for prefix in ("train", "train-extra"):
        with start_writer(tmp_path / prefix) as process:
            process.kill()
    num_of_other = len(list(tmp_path.glob(".train-extra-*.tmp-*")))
    assert num_of_other == 2 and len(list(tmp_path.glob(".*.tmp-*"))) == 4
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        write(tmp_path / "train")
    assert len(list(tmp_path.glob(".*.tmp-*"))) == num_of_other
    assert len(rm.open(tmp_path / "train")) == 10


def test_stale_lock_that_cannot_be_removed_is_an_error(tmp_path: Path) -> None:
    class FixedLock(LocalStorage):
        """Storage in which the lock cannot be renamed, as in a folder of another user with the sticky bit."""

        def rename(self, old: str, new: str, *, overwrite: bool) -> None:
            if old.endswith(".lock"):
                raise rm.WriteError("cannot rename the file: Operation not permitted", errno=errno.EPERM, shard=old)
            super().rename(old, new, overwrite=overwrite)

    with start_writer(tmp_path / "train") as process:
        process.kill()
    writer = type("Writer", (rm.ShardWriter,), {"_storage": FixedLock()})
    with pytest.raises(rm.WriteError, match="Operation not permitted"):
        writer(tmp_path / "train", shards=2)
    write(tmp_path / "train")

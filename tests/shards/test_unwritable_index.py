"""Indexes that cannot be written beside new shards: a warning if that is not permitted, an error if the disk fails."""

from __future__ import annotations

import errno
import json
import os
import pickle
import warnings
from pathlib import Path
from typing import Any

import pytest

import recordmill as rm
from recordmill.cli.main import main
from recordmill.errors import WriteError
from recordmill.testing.storage import FaultyStorage, MemoryStorage

NOT_PERMITTED = [errno.EACCES, errno.EPERM, errno.EROFS, errno.ENAMETOOLONG]
FAILED = [errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EFBIG]


def fail_index_files(patch: pytest.MonkeyPatch, function: str, number: int, folder: Path) -> None:
    """Let a function of `os` fail for index files in a folder."""
    real: Any = getattr(os, function)

    def call(path: str, *args: Any, **options: Any) -> Any:
        if os.fspath(path).startswith(str(folder)) and ".rmx" in os.fspath(path):
            raise OSError(number, os.strerror(number), path)
        return real(path, *args, **options)

    patch.setattr(os, function, call)


def write_with_writer(path: Path, **options: Any) -> list[str]:
    with rm.ShardWriter(path, **options) as writer:
        for number in range(10):
            writer.write({"a": number})
    assert writer.warnings == [] or len(writer.warnings) == len(writer.paths)
    return writer.warnings


def write_with_pack(path: Path, **options: Any) -> list[str]:
    return rm.pack([{"a": number} for number in range(10)], path, **options).warnings


def write_with_payload_writer(path: Path, **options: Any) -> list[str]:
    with rm.PayloadWriter(f"{path}.tfrecord", format="tfrecord") as writer:
        writer.write(b"record")
    return writer.warnings


def files_in(folder: Path) -> list[str]:
    """Return the names of the files except the manifest."""
    return sorted(path.name for path in folder.iterdir() if not path.name.endswith(".manifest.json"))


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the cache."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("RECORDMILL_CACHE", str(folder))
    return folder


WRITE = pytest.mark.parametrize("write", [write_with_writer, write_with_pack, write_with_payload_writer])


@WRITE
@pytest.mark.parametrize("function", ["open", "replace"])
@pytest.mark.parametrize("number", NOT_PERMITTED)
def test_index_that_may_not_be_written_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Any, function: str, number: int
) -> None:
    out = tmp_path / "out"
    fail_index_files(monkeypatch, function, number, out)
    with pytest.warns(RuntimeWarning, match="the index of '.*' cannot be") as caught:
        found = write(out / "part", shards=2)
    assert found == [str(warning.message) for warning in caught] and len(found) == len(files_in(out))
    assert all(os.strerror(number) in text and str(out) in text for text in found)
    assert rm.verify(out).ok


def test_index_that_may_not_be_written_beside_the_shard_is_saved_in_the_cache(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    fail_index_files(monkeypatch, "open", errno.EACCES, out)
    with pytest.warns(RuntimeWarning, match="saved in the cache"):
        write_with_writer(out / "part")
    assert [Path(name).suffix for name in files_in(cache)] == [".rmx"]


def test_index_whose_name_is_too_long_is_a_warning(tmp_path: Path) -> None:
    name = "x" * 243 + ".tfrecord"
    with (
        pytest.warns(RuntimeWarning, match="File name too long"),
        rm.PayloadWriter(tmp_path / "out" / name, format="tfrecord") as writer,
    ):
        writer.write(b"record")
    assert len(rm.ShardReader(tmp_path / "out" / name)) == 1


@WRITE
@pytest.mark.parametrize("function", ["open", "replace"])
@pytest.mark.parametrize("number", FAILED)
def test_index_that_cannot_be_written_after_an_io_error_is_an_error(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, write: Any, function: str, number: int
) -> None:
    out = tmp_path / "out"
    fail_index_files(monkeypatch, function, number, out)
    with pytest.raises(WriteError, match=os.strerror(number)) as caught:
        write(out / "part", shards=2)
    if write is write_with_payload_writer and function == "replace":
        # An existing file would have been replaced already, so the new one stays.
        assert files_in(out) == ["part.tfrecord"]
    else:
        assert files_in(out) == []
    error = pickle.loads(pickle.dumps(caught.value))
    assert error.errno == number and ".rmx" in (error.shard or "")


@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO])
def test_index_of_any_storage_follows_the_same_rule(number: int) -> None:
    def write(fail_at: int | None) -> FaultyStorage:
        def error(path: str) -> WriteError:
            return WriteError("cannot write", shard=path, errno=number)

        storage = FaultyStorage(memory, fail_at, error)
        writer = type("Writer", (rm.ShardWriter,), {"_storage": storage})("out/part", format="ofrecord", shards=2)
        writer.write({"a": 1})
        writer.write({"a": 2})
        writer.close()
        return storage

    memory = MemoryStorage()
    operations = write(None).operations
    complete = dict(memory.files)
    for row, (name, path) in enumerate(operations):
        if path.endswith(".rmx") and name in ("create_output", "write", "finish", "commit"):
            memory = MemoryStorage()
            if number == errno.EIO:
                with pytest.raises(WriteError):
                    write(row)
                assert memory.files == {}, (name, path)
            else:
                with pytest.warns(RuntimeWarning, match="cannot be written"):
                    write(row)
                assert memory.files == {file: data for file, data in complete.items() if file != path}, (name, path)


@pytest.fixture
def images(tmp_path: Path) -> Path:
    """Return a folder of files that look like images."""
    folder = tmp_path / "images" / "a"
    folder.mkdir(parents=True)
    for name in ("1.png", "2.png"):
        (folder / name).write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(10))
    return folder.parent


def run_pack(images: Path, out: Path, number: int, *options: str) -> int:
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("default")
        fail_index_files(patch, "open", number, out)
        return main(["pack", str(images), str(out / "train"), "--quiet", *options])


def test_pack_command_prints_warning_on_stderr_and_in_json(
    tmp_path: Path, images: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_pack(images, tmp_path / "out", errno.EROFS, "--json", "--shards", "2") == 0
    printed = capsys.readouterr()
    found = json.loads(printed.out)["warnings"]
    assert len(found) == 2 and all("Read-only file system" in text for text in found)
    assert printed.err.splitlines() == [f"warning: {text}" for text in found]
    assert run_pack(images, tmp_path / "other", errno.EROFS) == 0
    assert capsys.readouterr().err.startswith("warning: the index of ")
    assert main(["pack", str(images), str(tmp_path / "good" / "train"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["warnings"] == []


def test_pack_command_fails_if_index_cannot_be_written_after_an_io_error(
    tmp_path: Path, images: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_pack(images, tmp_path / "out", errno.EIO) == 2
    assert "Input/output error" in capsys.readouterr().err
    assert files_in(tmp_path / "out") == []

"""The storages for tests behave like the local file system."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from recordmill.errors import OutputExistsError
from recordmill.storage.base import Storage, write_file_atomically
from recordmill.storage.local import LOCAL
from recordmill.testing.storage import FaultyStorage, MemoryStorage

STORAGES = {"local": lambda: LOCAL, "memory": MemoryStorage, "faulty": lambda: FaultyStorage(MemoryStorage())}


@pytest.fixture(params=STORAGES)
def storage(request: pytest.FixtureRequest) -> Storage:
    return STORAGES[request.param]()


def test_storage_lists_folder_patterns_and_paths(storage: Storage, tmp_path: Path) -> None:
    for name in ("p10", "p9", ".hidden", "sub/p1"):
        write_file_atomically(storage, str(tmp_path / name), b"")
    assert storage.expand(str(tmp_path)) == [str(tmp_path / "p9"), str(tmp_path / "p10")]
    assert storage.expand(str(tmp_path / "p1*")) == [str(tmp_path / "p10")]
    assert storage.expand(str(tmp_path / "p9")) == [str(tmp_path / "p9")]
    assert storage.expand(str(tmp_path / "missing")) == []


def test_storage_reads_files_whole_and_at_offsets(storage: Storage, tmp_path: Path) -> None:
    first, second = str(tmp_path / "first"), str(tmp_path / "second.gz")
    write_file_atomically(storage, first, b"0123456789")
    write_file_atomically(storage, second, gzip.compress(b"abcdef"))
    assert storage.read(first) == b"0123456789" and storage.stat(first).num_bytes == 10
    assert bytes(memoryview(storage.open([first, first]).read(8, 4))) == b"8901"
    assert bytes(memoryview(storage.open([second], "gzip", 100).read(2, 3))) == b"cde"
    for read in (storage.read, storage.stat, lambda path: storage.open([path])):
        with pytest.raises(FileNotFoundError):
            read(str(tmp_path / "missing"))


def test_output_file_is_invisible_until_commit(storage: Storage, tmp_path: Path) -> None:
    path = str(tmp_path / "file")
    file = storage.create_output(path, overwrite=False)
    file.write(b"one ")
    file.write(memoryview(b"two"))
    file.finish()
    with pytest.raises(ValueError, match="closed"):
        file.write(b"three")
    assert not storage.exists(path) and storage.expand(str(tmp_path)) == []
    assert storage.read(file.temporary) == b"one two"
    file.path = os.path.join(tmp_path, "renamed")
    file.commit()
    file.discard()
    assert storage.expand(str(tmp_path)) == [file.path] and storage.read(file.path) == b"one two"


def test_create_and_commit_replace_only_with_overwrite(storage: Storage, tmp_path: Path) -> None:
    path = str(tmp_path / "file")
    late = storage.create_output(path, overwrite=False)
    late.finish()
    write_file_atomically(storage, path, b"first")
    with pytest.raises(OutputExistsError):
        late.commit()
    with pytest.raises(OutputExistsError):
        storage.create_output(path, overwrite=False)
    late.discard()
    assert not storage.exists(late.temporary)
    write_file_atomically(storage, path, b"second")
    assert storage.read(path) == b"second"
    storage.remove(path)
    storage.remove(path)
    assert not storage.exists(path)


def test_faulty_storage_fails_in_chosen_operation_only() -> None:
    recorder = FaultyStorage(MemoryStorage())
    write_file_atomically(recorder, "file", b"x")
    names = ("create_output", "write", "finish", "commit")
    assert recorder.operations == [*((name, "file") for name in names), ("sync_folder", "")]
    for fail_at in range(4):
        memory = MemoryStorage()
        faulty = FaultyStorage(memory, fail_at)
        with pytest.raises(OSError, match="file"):
            write_file_atomically(faulty, "file", b"x")
        assert memory.files == {} and len(faulty.operations) == fail_at + 1
        write_file_atomically(faulty, "file", b"x")
        assert memory.files == {"file": b"x"}

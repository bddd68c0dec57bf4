"""Shard outputs: framing, distribution over shards, and a commit of all files of a job or none."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import recordmill as rm
from recordmill.errors import OutputExistsError, WriteError
from recordmill.formats.registry import get_format
from recordmill.shards.collection import ShardCollection
from recordmill.shards.output import distribute_records, frame_payloads
from recordmill.storage.base import Storage
from recordmill.storage.local import LocalStorage
from recordmill.testing.storage import FaultyStorage, MemoryStorage
from recordmill.types import Ragged
from tests.shards.helpers import FORMATS, FRAMES


def shard_writer(storage: Storage) -> type[rm.ShardWriter]:
    """Return a ShardWriter that writes to a storage."""
    return type("StorageShardWriter", (rm.ShardWriter,), {"_storage": storage})


def payload_writer(storage: Storage) -> type[rm.PayloadWriter]:
    """Return a PayloadWriter that writes to a storage."""
    return type("StoragePayloadWriter", (rm.PayloadWriter,), {"_storage": storage})


def payloads_of(count: int, seed: int) -> list[bytes]:
    return [b"record %d of run %d" % (number, seed) * (1 + number % 3) for number in range(count)]


def write_payloads(storage: Storage, payloads: list[bytes], **options: Any) -> list[str]:
    with shard_writer(storage)("out/part", payload="raw", **options) as writer:
        for payload in payloads:
            writer.write(payload)
    return writer.paths


def is_shard(path: str) -> bool:
    return not os.path.basename(path).startswith(".") and not path.endswith(".idx")


def without_lock(storage: MemoryStorage) -> dict[str, bytes]:
    """Return the files of a storage without the lock, whose removal may be the operation that fails."""
    return {path: data for path, data in storage.files.items() if not path.endswith(".lock")}


def shards_in(files: Mapping[str, bytes]) -> dict[str, bytes]:
    return {path: data for path, data in files.items() if is_shard(path)}


# Framing and distribution


@given(st.lists(st.binary(min_size=1, max_size=9), max_size=40), st.integers(1, 50), st.sampled_from(FORMATS))
def test_deal_records_gives_each_part_every_nth_record(rows: list[bytes], num_parts: int, family: str) -> None:
    parts = list(distribute_records(frame_payloads(get_format(family), Ragged.from_rows(rows)), num_parts))
    assert len(parts) == (1 if num_parts == 1 else min(num_parts, len(rows)))
    for number, part in enumerate(parts):
        expected = frame_payloads(get_format(family), Ragged.from_rows(rows[number::num_parts]))
        assert bytes(part.data) == bytes(expected.data) and part.lengths.tolist() == expected.lengths.tolist()
        assert (part.checksums is None) == (expected.checksums is None)
        if part.checksums is not None and expected.checksums is not None:
            assert part.checksums.tolist() == expected.checksums.tolist()


@given(st.lists(st.binary(min_size=1, max_size=9), max_size=40), st.sampled_from(FORMATS))
def test_frame_payloads_gives_equal_frames_for_list_and_ragged(rows: list[bytes], family: str) -> None:
    from_list = frame_payloads(get_format(family), rows)
    from_ragged = frame_payloads(get_format(family), Ragged.from_rows(rows))
    assert bytes(from_list.data) == bytes(from_ragged.data) == b"".join(map(FRAMES[family], rows))
    assert from_list.lengths.tolist() == from_ragged.lengths.tolist()


@given(st.lists(st.integers(1, 60), min_size=1, max_size=40), st.integers(1, 200))
def test_rolling_shards_are_filled_up_to_the_limit(sizes: list[int], max_bytes: int) -> None:
    storage = MemoryStorage()
    payloads = [bytes([1 + number]) * size for number, size in enumerate(sizes)]
    paths = write_payloads(storage, payloads, format="recordio", max_shard_bytes=max_bytes)
    expected = [b""]
    for frame in map(FRAMES["recordio"], payloads):
        if expected[-1] and len(expected[-1]) + len(frame) > max_bytes:
            expected.append(b"")
        expected[-1] += frame
    assert [storage.files[path] for path in paths] == expected


@pytest.mark.parametrize("family", FORMATS)
@pytest.mark.parametrize("shards", [7, 300])
def test_round_robin_shards_receive_every_nth_record(family: str, shards: int) -> None:
    storage = MemoryStorage()
    payloads = [b"%d" % number * (1 + number % 7) for number in range(5000)]
    paths = write_payloads(storage, payloads, format=family, shards=shards)
    for number, path in enumerate(paths):
        assert storage.files[path] == b"".join(map(FRAMES[family], payloads[number::shards]))


@pytest.mark.parametrize("options", [{"shards": 64}, {"max_shard_bytes": 1 << 20}, {}])
def test_writer_flushes_large_arrays_before_close(tmp_path: Path, options: dict[str, int]) -> None:
    with rm.ShardWriter(tmp_path / "part", **options) as writer:
        for number in range(20):
            writer.write({"x": np.full(1 << 18, number, np.float32)})
        assert sum(entry.stat().st_size for entry in os.scandir(tmp_path)) >= 12 << 20
    assert len(rm.open(writer.paths)) == 20


# Commit of all files or none: every operation of the storage fails once.

JOBS: dict[str, dict[str, Any]] = {
    "shards with foreign index": {"format": "recordio", "shards": 2},
    "shards without foreign index": {"format": "ofrecord", "shards": 2},
    "compressed shard": {"format": "tfrecord", "compression": "gzip"},
    "rolling shards": {"format": "recordio", "max_shard_bytes": 150},
}


def write_error(path: str) -> WriteError:
    return WriteError("cannot write: No space left on device", shard=path)


def interrupt(path: str) -> KeyboardInterrupt:
    return KeyboardInterrupt(path)


@pytest.mark.parametrize("error", [write_error, interrupt])
@pytest.mark.parametrize("options", JOBS.values(), ids=JOBS.keys())
def test_writer_leaves_no_file_after_any_failed_operation(
    options: dict[str, Any], error: Callable[[str], BaseException]
) -> None:
    payloads = payloads_of(10, seed=1)
    complete = MemoryStorage()
    recorder = FaultyStorage(complete)
    paths = write_payloads(recorder, payloads, **options)
    assert {"create_output", "write", "finish", "commit", "remove", "open"} <= {name for name, _ in recorder.operations}
    num_failed = 0
    for fail_at in range(len(recorder.operations)):
        storage = MemoryStorage()
        try:
            write_payloads(FaultyStorage(storage, fail_at, error), payloads, **options)
        except (WriteError, KeyboardInterrupt):
            num_failed += 1
            if fail_at >= len(recorder.operations) - 2:  # The lock is released after the commit.
                assert without_lock(storage) == complete.files
                continue
            assert without_lock(storage) == {}, recorder.operations[fail_at]
            write_payloads(storage, payloads, **options)
        assert without_lock(storage) == complete.files, recorder.operations[fail_at]
    assert num_failed >= 8 * len(paths)


@pytest.mark.parametrize("error", [write_error, interrupt])
@pytest.mark.parametrize("options", JOBS.values(), ids=JOBS.keys())
def test_overwriting_writer_leaves_only_complete_files_after_any_failed_operation(
    options: dict[str, Any], error: Callable[[str], BaseException]
) -> None:
    def old_files() -> MemoryStorage:
        storage = MemoryStorage()
        write_payloads(storage, payloads_of(14, seed=1), **options)
        return storage

    old, new = old_files(), old_files()
    recorder = FaultyStorage(new)
    payloads = payloads_of(10, seed=2)
    write_payloads(recorder, payloads, overwrite=True, **options)
    num_interrupted = 0
    for fail_at, operation in enumerate(recorder.operations):
        storage = old_files()
        with contextlib.suppress(WriteError, KeyboardInterrupt):
            write_payloads(FaultyStorage(storage, fail_at, error), payloads, overwrite=True, **options)
        if "out/.part.journal.json" in storage.files:
            num_interrupted += 1
            with pytest.raises(rm.IncompleteDatasetError, match="recordmill repair out/part"):
                ShardCollection("out/part-*", storage=storage)
        else:
            assert without_lock(storage) in (old.files, new.files), operation
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that an interrupted write was completed
            write_payloads(storage, payloads, overwrite=True, **options)
        assert without_lock(storage) == new.files, operation
    assert num_interrupted if error is write_error else not num_interrupted


def test_payload_writer_keeps_old_file_after_any_failed_operation() -> None:
    def write(storage: Storage, payload: bytes) -> None:
        with payload_writer(storage)("out/file.bin", format="recordio") as writer:
            writer.write(payload)

    recorder = FaultyStorage(MemoryStorage())
    write(recorder, b"new")
    for fail_at in range(len(recorder.operations)):
        storage = MemoryStorage()
        storage.write("out/file.bin", b"old")
        try:
            write(FaultyStorage(storage, fail_at, write_error), b"new")
        except WriteError:
            committed = ("rename", "out/file.bin") in recorder.operations[:fail_at]
            assert shards_in(storage.files)["out/file.bin"] == (FRAMES["recordio"](b"new") if committed else b"old")
        else:
            assert storage.files["out/file.bin"] == FRAMES["recordio"](b"new")
        assert not any(".tmp-" in path for path in storage.files)


# Commit on the local file system


def write_examples(path: Path, family: str, count: int = 30, **options: Any) -> list[str]:
    with rm.ShardWriter(path, format=family, **options) as writer:
        for number in range(count):
            writer.write({"label": number, "image": bytes(50 + count)})
    return writer.paths


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("family", FORMATS)
def test_writer_keeps_files_of_another_writer_that_committed_first(tmp_path: Path, family: str) -> None:
    class LateFile(LocalStorage):
        """Storage in which another program creates a shard at the last moment, after all checks of the writer."""

        def rename(self, old: str, new: str, *, overwrite: bool) -> None:
            if is_shard(new) and not os.path.exists(new):
                Path(new).write_bytes(b"of another program")
            super().rename(old, new, overwrite=overwrite)

    writer = shard_writer(LateFile())(tmp_path / "a", format=family, shards=2)
    writer.write({"label": 1, "image": b"x"})
    writer.write({"label": 2, "image": b"x"})
    with pytest.raises(OutputExistsError):
        writer.close()
    assert set(contents(tmp_path).values()) == {b"of another program"} and len(contents(tmp_path)) == 1


def test_overwriting_writer_removes_foreign_index_of_old_shard(tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecord"
    write_examples(path, "tfrecord", 20)
    rm.build_index(path, foreign=True)
    assert (tmp_path / "a.tfindex").exists()
    write_examples(path, "tfrecord", 30, overwrite=True)
    assert len(rm.ShardReader(path).keys) == 30
    assert sorted(contents(tmp_path)) == [".a.tfrecord.manifest.json", ".a.tfrecord.rmx", "a.tfrecord"]

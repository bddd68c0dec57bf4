"""The reading side of shards with storages other than the local file system: in memory, and with injected faults."""

from __future__ import annotations

import errno
import pickle
from collections import OrderedDict

import pytest

import recordmill as rm
from recordmill.shards.collection import ShardCollection
from recordmill.shards.index import sidecar_path
from recordmill.testing.storage import FaultyStorage, MemoryStorage
from tests.shards.helpers import FORMATS, FRAMES, encode_message

NAMES = ["data/part-0", "data/part-1"]
NUM_RECORDS = 40


def write_to_memory(format_name: str, *, with_sidecars: bool = False) -> MemoryStorage:
    storage = MemoryStorage()
    for number, name in enumerate(NAMES):
        rows = range(number * NUM_RECORDS // 2, (number + 1) * NUM_RECORDS // 2)
        storage.write(name, b"".join(FRAMES[format_name](encode_message(format_name, row)) for row in rows))
    if with_sidecars:
        open_collection(storage, format_name)
    return storage


def open_collection(storage: MemoryStorage | FaultyStorage, format_name: str) -> ShardCollection:
    payload = "ofrecord" if format_name == "ofrecord" else "example"
    return ShardCollection("data/part-*", format=format_name, payload=payload, storage=storage)


def read_ids(shards: ShardCollection) -> list[int]:
    return shards.columns(range(len(shards)))["id"].reshape(-1).tolist()


@pytest.mark.parametrize("format_name", FORMATS)
def test_collection_reads_and_indexes_shards_of_given_storage(format_name: str) -> None:
    storage = write_to_memory(format_name)
    shards = open_collection(storage, format_name)
    assert read_ids(shards) == list(range(NUM_RECORDS))
    assert [int(example["id"]) for example in shards.__getitems__([39, 0, -1])] == [39, 0, 39]
    assert sorted(storage.files) == sorted([*NAMES, *map(sidecar_path, NAMES)])
    recorder = FaultyStorage(storage)
    assert read_ids(open_collection(recorder, format_name)) == list(range(NUM_RECORDS))
    assert "create_output" not in {operation for operation, _ in recorder.operations}, "the saved index is used"


@pytest.mark.parametrize("with_sidecars", [False, True])
@pytest.mark.parametrize("format_name", FORMATS)
def test_collection_raises_or_reads_all_records_if_any_operation_fails(format_name: str, with_sidecars: bool) -> None:
    recorder = FaultyStorage(write_to_memory(format_name, with_sidecars=with_sidecars))
    read_ids(open_collection(recorder, format_name))
    # The records can be read without these operations.
    optional = {("read", path) for path in map(sidecar_path, NAMES)} | {
        ("create_output", path) for path in map(sidecar_path, NAMES)
    }
    num_errors = 0
    for fail_at in range(len(recorder.operations)):
        storage = write_to_memory(format_name, with_sidecars=with_sidecars)
        faulty = FaultyStorage(storage, fail_at)
        try:
            ids = read_ids(open_collection(faulty, format_name))
        except OSError:
            assert faulty.operations[fail_at] not in optional
            num_errors += 1
        else:
            assert ids == list(range(NUM_RECORDS)), faulty.operations[fail_at]
        assert set(storage.files) <= {*NAMES, *map(sidecar_path, NAMES)}, "no temporary file remains"
    assert num_errors >= len(NAMES)


@pytest.mark.parametrize("change", ["replaced", "removed"])
def test_reopened_shard_of_given_storage_must_be_unchanged(change: str) -> None:
    storage = write_to_memory("tfrecord")
    shards = open_collection(storage, "tfrecord")
    copy = pickle.loads(pickle.dumps(shards))
    assert read_ids(copy) == list(range(NUM_RECORDS))
    for collection in (shards, copy):
        own_storage = collection.readers[0]._file.storage
        if change == "removed":
            own_storage.remove(NAMES[0])
        else:
            own_storage.write(NAMES[0], own_storage.read(NAMES[1]))
        collection.readers[0]._file.evict()
        with pytest.raises(rm.ShardChangedError, match=f"was {change}") as caught:
            read_ids(collection)
        assert caught.value.shard == NAMES[0]


def test_shard_is_reopened_after_descriptor_limit_was_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: str) -> OSError:
        return OSError(errno.EMFILE, "Too many open files", path)

    monkeypatch.setattr("recordmill.shards.file_pool.raise_descriptor_limit", lambda: False)
    monkeypatch.setattr("recordmill.shards.file_pool._OPEN_FILES", OrderedDict())
    recorder = FaultyStorage(write_to_memory("tfrecord"))
    open_collection(recorder, "tfrecord")
    second = recorder.operations.index(("open", NAMES[1]))
    storage = FaultyStorage(write_to_memory("tfrecord"), second, full)
    assert read_ids(open_collection(storage, "tfrecord")) == list(range(NUM_RECORDS))
    names = [path for operation, path in storage.operations if operation == "open"]
    assert names.count(NAMES[0]) == 2, "the first shard was closed in favor of the second and opened again"

"""Every operation on a storage fails once, in every way: the result is right, or a documented error names the file."""

from __future__ import annotations

import gzip
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import recordmill as rm
from recordmill.shards.collection import ShardCollection
from recordmill.shards.index import load_index, sidecar_path
from recordmill.shards.open import open_shard
from recordmill.shards.reader import open_reader
from recordmill.shards.sidecar import parse_sidecar
from recordmill.shards.verify import verify_shards
from recordmill.storage.base import Storage
from recordmill.testing.storage import Fault, FaultyStorage, MemoryStorage
from tests.shards.helpers import FORMATS, FRAMES, encode_message

NAMES = ["data/part-0", "data/part-1"]
PATTERN = "data/part-*"
NUM_RECORDS = 24
ROWS = {name: range(start, start + NUM_RECORDS // 2) for name, start in zip(NAMES, (0, NUM_RECORDS // 2), strict=True)}
pytestmark = pytest.mark.deep
COMPRESS: dict[str, Callable[[bytes], bytes]] = {"plain": bytes, "gzip": gzip.compress}


def write_to_memory(format_name: str, compression: str) -> MemoryStorage:
    storage = MemoryStorage()
    for name, rows in ROWS.items():
        frames = b"".join(FRAMES[format_name](encode_message(format_name, row)) for row in rows)
        storage.write(name, COMPRESS[compression](frames))
    return storage


def copy_storage(storage: MemoryStorage) -> MemoryStorage:
    copy = MemoryStorage()
    for path, data in storage.files.items():
        copy.write(path, data)
    return copy


def read_columns(storage: Storage, format_name: str) -> Any:
    return open_collection(storage, format_name).columns(range(NUM_RECORDS))["id"].reshape(-1).tolist()


def read_examples(storage: Storage, format_name: str) -> Any:
    shards = open_collection(storage, format_name)
    positions = [range(NUM_RECORDS), [NUM_RECORDS - 1], [0]]
    return [int(example["id"]) for some in positions for example in shards.__getitems__(some)]


def open_collection(storage: Storage, format_name: str) -> ShardCollection:
    payload = "ofrecord" if format_name == "ofrecord" else "example"
    return ShardCollection(PATTERN, format=format_name, payload=payload, storage=storage)


def read_batches(storage: Storage, format_name: str) -> Any:
    """Read payloads in order, without an index, with and without threads."""
    readers = [open_reader([name], storage, format=format_name) for name in NAMES]
    batches = [batch for reader in readers for threads in (0, 2) for batch in reader.batches(5, threads=threads)]
    return [payload for batch in batches for payload in batch]


def read_payloads(storage: Storage, format_name: str) -> Any:
    readers = [open_reader([name], storage, format=format_name) for name in NAMES]
    return [reader[record] for reader in readers for record in (3, 0, -1)]


def load_indexes(storage: Storage, format_name: str) -> Any:
    return [load_index(open_shard([name], storage=storage)).sidecar.index.offsets.tolist() for name in NAMES]


def verify(storage: Storage, format_name: str) -> Any:
    """Return the number of intact records. A fault that says that a shard changed is the error of that name."""
    report = verify_shards(storage, PATTERN, {"format": format_name}, "auto")
    for fault in report.faults:
        raise rm.ShardChangedError(fault.message, kind=fault.kind, shard=fault.shard)
    return report.num_records


USES = [read_columns, read_examples, read_batches, read_payloads, load_indexes, verify]


@pytest.fixture
def _isolated(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Let no index be saved in the cache, and no limit of this process change."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("RECORDMILL_CACHE", str(tmp_path / "file" / "cache"))
    monkeypatch.setattr("recordmill.shards.file_pool.raise_descriptor_limit", lambda: False)
    monkeypatch.setattr("recordmill.shards.file_pool._OPEN_FILES", OrderedDict())


@pytest.mark.parametrize("with_sidecars", [False, True])
@pytest.mark.parametrize("use", USES, ids=lambda use: use.__name__)
@pytest.mark.parametrize("compression", COMPRESS)
@pytest.mark.parametrize("format_name", FORMATS)
@pytest.mark.usefixtures("_isolated")
def test_any_fault_gives_right_result_or_error_that_names_file(
    format_name: str, compression: str, use: Callable[[Storage, str], Any], with_sidecars: bool
) -> None:
    indexed = write_to_memory(format_name, compression)
    offsets = load_indexes(indexed, format_name)
    before = indexed if with_sidecars else write_to_memory(format_name, compression)
    recorder = FaultyStorage(copy_storage(before))
    expected = use(recorder, format_name)
    assert "read_at" in {operation for operation, _ in recorder.operations}
    results: dict[Fault, set[str]] = {fault: set() for fault in Fault}
    for fail_at, (operation, _) in enumerate(recorder.operations):
        for fault in Fault if operation in ("open", "read_at") else [Fault.EIO]:
            storage = copy_storage(before)
            faulty = FaultyStorage(storage, fail_at, fault=fault)
            try:
                result = use(faulty, format_name)
            except (rm.RecordmillError, OSError) as error:
                check_error(error, fault, faulty.operations[fail_at])
                results[fault].add("error")
            else:
                assert result == expected, (faulty.operations[fail_at], fault)
                results[fault].add("result")
            check_files(storage, before, offsets)
            assert use(storage, format_name) == expected, "the fault has no lasting effect"
    assert results[Fault.SHORT_READ] == {"result"}
    assert "error" in results[Fault.EIO] and "error" in results[Fault.EARLY_END]


def check_error(error: rm.RecordmillError | OSError, fault: Fault, failed: tuple[str, str]) -> None:
    """Check that an error is the one that belongs to the fault and names the file."""
    operation, path = failed
    if fault is Fault.EARLY_END:
        assert isinstance(error, rm.ShardChangedError) and operation == "read_at", failed
        assert (error.kind, error.shard) == ("changed", path)
        return
    assert isinstance(error, OSError) and not isinstance(error, rm.RecordmillError), failed
    assert (error.errno, error.filename) == (fault.value, path), failed
    assert fault is not Fault.EINTR or operation == "open", "interrupted reads are repeated"


def check_files(storage: MemoryStorage, before: MemoryStorage, offsets: list[list[int]]) -> None:
    """Check that the shards are unchanged, that no temporary file remains, and that a saved index is right."""
    paths = {sidecar_path(name): row for row, name in enumerate(NAMES)}
    assert {name: storage.files[name] for name in NAMES} == {name: before.files[name] for name in NAMES}
    for path in set(storage.files) - set(NAMES):
        sidecar = parse_sidecar(storage.files[path])
        assert sidecar is not None and sidecar.index.offsets.tolist() == offsets[paths[path]]

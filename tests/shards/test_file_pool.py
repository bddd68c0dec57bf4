"""The pool of open shard files: more shards than file descriptors, reopening, and paths."""

from __future__ import annotations

import os
import pickle
import resource
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordmill as rm
from recordmill.shards import file_pool
from recordmill.shards.collection import ShardCollection
from recordmill.storage.local import LocalStorage
from tests.concurrency.helpers import open_descriptors, run_script
from tests.shards.helpers import FORMATS, encode_message, write_shard

SHARDS, RECORDS = 60, 3


@pytest.fixture(params=FORMATS)
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    for number in range(SHARDS):
        rows = [encode_message(request.param, number * RECORDS + row) for row in range(RECORDS)]
        write_shard(tmp_path, request.param, rows, f"part-{number:03}")
    return tmp_path


@pytest.fixture
def low_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limit the process to 16 files, of which shards may use half."""
    monkeypatch.setattr(file_pool, "descriptor_limit", lambda: 16)
    monkeypatch.setattr(file_pool, "raise_descriptor_limit", lambda: False)


def payload(folder: Path) -> str | None:
    return "example" if next(folder.glob("*.rec"), None) else None


def shards_open(folder: Path) -> int:
    return sum(str(folder) in one for one in open_descriptors())


@pytest.mark.usefixtures("low_limit")
def test_dataset_reads_more_shards_than_descriptors(folder: Path) -> None:
    samples = rm.open(folder, payload=payload(folder))
    order = [int(one["id"]) for one in samples]
    assert order == list(range(SHARDS * RECORDS))
    shuffled = [int(one) for batch in samples.shuffle(seed=1).batch(50).loader(threads=3) for one in batch["id"]]
    assert sorted(shuffled) == order and shuffled != order
    assert [int(one["id"]) for one in samples.fetch([170, 0, 90, -1, 3])] == [170, 0, 90, 179, 3]
    assert len(rm.open(folder, payload="raw").to_numpy()["payload"]) == len(order)
    assert shards_open(folder) <= 8


def test_pool_ignores_files_of_deleted_readers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def raised() -> bool:
        raise AssertionError("the limit was raised")

    monkeypatch.setattr(file_pool, "_OPEN_FILES", OrderedDict())
    monkeypatch.setattr(file_pool, "descriptor_limit", lambda: 16)
    monkeypatch.setattr(file_pool, "is_near_descriptor_limit", lambda: False)
    monkeypatch.setattr(file_pool, "raise_descriptor_limit", raised)
    path = write_shard(tmp_path, FORMATS[0], [encode_message(FORMATS[0], 1)], "one")
    kept = rm.ShardReader(path)
    for _ in range(50):
        assert len(rm.ShardReader(path)) == 1
    assert len(kept) == 1 and len(file_pool._OPEN_FILES) == 1


@pytest.mark.usefixtures("low_limit")
def test_reopened_shard_must_be_unchanged(folder: Path) -> None:
    samples = ShardCollection(folder, payload=payload(folder))
    path = samples.paths[0]
    os.utime(path, ns=(0, 0))
    with pytest.raises(rm.ShardChangedError, match="was replaced") as caught:
        samples.__getitems__([0])
    assert caught.value.shard == path
    os.unlink(path)
    with pytest.raises(rm.ShardChangedError, match="was removed"):
        samples.__getitems__([0])


@pytest.mark.usefixtures("low_limit")
def test_loader_names_damaged_record_among_many_shards(folder: Path) -> None:
    path = sorted(folder.iterdir())[41]
    data = path.read_bytes()
    path.write_bytes(data.replace(b"text", b"tex\xff", 1))
    samples = rm.open(folder, payload=payload(folder), verify=False)
    with pytest.raises(rm.RecordmillError) as caught:
        list(samples.shuffle(seed=1).batch(60).loader())
    assert (caught.value.shard, caught.value.record) == (str(path), 0)


def test_reopened_compressed_shard_keeps_seek_points(tmp_path: Path) -> None:
    noise = np.random.default_rng(0)
    path = write_shard(tmp_path, "tfrecord", [noise.bytes(10_000) for _ in range(400)], "a", "gzip")
    reader = rm.ShardReader(path)
    points = reader.sidecar.seek_points
    assert len(reader) == 400 and points is not None and len(points) > 30_000
    reader._file.evict()
    assert bytes(memoryview(reader.shard.source.save_seek_points() or b"")) == points


SCRIPT = """
import resource, sys
import recordmill as rm

resource.setrlimit(resource.RLIMIT_NOFILE, (40, {hard}))
samples = rm.open("{folder}", payload={payload!r})
found = sorted(int(one) for batch in samples.shuffle(seed=1).batch(30).loader() for one in batch["id"])
assert found == list(range(180)), len(found)
print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
"""


@pytest.mark.parametrize("hard", [40, 1_000])
def test_program_reads_many_shards_with_low_descriptor_limit(hard: int, tmp_path: Path) -> None:
    hard = min(hard, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    data = tmp_path / "data"
    data.mkdir()
    for number in range(SHARDS):
        write_shard(
            data, "tfrecord", [encode_message("tfrecord", number * 3 + row) for row in range(3)], f"part-{number:03}"
        )
    done = run_script(SCRIPT.format(hard=hard, folder=data, payload=None), tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert (int(done.stdout) == 40) == (hard == 40)


OCCUPIED_SCRIPT = """
import os, resource, sys

resource.setrlimit(resource.RLIMIT_NOFILE, (48, 48))
import recordmill as rm

others = []
try:
    while True:
        others.append(os.open("/dev/null", os.O_RDONLY))
except OSError:
    for _ in range({free}):
        os.close(others.pop())
samples = rm.open("{folder}")
found = sorted(int(one) for batch in samples.shuffle(seed=1).batch(30).loader(threads=0) for one in batch["id"])
assert found == list(range(180)), len(found)
"""


@pytest.mark.parametrize("free", [8, 12])
def test_pool_leaves_descriptors_for_imports(free: int, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    for number in range(SHARDS):
        write_shard(
            data, "tfrecord", [encode_message("tfrecord", number * 3 + row) for row in range(3)], f"part-{number:03}"
        )
    done = run_script(OCCUPIED_SCRIPT.format(free=free, folder=data), tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_error_at_descriptor_limit_names_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_pool, "raise_descriptor_limit", lambda: False)
    monkeypatch.setattr(file_pool, "_OPEN_FILES", OrderedDict())
    path = write_shard(tmp_path, "tfrecord", [encode_message("tfrecord", 1)])

    class FullStorage(LocalStorage):
        def open(self, *args: Any, **options: Any) -> Any:
            raise OSError(24, "Too many open files")

    with pytest.raises(OSError, match="ulimit -n") as caught:
        ShardCollection(path, storage=FullStorage())
    assert caught.value.filename == str(path)


def test_relative_paths_survive_change_of_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "elsewhere").mkdir()
    write_shard(tmp_path / "data", "tfrecord", [encode_message("tfrecord", number) for number in range(9)])
    monkeypatch.chdir(tmp_path)
    samples = rm.open("data").batch(3)
    monkeypatch.chdir("elsewhere")
    copy = pickle.loads(pickle.dumps(samples))
    assert [batch["id"].tolist() for batch in copy] == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    moved = samples.map(dict, workers="processes").loader(threads=1)
    assert sum(len(batch["id"]) for batch in moved) == 9

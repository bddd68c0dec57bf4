"""ShardReader: access by position and in order, in other processes and threads, and after changes of the shard."""

from __future__ import annotations

import multiprocessing
import os
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordmill as rm
from recordmill import _core
from recordmill.shards import reader as reader_module
from recordmill.shards.open import OpenShard, open_shard
from recordmill.shards.reader import records_per_read
from recordmill.storage.local import LOCAL
from tests.shards.helpers import FORMATS, encode_message, write_shard

VARIANTS = [*((format_name, "") for format_name in FORMATS), ("tfrecord", "gzip"), ("tfrecord", "zlib")]


@pytest.fixture(params=VARIANTS, ids=["-".join(pair).strip("-") for pair in VARIANTS])
def shard(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, list[bytes]]:
    format_name, compression = request.param
    payloads = [encode_message(format_name, number) for number in range(100)]
    return write_shard(tmp_path, format_name, payloads, compression=compression), payloads


def test_reader_indexing_behaves_like_list(shard: tuple[Path, list[bytes]]) -> None:
    path, payloads = shard
    with rm.ShardReader(path) as reader:
        assert len(reader) == 100
        assert [reader[position] for position in (0, 99, -1, -100, np.int64(7))] == [
            payloads[position] for position in (0, 99, -1, -100, 7)
        ]
        for part in (slice(None), slice(3, 9), slice(-5, None), slice(None, None, -7), slice(50, 40), slice(90, 900)):
            assert reader[part] == payloads[part]
        assert list(reader) == payloads
        assert list(reader) == payloads, "a second pass starts at the first record"


def test_fetch_keeps_order_and_duplicates(shard: tuple[Path, list[bytes]]) -> None:
    path, payloads = shard
    positions = [5, 5, 99, 0, -1, 42, 5]
    with rm.ShardReader(path) as reader:
        assert reader.fetch(positions) == [payloads[position] for position in positions]
        assert reader.fetch(np.array(positions, np.int32)) == [payloads[position] for position in positions]
        assert reader.fetch([]) == []
        assert list(reader.fetch_ragged([3, 1])) == [payloads[3], payloads[1]]


@pytest.mark.parametrize("position", [100, -101, 10**12])
def test_reader_raises_index_error_for_position_out_of_range(shard: tuple[Path, list[bytes]], position: int) -> None:
    with rm.ShardReader(shard[0]) as reader:
        with pytest.raises(IndexError):
            reader[position]
        with pytest.raises(IndexError):
            reader.fetch([0, position])


def test_batches_have_requested_size(shard: tuple[Path, list[bytes]]) -> None:
    path, payloads = shard
    for threads in (None, 0, 1, 3):
        batches = list(rm.ShardReader(path).batches(30, threads=threads))
        assert [len(batch) for batch in batches] == [30, 30, 30, 10]
        assert [row for batch in batches for row in batch.to_list()] == payloads
    with pytest.raises(ValueError, match="must be a positive integer"):
        rm.ShardReader(path).batches(0)


def test_pickled_reader_reads_same_records(shard: tuple[Path, list[bytes]]) -> None:
    path, payloads = shard
    reader = rm.ShardReader(path)
    assert len(reader) == 100
    copied = pickle.loads(pickle.dumps(reader))
    reader.close()
    assert copied[:] == payloads
    assert len(pickle.dumps(copied)) < 2000, "the pickle contains no index"


def test_closed_reader_raises_value_error(shard: tuple[Path, list[bytes]]) -> None:
    reader = rm.ShardReader(shard[0])
    reader.close()
    with pytest.raises(ValueError, match="closed"):
        reader[0]


def test_forked_reader_reads_in_parent_and_child(shard: tuple[Path, list[bytes]]) -> None:
    path, payloads = shard
    reader = rm.ShardReader(path)
    assert reader[1] == payloads[1]
    child = os.fork()
    if child == 0:
        is_correct = all(reader[position] == payloads[position] for position in range(100)) and list(reader) == payloads
        os._exit(0 if is_correct else 3)
    assert all(reader[position] == payloads[position] for position in reversed(range(100)))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _read_all(reader: rm.ShardReader) -> list[bytes]:
    return [*reader[:50], *list(reader)[50:]]


def test_reader_works_in_spawned_process(tmp_path: Path) -> None:
    payloads = [encode_message("tfrecord", number) for number in range(100)]
    path = write_shard(tmp_path, "tfrecord", payloads, compression="gzip")
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(_read_all, (rm.ShardReader(path),)) == payloads


def test_reader_is_thread_safe(shard: tuple[Path, list[bytes]]) -> None:
    path, payloads = shard
    reader = rm.ShardReader(path)

    def work(seed: int) -> bool:
        rows = np.random.default_rng(seed).integers(0, 100, 50)
        return all(reader[int(row)] == payloads[row] for row in rows) and list(reader) == payloads

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(16)))


def test_reader_raises_shard_changed_after_truncation(shard: tuple[Path, list[bytes]]) -> None:
    path, _ = shard
    reader = rm.ShardReader(path)
    assert len(reader) == 100
    os.truncate(path, path.stat().st_size // 2)
    with pytest.raises(rm.ShardChangedError) as caught:
        reader[:]
    assert caught.value.shard == str(path)
    assert caught.value.hint
    with pytest.raises(rm.ShardChangedError):
        list(reader)


def test_reader_raises_shard_changed_after_append_or_rewrite(shard: tuple[Path, list[bytes]]) -> None:
    path, payloads = shard
    for change in (lambda data: data + data, lambda data: bytes(len(data))):
        data = path.read_bytes()
        reader = rm.ShardReader(path, index="never")
        assert reader[0] == payloads[0]
        path.write_bytes(change(data))
        with pytest.raises(rm.ShardChangedError):
            reader[:]
        path.write_bytes(data)


def test_reader_raises_shard_changed_after_replacement(shard: tuple[Path, list[bytes]]) -> None:
    path, _ = shard
    reader = rm.ShardReader(path)
    assert len(reader) == 100
    other = path.with_name("other")
    other.write_bytes(b"")
    other.rename(path)
    with pytest.raises(rm.ShardChangedError, match="another file"):
        reader[:]


def test_reader_detects_change_of_shard_cached_in_memory(
    shard: tuple[Path, list[bytes]],
) -> None:
    path, payloads = shard
    before, data = path.stat(), path.read_bytes()
    reader = rm.ShardReader(path)
    for position in [*range(100)] * (1 + before.st_size // 500_000):
        assert reader[position] == payloads[position]
    path.write_bytes(bytes(len(data)))
    with pytest.raises(rm.ShardChangedError, match="written to"):
        reader[0]


def test_reader_detects_change_despite_restored_modification_time(shard: tuple[Path, list[bytes]]) -> None:
    path, _ = shard
    before, num_bytes = path.stat(), path.stat().st_size
    reader = rm.ShardReader(path)
    assert len(reader) == 100
    path.write_bytes(bytes(num_bytes))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(rm.ShardChangedError, match="modification time was restored"):
        reader[0]


def test_reader_accepts_new_mode_and_name_of_its_file(shard: tuple[Path, list[bytes]]) -> None:
    path, payloads = shard
    reader = rm.ShardReader(path)
    assert reader[0] == payloads[0]
    path.chmod(0o444)
    assert reader[1] == payloads[1]
    path.rename(path.with_name("other"))
    assert reader[2] == payloads[2]


def test_reader_without_verify_ignores_checksums(tmp_path: Path) -> None:
    path = write_shard(tmp_path, "tfrecord", [b"abc", b"def"])
    data = bytearray(path.read_bytes())
    data[12] ^= 1
    path.write_bytes(data)
    assert list(rm.ShardReader(path, verify=False)) == [b"`bc", b"def"]
    assert rm.ShardReader(path, verify=False)[0] == b"`bc"
    with pytest.raises(rm.ChecksumError):
        list(rm.ShardReader(path))


def test_missing_shard_raises_file_not_found(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        rm.ShardReader(tmp_path / "nothing.tfrecord")
    assert "nothing.tfrecord" in str(caught.value)
    with pytest.raises(FileNotFoundError):
        rm.open(tmp_path / "*.tfrecord")


def test_keys_are_positions_without_index_file(tmp_path: Path) -> None:
    reader = rm.ShardReader(write_shard(tmp_path, "recordio", [b"a", b"b"]))
    assert reader.keys == ["0", "1"]
    assert reader.position_of(1) == 1
    with pytest.raises(KeyError):
        reader.position_of(2)


def test_reader_of_empty_shard_has_no_records(tmp_path: Path) -> None:
    for format_name in FORMATS:
        path = write_shard(tmp_path, format_name, [])
        reader = rm.ShardReader(path, format=format_name)
        assert (len(reader), list(reader), reader[:], reader.fetch([])) == (0, [], [], [])
        with pytest.raises(IndexError):
            reader[0]


LARGE_SIZE = 300


@pytest.fixture
def small_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_module, "_MAX_BYTES_PER_READ", 1000)


def open_local(path: Path) -> OpenShard:
    return open_shard([str(path)], storage=LOCAL)


def write_large(folder: Path, format_name: str, compression: str = "") -> Path:
    return write_shard(
        folder, format_name, [bytes([number]) * LARGE_SIZE for number in range(20)], compression=compression
    )


@pytest.mark.usefixtures("small_reads")
@pytest.mark.parametrize("format_name", FORMATS)
@pytest.mark.parametrize("compression", ["", "gzip"])
def test_records_per_read_is_small_for_large_records(tmp_path: Path, format_name: str, compression: str) -> None:
    opened = open_local(write_large(tmp_path, format_name, compression))
    assert records_per_read(opened) == 3
    index = rm.ShardReader(opened.paths[0]).index
    assert records_per_read(opened, index) == 3 and records_per_read(opened, index[:0]) == 256


@pytest.mark.parametrize("format_name", FORMATS)
def test_records_per_read_is_maximum_for_small_or_no_records(tmp_path: Path, format_name: str) -> None:
    assert records_per_read(open_local(write_shard(tmp_path, format_name, [encode_message(format_name, 1)] * 9))) == 256
    (tmp_path / "empty.rec").touch()
    assert records_per_read(open_local(tmp_path / "empty.rec")) == 256


@pytest.mark.usefixtures("small_reads")
@pytest.mark.parametrize("format_name", FORMATS)
def test_large_records_are_read_verified_and_indexed_in_small_parts(
    tmp_path: Path, format_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    num_requested = list[int]()
    stream, fetch = _core.BatchStream, _core.fetch

    def count_stream(source: Any, kind: Any, num_records: int, **options: Any) -> Any:
        num_requested.append(num_records)
        return stream(source, kind, num_records, **options)

    def count_fetch(source: Any, kind: Any, offsets: np.ndarray, lengths: np.ndarray, **options: Any) -> Any:
        num_requested.append(len(offsets))
        return fetch(source, kind, offsets, lengths, **options)

    path = write_large(tmp_path, format_name)
    monkeypatch.setattr(_core, "BatchStream", count_stream)
    monkeypatch.setattr(_core, "fetch", count_fetch)
    assert len(list(rm.ShardReader(path))) == 20
    rm.build_index(path)
    assert rm.verify(path, payload="raw").ok
    assert num_requested and max(num_requested) <= 3

"""One shard by position, in order, from other processes and threads, and while somebody changes it."""

from __future__ import annotations

import multiprocessing
import os
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import recordmill as rm
from tests.shards.made import FAMILIES, message, shard

VARIANTS = [*((family, "") for family in FAMILIES), ("tfrecord", "gzip"), ("tfrecord", "zlib")]


@pytest.fixture(params=VARIANTS, ids=["-".join(pair).strip("-") for pair in VARIANTS])
def made(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, list[bytes]]:
    family, compression = request.param
    payloads = [message(family, number) for number in range(100)]
    return shard(tmp_path, family, payloads, compression=compression), payloads


def test_reader_when_indexed_then_behaves_like_a_list(made: tuple[Path, list[bytes]]) -> None:
    path, payloads = made
    with rm.ShardReader(path) as reader:
        assert len(reader) == 100
        assert [reader[place] for place in (0, 99, -1, -100, np.int64(7))] == [
            payloads[place] for place in (0, 99, -1, -100, 7)
        ]
        for part in (slice(None), slice(3, 9), slice(-5, None), slice(None, None, -7), slice(50, 40), slice(90, 900)):
            assert reader[part] == payloads[part]
        assert list(reader) == payloads
        assert list(reader) == payloads, "a second pass begins at the first record"


def test_reader_when_fetching_then_keeps_order_and_duplicates(made: tuple[Path, list[bytes]]) -> None:
    path, payloads = made
    positions = [5, 5, 99, 0, -1, 42, 5]
    with rm.ShardReader(path) as reader:
        assert reader.fetch(positions) == [payloads[place] for place in positions]
        assert reader.fetch(np.array(positions, np.int32)) == [payloads[place] for place in positions]
        assert reader.fetch([]) == []
        assert list(reader.fetch_ragged([3, 1])) == [payloads[3], payloads[1]]


@pytest.mark.parametrize("position", [100, -101, 10**12])
def test_reader_when_asked_beyond_the_end_then_raises_index_error(
    made: tuple[Path, list[bytes]], position: int
) -> None:
    with rm.ShardReader(made[0]) as reader:
        with pytest.raises(IndexError):
            reader[position]
        with pytest.raises(IndexError):
            reader.fetch([0, position])


def test_batches_when_read_then_have_the_size_asked_for(made: tuple[Path, list[bytes]]) -> None:
    path, payloads = made
    for threads in (None, 0, 1, 3):
        batches = list(rm.ShardReader(path).batches(30, threads=threads))
        assert [len(batch) for batch in batches] == [30, 30, 30, 10]
        assert [row for batch in batches for row in batch.to_list()] == payloads
    with pytest.raises(ValueError, match="must be a positive integer"):
        rm.ShardReader(path).batches(0)


def test_reader_when_pickled_then_the_copy_reads_the_same(made: tuple[Path, list[bytes]]) -> None:
    path, payloads = made
    reader = rm.ShardReader(path)
    assert len(reader) == 100
    copied = pickle.loads(pickle.dumps(reader))
    reader.close()
    assert copied[:] == payloads
    assert len(pickle.dumps(copied)) < 2000, "no index travels in a pickle"


def test_reader_when_closed_then_says_so(made: tuple[Path, list[bytes]]) -> None:
    reader = rm.ShardReader(made[0])
    reader.close()
    with pytest.raises(ValueError, match="closed"):
        reader[0]


def test_reader_when_forked_then_parent_and_child_read_at_once(made: tuple[Path, list[bytes]]) -> None:
    path, payloads = made
    reader = rm.ShardReader(path)
    assert reader[1] == payloads[1]
    child = os.fork()
    if child == 0:
        sound = all(reader[place] == payloads[place] for place in range(100)) and list(reader) == payloads
        os._exit(0 if sound else 3)
    assert all(reader[place] == payloads[place] for place in reversed(range(100)))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _read_all(reader: rm.ShardReader) -> list[bytes]:
    return [*reader[:50], *list(reader)[50:]]


def test_reader_when_sent_to_a_spawned_process_then_reads_there(tmp_path: Path) -> None:
    payloads = [message("tfrecord", number) for number in range(100)]
    path = shard(tmp_path, "tfrecord", payloads, compression="gzip")
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(_read_all, (rm.ShardReader(path),)) == payloads


def test_reader_when_used_by_many_threads_then_all_read_right(made: tuple[Path, list[bytes]]) -> None:
    path, payloads = made
    reader = rm.ShardReader(path)

    def work(seed: int) -> bool:
        rows = np.random.default_rng(seed).integers(0, 100, 50)
        return all(reader[int(row)] == payloads[row] for row in rows) and list(reader) == payloads

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(16)))


def test_shard_when_it_shrinks_while_open_then_is_an_error(made: tuple[Path, list[bytes]]) -> None:
    path, _ = made
    reader = rm.ShardReader(path)
    assert len(reader) == 100
    os.truncate(path, path.stat().st_size // 2)
    with pytest.raises(rm.ShardChangedError) as caught:
        reader[:]
    assert caught.value.shard == str(path)
    assert caught.value.hint
    with pytest.raises(rm.ShardChangedError):
        list(reader)


def test_shard_when_it_grows_or_is_rewritten_while_open_then_is_an_error(made: tuple[Path, list[bytes]]) -> None:
    path, payloads = made
    for change in (lambda data: data + data, lambda data: bytes(len(data))):
        data = path.read_bytes()
        reader = rm.ShardReader(path, index="never")
        assert reader[0] == payloads[0]
        path.write_bytes(change(data))
        with pytest.raises(rm.ShardChangedError):
            reader[:]
        path.write_bytes(data)


def test_shard_when_replaced_by_rename_while_open_then_is_an_error(made: tuple[Path, list[bytes]]) -> None:
    path, _ = made
    reader = rm.ShardReader(path)
    assert len(reader) == 100
    other = path.with_name("other")
    other.write_bytes(b"")
    other.rename(path)
    with pytest.raises(rm.ShardChangedError, match="another file"):
        reader[:]


def test_shard_when_read_here_and_there_then_is_kept_in_memory_and_changes_are_still_seen(
    made: tuple[Path, list[bytes]],
) -> None:
    path, payloads = made
    before, data = path.stat(), path.read_bytes()
    reader = rm.ShardReader(path)
    for position in [*range(100)] * (1 + before.st_size // 500_000):
        assert reader[position] == payloads[position]
    path.write_bytes(bytes(len(data)))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert reader.fetch(range(99, -1, -1)) == payloads[::-1]
    os.utime(path)
    with pytest.raises(rm.ShardChangedError):
        reader[0]


def test_reader_when_not_verifying_then_a_flipped_payload_bit_passes(tmp_path: Path) -> None:
    path = shard(tmp_path, "tfrecord", [b"abc", b"def"])
    data = bytearray(path.read_bytes())
    data[12] ^= 1
    path.write_bytes(data)
    assert list(rm.ShardReader(path, verify=False)) == [b"`bc", b"def"]
    assert rm.ShardReader(path, verify=False)[0] == b"`bc"
    with pytest.raises(rm.ChecksumError):
        list(rm.ShardReader(path))


def test_missing_shard_when_opened_then_is_file_not_found(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        rm.ShardReader(tmp_path / "nothing.tfrecord")
    assert "nothing.tfrecord" in str(caught.value)
    with pytest.raises(FileNotFoundError):
        rm.open(tmp_path / "*.tfrecord")


def test_keys_when_there_is_no_index_file_then_are_positions(tmp_path: Path) -> None:
    reader = rm.ShardReader(shard(tmp_path, "recordio", [b"a", b"b"]))
    assert reader.keys == ["0", "1"]
    assert reader.position_of(1) == 1
    with pytest.raises(KeyError):
        reader.position_of(2)


def test_empty_shard_when_format_is_named_then_has_no_records(tmp_path: Path) -> None:
    for family in FAMILIES:
        path = shard(tmp_path, family, [])
        reader = rm.ShardReader(path, format=family)
        assert (len(reader), list(reader), reader[:], reader.fetch([])) == (0, [], [], [])
        with pytest.raises(IndexError):
            reader[0]

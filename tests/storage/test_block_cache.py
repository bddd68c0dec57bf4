"""The cache of remote files: right bytes whatever is in its folder, a bounded size, and no harm to other files."""

from __future__ import annotations

import errno
import multiprocessing
import os
import pickle
import resource
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from recordmill.storage import block_cache
from recordmill.storage.block_cache import BlockCache
from recordmill.storage.object_store import ObjectInfo

BLOCK = 256
NAME = "s3://bucket/train"
DATA = np.random.default_rng(0).bytes(10 * BLOCK + 77)
OTHER = np.random.default_rng(1).bytes(len(DATA))
INFO = ObjectInfo(len(DATA), 1, '"one"')


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use blocks of 256 bytes, with a checksum for each 64 bytes, in groups of 2, and requests of 3 blocks."""
    use_small_blocks(monkeypatch.setattr)


def use_small_blocks(set_attribute: Callable[[Any, str, Any], None]) -> None:
    import struct

    set_attribute(block_cache, "BLOCK_BYTES", BLOCK)
    set_attribute(block_cache, "_PIECE_BYTES", 64)
    set_attribute(block_cache, "_PIECES_PER_BLOCK", BLOCK // 64)
    set_attribute(block_cache, "_HEADER", struct.Struct("<8sQ4II"))
    set_attribute(block_cache, "_LOCKED_BLOCKS", 2)
    set_attribute(block_cache, "MAX_REQUEST_BYTES", 3 * BLOCK)


class Downloads:
    """A download function for some data that records its ranges."""

    def __init__(self, data: bytes = DATA) -> None:
        self.data, self.ranges = data, []  # type: tuple[bytes, list[tuple[int, int]]]

    def __call__(self, start: int, stop: int) -> memoryview:
        assert 0 <= start < stop <= len(self.data)
        self.ranges.append((start, stop))
        return memoryview(self.data)[start:stop]

    @property
    def num_bytes(self) -> int:
        return sum(stop - start for start, stop in self.ranges)


def read(
    cache: BlockCache, start: int = 0, stop: int = len(DATA), download: Downloads | None = None, **options: Any
) -> int:
    """Read a range, check its bytes, and return how many of them were in the cache."""
    download = download or Downloads()
    info = options.get("info", INFO)
    data, num_cached = cache.read(options.get("name", NAME), info, start, stop, download)
    assert bytes(data) == download.data[start:stop]
    return num_cached


def find_blocks(folder: Path) -> list[Path]:
    return sorted(folder.glob("*/*.block"), key=lambda path: int(path.stem))


# What is read


@given(
    ranges=st.lists(st.tuples(st.integers(0, len(DATA) - 1), st.integers(1, 4 * BLOCK)), max_size=12),
    max_blocks=st.none() | st.integers(0, 12),
)
def test_reads_return_the_bytes_for_any_size_of_the_cache(
    tmp_path_factory: pytest.TempPathFactory, ranges: list[tuple[int, int]], max_blocks: int | None
) -> None:
    folder = tmp_path_factory.mktemp("cache")
    cache = BlockCache(str(folder), None if max_blocks is None else max_blocks * BLOCK)
    kept: set[int] = set()
    for start, length in ranges:
        stop = min(start + length, len(DATA))
        blocks = range(start // BLOCK, -(-stop // BLOCK))
        expected = sum(min(stop, (each + 1) * BLOCK) - max(start, each * BLOCK) for each in blocks if each in kept)
        assert read(cache, start, stop) == expected
        kept = {int(path.stem) for path in find_blocks(folder)}
        assert max_blocks is None or len(kept) <= max_blocks
        assert max_blocks is not None or kept.issuperset(blocks)


def test_second_read_downloads_nothing(tmp_path: Path) -> None:
    cache, download = BlockCache(str(tmp_path / "new" / "cache")), Downloads()
    assert read(cache, download=download) == 0
    assert download.num_bytes == len(DATA) and len(download.ranges) == 4
    assert read(cache, download=download) == len(DATA)
    assert read(cache, 100, 101, download) == 1
    assert download.num_bytes == len(DATA)


def test_missing_blocks_are_downloaded_as_a_whole(tmp_path: Path) -> None:
    cache, download = BlockCache(str(tmp_path)), Downloads()
    read(cache, 300, 310, download)
    read(cache, 4 * BLOCK + 5, 5 * BLOCK + 5, download)
    read(cache, len(DATA) - 1, len(DATA), download)
    assert download.ranges == [(256, 512), (1024, 1536), (2560, len(DATA))]
    read(cache, 0, 6 * BLOCK, download)
    assert download.ranges[3:] == [(0, 256), (512, 1024)]


def test_full_cache_downloads_only_what_is_read(tmp_path: Path) -> None:
    cache, download = BlockCache(str(tmp_path), BLOCK), Downloads()
    read(cache, 0, 10, download)
    read(cache, 300, 310, download)
    assert download.ranges == [(0, 256), (300, 310)]


def test_each_file_and_version_has_its_own_blocks(tmp_path: Path) -> None:
    cache = BlockCache(str(tmp_path))
    read(cache)
    assert read(cache, download=Downloads(OTHER), name="s3://bucket/val") == 0
    assert read(cache, download=Downloads(OTHER), name="s3://bucket/val") == len(DATA)
    assert read(cache) == len(DATA)


# Damaged and foreign files


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "torn header": lambda data: data[:20],
    "torn data": lambda data: data[:-1],
    "no data": lambda data: data[:36],
    "zeros": lambda data: bytes(len(data)),
    "flipped magic": lambda data: bytes([data[0] ^ 1]) + data[1:],
    "flipped length": lambda data: data[:8] + bytes([data[8] ^ 1]) + data[9:],
    "flipped checksum": lambda data: data[:17] + bytes([data[17] ^ 1]) + data[18:],
    "flipped data": lambda data: data[:-5] + bytes([data[-5] ^ 1]) + data[-4:],
    "edited": lambda data: data[:40] + b"edited" + data[46:],
    "foreign": lambda data: b"not a block at all" * 30,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_block_is_downloaded_again(tmp_path: Path, damage: str) -> None:
    cache = BlockCache(str(tmp_path), 11 * BLOCK)
    read(cache)
    path = find_blocks(tmp_path)[3]
    starts = np.arange(11) * BLOCK
    assert cache.has_verified(NAME, INFO, starts, np.minimum(starts + BLOCK, len(DATA))).all()
    time.sleep(0.02)  # Some file systems count time in steps of several milliseconds.
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    verified = cache.has_verified(NAME, INFO, starts, starts + 1)
    assert np.flatnonzero(~verified).tolist() == [3]
    download = Downloads()
    assert read(cache, download=download) == len(DATA) - BLOCK
    assert download.ranges == [(3 * BLOCK, 4 * BLOCK)]
    assert cache.has_verified(NAME, INFO, starts, starts + 1).all()
    assert read(cache) == len(DATA) and len(find_blocks(tmp_path)) == 11


@given(position=st.integers(0, 36 + BLOCK - 1), bit=st.integers(0, 7))
def test_any_flipped_bit_of_a_block_is_detected(
    tmp_path_factory: pytest.TempPathFactory, position: int, bit: int
) -> None:
    folder = tmp_path_factory.mktemp("cache")
    cache = BlockCache(str(folder))
    read(cache, 0, BLOCK)
    path = find_blocks(folder)[0]
    data = bytearray(path.read_bytes())
    data[position] ^= 1 << bit
    path.write_bytes(data)
    assert read(cache, 0, BLOCK) == 0


def test_block_of_another_position_or_file_is_not_data(tmp_path: Path) -> None:
    cache = BlockCache(str(tmp_path))
    read(cache)
    blocks = find_blocks(tmp_path)
    blocks[5].write_bytes(blocks[2].read_bytes())
    assert read(cache) == len(DATA) - BLOCK
    read(cache, name="s3://bucket/val", download=Downloads(OTHER))
    other = next(path for path in find_blocks(tmp_path) if path.name == "1.block" and path != blocks[1])
    other.write_bytes(blocks[1].read_bytes())
    assert read(cache, name="s3://bucket/val", download=Downloads(OTHER)) == len(DATA) - BLOCK


def test_block_that_cannot_be_read_is_downloaded(tmp_path: Path) -> None:
    cache = BlockCache(str(tmp_path))
    read(cache)
    path = find_blocks(tmp_path)[0]
    path.unlink()
    path.mkdir()  # Opening it works, reading does not.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        assert read(cache) == len(DATA) - BLOCK


def test_only_files_of_the_cache_are_removed(tmp_path: Path) -> None:
    mine = ["notes.txt", "0.block", "photos/1.jpg", f"{'0' * 32}-{'1' * 16}.txt", "a/0.block"]
    for name in mine:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"mine")
    cache = BlockCache(str(tmp_path), 4 * BLOCK)
    read(cache)
    folder = find_blocks(tmp_path)[-1].parent
    (folder / "mine.txt").write_bytes(b"mine")
    (folder / "5.block.old").write_bytes(b"mine")
    read(BlockCache(str(tmp_path), 4 * BLOCK), download=Downloads(OTHER), info=INFO._replace(version='"two"'))
    assert sorted(path.name for path in folder.iterdir()) == ["5.block.old", "mine.txt"]
    assert all((tmp_path / name).read_bytes() == b"mine" for name in mine)


def test_new_version_removes_blocks_of_the_old_one(tmp_path: Path) -> None:
    cache = BlockCache(str(tmp_path), 11 * BLOCK)
    read(cache)
    read(cache, name="s3://bucket/val", download=Downloads(OTHER))
    assert len(find_blocks(tmp_path)) == 11
    new = INFO._replace(version='"two"')
    assert read(cache, download=Downloads(OTHER), info=new) == 0
    assert read(cache, download=Downloads(OTHER), info=new) == len(DATA)
    assert len(find_blocks(tmp_path)) == 11


@pytest.mark.parametrize("age_s", [0, 7200])
def test_leftovers_of_killed_writers_are_removed_when_they_are_old(tmp_path: Path, age_s: int) -> None:
    read(BlockCache(str(tmp_path)))
    leftover = find_blocks(tmp_path)[0].with_name("7.block.tmp-0123456789ab")
    leftover.write_bytes(b"torn")
    os.utime(leftover, (time.time() - age_s,) * 2)
    assert read(BlockCache(str(tmp_path))) == len(DATA)
    assert leftover.exists() == (age_s == 0)


@pytest.mark.parametrize("content", [b"", b"\xff" * 8, b"\0" * 8, b"text"])
def test_size_is_counted_again_when_a_cache_is_opened(tmp_path: Path, content: bytes) -> None:
    read(BlockCache(str(tmp_path), 4 * BLOCK))
    (tmp_path / "total").write_bytes(content)
    cache = BlockCache(str(tmp_path), 6 * BLOCK)
    read(cache)
    read(cache)
    assert len(find_blocks(tmp_path)) == 6


# Size


def iterate_positions(num_blocks: int, epoch: int) -> Iterator[int]:
    yield from np.random.default_rng(epoch).permutation(num_blocks).tolist()


@pytest.mark.parametrize("fraction", [0.0, 0.1, 0.5, 0.9, 1.0])
def test_hit_rate_of_the_next_shuffled_epoch_is_the_share_of_the_cache(tmp_path: Path, fraction: float) -> None:
    num_blocks = 200
    data = np.random.default_rng(2).bytes(num_blocks * BLOCK)
    info, download = ObjectInfo(len(data), 1, '"large"'), Downloads(data)
    cache = BlockCache(str(tmp_path), int(fraction * len(data)))
    for epoch in range(3):
        num_cached = sum(
            read(cache, position * BLOCK, (position + 1) * BLOCK, download, info=info)
            for position in iterate_positions(num_blocks, epoch)
        )
        if epoch:
            assert num_cached / len(data) >= fraction - 0.02
        assert len(find_blocks(tmp_path)) * BLOCK <= fraction * len(data)


def test_full_cache_keeps_its_blocks(tmp_path: Path) -> None:
    cache = BlockCache(str(tmp_path), 3 * BLOCK)
    read(cache, 0, 3 * BLOCK)
    before = [(path, path.stat().st_ino) for path in find_blocks(tmp_path)]
    read(cache)
    assert [(path, path.stat().st_ino) for path in find_blocks(tmp_path)] == before
    assert read(cache, 0, 3 * BLOCK) == 3 * BLOCK


# Folders that cannot be written


def check_one_warning(cache: BlockCache, text: str) -> None:
    """Read twice, and check that exactly one warning is emitted."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            read(cache)
            read(cache, 5, 300)
    assert [(each.category, text in str(each.message)) for each in caught] == [(RuntimeWarning, True)]


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO])
def test_disk_that_accepts_no_block_is_warned_about_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    cache = BlockCache(str(tmp_path))
    read(cache, 0, BLOCK)

    def fail(*arguments: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(block_cache.os, "replace", fail)
    check_one_warning(cache, os.strerror(code))
    monkeypatch.undo()
    assert not list(tmp_path.glob("*/*.tmp-*"))


def test_full_disk_is_warned_about_once(tmp_path: Path) -> None:
    program = """
import resource, signal, sys
sys.path.insert(0, sys.argv[2])
from tests.storage.test_block_cache import BlockCache, check_one_warning, use_small_blocks
use_small_blocks(setattr)
cache = BlockCache(sys.argv[1])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))  # No file may be larger.
check_one_warning(cache, "stores no more data")
"""
    root = str(Path(__file__).parents[2])
    subprocess.run([sys.executable, "-c", program, str(tmp_path), root], check=True, timeout=60)
    assert not find_blocks(tmp_path) and not list(tmp_path.glob("*/*.tmp-*"))


@pytest.mark.parametrize("is_file", [False, True], ids=["missing", "file"])
def test_folder_that_cannot_be_created_is_warned_about_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_file: bool
) -> None:
    if is_file:
        (tmp_path / "cache").write_bytes(b"a file")
    else:
        monkeypatch.setattr(
            block_cache.os, "makedirs", lambda *_, **__: (_ for _ in ()).throw(PermissionError(13, "no"))
        )
    with pytest.warns(RuntimeWarning, match="reading continues without it"):
        cache = BlockCache(str(tmp_path / "cache"), 5 * BLOCK)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read(cache) == read(cache) == 0


def test_blocks_of_a_read_only_folder_are_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read(BlockCache(str(tmp_path)), 0, 5 * BLOCK)
    before = sorted(tmp_path.rglob("*"))
    real = os.open

    def open_read_only(path: str, flags: int, *arguments: Any, **options: Any) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        return real(path, flags, *arguments, **options)

    monkeypatch.setattr(block_cache.os, "open", open_read_only)
    with pytest.warns(RuntimeWarning, match="Read-only"):
        cache = BlockCache(str(tmp_path), 20 * BLOCK)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read(cache) == 5 * BLOCK
        download = Downloads()
        assert read(cache, 4 * BLOCK, 5 * BLOCK + 7, download) == BLOCK
        assert download.ranges == [(5 * BLOCK, 5 * BLOCK + 7)]
    assert sorted(tmp_path.rglob("*")) == before


# Threads and processes


def test_threads_download_each_block_once(tmp_path: Path) -> None:
    cache, download, errors = BlockCache(str(tmp_path)), Downloads(), []
    barrier = threading.Barrier(6)

    def run(seed: int) -> None:
        try:
            barrier.wait()
            for position in iterate_positions(20, seed):
                read(cache, position * 128, position * 128 + 200, download)
        except BaseException as error:  # noqa: BLE001 (checked by the main thread)
            errors.append(error)

    threads = [threading.Thread(target=run, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert download.num_bytes == len({byte for start, stop in download.ranges for byte in range(start, stop)})
    assert download.num_bytes == len(DATA)


def test_error_of_a_download_is_raised_and_nothing_is_kept(tmp_path: Path) -> None:
    cache = BlockCache(str(tmp_path), 20 * BLOCK)

    def fail(start: int, stop: int) -> memoryview:
        raise ConnectionError("failed")

    for _ in range(5):
        with pytest.raises(ConnectionError, match="failed"):
            cache.read(NAME, INFO, 0, 11 * BLOCK - BLOCK, fail)
    assert not find_blocks(tmp_path)
    read(cache)
    assert read(cache) == len(DATA)


def run_reader(folder: str, seed: int, max_bytes: int | None) -> None:
    use_small_blocks(setattr)
    cache = BlockCache(folder, max_bytes)
    for epoch in range(3):
        for position in iterate_positions(20, 10 * epoch + seed):
            read(cache, position * 128, position * 128 + 200)


@pytest.mark.parametrize("max_bytes", [None, 4 * BLOCK])
@pytest.mark.parametrize("content", [b"\0" * 8, b"\xff" * 8])
def test_changed_size_file_of_an_open_cache_raises_no_error(
    tmp_path: Path, max_bytes: int | None, content: bytes
) -> None:
    cache = BlockCache(str(tmp_path), max_bytes)
    read(cache, 0, 2 * BLOCK)
    (tmp_path / "total").write_bytes(content)
    read(cache)
    read(cache, download=Downloads(OTHER), info=INFO._replace(version='"two"'))


def test_cache_that_is_opened_while_another_downloads_keeps_to_the_size(tmp_path: Path) -> None:
    caches = [BlockCache(str(tmp_path), 4 * BLOCK)]

    class Opening(Downloads):
        def __call__(self, start: int, stop: int) -> memoryview:
            if len(caches) == 1:
                caches.append(BlockCache(str(tmp_path), 4 * BLOCK))
                read(caches[1], 6 * BLOCK, 11 * BLOCK)
            return super().__call__(start, stop)

    read(caches[0], 0, 4 * BLOCK, download=Opening(DATA))
    read(caches[0])
    assert len(find_blocks(tmp_path)) == 4


@pytest.mark.deep
@pytest.mark.parametrize("max_bytes", [None, 6 * BLOCK])
@pytest.mark.usefixtures("_light_main")
def test_processes_share_a_cache(tmp_path: Path, max_bytes: int | None) -> None:
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=run_reader, args=(str(tmp_path), seed, max_bytes)) for seed in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0, 0]
    assert len(find_blocks(tmp_path)) == 11 if max_bytes is None else len(find_blocks(tmp_path)) <= 6


@pytest.mark.deep
@pytest.mark.usefixtures("_light_main")
def test_reader_that_is_killed_leaves_a_cache_that_can_be_used(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    for number in range(4):
        process = context.Process(target=run_reader, args=(str(tmp_path), number, None))
        process.start()
        while process.is_alive() and len(find_blocks(tmp_path)) < 2 * number + 1:
            time.sleep(0.001)
        process.kill()
        process.join()
        read(BlockCache(str(tmp_path)), 0, 2 * number * BLOCK + 1)
    cache = BlockCache(str(tmp_path))
    read(cache)
    assert read(cache) == len(DATA)


def test_pickled_cache_uses_the_same_folder(tmp_path: Path) -> None:
    cache = BlockCache(str(tmp_path), 5 * BLOCK)
    read(cache)
    copy = pickle.loads(pickle.dumps(cache))
    assert (copy.folder, copy.max_bytes) == (cache.folder, cache.max_bytes)
    assert read(copy) == read(cache) > 3 * BLOCK
    assert len(find_blocks(tmp_path)) == 5


def test_cache_can_be_used_after_a_fork_while_a_thread_downloads(tmp_path: Path) -> None:
    program = """
import os, sys, threading
sys.path.insert(0, sys.argv[2])
from tests.storage.test_block_cache import BLOCK, DATA, INFO, NAME, BlockCache, Downloads, read, use_small_blocks
use_small_blocks(setattr)
cache, started, ends = BlockCache(sys.argv[1]), threading.Event(), threading.Event()

class Slow(Downloads):
    def __call__(self, start, stop):
        started.set()
        ends.wait()
        return super().__call__(start, stop)

thread = threading.Thread(target=read, args=(cache, 0, 10, Slow()))
thread.start()
started.wait()
pid = os.fork()
if not pid:
    read(cache)  # Waits forever if the lock of the thread is inherited.
    os._exit(0)
status = os.waitpid(pid, 0)[1]
ends.set()
thread.join()
sys.exit(status)
"""
    root = str(Path(__file__).parents[2])
    subprocess.run([sys.executable, "-W", "ignore", "-c", program, str(tmp_path), root], check=True, timeout=60)
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[1]

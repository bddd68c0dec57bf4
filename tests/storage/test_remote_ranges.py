"""Merged and fetched ranges of remote files, compared with sets of bytes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future
from itertools import pairwise
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from recordmill.errors import RemoteError
from recordmill.storage import ranges, remote_file
from recordmill.storage.ranges import RangeTable, RequestedRange, merge_ranges, wait_for_ranges
from recordmill.storage.remote_file import RemoteFile

MAX_GAP, MAX_REQUEST = 3, 16
DATA = bytes(np.random.default_rng(0).permutation(256).astype(np.uint8)) * 2
RANGES = st.lists(
    st.tuples(st.integers(0, 200), st.integers(1, 40)).map(lambda pair: (pair[0], pair[0] + pair[1])),
    min_size=1,
    max_size=20,
)
Pairs = list[tuple[int, int]]


@pytest.fixture(autouse=True, scope="module")
def _small_limits() -> Iterator[None]:
    """Merge and divide ranges of a few bytes."""
    with patch.object(ranges, "MAX_REQUEST_BYTES", MAX_REQUEST):
        yield


def to_arrays(pairs: Pairs) -> tuple[np.ndarray, np.ndarray]:
    array = np.array(pairs, np.int64).reshape(-1, 2)
    return array[:, 0].copy(), array[:, 1].copy()


def to_bytes(pairs: Pairs) -> set[int]:
    """Return the positions of all bytes in ranges."""
    return {position for start, stop in pairs for position in range(start, stop)}


def merge(pairs: Pairs) -> Pairs:
    return list(zip(*merge_ranges(*to_arrays(pairs), MAX_GAP), strict=True))


def receive(pairs: Pairs) -> list[RequestedRange]:
    """Return ranges that have been received."""
    requested = []
    for start, stop in pairs:
        content: Future[memoryview] = Future()
        content.set_result(memoryview(DATA)[start:stop])
        requested.append(RequestedRange(start, stop, content))
    return requested


def find(pairs: Pairs, wanted: Pairs) -> tuple[Pairs, list[bool]]:
    """Return the ranges of `pairs` that contain those of `wanted`, and which of `wanted` are not found."""
    rows, missing = RangeTable(*to_arrays(pairs)).find(*to_arrays(wanted))
    return [pairs[row] for row in rows], missing.tolist()


def check_content(starts: list[int], parts: list[memoryview]) -> set[int]:
    """Check that parts are in order, disjoint and correct; return the positions of their bytes."""
    pairs = [(start, start + len(part)) for start, part in zip(starts, parts, strict=True)]
    assert all(DATA[start:stop] == bytes(part) for (start, stop), part in zip(pairs, parts, strict=True))
    assert all(one[1] <= other[0] and one[0] < one[1] for one, other in pairwise(pairs))
    return to_bytes(pairs)


@given(RANGES)
def test_merged_ranges_contain_all_bytes_and_only_small_gaps(pairs: Pairs) -> None:
    merged, wanted = merge(pairs), to_bytes(pairs)
    assert merged == sorted(merged)
    assert all(one[1] <= other[0] for one, other in pairwise(merged))
    assert all(0 < stop - start <= MAX_REQUEST for start, stop in merged)
    requested = to_bytes(merged)
    assert wanted <= requested
    for position in requested - wanted:
        lower = max(other for other in wanted if other < position)
        upper = min(other for other in wanted if other > position)
        assert upper - lower - 1 <= MAX_GAP


@given(RANGES)
def test_close_ranges_are_merged_up_to_the_maximum_size(pairs: Pairs) -> None:
    merged = merge(pairs)
    disjoint = all(one[1] <= other[0] for one, other in zip(sorted(pairs), sorted(pairs)[1:], strict=False))
    if not disjoint or any(stop - start > MAX_REQUEST for start, stop in pairs):
        return
    for number, (one, other) in enumerate(pairwise(merged)):
        following = min(stop for start, stop in pairs if start == other[0])
        assert other[0] - one[1] > MAX_GAP or following - one[0] > MAX_REQUEST, number


def test_merge_of_one_range_divides_it() -> None:
    assert merge([(5, 50)]) == [(5, 21), (21, 37), (37, 50)]
    assert merge([(5, 6)]) == [(5, 6)]


@given(RANGES, st.randoms(use_true_random=False))
def test_merge_does_not_depend_on_order(pairs: Pairs, random: object) -> None:
    shuffled = list(pairs)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert merge(shuffled) == merge(sorted(pairs))


@given(RANGES)
def test_wait_returns_disjoint_parts_of_overlapping_ranges(pairs: Pairs) -> None:
    assert check_content(*wait_for_ranges(receive(pairs))) == to_bytes(pairs)


@given(RANGES, RANGES)
def test_table_finds_ranges_that_contain_others(pairs: Pairs, wanted: Pairs) -> None:
    merged = merge(pairs)
    found, missing = find(merged, wanted)
    available = to_bytes(merged)
    assert missing == [not to_bytes([pair]) <= available for pair in wanted]
    inside = to_bytes([pair for pair, is_missing in zip(wanted, missing, strict=True) if not is_missing])
    assert inside <= to_bytes(found)
    assert all(to_bytes([pair]) & inside for pair in found), "a range that is not needed"


@given(RANGES, RANGES)
def test_overlapping_ranges_in_a_table_contain_what_is_found(pairs: Pairs, wanted: Pairs) -> None:
    found, missing = find(sorted(pairs), wanted)
    for pair, is_missing in zip(wanted, missing, strict=True):
        assert is_missing or to_bytes([pair]) <= to_bytes(found)


def test_nothing_is_found_in_an_empty_table() -> None:
    assert find([], [(0, 5), (7, 8)]) == ([], [True, True])


def test_wait_raises_the_error_of_a_request() -> None:
    failed: Future[memoryview] = Future()
    failed.set_exception(RemoteError("failed"))
    with pytest.raises(RemoteError, match="failed"):
        wait_for_ranges([*receive([(0, 5)]), RequestedRange(8, 9, failed)])


# Files

CHUNK = 32


class FakeSource:
    """A storage whose requests are recorded, and are answered immediately or when the test says so."""

    def __init__(self) -> None:
        self.reads: Pairs = []
        self.requests: Pairs = []
        self.error: Exception | None = None

    def read_range(self, path: str, start: int, stop: int) -> memoryview:
        assert path == "s3://bucket/file" and 0 <= start < stop <= len(DATA)
        self.reads.append((start, stop))
        return memoryview(DATA)[start:stop]

    def request(self, path: str, start: int, stop: int) -> Future[memoryview]:
        assert path == "s3://bucket/file" and 0 <= start < stop <= len(DATA)
        self.requests.append((start, stop))
        future: Future[memoryview] = Future()
        if self.error is not None:
            future.set_exception(self.error)
        else:
            future.set_result(memoryview(DATA)[start:stop])
        return future


@pytest.fixture
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_file, "_CHUNK_BYTES", CHUNK)
    monkeypatch.setattr(remote_file, "_MAX_SKIP_BYTES", CHUNK)
    monkeypatch.setattr(remote_file, "_CLOSE_BYTES", 4)
    monkeypatch.setattr(remote_file, "_MAX_CHUNKS_AHEAD", 4)


def open_file(source: FakeSource) -> RemoteFile:
    return RemoteFile(source, "s3://bucket/file", len(DATA))


def read_all(file: RemoteFile, offset: int, length: int) -> bytes:
    """Read as `_core.Source` does, which reads the rest after a short read."""
    data = b""
    while len(data) < min(length, len(DATA) - offset):
        part = bytes(file.read(offset + len(data), length - len(data)))
        assert part
        data += part
    return data


@pytest.mark.usefixtures("_small_chunks")
@settings(max_examples=200)
@given(st.lists(st.tuples(st.integers(0, len(DATA) - 1), st.integers(1, 80)), max_size=30), st.booleans())
def test_reads_in_any_order_return_the_bytes(reads: Pairs, is_sorted: bool) -> None:
    file = open_file(FakeSource())
    for offset, length in sorted(reads) if is_sorted else reads:
        assert read_all(file, offset, length) == DATA[offset : offset + length]


@pytest.mark.usefixtures("_small_chunks")
def test_reads_in_order_request_each_chunk_once_and_ahead() -> None:
    source = FakeSource()
    file = open_file(source)
    position = 0
    while position < len(DATA):
        position += len(file.read(position, 10))
    assert sum(stop - start for start, stop in source.reads) <= 30
    assert source.requests == [(start, start + CHUNK) for start in range(0, len(DATA), CHUNK)]


@pytest.mark.usefixtures("_small_chunks")
def test_chunks_that_are_kept_are_limited() -> None:
    source = FakeSource()
    file = open_file(source)
    for offset in range(0, len(DATA), 8):
        file.read(offset, 8)
        assert len(file._chunks) <= 6


@pytest.mark.usefixtures("_small_chunks")
def test_reads_at_random_request_only_their_bytes() -> None:
    source = FakeSource()
    file = open_file(source)
    reads = [(500, 5), (10, 5), (300, 5), (100, 5), (400, 5), (0, 5)]
    for offset, length in reads:
        assert bytes(file.read(offset, length)) == DATA[offset : offset + length]
    assert source.reads == [(offset, offset + length) for offset, length in reads] and not source.requests


def test_blocks_that_identify_a_shard_are_not_a_stream() -> None:
    source = FakeSource()
    file = RemoteFile(source, "s3://bucket/file", len(DATA))
    with patch.object(remote_file, "_CLOSE_BYTES", 8):
        for offset in (0, 64, 128, 192, 256, 320, 384, 448):
            file.read(offset, 4)
    assert not source.requests


@pytest.mark.usefixtures("_small_chunks")
def test_failed_chunk_is_requested_again() -> None:
    source = FakeSource()
    file = open_file(source)
    for offset in range(0, 60, 10):
        file.read(offset, 10)
    source.error = RemoteError("failed")
    with pytest.raises(RemoteError, match="failed"):
        [file.read(offset, 10) for offset in range(60, len(DATA), 10)]
    source.error = None
    for offset in range(0, len(DATA), 10):
        assert read_all(file, offset, 10) == DATA[offset : offset + 10]


@pytest.mark.usefixtures("_small_chunks")
def test_several_threads_read_the_bytes() -> None:
    file, errors = open_file(FakeSource()), []

    def read(first: int) -> None:
        try:
            for offset in range(first * 8, len(DATA) - 8, 32):
                assert read_all(file, offset, 8) == DATA[offset : offset + 8]
        except BaseException as error:  # noqa: BLE001 (checked by the main thread)
            errors.append(error)

    threads = [threading.Thread(target=read, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors

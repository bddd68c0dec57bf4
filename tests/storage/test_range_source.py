"""Sources of which only some ranges are in memory: invalid ranges, reads across ranges, gaps, and record limits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from recordmill import _core
from recordmill.errors import LimitError
from recordmill.shards.native_errors import native_errors
from recordmill.types import Ragged

KIND = _core.FrameKind("tfrecord")
DATA = bytes(range(200))


def read(source: _core.Source, offset: int, length: int) -> bytes:
    return bytes(memoryview(source.read(offset, length)))


def open_ranges(*ranges: tuple[int, int], num_bytes: int = len(DATA)) -> _core.Source:
    return _core.Source.from_ranges(num_bytes, [start for start, _ in ranges], [DATA[a:b] for a, b in ranges])


@pytest.mark.parametrize(
    "ranges",
    [
        [(10, 20), (19, 30)],
        [(10, 20), (10, 20)],
        [(10, 30), (15, 20)],
        [(30, 40), (10, 20)],
        [(190, 200), (0, 1)],
    ],
    ids=["overlapping", "equal", "nested", "unsorted", "reversed"],
)
def test_ranges_must_be_increasing_and_disjoint(ranges: list[tuple[int, int]]) -> None:
    with pytest.raises(ValueError, match="increasing and disjoint"):
        open_ranges(*ranges)


@pytest.mark.parametrize("start, length", [(195, 6), (200, 1), (1000, 1), (2**64 - 1, 5)])
def test_ranges_must_be_inside_the_file(start: int, length: int) -> None:
    with pytest.raises(ValueError, match="inside the file"):
        _core.Source.from_ranges(200, [start], [bytes(length)])


@pytest.mark.parametrize("starts, parts", [([0], []), ([], [b"a"]), ([0, 5], [b"a"])])
def test_ranges_must_have_as_many_starts_as_parts(starts: list[int], parts: list[bytes]) -> None:
    with pytest.raises(ValueError, match="starts has"):
        _core.Source.from_ranges(200, starts, parts)


@pytest.mark.parametrize(
    "num_bytes, starts, parts",
    [(-1, [], []), (200, [-1], [b"a"]), (200, ["0"], [b"a"]), (200, [0], ["text"]), (200, [0], [None]), (200, 0, b"a")],
)
def test_invalid_arguments_raise(num_bytes: int, starts: Any, parts: Any) -> None:
    with pytest.raises((TypeError, OverflowError, ValueError, BufferError)):
        _core.Source.from_ranges(num_bytes, starts, parts)


def test_source_has_the_size_of_the_file() -> None:
    source = open_ranges((10, 20))
    assert source.num_bytes == source.num_stored_bytes == 200


def test_reads_continue_in_adjacent_ranges() -> None:
    source = open_ranges((10, 20), (20, 21), (21, 50), (60, 70))
    assert read(source, 10, 40) == DATA[10:50]
    assert read(source, 19, 3) == DATA[19:22]
    assert read(source, 65, 5) == DATA[65:70]


@pytest.mark.parametrize("offset, length, missing", [(0, 1, 0), (9, 2, 9), (45, 10, 50), (55, 1, 55), (69, 9, 70)])
def test_read_of_bytes_that_were_not_requested_raises(offset: int, length: int, missing: int) -> None:
    source = open_ranges((10, 20), (20, 50), (60, 70))
    with pytest.raises(RuntimeError, match=f"offset {missing} was not requested"):
        source.read(offset, length)


def test_reads_end_with_the_file() -> None:
    assert read(open_ranges((190, 200)), 195, 5) == DATA[195:]
    assert read(open_ranges((10, 20)), 12, 0) == b""


def test_empty_parts_and_empty_files_are_allowed() -> None:
    source = _core.Source.from_ranges(200, [10, 10, 12], [b"", DATA[10:12], b""])
    assert read(source, 10, 2) == DATA[10:12]
    with pytest.raises(RuntimeError, match="was not requested"):
        source.read(10, 3)
    assert _core.Source.from_ranges(0, [], []).num_bytes == 0


def test_parts_may_be_any_buffers() -> None:
    parts = [bytearray(DATA[:5]), memoryview(DATA)[5:9], np.frombuffer(DATA[9:20], np.uint8)]
    assert read(_core.Source.from_ranges(200, [0, 5, 9], parts), 0, 20) == DATA[:20]


def test_parts_stay_alive_with_the_source() -> None:
    source = _core.Source.from_ranges(200, [0], [bytearray(DATA)])
    assert read(source, 3, 100) == DATA[3:103]


@given(st.sets(st.integers(0, 199), min_size=1, max_size=40), st.integers(0, 199), st.integers(1, 60))
def test_reads_return_the_bytes_or_raise(edges: set[int], offset: int, length: int) -> None:
    ordered = sorted(edges)
    ranges = list(zip(ordered[::2], ordered[1::2], strict=False))
    length = min(length, 200 - offset)
    available = {position for start, stop in ranges for position in range(start, stop)}
    source = open_ranges(*ranges)
    if available.issuperset(range(offset, offset + length)):
        assert read(source, offset, length) == DATA[offset : offset + length]
    else:
        with pytest.raises(RuntimeError, match="was not requested"):
            source.read(offset, length)


def test_records_are_read_from_ranges_up_to_the_record_limit() -> None:
    data, lengths = (np.asarray(block) for block in _core.frame_each((b"a" * 10, b"b" * 1000, b"c" * 20), KIND)[:2])
    shard, offsets = data.tobytes(), np.cumsum(lengths) - lengths
    parts = [shard[offset : offset + length] for offset, length in zip(offsets, lengths, strict=True)]
    source = _core.Source.from_ranges(len(shard), offsets.tolist(), parts)

    def fetch(source: _core.Source, rows: list[int]) -> list[bytes]:
        chosen = np.array(rows)
        flat, splits = _core.fetch(source, KIND, offsets[chosen], lengths[chosen])
        return list(Ragged.from_blocks(flat, splits))

    assert fetch(source, [2, 0, 1]) == [b"c" * 20, b"a" * 10, b"b" * 1000]
    limited = _core.Source.from_ranges(len(shard), offsets.tolist(), parts, 100)
    assert fetch(limited, [0, 2]) == [b"a" * 10, b"c" * 20]
    with pytest.raises(Exception, match="100") as caught, native_errors("shard"):
        fetch(limited, [1])
    assert isinstance(caught.value, LimitError)

"""Records read one by one, each straight to its bytes: the same as found and fetched together, or left to that."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import recordmill as rm
from recordmill import _core
from recordmill.formats.registry import get_format
from tests.shards.made import FAMILIES, FRAMES, shard

MAGIC = bytes.fromhex("0a23d7ce")  # of RecordIO: a payload that holds it, aligned, is stored in parts
SIZES = (1, 3, 8191, 8192, 40_000, 7, 300_000, 9_000, 12)


def payloads(*, with_magic: bool = False) -> list[bytes]:
    rows = [np.random.default_rng(size).integers(0, 256, size, np.uint8).tobytes() for size in SIZES]
    return [row[:4] + MAGIC + row[8:] if with_magic and len(row) > 20 else row for row in rows]


def together(path: Path, family: str, start: int) -> tuple[list[tuple[int, bytes]], int]:
    """The records from an offset on that `scan` and `fetch` find sound, and where they end."""
    source, kind = _core.Source.open(path), get_format(family).framing.kind
    offsets, lengths, end, _ = _core.scan(source, kind, start=start)
    starts = np.asarray(offsets).tolist()
    try:
        return [*zip(starts, _core.split(*_core.fetch(source, kind, offsets, lengths)), strict=True)], end
    except _core.CoreFault as error:
        count = error.args[1]
        good = _core.fetch(source, kind, np.asarray(offsets)[:count], np.asarray(lengths)[:count])
        return [*zip(starts, _core.split(*good), strict=False)], starts[count]


def singly(path: Path, family: str, start: int, most: int = 10**6, **options: Any) -> tuple[list[Any], int]:
    source, kind = _core.Source.open(path), get_format(family).framing.kind
    found: list[tuple[int, bytes]] = []
    while len(found) < most:
        more, start = _core.read_singles(source, kind, start, most - len(found), **options)
        if not more:
            break
        found += more
    return found, start


@pytest.mark.parametrize("family", FAMILIES)
def test_records_when_sound_then_are_those_found_together(tmp_path: Path, family: str) -> None:
    path = shard(tmp_path, family, payloads())
    expected, end = together(path, family, 0)
    assert singly(path, family, 0) == (expected, end) and [row for _, row in expected] == payloads()
    for place, (offset, _) in enumerate(expected):
        assert singly(path, family, offset, 2) == (expected[place : place + 2], [*dict(expected), end][place:][:3][-1])


@pytest.mark.parametrize("family", FAMILIES)
def test_records_when_only_long_ones_are_wanted_then_end_at_the_first_short_one(tmp_path: Path, family: str) -> None:
    path = shard(tmp_path, family, payloads())
    starts = [offset for offset, _ in together(path, family, 0)[0]]
    assert singly(path, family, 0, shortest=8192) == ([], 0)
    found, end = singly(path, family, starts[3], shortest=8192)
    assert [row for _, row in found] == payloads()[3:5] and end == starts[5]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("with_magic", [False, True])
@pytest.mark.parametrize("order", [1, -1])
def test_reader_when_records_are_long_short_and_in_parts_then_gives_each(
    tmp_path: Path, family: str, with_magic: bool, order: int
) -> None:
    rows = payloads(with_magic=with_magic)
    path = shard(tmp_path, family, rows)
    starts = [offset for offset, _ in together(path, family, 0)[0]]
    with rm.PayloadReader(path, format=family) as reader:
        for start, row in zip(starts, rows, strict=True):
            assert reader.tell() == start and reader.read() == row
        assert reader.read() is None and reader.tell() == path.stat().st_size
        for place in range(len(rows))[::order]:
            reader.seek(starts[place])
            assert [reader.read() for _ in range(3)] == [*rows[place : place + 3], None, None][:3]


@given(
    st.sampled_from(FAMILIES),
    st.lists(st.tuples(st.integers(0, 400_000), st.integers(1, 255)), min_size=1, max_size=3),
    st.integers(0, 400_000),
)
@settings(max_examples=60, deadline=None)
def test_records_when_the_file_is_damaged_then_are_the_sound_ones_in_front(
    family: str, flips: list[tuple[int, int]], cut: int
) -> None:
    data = bytearray(b"".join(map(FRAMES[family], payloads())))
    for place, change in flips:
        data[place % len(data)] ^= change
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "damaged"
        path.write_bytes(data[: max(len(data) - cut, 1)])
        expected, end = together(path, family, 0)
        found, stop = singly(path, family, 0)
        assert found == expected[: len(found)] and stop == [*dict(expected), end][len(found)]
        assert family == "recordio" or len(found) == len(expected)


@pytest.mark.parametrize("start", [0, 1, 4, 2**40, 2**64 - 1])
@pytest.mark.parametrize("data", [b"", b"\xff" * 40, b"\x00" * 40])
def test_records_when_there_are_none_then_nothing_is_read(tmp_path: Path, start: int, data: bytes) -> None:
    (tmp_path / "x").write_bytes(data)
    for family in ("tfrecord", "recordio"):
        assert singly(tmp_path / "x", family, start) == ([], start)


def test_record_when_its_length_is_beyond_the_file_then_no_memory_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes((1 << 62).to_bytes(8, "little") + bytes(100))
    assert singly(tmp_path / "x", "ofrecord", 0) == ([], 0)


def test_record_when_the_file_changes_then_is_refused(tmp_path: Path) -> None:
    path = shard(tmp_path, "ofrecord", payloads())
    source = _core.Source.open(path)
    with path.open("ab") as file:
        file.write(b"more")
    with pytest.raises(_core.CoreChanged):
        _core.read_singles(source, get_format("ofrecord").framing.kind, 0, 3)

"""PayloadReader and PayloadWriter, and the native function that reads single records."""

from __future__ import annotations

import pickle
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import recordmill as rm
from recordmill import _core
from recordmill.formats.registry import get_format
from tests.shards.helpers import FORMATS, FRAMES, write_shard

PAYLOADS = [b"", b"a", bytes(5000), b"last"] * 90


def write_payloads(path, format_name, payloads):
    with rm.PayloadWriter(path, format=format_name) as writer:
        for payload in payloads:
            writer.write(payload)
    return writer


@pytest.mark.parametrize("format_name", FORMATS)
def test_payload_reader_reads_from_start_and_after_seek(format_name, tmp_path) -> None:
    payloads = [payload or b"-" for payload in PAYLOADS]
    writer = write_payloads(tmp_path / "any.name", format_name, payloads)
    assert writer.num_records == len(payloads) and writer.tell() == (tmp_path / "any.name").stat().st_size
    with rm.PayloadReader(tmp_path / "any.name", format=format_name) as reader:
        assert list(iter(reader.read, None)) == payloads and reader.read() is None
        for record in (0, 7, len(payloads) - 1):
            reader.seek(int(writer.offsets[record]))
            assert reader.tell() == writer.offsets[record] and reader.read() == payloads[record]
    with pytest.raises(ValueError, match="closed"):
        reader.read()


def test_pickled_payload_reader_continues(tmp_path) -> None:
    write_payloads(tmp_path / "a.rec", "recordio", PAYLOADS)
    reader = rm.PayloadReader(tmp_path / "a.rec")
    taken = [reader.read() for _ in range(5)]
    copy = pickle.loads(pickle.dumps(reader))
    assert taken == PAYLOADS[:5] and list(iter(copy.read, None)) == PAYLOADS[5:] == list(iter(reader.read, None))


def test_payload_reader_raises_repeatedly_at_damaged_frame(tmp_path) -> None:
    writer = write_payloads(tmp_path / "a.rec", "recordio", PAYLOADS)
    path = tmp_path / "a.rec"
    data = bytearray(path.read_bytes())
    record = 301
    data[writer.offsets[record]] ^= 1
    path.write_bytes(data)
    reader = rm.PayloadReader(path)
    assert [reader.read() for _ in range(record)] == PAYLOADS[:record]
    for _ in range(2):
        with pytest.raises(rm.DamageError) as caught:
            reader.read()
        assert caught.value.offset == writer.offsets[record] and caught.value.shard == str(path)
    reader.seek(int(writer.offsets[record + 1]))
    assert reader.read() == PAYLOADS[record + 1]


def test_payload_reader_continues_after_damaged_payload(tmp_path) -> None:
    writer = write_payloads(tmp_path / "a.tfrecord", "tfrecord", PAYLOADS)
    path, record = tmp_path / "a.tfrecord", 5
    data = bytearray(path.read_bytes())
    data[writer.offsets[record] + 12] ^= 1
    path.write_bytes(data)
    reader = rm.PayloadReader(path)
    assert [reader.read() for _ in range(record)] == PAYLOADS[:record]
    for _ in range(2):
        with pytest.raises(rm.ChecksumError) as caught:
            reader.read()
        assert caught.value.offset == writer.offsets[record] and caught.value.kind == "payload_checksum"
    reader.seek(int(writer.offsets[record + 1]))
    assert reader.read() == PAYLOADS[record + 1]


def test_image_sizes_equal_sizes_of_decoded_images() -> None:
    from tests.compat.mxnet.programs import NUM_IMAGES
    from tests.recorded import RECORDINGS

    with rm.ShardReader(RECORDINGS / "compat" / "mxnet" / "images.rec", index="never") as reader:
        images = [payload[24:] for payload in reader]
    assert len(images) == NUM_IMAGES
    for orientation in ("ignore", "apply"):
        sizes = rm.image_sizes([*images, b"no image"], orientation=orientation)
        decoded = [rm.decode_image(image, orientation=orientation).shape[:2] for image in images]
        assert sizes.tolist() == [*map(list, decoded), [0, 0]]


MAGIC = bytes.fromhex("0a23d7ce")  # of RecordIO: a payload with this word at an aligned offset is split
SIZES = (1, 3, 8191, 8192, 40_000, 7, 300_000, 9_000, 12)


def make_payloads(*, with_magic: bool = False) -> list[bytes]:
    rows = [np.random.default_rng(size).integers(0, 256, size, np.uint8).tobytes() for size in SIZES]
    return [row[:4] + MAGIC + row[8:] if with_magic and len(row) > 20 else row for row in rows]


def scan_and_fetch(path: Path, format_name: str, start: int) -> tuple[list[tuple[int, bytes]], int]:
    """Return the intact records from an offset and their end, found by `scan` and `fetch`."""
    source, kind = _core.Source.open(path), get_format(format_name).framing.kind
    offsets, lengths, end, _ = _core.scan(source, kind, start=start)
    starts = np.asarray(offsets).tolist()
    try:
        return [*zip(starts, _core.split(*_core.fetch(source, kind, offsets, lengths)), strict=True)], end
    except _core.CoreFault as error:
        count = error.args[1]
        good = _core.fetch(source, kind, np.asarray(offsets)[:count], np.asarray(lengths)[:count])
        return [*zip(starts, _core.split(*good), strict=False)], starts[count]


def read_singly(
    path: Path, format_name: str, start: int, max_records: int = 10**6, **options: Any
) -> tuple[list[Any], int]:
    source, kind = _core.Source.open(path), get_format(format_name).framing.kind
    found: list[tuple[int, bytes]] = []
    while len(found) < max_records:
        more, start = _core.read_singles(source, kind, start, max_records - len(found), **options)
        if not more:
            break
        found += more
    return found, start


@pytest.mark.parametrize("format_name", FORMATS)
def test_read_singles_equals_scan_and_fetch(tmp_path: Path, format_name: str) -> None:
    path = write_shard(tmp_path, format_name, make_payloads())
    expected, end = scan_and_fetch(path, format_name, 0)
    assert read_singly(path, format_name, 0) == (expected, end) and [row for _, row in expected] == make_payloads()
    for place, (offset, _) in enumerate(expected):
        assert read_singly(path, format_name, offset, 2) == (
            expected[place : place + 2],
            [*dict(expected), end][place:][:3][-1],
        )


@pytest.mark.parametrize("format_name", FORMATS)
def test_read_singles_stops_at_first_record_below_shortest(tmp_path: Path, format_name: str) -> None:
    path = write_shard(tmp_path, format_name, make_payloads())
    starts = [offset for offset, _ in scan_and_fetch(path, format_name, 0)[0]]
    assert read_singly(path, format_name, 0, shortest=8192) == ([], 0)
    found, end = read_singly(path, format_name, starts[3], shortest=8192)
    assert [row for _, row in found] == make_payloads()[3:5] and end == starts[5]


@pytest.mark.parametrize("format_name", FORMATS)
@pytest.mark.parametrize("with_magic", [False, True])
@pytest.mark.parametrize("order", [1, -1])
def test_payload_reader_reads_long_short_and_split_records(
    tmp_path: Path, format_name: str, with_magic: bool, order: int
) -> None:
    rows = make_payloads(with_magic=with_magic)
    path = write_shard(tmp_path, format_name, rows)
    starts = [offset for offset, _ in scan_and_fetch(path, format_name, 0)[0]]
    with rm.PayloadReader(path, format=format_name) as reader:
        for start, row in zip(starts, rows, strict=True):
            assert reader.tell() == start and reader.read() == row
        assert reader.read() is None and reader.tell() == path.stat().st_size
        for place in range(len(rows))[::order]:
            reader.seek(starts[place])
            assert [reader.read() for _ in range(3)] == [*rows[place : place + 3], None, None][:3]


@given(
    st.sampled_from(FORMATS),
    st.lists(st.tuples(st.integers(0, 400_000), st.integers(1, 255)), min_size=1, max_size=3),
    st.integers(0, 400_000),
)
@settings(max_examples=60, deadline=None)
def test_read_singles_stops_before_damage(format_name: str, flips: list[tuple[int, int]], cut: int) -> None:
    data = bytearray(b"".join(map(FRAMES[format_name], make_payloads())))
    for place, change in flips:
        data[place % len(data)] ^= change
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "damaged"
        path.write_bytes(data[: max(len(data) - cut, 1)])
        expected, end = scan_and_fetch(path, format_name, 0)
        found, stop = read_singly(path, format_name, 0)
        assert found == expected[: len(found)] and stop == [*dict(expected), end][len(found)]
        assert format_name == "recordio" or len(found) == len(expected)


@pytest.mark.parametrize("start", [0, 1, 4, 2**40, 2**64 - 1])
@pytest.mark.parametrize("data", [b"", b"\xff" * 40, b"\x00" * 40])
def test_read_singles_reads_nothing_without_valid_frames(tmp_path: Path, start: int, data: bytes) -> None:
    (tmp_path / "x").write_bytes(data)
    for format_name in ("tfrecord", "recordio"):
        assert read_singly(tmp_path / "x", format_name, start) == ([], start)


def test_read_singles_rejects_length_beyond_file(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes((1 << 62).to_bytes(8, "little") + bytes(100))
    assert read_singly(tmp_path / "x", "ofrecord", 0) == ([], 0)


def test_read_singles_raises_after_file_changed(tmp_path: Path) -> None:
    path = write_shard(tmp_path, "ofrecord", make_payloads())
    source = _core.Source.open(path)
    with path.open("ab") as file:
        file.write(b"more")
    with pytest.raises(_core.CoreChanged):
        _core.read_singles(source, get_format("ofrecord").framing.kind, 0, 3)

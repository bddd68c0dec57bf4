"""`salvage` copies all records that can be located, byte for byte, and reports the bytes that it could not copy."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

import recordmill as rm
from recordmill.testing import ofrecord, recordio, tfrecord
from recordmill.testing.damage import SAMPLE_PAYLOADS, TABLES, Damage, build_damaged_shards
from recordmill.testing.damage.base import flip_bit, zero_range
from recordmill.testing.damage.compression import CompressedFile, build_compressed_files
from tests.packing.salvage_oracle import decompress_before_damage, has_bad_padding, locate_records
from tests.shards.helpers import FORMATS, FRAMES, SUFFIXES, encode_message, write_shard

READERS = {"tfrecord": tfrecord, "recordio": recordio, "ofrecord": ofrecord}
OTHER_CONTENT = ("html_page", "gzip_read_as_plain", "recordio_file", "tfrecord_file")
ROWS = [(format_name, row) for format_name in TABLES for row in build_damaged_shards(format_name)]
DAMAGED = [(format_name, row) for format_name, row in ROWS if row.name not in OTHER_CONTENT]
CONTENT = b"".join(map(tfrecord.frame, SAMPLE_PAYLOADS))


def name_of(value: object) -> str:
    return str(value)


def read_payloads(paths: Sequence[str], format_name: str) -> list[bytes]:
    """Read shards with the reader in plain Python."""
    contents = [Path(path).read_bytes() for path in paths]
    return [payload for data in contents for _, payload in READERS[format_name].read_all_records(data)]


def list_files(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def salvage(source: Any, destination: Path, **options: Any) -> rm.SalvageResult:
    """Call `rm.salvage`, and check that it leaves the files in the folder of the source as they are."""
    first = Path(source[0] if isinstance(source, list) else source)
    folder = first if first.is_dir() else first.parent
    before = list_files(folder)
    result = rm.salvage(source, destination, **options)
    assert list_files(folder) == before
    return result


def count_lost_bytes(result: rm.SalvageResult) -> int:
    assert all(lost.stop is not None for lost in result.lost)
    return sum((lost.stop or 0) - lost.start for lost in result.lost)


@pytest.fixture
def source_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    folder.mkdir()
    return folder


# Damage without an index


@pytest.mark.parametrize("format_name, row", DAMAGED, ids=name_of)
def test_salvage_copies_the_records_that_can_be_located(
    format_name: str, row: Damage, source_folder: Path, tmp_path: Path
) -> None:
    path = source_folder / f"shard{SUFFIXES[format_name]}"
    path.write_bytes(row.data)
    result = salvage(path, tmp_path / "out", source_format=format_name, source_compression=None)
    located = locate_records(format_name, row.data)
    assert read_payloads(result.paths, format_name) == [payload for _, _, payload in located]
    assert result.num_records == len(located)
    assert count_lost_bytes(result) == len(row.data) - sum(end - start for start, end, _ in located)
    assert result.ok == (row.kind is None or row.verify_only)
    if not result.ok:
        assert [lost.shard for lost in result.lost] == [str(path)] * result.num_lost_ranges
        assert row.kind in {lost.kind for lost in result.lost}


@pytest.mark.parametrize("format_name, row", [pair for pair in ROWS if pair[1].name in OTHER_CONTENT], ids=name_of)
def test_salvage_reports_other_content_as_lost(
    format_name: str, row: Damage, source_folder: Path, tmp_path: Path
) -> None:
    path = source_folder / "download"
    path.write_bytes(row.data)
    result = salvage(path, tmp_path / "out", source_format=format_name, source_compression=None)
    assert (result.num_records, result.paths, result.ok) == (0, [], False)
    (lost,) = result.lost
    assert (lost.start, lost.stop, lost.is_exact) == (0, None, False) and lost.kind.startswith("wrong_")
    assert os.listdir(tmp_path) == ["source"]


def test_salvage_names_the_option_for_a_file_of_unknown_format(source_folder: Path, tmp_path: Path) -> None:
    path = source_folder / "data.bin"
    path.write_bytes(flip_bit(CONTENT, 3))
    (lost,) = salvage(path, tmp_path / "out").lost
    assert "source_format=..." in lost.reason
    assert salvage(path, tmp_path / "out", source_format="tfrecord").num_records == 4


_DAMAGE = st.tuples(
    st.sampled_from(["flip", "cut", "hole", "insert", "remove"]), st.integers(0, 10_000), st.integers(1, 70)
)


def apply_damage(data: bytes, kind: str, where: int, size: int) -> bytes:
    at = where % max(len(data), 1)
    if kind == "flip":
        return flip_bit(data, (8 * at + size % 8)) if data else data
    if kind == "hole":
        return zero_range(data, at, min(at + size, len(data)))
    return {
        "cut": data[:at],
        "insert": data[:at] + bytes([size]) * (size % 5) + data[at:],
        "remove": data[:at] + data[at + size :],
    }[kind]


@pytest.mark.parametrize("format_name", FORMATS)
@given(data=st.data())
def test_salvage_copies_what_the_oracle_locates_after_any_damage(
    format_name: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    # Payloads of whole words have no padding in RecordIO; other tests damage padding.
    word = st.sampled_from([recordio.MAGIC, b"\0\0\0\0", b"abcd", bytes(range(1, 33))])
    payload = st.lists(word, min_size=1, max_size=6).map(b"".join)
    if format_name != "recordio":
        payload = st.binary(min_size=format_name == "ofrecord", max_size=40)
    content = b"".join(map(FRAMES[format_name], data.draw(st.lists(payload, max_size=12))))
    for damage in data.draw(st.lists(_DAMAGE, max_size=3)):
        content = apply_damage(content, *damage)
    assume(format_name != "recordio" or not has_bad_padding(content))
    folder = tmp_path_factory.mktemp("salvage")
    path = folder / "source" / f"shard{SUFFIXES[format_name]}"
    path.parent.mkdir()
    path.write_bytes(content)
    options = {"source_format": format_name, "source_compression": None, "payload": None}
    result = salvage(path, folder / "out", **options)
    located = locate_records(format_name, content)
    if any("wrong_" in lost.kind for lost in result.lost):
        assert not result.paths
        return
    assert read_payloads(result.paths, format_name) == [payload for _, _, payload in located]
    assert count_lost_bytes(result) == len(content) - sum(end - start for start, end, _ in located)
    assert all(lost.start < (lost.stop or 0) for lost in result.lost)


@pytest.mark.parametrize("exponent", [6, 7, 8, 10, 12])
def test_salvage_copies_records_inside_a_recordio_frame_whose_length_is_damaged(
    exponent: int, source_folder: Path, tmp_path: Path
) -> None:
    payloads = [bytes([number]) * 56 for number in range(1, 101)]  # frames of 64 bytes
    content = bytearray(b"".join(map(recordio.frame, payloads)))
    content[10 * 64 + 4 : 10 * 64 + 8] = (56 + (1 << exponent)).to_bytes(4, "little")
    path = source_folder / "shard.rec"
    path.write_bytes(content)
    result = salvage(path, tmp_path / "out")
    assert read_payloads(result.paths, "recordio") == payloads[:10] + payloads[11:]
    assert [(lost.start, lost.stop, lost.num_records) for lost in result.lost] == [(640, 704, 1)]


def test_salvage_of_frames_that_all_contain_the_next_one(source_folder: Path, tmp_path: Path) -> None:
    count = 20_000
    headers = (recordio.MAGIC + (8 * (count - number)).to_bytes(4, "little") for number in range(1, count + 1))
    path = source_folder / "nested.rec"
    path.write_bytes(b"".join(headers))
    result = salvage(path, tmp_path / "out")
    assert read_payloads(result.paths, "recordio") == [b""]
    nested = (tfrecord.build_header(12 * (count - number)) for number in range(count))
    path = source_folder / "nested.tfrecord"
    path.write_bytes(b"".join(nested) + bytes(100))
    assert salvage(path, tmp_path / "other").num_records == 0


# Compressed streams


@pytest.mark.parametrize("row", build_compressed_files(CONTENT), ids=name_of)
def test_salvage_copies_the_records_before_damage_of_a_stream(
    row: CompressedFile, source_folder: Path, tmp_path: Path
) -> None:
    path = source_folder / "shard.tfrecord"
    path.write_bytes(row.data)
    result = salvage(path, tmp_path / "out", source_format="tfrecord", source_compression=row.container)
    readable = decompress_before_damage(row.data, row.container)
    assert read_payloads(result.paths, "tfrecord") == [p for _, _, p in locate_records("tfrecord", readable)]
    assert result.ok == (row.kind is None)
    if row.kind is not None and row.offset is not None and row.offset > 0:
        (lost,) = result.lost
        assert (lost.start, lost.stop, lost.kind, lost.num_records) == (row.offset, None, "bad_compression", 0)


@pytest.mark.parametrize("compression", ["gzip", "zlib"])
@given(data=st.data())
def test_salvage_copies_what_the_oracle_locates_in_a_cut_stream(
    compression: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    content = b"".join(map(tfrecord.frame, data.draw(st.lists(st.binary(max_size=40), max_size=12))))
    for damage in data.draw(st.lists(_DAMAGE, max_size=2)):
        content = apply_damage(content, *damage)
    stream = gzip.compress(content, mtime=0) if compression == "gzip" else zlib.compress(content)
    stream = stream[: data.draw(st.integers(3, len(stream)))]
    folder = tmp_path_factory.mktemp("salvage")
    path = folder / "source" / "shard.tfrecord"
    path.parent.mkdir()
    path.write_bytes(stream)
    result = salvage(path, folder / "out", source_format="tfrecord", source_compression=compression)
    located = locate_records("tfrecord", decompress_before_damage(stream, compression))
    assume(not any("wrong_" in lost.kind for lost in result.lost))
    assert read_payloads(result.paths, "tfrecord") == [payload for _, _, payload in located]


@pytest.mark.parametrize("compression", ["gzip", "zlib"])
@pytest.mark.parametrize("has_index", [False, True])
def test_salvage_of_truncated_stream(compression: str, has_index: bool, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    payloads = [rng.bytes(900) for _ in range(300)]
    path = tmp_path / "source" / ("shard.tfrecord" + {"gzip": ".gz", "zlib": ".zlib"}[compression])
    with rm.ShardWriter(path, payload="raw", compression=compression, index="auto" if has_index else "never") as writer:
        for payload in payloads:
            writer.write(payload)
    (path,) = map(Path, writer.paths)
    os.truncate(path, path.stat().st_size // 2)
    readable = decompress_before_damage(path.read_bytes(), compression)
    num_complete = len(locate_records("tfrecord", readable[: len(readable) // 916 * 916]))
    result = salvage(path, tmp_path / "out")
    assert read_payloads(result.paths, "tfrecord") == payloads[:num_complete]
    (lost,) = result.lost
    assert (lost.start, lost.kind) == (num_complete * 916, "bad_compression")
    if has_index:
        assert (lost.stop, lost.num_records, lost.is_exact) == (300 * 916, 300 - num_complete, True)
    else:
        assert (lost.stop, lost.num_records, lost.is_exact) == (None, 1, False)


def test_salvage_stops_at_the_limit_of_a_decompression_bomb(source_folder: Path, tmp_path: Path) -> None:
    path = source_folder / "bomb.tfrecord.gz"
    path.write_bytes(gzip.compress(tfrecord.frame(bytes(1000)) * 1000))
    result = salvage(path, tmp_path / "out", max_decompressed_bytes=100_000)
    assert result.num_records == 98
    assert [lost.kind for lost in result.lost] == ["limit_exceeded"]


# With an index


def write_indexed(folder: Path, format_name: str, index_by: str) -> tuple[Path, list[bytes], rm.FrameIndex]:
    """Write 40 records of about a kilobyte; an index recognizes a damaged shard by its undamaged blocks."""
    path = folder / f"shard{SUFFIXES[format_name]}"
    with rm.ShardWriter(path, index="auto" if index_by == "writer" else "never") as writer:
        for number in range(40):
            writer.write({"image": bytes([number]) * (1000 + number), "label": number})
    if index_by == "first read":
        assert len(rm.open(path)) == 40
    return path, read_payloads([str(path)], format_name), rm.ShardReader(path).index


@pytest.mark.parametrize("format_name", FORMATS)
@pytest.mark.parametrize("index_by", ["writer", "first read"])
def test_salvage_with_index_copies_records_after_damaged_lengths(
    format_name: str, index_by: str, source_folder: Path, tmp_path: Path
) -> None:
    path, payloads, frames = write_indexed(source_folder, format_name, index_by)
    data = bytearray(path.read_bytes())
    offsets = frames.offsets.tolist()
    data[offsets[5] + 5] ^= 0x08  # a length
    data[offsets[20] : offsets[23]] = bytes(offsets[23] - offsets[20])  # a hole of three records
    path.write_bytes(data)
    result = salvage(path, tmp_path / "out")
    kept = [payload for number, payload in enumerate(payloads) if number != 5 and not 20 <= number < 23]
    assert read_payloads(result.paths, format_name) == kept
    spans = [(lost.start, lost.stop, lost.num_records, lost.is_exact) for lost in result.lost]
    assert spans == [(offsets[5], offsets[6], 1, True), (offsets[20], offsets[23], 3, True)]
    assert (result.num_lost_records, result.is_exact) == (4, True)


@pytest.mark.parametrize("format_name", FORMATS)
def test_salvage_with_checksums_in_index_drops_flipped_payload(
    format_name: str, source_folder: Path, tmp_path: Path
) -> None:
    path, payloads, frames = write_indexed(source_folder, format_name, "writer")
    path.write_bytes(flip_bit(path.read_bytes(), 8 * int(frames.offsets[7] + 15)))
    result = salvage(path, tmp_path / "out")
    assert read_payloads(result.paths, format_name) == payloads[:7] + payloads[8:]
    assert [lost.kind.endswith("checksum") for lost in result.lost] == [True]


@pytest.mark.parametrize("format_name", FORMATS)
def test_salvage_of_truncated_shard_counts_missing_records_of_the_index(format_name: str, tmp_path: Path) -> None:
    path = tmp_path / "source" / f"shard{SUFFIXES[format_name]}"
    with rm.ShardWriter(path, payload="raw") as writer:
        for number in range(60):
            writer.write(bytes([number + 1]) * 1000)
    frames = rm.ShardReader(path).index
    for position, end in ((40, 0), (40, 100)):
        os.truncate(path, int(frames.offsets[position]) + end)
        result = salvage(path, tmp_path / f"out{end}")
        (lost,) = result.lost
        assert (result.num_records, lost.num_records, lost.is_exact) == (40, 20, True)
        assert (lost.start, lost.stop) == (frames.offsets[40], frames.offsets[59] + frames.lengths[59])
        with path.open("ab") as file:
            file.write(bytes(100))


@pytest.mark.parametrize("format_name", ["ofrecord", "recordio"])
def test_salvage_ignores_index_of_an_earlier_file_of_the_same_size(
    format_name: str, source_folder: Path, tmp_path: Path
) -> None:
    path, payloads, _ = write_indexed(source_folder, format_name, "writer")
    replaced = [payload[:-900] + b"\xff" * 900 for payload in payloads]
    path.write_bytes(b"".join(map(FRAMES[format_name], replaced)))
    result = salvage(path, tmp_path / "out", payload=None)
    assert result.ok and read_payloads(result.paths, format_name) == replaced


def test_salvage_parses_payloads_that_were_appended_after_the_index(source_folder: Path, tmp_path: Path) -> None:
    path, payloads, _ = write_indexed(source_folder, "ofrecord", "writer")
    with path.open("ab") as file:
        file.write(ofrecord.frame(b"\xff\xff") + ofrecord.frame(payloads[0]))
    result = salvage(path, tmp_path / "out")
    assert read_payloads(result.paths, "ofrecord") == [*payloads, payloads[0]]
    assert [(lost.kind, lost.num_records, lost.is_exact) for lost in result.lost] == [("bad_payload", 1, False)]


def test_salvage_of_truncated_stream_with_damaged_content(source_folder: Path, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    frames = [tfrecord.frame(rng.bytes(500)) for _ in range(200)]
    frames[20] = frames[20][:100] + frames[20][101:]  # a missing byte
    path = source_folder / "shard.tfrecord.gz"
    path.write_bytes(gzip.compress(b"".join(frames))[:-40_000])
    result = salvage(path, tmp_path / "out")
    located = locate_records("tfrecord", decompress_before_damage(path.read_bytes(), "gzip"))
    assert read_payloads(result.paths, "tfrecord") == [payload for _, _, payload in located]
    assert [(lost.kind, lost.num_records) for lost in result.lost] == [("payload_checksum", 1), ("bad_compression", 1)]


def test_salvage_keeps_schema_of_writer_but_not_inferred_schema(source_folder: Path, tmp_path: Path) -> None:
    schema = rm.Schema({"label": rm.Feature("int64", ()), "extra": rm.Feature("float32", (None,), optional=True)})
    with rm.ShardWriter(source_folder / "a.tfrecord", schema=schema) as writer:
        for number in range(1000):
            writer.write({"label": number})
    path = Path(writer.paths[0])
    path.write_bytes(flip_bit(path.read_bytes(), 8 * 20))
    result = salvage(path, tmp_path / "out")
    assert result.num_records == 999
    assert rm.open(result.paths).schema == schema
    next(source_folder.glob(".*.rmx")).unlink()
    assert "extra" not in rm.open(path).schema
    again = salvage(path, tmp_path / "again")
    assert rm.open(again.paths).schema["label"].kind == "int64" and "extra" not in rm.open(again.paths).schema


def test_salvage_keeps_keys_of_recordio_index(source_folder: Path, tmp_path: Path) -> None:
    with rm.ShardWriter(source_folder / "a.rec") as writer:
        for number in range(10):
            writer.write({"id": 100 + number, "label": number, "image": bytes([number])})
    path = Path(writer.paths[0])
    frames = rm.ShardReader(path).index
    path.write_bytes(flip_bit(path.read_bytes(), 8 * int(frames.offsets[3])))
    result = salvage(path, tmp_path / "out.rec")
    lines = (tmp_path / "out.idx").read_text().split()
    assert lines[::2] == [str(100 + number) for number in range(10) if number != 3]
    assert result.num_records == 9


# Payloads


@pytest.mark.parametrize("format_name", ["ofrecord", "recordio"])
def test_salvage_drops_payload_that_does_not_parse_although_most_do(
    format_name: str, source_folder: Path, tmp_path: Path
) -> None:
    payloads = [encode_message("ofrecord", number) for number in range(20)]
    if format_name == "recordio":
        payloads = [bytes(24) + bytes([number]) for number in range(20)]
    damaged = [*payloads[:9], b"\xff\xff", *payloads[10:]]
    path = write_shard(source_folder, format_name, damaged)
    result = salvage(path, tmp_path / "out")
    assert read_payloads(result.paths, format_name) == payloads[:9] + payloads[10:]
    assert [(lost.kind, lost.num_records) for lost in result.lost] == [("bad_payload", 1)]
    assert salvage(path, tmp_path / "all", payload=None).num_records == 20


def test_salvage_copies_all_payloads_of_mixed_types(source_folder: Path, tmp_path: Path) -> None:
    payloads = [encode_message("ofrecord", number) for number in range(20)] + [b"\xff\xff"] * 15
    result = salvage(write_shard(source_folder, "ofrecord", payloads), tmp_path / "out")
    assert result.ok and read_payloads(result.paths, "ofrecord") == payloads


def test_salvage_copies_tfrecord_payload_of_any_type_unless_a_type_is_given(
    source_folder: Path, tmp_path: Path
) -> None:
    payloads = [*(encode_message("tfrecord", number) for number in range(20)), b"\xff\xff"]
    path = write_shard(source_folder, "tfrecord", payloads)
    assert salvage(path, tmp_path / "out").num_records == 21
    checked = salvage(path, tmp_path / "checked", payload="example")
    assert checked.num_records == 20
    assert [(lost.kind, lost.is_exact) for lost in checked.lost] == [("bad_payload", True)]


def test_salvage_copies_payload_with_right_checksum_in_index(source_folder: Path, tmp_path: Path) -> None:
    payloads = [*(encode_message("ofrecord", number) for number in range(20)), b"\xff\xff"]
    path = write_shard(source_folder, "ofrecord", payloads)
    rm.build_index(path)
    assert salvage(path, tmp_path / "out").num_records == 21


def test_salvage_drops_padded_record_before_other_damage(source_folder: Path, tmp_path: Path) -> None:
    frames = [recordio.frame(bytes([65 + number]) * 10) for number in range(8)]
    frames[3] = frames[3][:12] + b"inserted" + frames[3][12:-2] + b"!!"
    frames[6] = frames[6][:-1] + b"\1"  # only the padding is wrong
    path = source_folder / "shard.rec"
    path.write_bytes(b"".join(frames))
    result = salvage(path, tmp_path / "out")
    payloads = read_payloads(result.paths, "recordio")
    assert [payload[0] - 65 for payload in payloads] == [0, 1, 2, 4, 5, 6, 7]
    assert [lost.kind for lost in result.lost] == ["bad_padding"]


def test_salvage_reports_record_beyond_limit(source_folder: Path, tmp_path: Path) -> None:
    path = write_shard(source_folder, "tfrecord", [b"a" * 10, b"b" * 100, b"c" * 10])
    result = salvage(path, tmp_path / "out", max_record_bytes=50)
    assert read_payloads(result.paths, "tfrecord") == [b"a" * 10, b"c" * 10]
    assert [(lost.kind, lost.num_records, lost.is_exact) for lost in result.lost] == [("record_too_long", 1, True)]


# Destinations


@pytest.mark.parametrize("target", FORMATS)
@pytest.mark.parametrize("format_name", FORMATS)
def test_salvage_converts_to_each_format(format_name: str, target: str, source_folder: Path, tmp_path: Path) -> None:
    payloads = [encode_message(format_name, number) for number in range(30)]
    path = write_shard(source_folder, format_name, payloads)
    data = path.read_bytes()
    path.write_bytes(data[:-3])
    result = salvage(path, tmp_path / "out", format=target)
    assert read_payloads(result.paths, target) == payloads[:-1]
    assert rm.verify(result.paths, payload=None).ok
    assert rm.info(result.paths).format == target


@pytest.mark.parametrize("format_name", ["tfrecord", "recordio"])
def test_salvage_refuses_record_that_the_format_cannot_store(
    format_name: str, source_folder: Path, tmp_path: Path
) -> None:
    payloads = [b"\x0a\x00", b"damaged", b"\x0a\x00", b"", b"\x0a\x00"]
    path = write_shard(source_folder, format_name, payloads)
    frame = FRAMES[format_name]
    path.write_bytes(path.read_bytes().replace(frame(b"damaged"), bytes(len(frame(b"damaged")))))
    with pytest.raises(rm.InputError) as caught:
        salvage(path, tmp_path / "out", format="ofrecord")
    offset = sum(len(frame(payload)) for payload in payloads[:3])
    error = caught.value
    assert (error.kind, error.shard, error.record, error.offset) == ("bad_length", str(path), 3, offset)
    assert os.listdir(tmp_path) == ["source"]


def write_three(folder: Path, format_name: str) -> list[Path]:
    return [
        write_shard(folder, format_name, [encode_message(format_name, number)] * (number + 1), f"s{number}")
        for number in range(3)
    ]


@pytest.mark.parametrize("format_name", FORMATS)
def test_salvage_writes_one_shard_per_source_in_order(format_name: str, source_folder: Path, tmp_path: Path) -> None:
    paths = write_three(source_folder, format_name)
    frame = FRAMES[format_name](encode_message(format_name, 1))
    paths[1].write_bytes(b"\xff" * 7 + paths[1].read_bytes()[7:])
    if format_name == "ofrecord":
        paths[1].write_bytes(b"\xff" * 16 + frame)
    result = salvage(source_folder, tmp_path / "out" / "part", source_format=format_name)
    counts = [len(read_payloads([path], format_name)) for path in result.paths]
    # OFRecord cannot store an empty shard.
    assert counts == {"ofrecord": [1, 3]}.get(format_name, [1, 1, 3])
    assert [Path(path).name for path in result.paths] == {
        "ofrecord": ["part-0", "part-1"],
        "recordio": [f"part-0000{number}-of-00003.rec" for number in range(3)],
        "tfrecord": [f"part-0000{number}-of-00003.tfrecord" for number in range(3)],
    }[format_name]
    assert {lost.shard for lost in result.lost} == {str(paths[1])}


def test_salvage_writes_empty_shard_for_source_without_intact_record(source_folder: Path, tmp_path: Path) -> None:
    paths = write_three(source_folder, "tfrecord")
    paths[0].write_bytes(b"<html>not found</html>")
    result = salvage(source_folder, tmp_path / "out")
    assert [os.path.getsize(path) for path in result.paths] == [0, *(path.stat().st_size for path in paths[1:])]
    assert result.num_records == 5 and not result.ok
    assert len(rm.open(result.paths)) == 5


def test_salvage_copies_ofrecord_parts_whose_records_continue(source_folder: Path, tmp_path: Path) -> None:
    payloads = [encode_message("ofrecord", number) for number in range(9)]
    data = b"".join(map(ofrecord.frame, payloads))
    third = len(data) // 3
    for number, part in enumerate((data[:third], data[third : 2 * third], data[2 * third :])):
        (source_folder / f"part-{number}").write_bytes(part)
    result = salvage(source_folder, tmp_path / "out")
    assert result.ok and len(result.paths) == 3
    assert read_payloads(result.paths, "ofrecord") == payloads


def test_salvage_keeps_intact_shards(source_folder: Path, tmp_path: Path) -> None:
    paths = write_three(source_folder, "tfrecord")
    result = salvage(source_folder, tmp_path / "out")
    assert result.ok and result.is_exact and result.num_lost_records == 0
    assert [Path(path).read_bytes() for path in result.paths] == [path.read_bytes() for path in paths]


def test_salvage_raises_before_work_if_output_exists(source_folder: Path, tmp_path: Path) -> None:
    (path, *_) = write_three(source_folder, "tfrecord")
    out = tmp_path / "out.tfrecord"
    out.write_bytes(b"kept")
    with pytest.raises(rm.OutputExistsError):
        salvage(path, out)
    assert out.read_bytes() == b"kept"
    assert salvage(path, out, overwrite=True).num_records == 1
    assert out.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("link", [None, os.symlink, os.link])
def test_salvage_refuses_destination_that_is_a_source(
    link: Callable[[Path, Path], None] | None, source_folder: Path, tmp_path: Path
) -> None:
    paths = write_three(source_folder, "tfrecord")
    destination = paths[1]
    if link is not None:
        destination = tmp_path / "alias.tfrecord"
        link(paths[1], destination)
    with pytest.raises(rm.InputError, match="one of the sources"):
        salvage([str(paths[1])], destination, overwrite=True)


def test_salvage_refuses_to_remove_sources_as_shards_of_an_earlier_run(source_folder: Path) -> None:
    with rm.ShardWriter(source_folder / "train", shards=3, index="never") as writer:
        for number in range(6):
            writer.write({"label": number})
    before = list_files(source_folder)
    with pytest.raises(rm.InputError, match="one of the sources"):
        rm.salvage(writer.paths[1], source_folder / "train", overwrite=True)
    assert list_files(source_folder) == before


def test_salvage_refuses_to_replace_index_file_beside_a_source(source_folder: Path) -> None:
    path = write_shard(source_folder, "recordio", [b"some", b"thing"]).rename(source_folder / "a.bin")
    (source_folder / "a.idx").write_text("7\t0\n9\t12\n")
    before = list_files(source_folder)
    with pytest.raises(rm.InputError, match="one of the sources"):
        rm.salvage(path, source_folder / "a.rec", overwrite=True)
    assert list_files(source_folder) == before


def test_salvage_raises_for_sources_of_several_formats_without_choice(source_folder: Path, tmp_path: Path) -> None:
    for format_name in ("tfrecord", "recordio"):
        write_shard(source_folder, format_name, [encode_message(format_name, 1)])
    with pytest.raises(ValueError, match="recordio, tfrecord"):
        salvage(source_folder, tmp_path / "out")
    assert salvage(source_folder, tmp_path / "out.of").num_records == 2


def test_salvage_compresses_new_shards(source_folder: Path, tmp_path: Path) -> None:
    (path, *_) = write_three(source_folder, "tfrecord")
    result = salvage(path, tmp_path / "out.tfrecord.gz", compression="gzip", index="never")
    assert gzip.decompress(Path(result.paths[0]).read_bytes()) == path.read_bytes()
    assert sorted(os.listdir(tmp_path)) == [".out.tfrecord.gz.manifest.json", "out.tfrecord.gz", "source"]
    with pytest.raises(ValueError, match="compression is not supported"):
        salvage(path, tmp_path / "out.rec", compression="zlib")


def test_salvage_discards_shards_if_a_later_source_fails(
    source_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_three(source_folder, "tfrecord")
    (source_folder / "s3.tfrecord").write_bytes(tfrecord.frame(b""))
    with pytest.raises(rm.InputError):
        salvage(source_folder, tmp_path / "out", format="ofrecord")
    assert os.listdir(tmp_path) == ["source"]


# Estimates


@pytest.mark.parametrize("num_zeros", [1, 12, 4096])
def test_salvage_counts_no_records_in_appended_zeros(num_zeros: int, source_folder: Path, tmp_path: Path) -> None:
    path = write_shard(source_folder, "tfrecord", [b"x" * 20] * 10)
    with path.open("ab") as file:
        file.write(bytes(num_zeros))
    result = salvage(path, tmp_path / "out")
    assert (result.num_records, result.num_lost_records, result.ok, result.is_exact) == (10, 0, False, False)


def test_salvage_estimates_records_by_mean_length(source_folder: Path, tmp_path: Path) -> None:
    frame = tfrecord.frame(b"x" * 20)
    path = source_folder / "shard.tfrecord"
    path.write_bytes(frame * 10 + bytes(7 * len(frame)) + frame * 5)
    result = salvage(path, tmp_path / "out")
    assert [(lost.num_records, lost.is_exact) for lost in result.lost] == [(7, False)]


def test_salvage_counts_records_with_wrong_payload_checksum_exactly(source_folder: Path, tmp_path: Path) -> None:
    damaged = flip_bit(tfrecord.frame(b"x" * 2000), 8 * 100)
    path = source_folder / "shard.tfrecord"
    path.write_bytes(tfrecord.frame(b"y") + damaged * 3 + tfrecord.frame(b"z"))
    (lost,) = salvage(path, tmp_path / "out").lost
    assert (lost.num_records, lost.is_exact) == (3, True)
    assert "2 more faults" in lost.reason


def test_salvage_counts_all_ranges_but_lists_ten_thousand(source_folder: Path, tmp_path: Path) -> None:
    good, bad = tfrecord.frame(b"g"), flip_bit(tfrecord.frame(b"b"), 8 * 12)
    path = source_folder / "shard.tfrecord"
    path.write_bytes((good + bad) * 10_050)
    result = salvage(path, tmp_path / "out")
    assert (result.num_records, len(result.lost), result.num_lost_ranges) == (10_050, 10_000, 10_050)
    assert result.num_lost_records == 10_050


def test_salvage_result_as_json(source_folder: Path, tmp_path: Path) -> None:
    path = write_shard(source_folder, "tfrecord", [b"one", b"two"])
    path.write_bytes(path.read_bytes()[:-1])
    result = salvage(path, tmp_path / "out.tfrecord")
    assert result.to_json() == {
        "ok": False,
        "num_records": 1,
        "num_bytes": 19,
        "paths": [str(tmp_path / "out.tfrecord")],
        "num_lost_ranges": 1,
        "num_lost_records": 1,
        "is_exact": False,
        "lost": [
            {
                "shard": str(path),
                "start": 19,
                "stop": 37,
                "kind": "truncated_payload",
                "reason": result.lost[0].reason,
                "num_records": 1,
                "is_exact": False,
            }
        ],
        "warnings": [],
    }


def test_salvage_raises_for_missing_source(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        rm.salvage(tmp_path / "missing.tfrecord", tmp_path / "out")
    with pytest.raises(ValueError, match="destination must not be empty"):
        rm.salvage(tmp_path, "")


@pytest.mark.parametrize("format_name", FORMATS)
def test_salvage_of_empty_shard_loses_nothing(format_name: str, source_folder: Path, tmp_path: Path) -> None:
    path = write_shard(source_folder, format_name, [])
    result = salvage(path, tmp_path / "out")
    assert (result.num_records, result.paths, result.ok) == (0, [], True)


@pytest.mark.parametrize("family", FORMATS)
def test_salvage_reports_missing_shards_and_copies_the_rest(source_folder: Path, tmp_path: Path, family: str) -> None:
    with rm.ShardWriter(source_folder / "part", format=family, shards=3) as writer:
        for number in range(30):
            writer.write({"label": number, "image": b"x"})
    Path(writer.paths[1]).unlink()
    result = salvage(source_folder, tmp_path / "out")
    (lost,) = result.lost
    assert (lost.shard, lost.kind, lost.num_records, lost.is_exact) == (writer.paths[1], "missing_shard", 10, True)
    assert result.num_records == 20 and len(rm.open(tmp_path / "out")) == 20 and not result.ok
    assert rm.info(tmp_path / "out").complete

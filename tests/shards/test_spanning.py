"""OFRecord parts whose records continue in the next file, and natural order of files."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

import recordmill as rm
from recordmill.shards.collection import ShardCollection
from recordmill.testing import ofrecord
from tests.shards.helpers import encode_message, write_shard


def write_parts(folder: Path, pieces: list[bytes], suffix_length: int = -1) -> Path:
    for number, piece in enumerate(pieces):
        (folder / ofrecord.build_part_name(number, suffix_length=suffix_length)).write_bytes(piece)
    return folder


def read_ids(dataset: rm.Dataset) -> list[int]:
    return [int(example["id"]) for example in dataset]


@pytest.mark.parametrize("suffix_length", [-1, 1, 2, 5])
def test_parts_are_read_in_natural_order(tmp_path: Path, suffix_length: int) -> None:
    pieces = [ofrecord.frame(encode_message("ofrecord", number)) for number in range(12)]
    dataset = rm.open(write_parts(tmp_path, pieces, suffix_length))
    assert read_ids(dataset) == list(range(12))
    assert int(dataset[-1]["id"]) == 11


def test_record_that_continues_in_next_part_is_read(tmp_path: Path) -> None:
    payloads = [encode_message("ofrecord", number) for number in range(9)]
    stream = b"".join(map(ofrecord.frame, payloads))
    cuts = [0, 3, 20, 21, 100, 100, 130, len(stream)]
    pieces = [stream[start:end] for start, end in pairwise(cuts)]
    dataset = rm.open(write_parts(tmp_path, pieces), payload="raw")
    assert [example["payload"] for example in dataset] == payloads
    assert [example["payload"] for example in dataset.fetch([8, 0, 4])] == [payloads[place] for place in (8, 0, 4)]
    assert read_ids(rm.open(tmp_path)) == list(range(9))


@given(data=st.data())
def test_stream_split_anywhere_has_same_records(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    payloads = [encode_message("ofrecord", number) for number in range(data.draw(st.integers(1, 6)))]
    stream = b"".join(map(ofrecord.frame, payloads))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=4)))
    pieces = [stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    folder = write_parts(tmp_path_factory.mktemp("parts"), pieces)
    source = ShardCollection(folder, format="ofrecord", payload="raw")
    assert [example["payload"] for example in source.__getitems__(range(len(source)))] == payloads
    assert ofrecord.read_records_of_parts(pieces) == [
        (*ofrecord.locate_in_parts(pieces, offset), payload) for offset, payload in ofrecord.iter_records(stream)
    ]


def test_truncated_last_part_names_record(tmp_path: Path) -> None:
    stream = b"".join(ofrecord.frame(encode_message("ofrecord", number)) for number in range(9))
    dataset = rm.open(write_parts(tmp_path, [stream[:50], stream[50:-2]]))
    assert len(dataset[:8]) == 8
    with pytest.raises(rm.TruncatedError) as caught:
        _ = dataset[8]
    assert caught.value.record == 8
    assert "part-0" in (caught.value.shard or "")


def test_reader_of_several_files_reads_one_stream(tmp_path: Path) -> None:
    payloads = [encode_message("ofrecord", number) for number in range(9)]
    stream = b"".join(map(ofrecord.frame, payloads))
    write_parts(tmp_path, [stream[:50], stream[50:51], stream[51:]])
    reader = rm.ShardReader([tmp_path / f"part-{number}" for number in range(3)])
    assert (len(reader), list(reader), reader[-1]) == (9, payloads, payloads[-1])
    assert [row for batch in reader.batches(2, threads=2) for row in batch] == payloads


def test_truncated_tfrecord_is_not_joined_with_next_file(tmp_path: Path) -> None:
    path = write_shard(tmp_path, "tfrecord", [encode_message("tfrecord", 1)], name="a")
    data = path.read_bytes()
    path.write_bytes(data[:-2])
    (tmp_path / "b.tfrecord").write_bytes(data[-2:])
    with pytest.raises(rm.RecordmillError):
        rm.open(tmp_path)


def test_open_skips_hidden_and_index_files_of_directory(tmp_path: Path) -> None:
    for number in (10, 9, 1):
        write_shard(tmp_path, "recordio", [encode_message("recordio", number)], name=f"s{number}")
    rm.build_index(tmp_path, foreign=True)
    (tmp_path / "train.lst").write_text("0\t0\ta.jpg\n")
    (tmp_path / "folder.rec").mkdir()
    for paths in (tmp_path, f"{tmp_path}/*.rec", f"{tmp_path}/s*"):
        dataset = rm.open(paths, payload="example")
        assert read_ids(dataset) == [1, 9, 10]


def test_open_keeps_list_order_and_removes_duplicates(tmp_path: Path) -> None:
    paths = [
        write_shard(tmp_path, "tfrecord", [encode_message("tfrecord", number)], name=f"s{number}")
        for number in range(3)
    ]
    assert read_ids(rm.open([paths[2], paths[0]])) == [2, 0]
    assert read_ids(rm.open([paths[2], paths[0], str(paths[2])])) == [2, 0]
    assert read_ids(rm.open([paths[1], f"{tmp_path}/*.tfrecord"])) == [1, 0, 2]


def test_open_accepts_empty_shards_among_others(tmp_path: Path) -> None:
    for number in range(4):
        rows = [encode_message("tfrecord", number)] if number % 2 else []
        write_shard(tmp_path, "tfrecord", rows, name=f"s{number}")
    dataset = rm.open(tmp_path)
    assert read_ids(dataset) == [1, 3]
    assert dataset.to_numpy()["id"].tolist() == [1, 3]


def test_open_of_empty_shards_is_empty_dataset(tmp_path: Path) -> None:
    write_shard(tmp_path, "tfrecord", [])
    dataset = rm.open(tmp_path)
    assert (len(dataset), list(dataset), dataset[:], len(dataset.batch(2))) == (0, [], [], 0)
    assert dict(dataset.schema) == {}
    with pytest.raises(ValueError, match="no samples"):
        dataset.batch(2).loader()


def write_spanning(folder: Path, count: int = 30) -> tuple[Path, bytes]:
    stream = b"".join(ofrecord.frame(encode_message("ofrecord", number)) for number in range(count))
    cuts = [0, 100, 103, 300, len(stream)]
    return write_parts(folder, [stream[start:end] for start, end in pairwise(cuts)]), stream


def test_verify_and_info_accept_records_that_continue_in_next_part(tmp_path: Path) -> None:
    folder, stream = write_spanning(tmp_path)
    offsets = [offset for offset, _ in ofrecord.iter_records(stream)]
    (folder / ofrecord.build_part_name(4)).write_bytes(stream[: offsets[5]])  # This part is not joined with others.
    report = rm.verify(folder)
    assert report.ok and report.num_records == 35
    assert "every payload was parsed as ofrecord" in report.guarantees["ofrecord"]
    begun = [
        sum(start <= offset < end for offset in offsets) for start, end in pairwise([0, 100, 103, 300, len(stream)])
    ]
    found = rm.info(folder)
    assert [shard.num_records for shard in found.shards] == [*begun, 5]
    assert [shard.num_bytes for shard in found.shards[:4]] == [100, 3, 197, len(stream) - 300]
    assert not any(shard.damage for shard in found.shards)
    with pytest.raises(rm.FormatError, match="continues in the next file") as caught:
        rm.build_index(folder)
    assert caught.value.kind == "spanning_record"


def test_verify_reports_each_truncated_part(tmp_path: Path) -> None:
    stream = b"".join(ofrecord.frame(encode_message("ofrecord", number)) for number in range(9))
    folder = write_parts(tmp_path, [stream[:-3], stream, stream[:-1]])
    report = rm.verify(folder)
    assert [(fault.kind, Path(fault.shard).name) for fault in report.faults] == [
        ("truncated_payload", "part-0"),
        ("truncated_payload", "part-2"),
    ]
    assert report.num_records == 8 + 9 + 8
    with pytest.raises(rm.TruncatedError):
        rm.build_index(folder)


def test_verify_locates_flipped_bit_in_spanning_parts(tmp_path: Path) -> None:
    folder, stream = write_spanning(tmp_path)
    offset, payload = next(iter(ofrecord.iter_records(stream)))
    path = folder / ofrecord.build_part_name(0)
    path.write_bytes(path.read_bytes()[:8] + b"\xff" * len(payload) + path.read_bytes()[8 + len(payload) :])
    (fault,) = rm.verify(folder, payload="ofrecord").faults
    assert (fault.record, fault.offset) == (0, offset)
    assert "part-0" in fault.shard and "part-3" in fault.shard

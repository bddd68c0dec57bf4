"""Every read compares payloads with their checksums; readers, loaders and `verify` agree on damaged shards."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import recordmill as rm
from recordmill.shards.index import sidecar_path

FORMATS = ["tfrecord", "ofrecord", "recordio"]
NUM_RECORDS = 40


def write(folder: Path, format_name: str, size: int = 50, **options: Any) -> Path:
    """Write a shard whose images begin with the number of their record; return its path."""
    with rm.ShardWriter(folder / "part", format=format_name, **options) as writer:
        for number in range(NUM_RECORDS):
            writer.write({"image": b"%04d" % number + bytes(size), "label": float(number)})
    return Path(writer.paths[0])


def read_index(path: Path) -> rm.FrameIndex:
    return rm.ShardReader(path).index


def flip(path: Path, offset: int, bit: int = 1) -> None:
    data = bytearray(path.read_bytes())
    data[offset] ^= bit
    path.write_bytes(data)


def load_images(path: Path, **options: Any) -> list[bytes]:
    loader = rm.open(path).batch(4, ragged="list").loader(threads=0, **options)
    return [bytes(image) for batch in loader for image in batch["image"]]


def numbers_of(images: list[bytes]) -> list[int]:
    return [int(image[:4]) for image in images]


@pytest.mark.parametrize("format_name", ["ofrecord", "recordio"])
def test_every_read_compares_payload_with_checksum_of_index(tmp_path: Path, format_name: str) -> None:
    path = write(tmp_path, format_name)
    index = read_index(path)
    # The last byte of the image: the message stays valid.
    offset = path.read_bytes().index(b"0007") + 30
    flip(path, offset)
    record, start = 7, int(index.offsets[7])
    dataset, reader = rm.open(path), rm.ShardReader(path)
    reads = [
        lambda: dataset[record],
        lambda: dataset[:],
        lambda: dataset.fetch([3, record]),
        dataset.to_numpy,
        lambda: list(dataset),
        lambda: reader[record],
        lambda: reader.fetch([record, 1]),
        lambda: list(reader),
        lambda: list(reader.batches(5, threads=2)),
        lambda: list(rm.ShardReader(path).batches(5, threads=0)),
        lambda: load_images(path),
    ]
    for read in reads:
        with pytest.raises(rm.ChecksumError) as caught:
            read()
        error = caught.value
        assert (error.kind, error.shard, error.record, error.offset) == ("sidecar_checksum", str(path), record, start)
    assert dataset[6]["image"][:4] == b"0006" and len(reader[:record]) == record
    assert len(rm.open(path, verify=False)[:]) == NUM_RECORDS
    assert len(list(rm.ShardReader(path, verify=False))) == NUM_RECORDS


@pytest.mark.parametrize("size", [50, 9_000, 70_000], ids=["short", "long", "longer"])
@pytest.mark.parametrize("format_name", FORMATS)
def test_loader_skips_exactly_the_records_that_verify_reports(tmp_path: Path, format_name: str, size: int) -> None:
    path = write(tmp_path, format_name, size)
    index = read_index(path)
    for record in (5, 20, 21):
        flip(path, path.read_bytes().index(b"%04d" % record) + 40)
    flip(path, int(index.offsets[30]) + (4 if format_name == "recordio" else 0), 0x40)  # the length of record 30
    report = rm.verify(path)
    assert {fault.record for fault in report.faults} == {5, 20, 21, 30}
    expected = [number for number in range(NUM_RECORDS) if number not in (5, 20, 21, 30)]
    assert report.num_records == len(expected)
    assert numbers_of(load_images(path, on_error="skip")) == expected
    dataset = rm.open(path)
    assert numbers_of([dataset[position]["image"] for position in expected]) == expected
    for position in (5, 20, 21, 30):
        with pytest.raises(rm.DamageError) as caught:
            _ = dataset[position]
        assert caught.value.record == position


@pytest.mark.parametrize("format_name", ["tfrecord", "recordio"])
def test_readers_resynchronize_without_index(tmp_path: Path, format_name: str) -> None:
    path = write(tmp_path, format_name, index="never")
    offsets = read_index(path).offsets
    os.remove(sidecar_path(str(path)))
    for record in (0, 17, NUM_RECORDS - 1):
        flip(path, int(offsets[record]), 0x20)
    expected = [number for number in range(NUM_RECORDS) if number not in (0, 17, NUM_RECORDS - 1)]
    report = rm.verify(path)
    assert report.num_records == len(expected)
    assert [fault.offset for fault in report.faults] == offsets[[0, 17, -1]].tolist()
    assert numbers_of(load_images(path, on_error="skip")) == expected
    with pytest.raises(rm.DamageError) as caught:
        load_images(path)
    assert caught.value.record == 0
    assert not Path(sidecar_path(str(path))).exists()


@pytest.mark.parametrize("format_name", FORMATS)
@pytest.mark.parametrize("within", [False, True], ids=["between records", "within a record"])
def test_readers_and_verify_agree_on_truncated_shard(tmp_path: Path, format_name: str, within: bool) -> None:
    path = write(tmp_path, format_name, 1000)
    os.truncate(path, int(read_index(path).offsets[25]) + 13 * within)
    report = rm.verify(path)
    assert (report.num_records, report.num_faults, report.faults[0].record) == (25, 1, 25)
    assert numbers_of(load_images(path, on_error="skip")) == list(range(25))
    for read in (lambda: load_images(path), lambda: rm.open(path)[30], lambda: list(rm.ShardReader(path))):
        with pytest.raises(rm.TruncatedError):
            read()
    os.remove(sidecar_path(str(path)))
    assert rm.verify(path).num_records == 25
    assert numbers_of(load_images(path, on_error="skip")) == list(range(25))


@pytest.mark.parametrize("format_name", FORMATS)
def test_damaged_shard_keeps_schema_of_writer(tmp_path: Path, format_name: str) -> None:
    path = write(tmp_path, format_name)
    schema = rm.open(path).schema
    data = path.read_bytes()
    for name in (b"label", b"image") if format_name != "recordio" else (b"0000",):
        path.write_bytes(data)
        flip(path, data.index(name), 0x04)
        assert rm.open(path).schema == schema
        with pytest.raises(rm.ChecksumError):
            _ = rm.open(path)[0]


@pytest.mark.parametrize("format_name", FORMATS)
def test_shard_that_was_replaced_is_read_without_its_old_index(tmp_path: Path, format_name: str) -> None:
    path = write(tmp_path / "old", format_name)
    with rm.ShardWriter(tmp_path / "new" / "part", format=format_name, index="never") as writer:
        writer.write({"image": b"other", "label": 1.0})
    os.replace(writer.paths[0], path)
    assert rm.open(path)[0]["image"] == b"other"
    assert rm.verify(path).ok


@pytest.mark.parametrize("format_name", FORMATS)
def test_shard_that_was_rewritten_with_equal_size_is_read_with_its_own_frames(tmp_path: Path, format_name: str) -> None:
    """The first block is equal, and the sizes of later records are exchanged."""
    paths = []
    for name, sizes in (("old", (9000, 100, 200, 300)), ("new", (9000, 300, 200, 100))):
        with rm.ShardWriter(tmp_path / name / "part", format=format_name, payload="raw", index="never") as writer:
            for number, size in enumerate(sizes):
                writer.write(bytes([number]) * size)
        paths.append(Path(writer.paths[0]))
    old, new = paths
    assert len(rm.ShardReader(old)) == 4 and Path(sidecar_path(str(old))).exists()
    assert old.stat().st_size == new.stat().st_size
    os.replace(new, old)
    assert list(map(len, rm.ShardReader(old)[:])) == [9000, 300, 200, 100]
    assert rm.verify(old, payload=None).ok


def test_index_command_accepts_shard_whose_content_changed(tmp_path: Path) -> None:
    path = write(tmp_path, "ofrecord")
    flip(path, path.read_bytes().index(b"0007") + 30)
    assert not rm.verify(path).ok
    rm.build_index(path)
    assert rm.verify(path).ok and len(rm.open(path)[:]) == NUM_RECORDS


@pytest.mark.parametrize("format_name", FORMATS)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_no_flipped_bit_changes_data_silently(
    format_name: str, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = write(tmp_path_factory.mktemp("flip"), format_name, data.draw(st.sampled_from([0, 50, 5_000])))
    intact = rm.open(path)[:]
    offset = data.draw(st.integers(0, path.stat().st_size - 1))
    flip(path, offset, 1 << data.draw(st.integers(0, 7)))
    record = int(np.searchsorted(read_index(path).offsets, offset, "right")) - 1
    report = rm.verify(path)
    if report.ok or report.faults[0].kind == "bad_padding":  # The flipped bit is not part of the payload.
        assert str(rm.open(path)[record]) == str(intact[record])
    else:
        assert [fault.record for fault in report.faults] == [record]
        with pytest.raises(rm.DamageError) as caught:
            _ = rm.open(path)[record]
        assert caught.value.record == record
    assert str(rm.open(path)[:record]) == str(intact[:record])


def test_verify_of_truncated_gzip_shard_does_not_claim_its_checksum(tmp_path: Path) -> None:
    path = write(tmp_path, "tfrecord", compression="gzip")
    assert any("gzip stream" in line for line in rm.verify(path).guarantees["tfrecord"])
    os.truncate(path, path.stat().st_size - 20)
    report = rm.verify(path)
    assert not report.ok
    assert not any("gzip stream" in line for line in report.guarantees["tfrecord"])


def test_verify_decode_reports_images_that_cannot_be_decoded(tmp_path: Path) -> None:
    from PIL import Image

    with rm.ShardWriter(tmp_path / "part", format="tfrecord") as writer:
        for number in range(6):
            out = io.BytesIO()
            Image.effect_noise((40, 30), 50).convert("RGB").save(out, ("JPEG", "PNG", "WEBP")[number % 3])
            data = out.getvalue() if number not in (1, 3) else out.getvalue()[: len(out.getvalue()) // 2]
            writer.write({"image": data, "name": b"photo", "label": number})
    assert rm.verify(writer.paths).ok
    report = rm.verify(writer.paths, decode=True)
    index = read_index(Path(writer.paths[0]))
    assert [(fault.kind, fault.record, fault.offset) for fault in report.faults] == [
        ("bad_image", record, int(index.offsets[record])) for record in (1, 3)
    ]
    assert (report.num_records, report.num_faults) == (4, 2)
    assert "feature 'image'" in report.faults[0].message
    assert any("every image was decoded" in line for line in report.guarantees["tfrecord"])
    (tmp_path / "other.tfrecord").write_bytes(b"not a shard, but longer than a header")
    report = rm.verify([*writer.paths, tmp_path / "other.tfrecord"], decode=True)
    assert [fault.kind for fault in report.faults].count("bad_image") == 2
    assert len(report.faults) == 3

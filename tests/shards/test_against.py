"""What a kept index shows of a shard that changed since: turned bits, a lost end, more records, another file."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import recordmill as rm
from recordmill.shards.index import cache_path, load_sidecars, sidecar_path
from recordmill.types import FrameIndex
from tests.shards.made import FAMILIES, message, shard

UNSUMMED = ("ofrecord", "recordio")


def written(folder: Path, family: str, count: int = 60, seed: int = 0) -> Path:
    draw = np.random.default_rng(seed)
    with rm.ShardWriter(folder / f"made-{family}", format=family) as writer:
        for number in range(count):
            writer.write({"image": draw.bytes(1000), "label": number})
    return Path(writer.paths[0])


def turn_bit(path: Path, place: int, bit: int = 1) -> None:
    data = bytearray(path.read_bytes())
    data[place] ^= bit
    path.write_bytes(data)


def found(path: Path) -> list[tuple[str, int | None]]:
    return [(fault.kind, fault.record) for fault in rm.verify(path).faults]


def first_record(path: Path) -> FrameIndex:
    return rm.ShardReader(path, index="never").index


@pytest.mark.parametrize("family", FAMILIES)
def test_shard_when_cut_between_records_then_its_index_shows_what_is_missing(tmp_path: Path, family: str) -> None:
    path = written(tmp_path, family)
    offset = int(first_record(path).offsets[40])
    os.truncate(path, offset)
    for _ in range(2):  # reading in between keeps the index that tells it
        report = rm.verify(path)
        (fault,) = report.faults
        assert (fault.kind, fault.record, fault.offset) == ("truncated_shard", 40, offset)
        assert "60 records" in fault.message and report.num_records == 40
        assert len(rm.open(path)) == 40
    rm.build_index(path)
    assert rm.verify(path).ok


def test_shard_when_nothing_is_left_of_it_then_its_index_shows_it(tmp_path: Path) -> None:
    path = written(tmp_path, "tfrecord")
    os.truncate(path, 0)
    assert found(path) == [("truncated_shard", 0)]


@pytest.mark.parametrize("family", UNSUMMED)
def test_bit_when_it_turned_in_a_probed_block_then_reading_does_not_forget_it(tmp_path: Path, family: str) -> None:
    path = written(tmp_path, family)
    turn_bit(path, int(first_record(path).offsets[1]) + 300)
    assert found(path) == [("sidecar_checksum", 1)]
    assert len(rm.open(path)) == 60
    assert found(path) == [("sidecar_checksum", 1)]


@pytest.mark.parametrize("family", UNSUMMED)
def test_bit_when_it_turned_in_front_of_a_broken_frame_then_both_are_told(tmp_path: Path, family: str) -> None:
    path = written(tmp_path, family)
    offsets = first_record(path).offsets
    turn_bit(path, int(offsets[28]) + 300)
    turn_bit(path, int(offsets[50]) + 3, 64)
    kinds = found(path)
    assert kinds[0] == ("sidecar_checksum", 28)
    assert len(kinds) == 2 and kinds[1][1] == 50


@pytest.mark.parametrize("family", UNSUMMED)
def test_shard_when_appended_to_then_the_old_records_are_compared_and_the_report_says_so(
    tmp_path: Path, family: str
) -> None:
    path = written(tmp_path, family)
    offsets = first_record(path).offsets
    with path.open("ab") as file:
        file.write(path.read_bytes()[: offsets[5]])
    turn_bit(path, 30_000)
    where = int(np.searchsorted(offsets, 30_000)) - 1
    for _ in range(2):
        report = rm.verify(path)
        assert [(fault.kind, fault.record) for fault in report.faults] == [("sidecar_checksum", where)]
        assert report.guarantees[family][0].startswith("60 of 65 payloads were compared")
        assert len(rm.open(path)) == 65  # keeps the longer index
    kept = next(load_sidecars(str(path)))
    assert kept is not None and kept.checksums is not None
    assert (len(kept.index), len(kept.checksums)) == (65, 60)
    rm.build_index(path)
    assert rm.verify(path).guarantees[family][0].startswith("every payload was compared")


@pytest.mark.parametrize("family", FAMILIES)
def test_shard_when_another_took_its_place_then_the_old_index_is_not_compared(tmp_path: Path, family: str) -> None:
    path, other = written(tmp_path, family), written(tmp_path / "other", family, 30, seed=1)
    path.write_bytes(other.read_bytes())
    report = rm.verify(path)
    assert report.ok and report.num_records == 30
    assert any("another file" in line for line in report.guarantees[family])
    assert not any("kept in the sidecar" in line for line in report.guarantees[family])


def test_payloads_when_another_shard_took_the_place_then_are_not_what_the_old_index_says(tmp_path: Path) -> None:
    with rm.ShardWriter(tmp_path / "other.tfrecord", payload="sequence_example") as writer:
        writer.write({"tokens": rm.FeatureList([[3], [5]])})
    path = shard(tmp_path, "tfrecord", [message("tfrecord", number) for number in range(9)])
    assert rm.open(path).schema["id"].kind == "int64"
    kept = Path(sidecar_path(str(path))).read_bytes()
    path.write_bytes((tmp_path / "other.tfrecord").read_bytes())
    assert "every payload was parsed as sequence_example" in rm.verify(path).guarantees["tfrecord"]
    Path(sidecar_path(str(path))).write_bytes(kept)
    assert rm.info(path).payload == "sequence_example"


def test_old_index_beside_the_shard_when_a_new_one_is_in_the_cache_then_that_is_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECORDMILL_CACHE", str(tmp_path / "cache"))
    path, other = written(tmp_path, "recordio"), written(tmp_path / "other", "recordio", 30, seed=1)
    path.write_bytes(other.read_bytes())
    old, cached = Path(sidecar_path(str(path))), Path(cache_path(str(path)))
    stale = old.read_bytes()
    rm.build_index(path)
    cached.parent.mkdir()
    old.rename(cached)
    old.write_bytes(stale)
    turn_bit(path, 30_000 // 2)
    assert [kind for kind, _ in found(path)] == ["sidecar_checksum"]


def test_shards_when_only_some_have_an_index_then_the_report_says_of_how_many(tmp_path: Path) -> None:
    with rm.ShardWriter(tmp_path / "a", format="recordio", shards=3) as writer:
        for number in range(9):
            writer.write({"image": bytes(50), "label": number})
    Path(sidecar_path(writer.paths[0])).unlink()
    lines = rm.verify(tmp_path).guarantees["recordio"]
    assert next(line for line in lines if line.endswith("(1 of 3 shards)")).startswith("the format has no checksums")
    assert any(line.startswith("every payload was compared") and line.endswith("(2 of 3 shards)") for line in lines)
    assert "every payload was parsed as irheader" in lines


def test_payload_when_it_is_too_large_to_be_parsed_then_the_report_says_so(tmp_path: Path) -> None:
    with rm.ShardWriter(tmp_path / "a.of", format="ofrecord", payload="raw") as writer:
        writer.write(message("ofrecord", 1))
        writer.write(bytes(1 << 26))  # no message
    lines = rm.verify(tmp_path, payload="ofrecord").guarantees["ofrecord"]
    assert "every payload was parsed as ofrecord; 1 of more than 64 MiB left out" in lines


def test_records_when_they_changed_places_then_only_a_format_without_checksums_tells_it_as_a_fault(
    tmp_path: Path,
) -> None:
    for family in FAMILIES:
        path = written(tmp_path, family)
        data, frames = path.read_bytes(), first_record(path)
        start, middle, end = (int(value) for value in (0, frames.offsets[3], frames.offsets[9]))
        path.write_bytes(data[middle:end] + data[start:middle] + data[end:])
        before = found(path)
        assert bool(before) == (family in UNSUMMED)
        assert len(rm.open(path)) == 60
        assert found(path) == before

"""`verify`: comparison with the sidecar index, guarantees, interruption, and storage that fails."""

from __future__ import annotations

import gzip
import os
import signal
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordmill as rm
from recordmill.shards.index import cache_path, load_sidecars, sidecar_path
from recordmill.shards.verify import verify_shards
from recordmill.storage.base import Storage
from recordmill.storage.local import LOCAL
from recordmill.testing import tfrecord
from recordmill.testing.storage import FaultyStorage, MemoryStorage
from recordmill.types import FrameIndex
from tests.shards.helpers import FORMATS, encode_message, write_shard

NO_CHECKSUMS = ("ofrecord", "recordio")


def write_photos(folder: Path, family: str, count: int = 60, seed: int = 0) -> Path:
    rng = np.random.default_rng(seed)
    with rm.ShardWriter(folder / f"part-{family}", format=family) as writer:
        for number in range(count):
            writer.write({"image": rng.bytes(1000), "label": number})
    return Path(writer.paths[0])


def flip_bit(path: Path, offset: int, bit: int = 1) -> None:
    data = bytearray(path.read_bytes())
    data[offset] ^= bit
    path.write_bytes(data)


def find_faults(path: Path) -> list[tuple[str, int | None]]:
    return [(fault.kind, fault.record) for fault in rm.verify(path).faults]


def read_index(path: Path) -> FrameIndex:
    return rm.ShardReader(path, index="never").index


@pytest.mark.parametrize("family", FORMATS)
def test_verify_reports_truncation_between_records(tmp_path: Path, family: str) -> None:
    path = write_photos(tmp_path, family)
    offset = int(read_index(path).offsets[40])
    os.truncate(path, offset)
    for _ in range(2):  # Reading in between must not replace the sidecar that shows the truncation.
        report = rm.verify(path)
        (fault,) = report.faults
        assert (fault.kind, fault.record, fault.offset) == ("truncated_shard", 40, offset)
        assert "60 records" in fault.message and report.num_records == 40
        dataset = rm.open(path)
        assert (len(dataset), len(dataset[:40])) == (60, 40)
        with pytest.raises(rm.TruncatedError):
            _ = dataset[40]
    rm.build_index(path)
    assert rm.verify(path).ok


def test_verify_reports_truncation_to_zero_bytes(tmp_path: Path) -> None:
    path = write_photos(tmp_path, "tfrecord")
    os.truncate(path, 0)
    assert find_faults(path) == [("truncated_shard", 0)]


@pytest.mark.parametrize("family", NO_CHECKSUMS)
def test_reading_keeps_sidecar_that_shows_flipped_bit(tmp_path: Path, family: str) -> None:
    path = write_photos(tmp_path, family)
    flip_bit(path, int(read_index(path).offsets[1]) + 300)
    assert find_faults(path) == [("sidecar_checksum", 1)]
    assert len(rm.open(path)) == 60
    assert find_faults(path) == [("sidecar_checksum", 1)]


@pytest.mark.parametrize("family", NO_CHECKSUMS)
def test_verify_reports_flipped_bit_before_damaged_frame(tmp_path: Path, family: str) -> None:
    path = write_photos(tmp_path, family)
    offsets = read_index(path).offsets
    flip_bit(path, int(offsets[28]) + 300)
    flip_bit(path, int(offsets[50]) + 3, 64)
    kinds = find_faults(path)
    assert kinds[0] == ("sidecar_checksum", 28)
    assert len(kinds) == 2 and kinds[1][1] == 50


@pytest.mark.parametrize("family", NO_CHECKSUMS)
def test_verify_compares_old_records_after_append(tmp_path: Path, family: str) -> None:
    path = write_photos(tmp_path, family)
    offsets = read_index(path).offsets
    with path.open("ab") as file:
        file.write(path.read_bytes()[: offsets[5]])
    flip_bit(path, 30_000)
    where = int(np.searchsorted(offsets, 30_000)) - 1
    for _ in range(2):
        report = rm.verify(path)
        assert [(fault.kind, fault.record) for fault in report.faults] == [("sidecar_checksum", where)]
        assert report.guarantees[family][0].startswith("60 of 65 payloads were compared")
        assert len(rm.open(path)) == 65  # saves the longer index
    sidecar = next(load_sidecars(str(path), LOCAL))
    assert sidecar is not None and sidecar.checksums is not None
    assert (len(sidecar.index), len(sidecar.checksums)) == (65, 60)
    rm.build_index(path)
    assert rm.verify(path).guarantees[family][0].startswith("every payload was compared")


@pytest.mark.parametrize("family", FORMATS)
def test_verify_ignores_sidecar_of_replaced_shard(tmp_path: Path, family: str) -> None:
    path, other = write_photos(tmp_path, family), write_photos(tmp_path / "other", family, 30, seed=1)
    path.write_bytes(other.read_bytes())
    report = rm.verify(path)
    assert report.ok and report.num_records == 30
    assert any("another file" in line for line in report.guarantees[family])
    assert not any("in the sidecar index" in line for line in report.guarantees[family])


def test_verify_detects_payload_codec_of_replaced_shard(tmp_path: Path) -> None:
    with rm.ShardWriter(tmp_path / "other.tfrecord", payload="sequence_example") as writer:
        writer.write({"tokens": rm.FeatureList([[3], [5]])})
    path = write_shard(tmp_path, "tfrecord", [encode_message("tfrecord", number) for number in range(9)])
    assert rm.open(path).schema["id"].kind == "int64"
    stale = Path(sidecar_path(str(path))).read_bytes()
    path.write_bytes((tmp_path / "other.tfrecord").read_bytes())
    assert "every payload was parsed as sequence_example" in rm.verify(path).guarantees["tfrecord"]
    Path(sidecar_path(str(path))).write_bytes(stale)
    assert rm.info(path).payload == "sequence_example"


def test_verify_uses_cached_sidecar_if_sidecar_beside_shard_is_stale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECORDMILL_CACHE", str(tmp_path / "cache"))
    path, other = write_photos(tmp_path, "recordio"), write_photos(tmp_path / "other", "recordio", 30, seed=1)
    path.write_bytes(other.read_bytes())
    old, cached = Path(sidecar_path(str(path))), Path(cache_path(str(path)))
    stale = old.read_bytes()
    rm.build_index(path)
    cached.parent.mkdir()
    old.rename(cached)
    old.write_bytes(stale)
    flip_bit(path, 30_000 // 2)
    assert [kind for kind, _ in find_faults(path)] == ["sidecar_checksum"]


def test_guarantees_count_shards_with_sidecar(tmp_path: Path) -> None:
    with rm.ShardWriter(tmp_path / "a", format="recordio", shards=3) as writer:
        for number in range(9):
            writer.write({"image": bytes(50), "label": number})
    Path(sidecar_path(writer.paths[0])).unlink()
    lines = rm.verify(tmp_path).guarantees["recordio"]
    assert next(line for line in lines if line.endswith("(1 of 3 shards)")).startswith("the format has no checksums")
    assert any(line.startswith("every payload was compared") and line.endswith("(2 of 3 shards)") for line in lines)
    assert "every payload was parsed as irheader" in lines


def test_guarantees_count_payloads_too_large_to_parse(tmp_path: Path) -> None:
    with rm.ShardWriter(tmp_path / "a.of", format="ofrecord", payload="raw") as writer:
        writer.write(encode_message("ofrecord", 1))
        writer.write(bytes(1 << 26))  # not a valid message
    lines = rm.verify(tmp_path, payload="ofrecord").guarantees["ofrecord"]
    assert "every payload was parsed as ofrecord, except 1 larger than 64 MiB" in lines


def test_verify_reports_moved_records_in_formats_without_checksums(
    tmp_path: Path,
) -> None:
    for family in FORMATS:
        path = write_photos(tmp_path, family)
        data, frames = path.read_bytes(), read_index(path)
        start, middle, end = (int(value) for value in (0, frames.offsets[3], frames.offsets[9]))
        path.write_bytes(data[middle:end] + data[start:middle] + data[end:])
        before = find_faults(path)
        assert bool(before) == (family in NO_CHECKSUMS)
        assert len(rm.open(path)) == 60
        assert find_faults(path) == before


def test_verify_can_be_interrupted_within_shard(tmp_path: Path) -> None:
    path = tmp_path / "huge.tfrecord"
    path.write_bytes(tfrecord.frame(b"sound"))
    os.truncate(path, 4 << 40)  # a sparse file that takes far longer to read than the time limit of a test
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(KeyboardInterrupt):
            rm.verify(path)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_records_between_two_damages_of_a_compressed_shard_are_found(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    payloads = [generator.bytes(300) for _ in range(3000)]
    data = bytearray(b"".join(map(tfrecord.frame, payloads)))
    data[2500 * (len(data) // 3000)] ^= 1
    stream = gzip.compress(bytes(data), 1)
    stream = stream[: len(stream) * 9 // 10]
    num_intact = len(zlib.decompressobj(31).decompress(stream)) // (len(data) // 3000) - 1
    path = tmp_path / "a.tfrecord.gz"
    path.write_bytes(stream)
    report = rm.verify(path, payload=None)
    assert report.num_records == num_intact
    assert [fault.kind for fault in report.faults] == ["length_checksum", "bad_compression"]
    dataset = rm.open(path, payload="raw")
    loader = dataset.batch(64).loader(threads=0, on_error="skip")
    assert sum(len(batch["payload"]) for batch in loader) == num_intact


# Storage that is not the local file system


def verify_storage(storage: Storage, paths: Any, payload: str | None = "auto") -> rm.Report:
    return verify_shards(storage, paths, {}, payload)


def write_to_memory(family: str, count: int = 40) -> MemoryStorage:
    storage = MemoryStorage()
    memory_writer = type("MemoryShardWriter", (rm.ShardWriter,), {"_storage": storage})
    with memory_writer("out/part", format=family, shards=2) as writer:
        for number in range(count):
            writer.write({"image": bytes([number]) * 300, "label": number})
    return storage


@pytest.mark.parametrize("family", FORMATS)
def test_verify_reads_shards_and_sidecars_through_storage(family: str) -> None:
    storage = write_to_memory(family)
    report = verify_storage(storage, "out/part*")
    assert report.ok and report.num_records == 40
    assert report.guarantees[family][0].startswith("every") and "compared with" in report.guarantees[family][0]
    image = bytes([8]) * 300
    path = next(path for path, data in storage.files.items() if image in data)
    storage.write(path, storage.files[path].replace(image, bytes([9]) + image[1:]))
    (fault,) = verify_storage(storage, "out/part*", payload=None).faults
    assert fault.shard == path and fault.kind.endswith("checksum")
    with pytest.raises(FileNotFoundError):
        verify_storage(storage, "out/missing*")


@pytest.mark.parametrize("family", FORMATS)
def test_verify_reports_no_false_result_after_any_failed_operation(family: str) -> None:
    storage = write_to_memory(family)
    recorder = FaultyStorage(storage)
    verify_storage(recorder, "out/part*")
    assert {"expand", "open", "read"} <= {name for name, _ in recorder.operations}
    for fail_at, operation in enumerate(recorder.operations):
        try:
            report = verify_storage(FaultyStorage(storage, fail_at), "out/part*")
        except OSError:
            assert operation[0] in ("expand", "list_names", "stat", "open", "read", "read_at"), operation
        else:
            # Without its sidecar, a shard of a format without checksums is verified less thoroughly.
            assert report.ok and report.num_records == 40, operation
            assert operation[0] not in ("expand", "list_names"), operation


@pytest.mark.parametrize("family", NO_CHECKSUMS)
def test_verify_states_missing_comparison_if_sidecar_cannot_be_read(family: str) -> None:
    storage = write_to_memory(family)
    for path in [path for path in storage.files if path.endswith(".rmx")]:
        recorder = FaultyStorage(storage)
        verify_storage(recorder, "out/part*")
        last_read = max(row for row, operation in enumerate(recorder.operations) if operation == ("read", path))
        lines = verify_storage(FaultyStorage(storage, last_read), "out/part*").guarantees[family]
        line = next(line for line in lines if line.startswith("the format has no checksums"))
        assert line.endswith("(1 of 2 shards)")

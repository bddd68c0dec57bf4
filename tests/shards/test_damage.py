"""Every row of the damage tables: readers return the records before the damage, then raise a specific error."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

import recordmill as rm
from recordmill.errors import RecordmillError
from recordmill.testing import ofrecord, recordio, tfrecord
from recordmill.testing.damage import SAMPLE_PAYLOADS, TABLES, Damage, build_damaged_shards
from recordmill.testing.damage.compression import CompressedFile, build_compressed_files

CLASSES: dict[str, type[RecordmillError]] = {
    "truncated_header": rm.TruncatedError,
    "truncated_payload": rm.TruncatedError,
    "length_checksum": rm.ChecksumError,
    "payload_checksum": rm.ChecksumError,
    "bad_length": rm.FramingError,
    "bad_magic": rm.FramingError,
    "bad_continuation": rm.FramingError,
    "bad_padding": rm.FramingError,
    "bad_compression": rm.CompressionError,
}
OTHER_CONTENT = ("html_page", "gzip_read_as_plain", "recordio_file", "tfrecord_file")
ROWS = [(format_name, row) for format_name in TABLES for row in build_damaged_shards(format_name)]
DAMAGED = [(format_name, row) for format_name, row in ROWS if row.name not in OTHER_CONTENT]
CONTENT = b"".join(map(tfrecord.frame, SAMPLE_PAYLOADS))
# Building an index reads only headers, so these faults appear at the offset to which the wrong header leads.
MISLEADING = ("byte_inserted_payload", "byte_removed_payload", "length_one_more", "length_one_less", "length_zero")

MODES: dict[str, Callable[[rm.ShardReader], Iterable[bytes]]] = {
    "iterate": iter,
    "batches": lambda reader: (payload for batch in reader.batches(2, threads=2) for payload in batch),
    "batches_of_one": lambda reader: (payload for batch in reader.batches(1, threads=1) for payload in batch),
}


def name_of(value: object) -> str:
    return str(value)


def write(folder: Path, format_name: str, data: bytes) -> Path:
    path = folder / f"shard.{ {'tfrecord': 'tfrecord', 'recordio': 'rec', 'ofrecord': 'of'}[format_name] }"
    path.write_bytes(data)
    return path


def collect(payloads: Iterable[bytes]) -> tuple[list[bytes], RecordmillError | None]:
    found: list[bytes] = []
    try:
        for payload in payloads:
            found.append(payload)  # noqa: PERF402
    except RecordmillError as error:
        return found, error
    return found, None


def check(error: RecordmillError | None, row: Damage, path: Path) -> None:
    assert error is not None
    assert type(error) is CLASSES[row.kind or ""]
    assert (error.kind, error.shard, error.record, error.offset) == (row.kind, str(path), row.position, row.offset)
    assert error.hint
    assert str(path) in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.parts(), str(again)) == (type(error), error.parts(), str(error))
    assert copy.copy(error).parts() == error.parts()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("format_name, row", DAMAGED, ids=name_of)
def test_reader_yields_records_before_damage_then_raises(
    format_name: str, row: Damage, mode: str, tmp_path: Path
) -> None:
    path = write(tmp_path, format_name, row.data)
    found, error = collect(MODES[mode](rm.ShardReader(path, format=format_name, compression=None)))
    assert found == row.payloads_before
    if row.kind is None or row.verify_only:
        assert error is None
    else:
        check(error, row, path)


@pytest.mark.parametrize("format_name, row", DAMAGED, ids=name_of)
def test_verify_reports_damage_as_first_fault(format_name: str, row: Damage, tmp_path: Path) -> None:
    path = write(tmp_path, format_name, row.data)
    report = rm.verify(path, format=format_name, compression=None, payload=None)
    assert report.ok == (row.kind is None)
    assert report.to_json()["num_faults"] == len(report.faults) == report.num_faults
    assert report.guarantees[format_name]
    if row.kind is not None:
        first = report.faults[0]
        assert (first.kind, first.shard, first.record, first.offset) == (row.kind, str(path), row.position, row.offset)
        assert first.message
    else:
        assert report.num_records == len(row.payloads_before)


@pytest.mark.parametrize("format_name, row", DAMAGED, ids=name_of)
def test_reader_returns_by_position_the_records_that_verify_counts(
    format_name: str, row: Damage, tmp_path: Path
) -> None:
    path = write(tmp_path, format_name, row.data)
    reader = rm.ShardReader(path, format=format_name, compression=None)
    results = [collect(iter([reader[position]] for _ in range(1))) for position in range(len(reader))]  # type: ignore[arg-type]
    sound = [payloads for payloads, error in results if error is None]
    if row.kind is None or row.verify_only:
        assert reader[:] == row.payloads_before
        return
    report = rm.verify(path, format=format_name, compression=None, payload=None)
    assert len(sound) == report.num_records
    assert [fault.record for fault in report.faults] == [
        position for position, (_, error) in enumerate(results) if error is not None
    ]
    assert not reader.damage or not list(tmp_path.glob(".*")), "no index of a damaged shard is saved"


@pytest.mark.parametrize("format_name, row", DAMAGED, ids=name_of)
def test_reader_names_damaged_record_by_position(format_name: str, row: Damage, tmp_path: Path) -> None:
    if row.kind is None or row.verify_only or row.name in MISLEADING:
        return
    path = write(tmp_path, format_name, row.data)
    reader = rm.ShardReader(path, format=format_name, compression=None)
    assert row.position is not None
    assert reader.fetch(range(row.position)) == row.payloads_before
    found, error = collect(iter([reader[row.position]] for _ in range(1)))  # type: ignore[arg-type]
    assert found == []
    check(error, row, path)
    with pytest.raises(type(error)) as caught:  # type: ignore[arg-type]
        reader.fetch([0, row.position, 1] if row.position else [row.position])
    assert caught.value.record == row.position


@pytest.mark.parametrize("format_name, row", DAMAGED, ids=name_of)
def test_dataset_of_damaged_shard_raises_recordmill_error(format_name: str, row: Damage, tmp_path: Path) -> None:
    path = write(tmp_path, format_name, row.data)
    found, error = collect(
        example["payload"]
        for _ in range(1)
        for example in rm.open(path, format=format_name, compression=None, payload="raw")
    )
    if error is not None:
        assert row.kind is not None
        assert error.shard == str(path)
        assert error.record is not None
    else:
        assert row.kind is None or row.verify_only
        assert found == row.payloads_before


@pytest.mark.parametrize("format_name, row", [pair for pair in ROWS if pair[1].name in OTHER_CONTENT], ids=name_of)
def test_reader_names_other_content_of_declared_shard(format_name: str, row: Damage, tmp_path: Path) -> None:
    path = write(tmp_path, format_name, row.data)
    with pytest.raises(rm.FormatError) as caught:
        list(rm.ShardReader(path, format=format_name, compression=None))
    assert caught.value.kind in ("wrong_format", "wrong_compression")
    assert caught.value.hint
    report = rm.verify(path, format=format_name, compression=None)
    assert [fault.kind for fault in report.faults] == [caught.value.kind]


@pytest.mark.parametrize("format_name", ["tfrecord", "recordio"])
def test_verify_reports_each_damaged_record_and_counts_others(format_name: str, tmp_path: Path) -> None:
    frame = {"tfrecord": tfrecord.frame, "recordio": recordio.frame}[format_name]
    frames = [frame(b"payload number %d" % number) for number in range(20)]
    offsets = [sum(map(len, frames[:number])) for number in range(20)]
    for number in (3, 9, 15):
        frames[number] = bytes(8) + frames[number][8:]
    report = rm.verify(write(tmp_path, format_name, b"".join(frames)), format=format_name, payload=None)
    assert [fault.offset for fault in report.faults] == [offsets[number] for number in (3, 9, 15)]
    assert report.num_records == 17


@pytest.mark.parametrize("threads", [0, 2])
@pytest.mark.parametrize("row", build_compressed_files(CONTENT), ids=name_of)
def test_reader_yields_complete_records_of_damaged_stream_then_raises(
    row: CompressedFile, threads: int, tmp_path: Path
) -> None:
    path = write(tmp_path, "tfrecord", row.data)
    expected = [payload for _, payload in tfrecord.iter_records(row.content)]
    error: RecordmillError | None
    try:
        reader = rm.ShardReader(path, format="tfrecord", compression=row.container)
    except RecordmillError as caught:
        found, error = [], caught
    else:
        found, error = collect(payload for batch in reader.batches(2, threads=threads) for payload in batch)
    if row.kind is None:
        assert (found, error) == (expected, None)
        return
    assert found == expected[: len(found)]
    assert error is not None
    assert error.shard == str(path)
    if isinstance(error, rm.FormatError):
        assert row.offset == 0  # The file has no header of the declared container.
        return
    assert type(error) is rm.CompressionError
    assert error.record == len(found)
    assert row.offset is None or found == expected
    assert not rm.verify(path, format="tfrecord", compression=row.container).ok


READ_INVALID_LENGTH = """
import resource, sys
import recordmill as rm
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
path, format_name = sys.argv[1:]
for read in (
    lambda: list(rm.ShardReader(path, format=format_name)),
    lambda: [batch for batch in rm.ShardReader(path, format=format_name).batches(4, threads=2)],
    lambda: rm.ShardReader(path, format=format_name)[1],
    lambda: list(rm.open(path, format=format_name)),
):
    try:
        read()
    except rm.DamageError as error:
        print(error.kind, error.record)
report = rm.verify(path, format=format_name)
print(report.faults[0].kind, report.faults[0].record)
"""


@pytest.mark.parametrize("format_name", ["tfrecord", "ofrecord", "recordio"])
def test_reader_rejects_invalid_length_without_allocation(format_name: str, tmp_path: Path) -> None:
    lie = {
        "tfrecord": tfrecord.build_header(2**40) + b"few bytes",
        "ofrecord": (2**40).to_bytes(8, "little") + b"few bytes",
        "recordio": recordio.MAGIC + (2**29 - 1).to_bytes(4, "little") + b"few bytes!!!",
    }[format_name]
    frame = {"tfrecord": tfrecord.frame, "ofrecord": ofrecord.frame, "recordio": recordio.frame}[format_name]
    path = write(tmp_path, format_name, frame(b"\x0a\x00") + lie)
    done = subprocess.run(
        [sys.executable, "-c", READ_INVALID_LENGTH, str(path), format_name],
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    kind = "bad_length" if format_name == "ofrecord" else "truncated_payload"
    assert done.stdout.split("\n") == [f"{kind} 1"] * 5 + [""]


def test_reader_raises_limit_error_beyond_max_decompressed_bytes(tmp_path: Path) -> None:
    path = tmp_path / "bomb.tfrecord.gz"
    with rm.ShardWriter(path, format="tfrecord", payload="raw", compression="gzip") as writer:
        for _ in range(64):
            writer.write(bytes(1 << 16))
    assert len(rm.ShardReader(path, max_decompressed_bytes=1 << 23)) == 64
    for limit in (1000, 1 << 20):
        with pytest.raises(rm.LimitError) as caught:
            list(rm.ShardReader(path, max_decompressed_bytes=limit))
        assert caught.value.hint
        report = rm.verify(path, max_decompressed_bytes=limit)
        assert [fault.kind for fault in report.faults] == ["limit_exceeded"]

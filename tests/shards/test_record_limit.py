"""Tests of `max_record_bytes` and of missing memory: errors that name the record, and no allocation for it."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordmill as rm
from recordmill.cli.main import main
from recordmill.shards import native_errors as errors
from recordmill.testing import ofrecord, recordio, tfrecord

FORMATS = {"tfrecord": tfrecord, "ofrecord": ofrecord, "recordio": recordio}
# The record in the middle is too long for a limit of 20,000 bytes. In RecordIO, it has two parts.
PAYLOADS = [b"first", b"a" * 12_000 + recordio.MAGIC + b"b" * 12_000, b"third"]
LIMIT = 20_000


def write(folder: Path, family: str, payloads: list[bytes], compression: str | None = None) -> Path:
    path = folder / f"shard.{'rec' if family == 'recordio' else family}"
    with rm.ShardWriter(path, format=family, payload="raw", compression=compression) as writer:
        for payload in payloads:
            writer.write(payload)
    return path


def assert_names_record(error: rm.LimitError, path: Path, record: int | None = 1) -> None:
    assert (error.kind, error.record, error.shard) == ("record_too_long", record, str(path))
    assert (error.expected, error.found) == ("at most 20000 bytes", "24004 bytes")
    assert error.offset is not None and error.offset > 0
    assert "max_record_bytes" in (error.hint or "")
    assert pickle.loads(pickle.dumps(error)).record == record


@pytest.mark.parametrize(
    "family, compression", [("tfrecord", None), ("tfrecord", "gzip"), ("ofrecord", None), ("recordio", None)]
)
def test_shard_reader_reads_all_records_but_the_long_one(family: str, compression: str | None, tmp_path: Path) -> None:
    path = write(tmp_path, family, PAYLOADS, compression)
    reader = rm.ShardReader(path, max_record_bytes=LIMIT)
    assert len(reader) == 3
    assert reader.fetch([2, 0]) == [b"third", b"first"]
    reads: list[Callable[[], Any]] = [
        lambda: reader[1],
        lambda: reader.fetch([0, 1, 2]),
        lambda: list(reader),
        lambda: list(reader.batches(2, threads=0)),
        lambda: list(reader.batches(2, threads=2)),
    ]
    for read in reads:
        with pytest.raises(rm.LimitError) as caught:
            read()
        assert_names_record(caught.value, path)
    iterator = iter(reader)
    assert next(iterator) == b"first"
    assert rm.ShardReader(path, max_record_bytes=24_004)[:] == PAYLOADS
    assert list(rm.ShardReader(path)) == PAYLOADS


@pytest.mark.parametrize("family", FORMATS)
def test_payload_reader_stops_at_the_long_record_and_seeks_past_it(family: str, tmp_path: Path) -> None:
    path = write(tmp_path, family, PAYLOADS)
    offsets = rm.ShardReader(path).index.offsets.tolist()
    with rm.PayloadReader(path, max_record_bytes=LIMIT) as reader:
        assert reader.read() == b"first"
        for _ in range(2):
            with pytest.raises(rm.LimitError) as caught:
                reader.read()
            assert_names_record(caught.value, path, record=None)
        reader.seek(offsets[2])
        assert (reader.read(), reader.read()) == (b"third", None)
        reader.seek(offsets[1])
        with pytest.raises(rm.LimitError):
            pickle.loads(pickle.dumps(reader)).read()


@pytest.mark.parametrize("family", FORMATS)
def test_verify_reports_the_long_record_and_checks_the_others(family: str, tmp_path: Path) -> None:
    path = write(tmp_path, family, PAYLOADS)
    for _ in range(2):
        report = rm.verify(path, max_record_bytes=LIMIT)
        assert [(fault.kind, fault.record) for fault in report.faults] == [("record_too_long", 1)]
        assert report.num_records == 2
        assert rm.verify(path).ok
        path.with_name(f".{path.name}.rmx").unlink(missing_ok=True)


@pytest.mark.parametrize("family", ["tfrecord", "ofrecord"])
def test_dataset_and_loader_raise_or_skip_the_long_record(family: str, tmp_path: Path) -> None:
    path = tmp_path / f"shard.{family}"
    examples = [{"data": b"x" * size, "label": size} for size in (10, 24_000, 30)]
    with rm.ShardWriter(path, format=family) as writer:
        for example in examples:
            writer.write(example)
    dataset = rm.open(path, max_record_bytes=LIMIT)
    assert [int(dataset[position]["label"]) for position in (0, 2)] == [10, 30]
    for read in (lambda: dataset[1], lambda: dataset[0:3], lambda: dataset.__getitems__([2, 1])):
        with pytest.raises(rm.LimitError) as caught:
            read()
        assert (caught.value.kind, caught.value.record) == ("record_too_long", 1)
    with pytest.raises(rm.LimitError):
        list(dataset.batch(3).loader(threads=0))
    loader = dataset.batch(1).loader(threads=0, on_error="skip")
    assert np.concatenate([batch["label"] for batch in loader]).tolist() == [10, 30]
    assert dataset != rm.open(path)


def test_scattered_and_cached_reads_raise_limit_error(tmp_path: Path) -> None:
    path = tmp_path / "shard.tfrecord"
    with rm.ShardWriter(path) as writer:
        for label in range(400):
            writer.write({"label": label, "data": b"x" * (700 if label == 399 else 10)})
    dataset = rm.open(path, max_record_bytes=600)
    order = np.random.default_rng(1).permutation(399).tolist()
    for _ in range(30):
        assert [int(example["label"]) for example in dataset.__getitems__(order[:64])] == order[:64]
        with pytest.raises(rm.LimitError):
            dataset.__getitems__([*order[:64], 399])


@pytest.mark.parametrize("limit", [0, -1])
def test_max_record_bytes_must_be_positive(limit: int, tmp_path: Path) -> None:
    path = write(tmp_path, "tfrecord", PAYLOADS)
    with pytest.raises(ValueError, match=f"max_record_bytes must be a positive integer, got {limit}"):
        rm.ShardReader(path, max_record_bytes=limit)
    assert list(rm.ShardReader(path, max_record_bytes=2**80)) == PAYLOADS


def test_command_line_accepts_limits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, "tfrecord", PAYLOADS)
    assert main(["verify", str(path), "--max-record-bytes", "20k"]) == 1
    assert "record_too_long" in capsys.readouterr().out
    assert main(["verify", str(path), "--max-record-bytes", "1Mi", "--max-decompressed-bytes", "1Gi"]) == 0
    assert main(["head", str(path), "--payload", "raw", "--max-record-bytes", "20k"]) != 0


READ_UNDER_MEMORY_LIMIT = """
import resource, sys
import recordmill as rm
path, limit = sys.argv[1], int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
reader = rm.ShardReader(path, max_decompressed_bytes=1 << 40, max_record_bytes=limit)
for read in (lambda: reader[1], lambda: list(reader), lambda: list(reader.batches(4, threads=2))):
    try:
        read()
    except (MemoryError, rm.LimitError) as error:
        print(type(error).__name__, str(error).splitlines()[0])
print(reader[0], reader[2])
"""


def read_under_memory_limit(path: Path, max_record_bytes: int) -> list[str]:
    command = [sys.executable, "-c", READ_UNDER_MEMORY_LIMIT, str(path), str(max_record_bytes)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.deep
@pytest.mark.parametrize("compression", [None, "gzip"])
def test_record_of_half_a_gibibyte_raises_memory_error_that_names_it(compression: str | None, tmp_path: Path) -> None:
    path = tmp_path / "large.tfrecord"
    with rm.ShardWriter(path, payload="raw", compression=compression) as writer:
        for payload in (b"first", bytes(1 << 29), b"third"):
            writer.write(payload)
    *errors_found, payloads = read_under_memory_limit(path, 1 << 30)
    assert payloads == "b'first' b'third'"
    # A batch, which is one buffer, fits into memory. The `bytes` object of the record does not fit beside it.
    assert len(errors_found) == 2
    for line in errors_found:
        assert re.fullmatch(rf"MemoryError not enough memory for [\d,]+ bytes: record 1 of {path}", line), line
    *errors_found, payloads = read_under_memory_limit(path, 1 << 20)
    assert payloads == "b'first' b'third'"
    assert (
        errors_found
        == ["LimitError the record is longer than the limit (expected at most 1048576 bytes, found 536870912 bytes)"]
        * 3
    )


def test_compressed_record_beyond_the_limit_takes_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "large.tfrecord"
    with rm.ShardWriter(path, payload="raw", compression="gzip") as writer:
        for payload in (b"first", bytes(64 << 20), b"third"):
            writer.write(payload)
    script = """
import resource, sys
import recordmill as rm
reader = rm.ShardReader(sys.argv[1], max_record_bytes=1 << 20, max_decompressed_bytes=1 << 30)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for read in (lambda: reader[1], lambda: list(reader), lambda: list(reader.batches(4, threads=2))):
    try:
        read()
    except rm.LimitError as error:
        print(error.record, reader[0], reader[2])
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak) < 40 << 10)
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True, timeout=100
    )
    assert done.stdout.splitlines() == ["1 b'first' b'third'"] * 3 + ["True"]


def test_default_of_max_decompressed_bytes_is_relative_to_the_file_size(tmp_path: Path) -> None:
    path = write(tmp_path, "tfrecord", [bytes(1 << 20)] * 65, compression="gzip")
    assert path.stat().st_size * 250 < 64 << 20
    with pytest.raises(rm.LimitError, match="exceeds the limit") as caught:
        list(rm.ShardReader(path))
    assert "max_decompressed_bytes" in (caught.value.hint or "")
    assert [fault.kind for fault in rm.verify(path).faults] == ["limit_exceeded"]
    assert len(list(rm.ShardReader(path, max_decompressed_bytes=1 << 27))) == 65
    with rm.PayloadReader(path, max_decompressed_bytes=1 << 27) as reader:
        assert sum(1 for _ in iter(reader.read, None)) == 65


def test_memory_error_names_the_record_and_can_be_pickled() -> None:
    native = MemoryError("not enough memory for 1,000 bytes")
    native.ordinal = 1  # type: ignore[attr-defined]
    with pytest.raises(MemoryError) as caught, errors.native_errors("a.tfrecord", [7, 9]):
        raise native
    assert str(caught.value) == "not enough memory for 1,000 bytes: record 9 of a.tfrecord"
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    assert not isinstance(caught.value, rm.RecordmillError)
    with pytest.raises(MemoryError, match=r"^not enough memory: a.tfrecord$"), errors.native_errors("a.tfrecord"):
        raise MemoryError


@pytest.mark.parametrize("family", ["recordio", "ofrecord"])
def test_index_of_longer_records_needs_a_higher_limit(tmp_path: Path, family: str) -> None:
    with rm.PayloadWriter(tmp_path / "shard", format=family, index="never") as writer:
        writer.write(b"x" * 2000)
    with pytest.raises(rm.LimitError, match="max_record_bytes"):
        rm.build_index(tmp_path / "shard", format=family, max_record_bytes=1000)
    assert len(rm.build_index(tmp_path / "shard", format=family, max_record_bytes=2000)) == 1

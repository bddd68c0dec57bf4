"""The verification of a dataset in the background: the faults of `verify`, and their positions in the dataset."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

import recordmill as rm
from recordmill.conversion.source import ShardRecords
from recordmill.viewer.verification import Verification
from tests.shards.helpers import FORMATS, encode_message, write_shard


def create(paths: Any) -> Verification:
    return Verification(ShardRecords(rm.open(paths).pipeline.sources))


def verify(verification: Verification) -> dict[str, Any]:
    """Start a verification and return its answer after it has ended."""
    verification.start()
    return wait(verification)


def wait(verification: Verification) -> dict[str, Any]:
    while (answer := verification.to_json())["state"] == "running":
        time.sleep(0.01)
    return answer


def write_shards(folder: Path, format_name: str, count: int = 3, num_records: int = 10) -> list[Path]:
    payloads = [encode_message(format_name, number) for number in range(num_records)]
    return [write_shard(folder, format_name, payloads, f"shard-{number}") for number in range(count)]


def flip_payload_byte(path: Path, record: int) -> None:
    reader = rm.ShardReader(path)
    end = int(reader.index.offsets[record] + reader.index.lengths[record])
    data = bytearray(path.read_bytes())
    data[end - 8] ^= 0xFF
    path.write_bytes(data)


def test_verification_is_idle_until_it_is_started(tmp_path: Path) -> None:
    paths = write_shards(tmp_path, "tfrecord")
    answer = create(paths).to_json()
    assert (answer["state"], answer["faults"], answer["done"]) == ("idle", [], 0)
    assert answer["num_bytes"] == sum(path.stat().st_size for path in paths)


@pytest.mark.parametrize("format_name", FORMATS)
def test_verification_of_intact_shards_finds_no_fault(format_name: str, tmp_path: Path) -> None:
    answer = verify(create(write_shards(tmp_path, format_name)))
    assert (answer["state"], answer["faults"], answer["num_faults"]) == ("done", [], 0)
    assert answer["done"] == answer["total"] == 30


@pytest.mark.parametrize("format_name", FORMATS)
def test_verification_finds_the_faults_of_verify_and_their_positions(format_name: str, tmp_path: Path) -> None:
    paths = write_shards(tmp_path, format_name)
    rm.build_index(paths)  # Indexes have checksums of all payloads.
    flip_payload_byte(paths[1], 4)
    flip_payload_byte(paths[2], 0)
    flip_payload_byte(paths[2], 9)
    answer = verify(create(paths))
    expected = [fault.to_json() for fault in rm.verify(paths).faults]
    assert [{name: fault[name] for name in expected[0]} for fault in answer["faults"]] == expected
    assert [fault["position"] for fault in answer["faults"]] == [14, 20, 29]
    assert answer["num_faults"] == 3 and answer["state"] == "done"


def test_verification_of_an_end_that_is_missing(tmp_path: Path) -> None:
    (path,) = write_shards(tmp_path, "tfrecord", 1)
    path.write_bytes(path.read_bytes()[:-5])
    (fault,) = verify(create(path))["faults"]
    assert fault["kind"].startswith("truncated") and fault["position"] == 9


def test_verification_of_a_shard_that_was_deleted_reports_it(tmp_path: Path) -> None:
    paths = write_shards(tmp_path, "tfrecord")
    verification = create(paths)
    paths[1].unlink()
    answer = verify(verification)
    assert answer["state"] == "failed" or [fault["shard"] for fault in answer["faults"]] == [str(paths[1])]


def test_verification_can_be_repeated(tmp_path: Path) -> None:
    paths = write_shards(tmp_path, "tfrecord")
    verification = create(paths)
    assert verify(verification)["num_faults"] == 0
    flip_payload_byte(paths[0], 3)
    assert [fault["position"] for fault in verify(verification)["faults"]] == [3]


def test_verification_stops_when_it_is_cancelled(tmp_path: Path) -> None:
    verification = create(write_shards(tmp_path, "tfrecord", 200))
    verification.start()
    verification.cancel()
    answer = wait(verification)
    assert answer["state"] == "cancelled" and answer["done"] < answer["total"]


def test_verification_of_compressed_shards(tmp_path: Path) -> None:
    payloads = [encode_message("tfrecord", number) for number in range(10)]
    path = write_shard(tmp_path, "tfrecord", payloads, compression="gzip")
    answer = verify(create(path))
    assert (answer["state"], answer["num_faults"], answer["done"]) == ("done", 0, 10)

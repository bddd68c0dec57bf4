"""What records are is told by sound ones, also where the first are damaged."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

import recordmill as rm
from recordmill.testing import tfrecord
from recordmill.testing.protobuf import encode_example
from tests.shards.helpers import write_shard

COUNT = 60


def damaged(folder: Path, records: Iterable[int], name: str = "shard") -> Path:
    """Examples with lists of several lengths; a byte of the payload is turned in some records."""
    payloads = [encode_example({"id": ("int64", [n]), "list": ("int64", [n] * (n % 4))}) for n in range(COUNT)]
    path, size = write_shard(folder, "tfrecord", payloads, name), [len(tfrecord.frame(payload)) for payload in payloads]
    data = bytearray(path.read_bytes())
    for record in records:
        data[sum(size[:record]) + 20] ^= 1
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("records", [[0], [1], [0, 2, 3, 7], range(40)], ids=["first", "second", "some", "many"])
def test_open_infers_schema_from_intact_records(tmp_path: Path, records: Iterable[int]) -> None:
    dataset = rm.open(damaged(tmp_path, records))
    assert set(dataset.schema) == {"id", "list"} and dataset.schema["list"].shape == (None,)
    loader = dataset.batch(4).loader(threads=0, on_error="skip")
    found = [number for batch in loader for number in batch["id"].tolist()]
    assert found == [number for number in range(COUNT) if number not in records]
    assert [one.error.record for one in loader.report.skipped] == list(records)


def test_open_infers_schema_from_next_shard_if_first_is_damaged(tmp_path: Path) -> None:
    damaged(tmp_path, range(COUNT), "shard-0")
    damaged(tmp_path, [], "shard-1")
    dataset = rm.open(tmp_path)
    assert int(dataset[-1]["id"]) == COUNT - 1
    with pytest.raises(rm.ChecksumError, match="record 0,"):
        dataset[0]


def test_open_raises_error_of_first_record_if_all_are_damaged(tmp_path: Path) -> None:
    with pytest.raises(rm.ChecksumError) as caught:
        rm.open(damaged(tmp_path, range(COUNT)))
    assert caught.value.record == 0 and "shard.tfrecord" in (caught.value.shard or "")


def test_open_without_verify_infers_schema_despite_wrong_checksums(tmp_path: Path) -> None:
    path = write_shard(tmp_path, "tfrecord", [encode_example({"id": ("int64", [n])}) for n in range(3)])
    path.write_bytes(b"".join(part[:-4] + bytes(4) for part in _frames(path.read_bytes(), 3)))
    assert [int(one["id"]) for one in rm.open(path, verify=False)] == [0, 1, 2]


def _frames(data: bytes, count: int) -> list[bytes]:
    size = len(data) // count
    return [data[start : start + size] for start in range(0, len(data), size)]

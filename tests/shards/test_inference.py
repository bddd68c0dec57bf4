"""Inferred schemas and payload codecs: saved in the sidecar, taken from intact records."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import recordmill as rm
from recordmill.shards import collection
from recordmill.shards.collection import ShardCollection
from recordmill.shards.index import load_sidecars
from recordmill.shards.inference import infer_features
from recordmill.storage.local import LOCAL
from recordmill.testing import tfrecord
from recordmill.testing.messages import encode_example
from tests.shards.helpers import FORMATS, encode_message, write_shard


@pytest.fixture
def inferred_shards(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Collect the names of the shards whose schema is inferred."""
    seen: list[str] = []

    def count_inference(shard: Any, *args: Any, **options: Any) -> Any:
        seen.append(shard.name)
        return infer_features(shard, *args, **options)

    monkeypatch.setattr(collection, "infer_features", count_inference)
    return seen


@pytest.mark.parametrize("format_name", FORMATS)
@pytest.mark.parametrize("compression", ["", "gzip"])
def test_inferred_schema_is_saved_and_reused(
    tmp_path: Path, format_name: str, compression: str, inferred_shards: list[str]
) -> None:
    path = write_shard(
        tmp_path, format_name, [encode_message(format_name, number) for number in range(9)], compression=compression
    )
    first, second = ShardCollection(path), ShardCollection(path)
    assert len(inferred_shards) == 1
    assert (first.schema, first.codec_name) == (second.schema, second.codec_name)
    assert first.is_schema_inferred and second.is_schema_inferred
    assert first == second and first.fingerprint() == second.fingerprint()
    sidecar = next(load_sidecars(str(path), LOCAL))
    assert sidecar is not None and sidecar.is_inferred and sidecar.schema == first.schema


def test_inferred_schema_is_updated_after_append_or_replacement(tmp_path: Path, inferred_shards: list[str]) -> None:
    path = write_shard(tmp_path, "tfrecord", [encode_message("tfrecord", 1)])
    ShardCollection(path)
    data = path.read_bytes()
    path.write_bytes(data + data)
    assert len(ShardCollection(path)) == 2
    assert len(inferred_shards) == 2
    with rm.ShardWriter(tmp_path / "other", format="tfrecord", shards=1) as writer:
        writer.write({"name": b"x"})
    path.write_bytes(next(tmp_path.glob("other*")).read_bytes())
    assert list(ShardCollection(path).schema) == ["name"]
    assert len(inferred_shards) == 3


def test_schema_of_explicit_payload_is_not_saved(tmp_path: Path) -> None:
    path = write_shard(tmp_path, "tfrecord", [encode_message("tfrecord", 1)])
    assert list(ShardCollection(path, payload="raw").schema) == ["payload"]
    assert list(ShardCollection(path).schema) == ["id", "text"]
    assert list(ShardCollection(path, payload="raw").schema) == ["payload"]
    assert list(ShardCollection(path).schema) == ["id", "text"]


@pytest.mark.parametrize("compression", [None, "gzip", "zlib"])
def test_schema_of_writer_is_not_inferred(tmp_path: Path, compression: str | None, inferred_shards: list[str]) -> None:
    schema = rm.Schema({"id": rm.Feature("int64", (None,), optional=True)})
    with rm.ShardWriter(tmp_path / "written", compression=compression, schema=schema) as writer:
        for number in range(9):
            writer.write({"id": [number]})
    sidecar = next(load_sidecars(writer.paths[0], LOCAL))
    assert sidecar is not None and not sidecar.is_inferred and len(sidecar.index) == 9
    assert (sidecar.seek_points is None) == (compression is None)
    found = ShardCollection(tmp_path)
    assert not found.is_schema_inferred and inferred_shards == [] and found.schema == schema
    assert rm.open(tmp_path)[8]["id"].tolist() == [8]


def test_to_numpy_widens_saved_inferred_schema(tmp_path: Path) -> None:
    rows = [encode_message("tfrecord", number) for number in range(3)]
    path = write_shard(tmp_path, "tfrecord", [*rows, *([b""] * 3)])
    for _ in range(2):
        assert len(rm.open(path).to_numpy()["text"]) == 6


@pytest.mark.parametrize("format_name", FORMATS)
@pytest.mark.parametrize("payload", ["example", "ofrecord"])
def test_open_detects_messages_of_other_formats_without_sidecar(tmp_path: Path, format_name: str, payload: str) -> None:
    with rm.ShardWriter(tmp_path / "mixed", format=format_name, payload=payload) as writer:
        for number in range(9):
            writer.write({"id": number, "vector": [0.5, number + 0.25], "name": b"n%d" % number})
    expected = list(rm.open(tmp_path))
    for sidecar in tmp_path.glob(".*.rmx"):
        sidecar.unlink()
    found = rm.open(tmp_path)
    assert set(found.schema) == {"id", "vector", "name"} and len(found) == len(expected) == 9
    assert [one["name"] for one in found] == [one["name"] for one in expected]


def test_open_detects_raw_payloads(tmp_path: Path) -> None:
    with rm.ShardWriter(tmp_path / "opaque", format="recordio", payload="raw") as writer:
        for number in range(40):
            writer.write(b"" if number % 3 else b"%d,%d" % (number, number))
    for sidecar in tmp_path.glob(".*.rmx"):
        sidecar.unlink()
    assert list(rm.open(tmp_path).schema) == ["payload"]


NUM_RECORDS = 60


def write_damaged(folder: Path, records: Iterable[int], name: str = "shard") -> Path:
    """Write examples with lists of different lengths; flip a bit in the payload of some records."""
    payloads = [encode_example({"id": ("int64", [n]), "list": ("int64", [n] * (n % 4))}) for n in range(NUM_RECORDS)]
    path, size = write_shard(folder, "tfrecord", payloads, name), [len(tfrecord.frame(payload)) for payload in payloads]
    data = bytearray(path.read_bytes())
    for record in records:
        data[sum(size[:record]) + 20] ^= 1
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("records", [[0], [1], [0, 2, 3, 7], range(40)], ids=["first", "second", "some", "many"])
def test_open_infers_schema_from_intact_records(tmp_path: Path, records: Iterable[int]) -> None:
    dataset = rm.open(write_damaged(tmp_path, records))
    assert set(dataset.schema) == {"id", "list"} and dataset.schema["list"].shape == (None,)
    loader = dataset.batch(4).loader(threads=0, on_error="skip")
    found = [number for batch in loader for number in batch["id"].tolist()]
    assert found == [number for number in range(NUM_RECORDS) if number not in records]
    assert [one.error.record for one in loader.report.skipped] == list(records)


def test_open_infers_schema_from_next_shard_if_first_is_damaged(tmp_path: Path) -> None:
    write_damaged(tmp_path, range(NUM_RECORDS), "shard-0")
    write_damaged(tmp_path, [], "shard-1")
    dataset = rm.open(tmp_path)
    assert int(dataset[-1]["id"]) == NUM_RECORDS - 1
    with pytest.raises(rm.ChecksumError, match="record 0,"):
        dataset[0]


def test_open_raises_error_of_first_record_if_all_are_damaged(tmp_path: Path) -> None:
    with pytest.raises(rm.ChecksumError) as caught:
        rm.open(write_damaged(tmp_path, range(NUM_RECORDS)))
    assert caught.value.record == 0 and "shard.tfrecord" in (caught.value.shard or "")


def test_open_without_verify_infers_schema_despite_wrong_checksums(tmp_path: Path) -> None:
    path = write_shard(tmp_path, "tfrecord", [encode_example({"id": ("int64", [n])}) for n in range(3)])
    path.write_bytes(b"".join(part[:-4] + bytes(4) for part in _split_frames(path.read_bytes(), 3)))
    assert [int(one["id"]) for one in rm.open(path, verify=False)] == [0, 1, 2]


def _split_frames(data: bytes, count: int) -> list[bytes]:
    size = len(data) // count
    return [data[start : start + size] for start in range(0, len(data), size)]

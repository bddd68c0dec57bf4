"""Writing to a bucket: the same bytes as locally, all objects or none, locks, and resumed runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import recordmill as rm
from tests.remote.datasets import (
    assert_equal_datasets,
    create_record,
    is_shard,
    read_bucket,
    read_folder,
    upload_folder,
    write_dataset,
)
from tests.remote.fault_proxy import FaultProxy
from tests.remote.keys import AWKWARD_KEYS
from tests.remote.object_store import S3Bucket

pytestmark = pytest.mark.deep

Proxied = Callable[..., FaultProxy]
FORMATS = [("tfrecord", None), ("tfrecord", "gzip"), ("recordio", None), ("ofrecord", None)]


@pytest.fixture
def s3(s3: S3Bucket) -> Iterator[S3Bucket]:
    """Bucket in which no upload may remain unfinished."""
    yield s3
    assert s3.multipart_uploads() == []


# The same bytes as locally


@pytest.mark.parametrize("kind,compression", FORMATS)
def test_shard_writer_uploads_same_bytes_as_locally(
    s3: S3Bucket, tmp_path: Path, kind: str, compression: str | None
) -> None:
    options: dict[str, Any] = {"format": kind, "compression": compression}
    paths = write_dataset(s3.url("data/train"), **options)
    expected = write_dataset(tmp_path / "data" / "train", **options)
    assert paths == [s3.url(f"data/{Path(path).name}") for path in expected]
    assert read_bucket(s3, "data") == read_folder(tmp_path / "data")
    assert_equal_datasets(rm.open(s3.url("data")), rm.open(tmp_path / "data"))


def test_shard_writer_writes_single_file_and_rolling_shards(s3: S3Bucket, tmp_path: Path) -> None:
    for name, options in (("one.tfrecord", {}), ("rolling", {"max_shard_bytes": 3000})):
        write_dataset(s3.url(f"data/{name}"), shards=None, **options)
        write_dataset(tmp_path / "data" / name, shards=None, **options)
    assert read_bucket(s3, "data") == read_folder(tmp_path / "data")


def test_payload_writer_uploads_same_bytes_as_locally(s3: S3Bucket, tmp_path: Path) -> None:
    for path in (s3.url("data/raw.tfrecord"), tmp_path / "data" / "raw.tfrecord"):
        if isinstance(path, Path):
            path.parent.mkdir()
        with rm.PayloadWriter(path, format="tfrecord") as writer:
            for number in range(50):
                writer.write(b"%d" % number * number)
    assert read_bucket(s3, "data") == read_folder(tmp_path / "data")


def test_parts_of_an_upload_are_large_enough_for_s3(s3: S3Bucket, tmp_path: Path, proxied: Proxied) -> None:
    proxy = proxied(s3)
    for path in (s3.url("data/large.tfrecord"), tmp_path / "data" / "large.tfrecord"):
        write_dataset(path, num_records=22, shards=None, num_bytes=1_000_000)
    assert read_bucket(s3, "data") == read_folder(tmp_path / "data")
    sizes = [
        int(request.headers["content-length"])
        for request in proxy.requests
        if request.method == "PUT" and "partNumber=" in request.query
    ]
    assert len(sizes) == 3 and sorted(sizes)[1] >= 5 << 20


@pytest.mark.usefixtures("small_parts")
def test_many_open_shards_are_uploaded_at_the_same_time(s3: S3Bucket, tmp_path: Path) -> None:
    # More shards than requests may run at the same time, each with more parts than are kept in memory.
    options = {"num_records": 34 * 5, "shards": 34, "num_bytes": 64 << 10}
    write_dataset(s3.url("data/train"), **options)
    write_dataset(tmp_path / "data" / "train", **options)
    assert read_bucket(s3, "data") == read_folder(tmp_path / "data")


@pytest.mark.parametrize(
    "options",
    [
        {"workers": 2, "shards": 3},
        {"workers": 2, "worker_kind": "processes", "shards": 3},
        {"format": "recordio", "shuffle": 5},
        {"resume": True, "shards": 4, "compression": "gzip"},
    ],
    ids=str,
)
@pytest.mark.usefixtures("_light_main")
def test_pack_uploads_same_bytes_as_locally(
    s3: S3Bucket, photos: Path, tmp_path: Path, options: dict[str, Any]
) -> None:
    found = rm.pack(rm.ImageFolder(photos), s3.url("data/train"), **options)
    expected = rm.pack(rm.ImageFolder(photos), tmp_path / "data" / "train", **options)
    assert (found.num_records, found.num_bytes) == (expected.num_records, expected.num_bytes)
    assert read_bucket(s3, "data") == read_folder(tmp_path / "data")
    assert rm.open(s3.url("data")).classes == ["cat", "dog"]


def test_convert_reads_and_writes_buckets(s3: S3Bucket, tmp_path: Path) -> None:
    write_dataset(tmp_path / "local" / "train")
    rm.convert(tmp_path / "local", s3.url("up/train"), format="ofrecord", shards=2, shuffle=1)
    rm.convert(tmp_path / "local", tmp_path / "up" / "train", format="ofrecord", shards=2, shuffle=1)
    assert read_bucket(s3, "up") == read_folder(tmp_path / "up")
    rm.convert(s3.url("up"), tmp_path / "down" / "train", format="tfrecord", where="id < 40", workers=2)
    rm.convert(tmp_path / "up", tmp_path / "expected" / "train", format="tfrecord", where="id < 40")
    assert read_folder(tmp_path / "down") == read_folder(tmp_path / "expected")
    rm.convert(rm.open(s3.url("up")).take(10), s3.url("again/train"))
    assert len(rm.open(s3.url("again"))) == 10


def test_convert_calls_functions_of_a_dataset(s3: S3Bucket, tmp_path: Path) -> None:
    write_dataset(s3.url("up/train"))
    write_dataset(tmp_path / "up" / "train")
    for source, target in ((s3.url("up"), s3.url("mapped/train")), (tmp_path / "up", tmp_path / "mapped" / "train")):
        samples = rm.open(source).map(lambda sample: {"id": sample["id"], "half": sample["text"][:9]})
        rm.convert(samples, target, shards=2)
    assert read_bucket(s3, "mapped") == read_folder(tmp_path / "mapped")


def test_split_writes_parts_to_a_bucket(s3: S3Bucket, tmp_path: Path) -> None:
    write_dataset(tmp_path / "local" / "train")
    upload_folder(s3, tmp_path / "local", "local")
    parts = {"train": 0.75, "val": 0.25}
    found = rm.split(s3.url("local"), s3.url("parts"), parts, seed=3)
    rm.split(tmp_path / "local", tmp_path / "parts", parts, seed=3)
    assert read_bucket(s3, "parts") == read_folder(tmp_path / "parts")
    assert found


def test_export_reads_a_bucket(s3: S3Bucket, photos: Path, tmp_path: Path) -> None:
    rm.pack(rm.ImageFolder(photos), s3.url("data/train"))
    rm.pack(rm.ImageFolder(photos), tmp_path / "data" / "train")
    rm.export(s3.url("data"), tmp_path / "found", to="folder")
    rm.export(tmp_path / "data", tmp_path / "expected", to="folder")
    assert read_folder(tmp_path / "found") == read_folder(tmp_path / "expected")


def test_salvage_reads_and_writes_buckets(s3: S3Bucket, tmp_path: Path) -> None:
    (path,) = write_dataset(tmp_path / "bad.tfrecord", shards=None, index="never")
    data = bytearray(Path(path).read_bytes())
    data[len(data) // 2] ^= 1
    Path(path).write_bytes(data)
    s3.put("bad.tfrecord", bytes(data))
    found = rm.salvage(s3.url("bad.tfrecord"), s3.url("good/good.tfrecord"))
    expected = rm.salvage(path, tmp_path / "good" / "good.tfrecord")
    assert read_bucket(s3, "good") == read_folder(tmp_path / "good")
    assert found.num_records == expected.num_records == 59


def test_build_index_writes_beside_the_shard(s3: S3Bucket, tmp_path: Path) -> None:
    write_dataset(tmp_path / "data" / "train")
    upload_folder(s3, tmp_path / "data", "data", is_shard)
    for path in (tmp_path / "data").glob(".*"):
        path.unlink()
    found = rm.build_index(s3.url("data"))
    expected = rm.build_index(tmp_path / "data")
    assert found == [s3.url(f"data/{Path(path).name}") for path in expected]
    assert read_bucket(s3, "data") == read_folder(tmp_path / "data")


def test_awkward_destinations_can_be_written(s3: S3Bucket, tmp_path: Path) -> None:
    for number, key in enumerate(AWKWARD_KEYS):
        write_dataset(s3.url(f"out/{key}"), num_records=5 + number, shards=None)
        write_dataset(tmp_path / "out" / key, num_records=5 + number, shards=None)
    assert read_bucket(s3, "out") == read_folder(tmp_path / "out")


# Existing datasets, locks and errors


def test_existing_dataset_is_replaced_only_on_request(s3: S3Bucket, tmp_path: Path) -> None:
    write_dataset(s3.url("data/train"), shards=4)
    before = read_bucket(s3)
    for number in (4, 3):
        with pytest.raises(rm.OutputExistsError) as caught:
            write_dataset(s3.url("data/train"), num_records=9, shards=number)
        assert str(caught.value.shard).startswith(s3.url("data/train-"))
    assert read_bucket(s3) == before
    for path in (s3.url("data/train"), tmp_path / "data" / "train"):
        write_dataset(path, num_records=9, shards=3, overwrite=True)
    assert read_bucket(s3, "data") == read_folder(tmp_path / "data")


def test_single_object_with_the_same_name_is_kept(s3: S3Bucket) -> None:
    s3.put("data/one.tfrecord", b"other")
    with pytest.raises(rm.OutputExistsError):
        write_dataset(s3.url("data/one.tfrecord"), shards=None)
    assert read_bucket(s3) == {"data/one.tfrecord": b"other"}


def test_objects_appear_only_when_all_are_complete(s3: S3Bucket) -> None:
    writer = rm.ShardWriter(s3.url("data/train"), shards=3)
    for number in range(60):
        writer.write(create_record(number))
    assert all("/." in key for key in s3.list_keys())
    writer.close()
    assert not any(".tmp-" in key or key.endswith(".lock") for key in s3.list_keys())


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("num_bytes", [300, 50_000], ids=["one-part", "many-parts"])
def test_discarded_writer_leaves_nothing(s3: S3Bucket, num_bytes: int) -> None:
    with pytest.raises(RuntimeError, match="stop"):  # noqa: PT012, SIM117 (the writer ends first)
        with rm.ShardWriter(s3.url("data/train"), shards=2) as writer:
            for number in range(20):
                writer.write(create_record(number, num_bytes))
            raise RuntimeError("stop")
    assert s3.list_keys() == []


@pytest.mark.usefixtures("small_parts")
def test_rejected_record_leaves_nothing(s3: S3Bucket) -> None:
    def iterate() -> Iterator[dict[str, Any]]:
        for number in range(20):
            yield create_record(number, 30_000)
        yield {"id": "no number"}

    with pytest.raises(rm.RecordmillError):
        rm.pack(iterate(), s3.url("data/train"), shards=2)
    assert s3.list_keys() == []


def test_resumed_pack_uploads_only_missing_shards(s3: S3Bucket, photos: Path, tmp_path: Path, proxied: Proxied) -> None:
    class StopError(Exception):
        """Stops a run from its progress function."""

    def stop(num_records: int, _: int | None) -> None:
        if num_records >= 13:
            raise StopError

    options: dict[str, Any] = {"shards": 6, "resume": True}
    with pytest.raises(StopError):
        rm.pack(rm.ImageFolder(photos), s3.url("data/train"), progress=stop, **options)
    kept = [key for key in s3.list_keys() if ".tfrecord.tmp-" in key]
    assert kept
    proxy = proxied(s3)
    rm.pack(rm.ImageFolder(photos), s3.url("data/train"), **options)
    uploaded = {
        request.path
        for request in proxy.requests
        if request.method in ("PUT", "POST") and ".tfrecord.tmp-" in request.path
    }
    assert len(uploaded) == 6 - len(kept)
    rm.pack(rm.ImageFolder(photos), tmp_path / "data" / "train", **options)
    assert read_bucket(s3, "data") == read_folder(tmp_path / "data")

"""Google Cloud Storage and Azure Blob Storage: the same data as on a local disk, through their own APIs."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import recordmill as rm
from recordmill.errors import WriteError
from tests.remote.cloud_stores import BUCKET, AzureStore, CloudStore, GoogleStore
from tests.remote.datasets import assert_equal_datasets, assert_equal_samples, read_folder, write_dataset

pytestmark = [pytest.mark.deep, pytest.mark.usefixtures("quick_retries", "small_parts")]

STORES: dict[str, type[CloudStore]] = {"gs": GoogleStore, "az": AzureStore}


@pytest.fixture(params=STORES)
def scheme(request: pytest.FixtureRequest) -> str:
    """Scheme of the addresses of a store."""
    return request.param


@pytest.fixture
def store(scheme: str) -> Iterator[CloudStore]:
    """Server of the store."""
    with STORES[scheme]() as server:
        yield server


def test_dataset_is_read_as_locally(store: CloudStore, scheme: str, tmp_path: Path) -> None:
    write_dataset(tmp_path / "data/train", num_records=100, shards=4)
    store.objects |= {f"data/{name}": data for name, data in read_folder(tmp_path / "data").items()}
    for key in ("data", "data/train", "data/train-*", "data/train-00001-of-00004.tfrecord"):
        found = rm.open(f"{scheme}://{BUCKET}/{key}", storage_options=store.options)
        assert_equal_datasets(found, rm.open(tmp_path / key))
    found = rm.open(f"{scheme}://{BUCKET}/data", storage_options=store.options)
    local = rm.open(tmp_path / "data")
    assert_equal_samples(found.shuffle(seed=1, block=5).batch(7), local.shuffle(seed=1, block=5).batch(7))
    assert rm.verify(f"{scheme}://{BUCKET}/data", storage_options=store.options).ok


def test_replaced_object_is_detected(store: CloudStore, scheme: str, tmp_path: Path) -> None:
    write_dataset(tmp_path / "data/train", num_records=100, shards=1)
    store.objects |= {f"data/{name}": data for name, data in read_folder(tmp_path / "data").items()}
    samples = rm.open(f"{scheme}://{BUCKET}/data", storage_options=store.options)
    name = next(name for name in store.objects if name.endswith(".tfrecord"))
    store.objects[name] = store.objects[name][:-1] + b"?"
    with pytest.raises(rm.ShardChangedError):
        samples[0]


def test_dataset_is_written_as_locally(store: CloudStore, scheme: str, tmp_path: Path) -> None:
    write_dataset(tmp_path / "data/train", num_records=900, shards=2)  # Each shard has several parts.
    address = f"{scheme}://{BUCKET}/copies/train"
    rm.convert(tmp_path / "data", tmp_path / "copies/train", shards=3)
    rm.convert(tmp_path / "data", address, shards=3, storage_options=store.options)
    assert store.objects == {f"copies/{name}": data for name, data in read_folder(tmp_path / "copies").items()}
    assert not store.uploads
    with pytest.raises((FileExistsError, WriteError)):
        rm.convert(tmp_path / "data", address, shards=3, storage_options=store.options)


def test_export_writes_same_files_as_locally(store: CloudStore, scheme: str, tmp_path: Path) -> None:
    examples = [{"image": b"\xff\xd8\xff" + bytes(number), "label": number % 2} for number in range(20)]
    rm.pack(examples, tmp_path / "data/train", shards=1)
    for name, options in (("photos", {"to": "folder", "classes": ["cat", "dog & co"]}), ("a.jsonl", {"to": "jsonl"})):
        rm.export(tmp_path / "data", tmp_path / "out" / name, **options)  # type: ignore[arg-type]
        for _ in range(2):
            address = f"{scheme}://{BUCKET}/out/{name}"
            rm.export(tmp_path / "data", address, **options, overwrite=True, storage_options=store.options)  # type: ignore[arg-type]
    assert store.objects == {f"out/{name}": data for name, data in read_folder(tmp_path / "out").items()}
    assert not store.uploads


def test_exactly_one_of_several_writers_gets_the_lock(store: CloudStore, scheme: str) -> None:
    # These servers handle one request at a time. moto checks and creates an object in two steps.
    address = f"{scheme}://{BUCKET}/data/train"

    def create(number: int) -> rm.ShardWriter | None:
        try:
            return rm.ShardWriter(address, shards=2, storage_options=store.options)
        except rm.DestinationLockedError:
            return None

    with ThreadPoolExecutor(8) as pool:
        writers = [writer for writer in pool.map(create, range(8)) if writer is not None]
    assert len(writers) == 1
    writers[0].write({"id": 1})
    writers[0].write({"id": 2})
    writers[0].close()
    assert len(rm.open(address, storage_options=store.options)) == 2

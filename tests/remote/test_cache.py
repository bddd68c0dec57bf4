"""The cache of remote shards: no requests for what it has, and the right records in any state of it."""

from __future__ import annotations

import json
import multiprocessing
import os
import pickle
import random
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import recordmill as rm
from tests.remote.datasets import assert_equal_samples, is_shard, upload_folder, write_dataset
from tests.remote.fault_proxy import FaultProxy
from tests.remote.loopback import Request
from tests.remote.object_store import S3Bucket

pytestmark = pytest.mark.deep

Proxied = Callable[..., FaultProxy]
MIB = 1 << 20


@pytest.fixture
def dataset(s3: S3Bucket, tmp_path: Path) -> Path:
    """Folder of a local dataset of about 12 MB in three shards, which is also in the bucket, below "data/"."""
    write_dataset(tmp_path / "data" / "train", num_records=240, shards=3, num_bytes=50_000)
    upload_folder(s3, tmp_path / "data", "data")
    return tmp_path / "data"


def is_data_request(request: Request) -> bool:
    return bool(request.range) and is_shard(request.path.rpartition("/")[2])


def build(samples: rm.Dataset) -> rm.Dataset:
    return samples.shuffle(seed=4, block=1).batch(20)


def find_blocks(folder: Path) -> list[Path]:
    return sorted(folder.glob("*/*.block"))


def test_second_epoch_requests_no_data(s3: S3Bucket, dataset: Path, tmp_path: Path, proxied: Proxied) -> None:
    proxy = proxied(s3)
    samples = rm.open(s3.url("data"), cache_dir=tmp_path / "cache")
    with build(samples).loader(threads=2) as found, build(rm.open(dataset)).loader(threads=2) as expected:
        assert_equal_samples(found, expected)
        proxy.reset_counts()
        assert_equal_samples(found, expected)
        assert not any(map(is_data_request, proxy.requests))
    with build(rm.open(s3.url("data"), cache_dir=tmp_path / "cache")).loader(threads=2) as loader:
        assert_equal_samples(loader, build(rm.open(dataset)))
        traffic = loader.stats().traffic
    assert not any(map(is_data_request, proxy.requests))
    assert traffic is not None and traffic.num_bytes == 0 and traffic.cached_bytes >= 12_000_000
    assert "from the cache" in str(loader.stats())


def test_blocks_are_received_once(s3: S3Bucket, dataset: Path, tmp_path: Path) -> None:
    samples = rm.open(s3.url("data"), cache_dir=tmp_path / "cache")
    with build(samples).loader(threads=2) as loader:
        list(loader)
        traffic = loader.stats().traffic
    total = sum(path.stat().st_size for path in dataset.glob("train-*"))
    assert traffic is not None and total <= traffic.num_bytes <= total + MIB


@pytest.mark.parametrize("num_blocks", [0, 1, 7, 12])
def test_cache_keeps_to_its_size_and_its_share_of_hits(
    s3: S3Bucket, dataset: Path, tmp_path: Path, num_blocks: int
) -> None:
    kept: list[tuple[Path, int]] = []
    for epoch in range(3):
        samples = rm.open(s3.url("data"), cache_dir=tmp_path / "cache", cache_bytes=num_blocks * MIB)
        with build(samples).loader(threads=2) as found, build(rm.open(dataset)).loader() as expected:
            found.set_epoch(epoch)
            expected.set_epoch(epoch)
            assert_equal_samples(found, expected)
            traffic = found.stats().traffic
        before, kept = kept, [(path, path.stat().st_ino) for path in find_blocks(tmp_path / "cache")]
        assert len(kept) == num_blocks
        if epoch:
            assert kept == before and traffic is not None
            share = sum(path.stat().st_size for path, _ in kept) / (240 * 50_000)
            assert traffic.cached_bytes / (240 * 50_000) >= share - 0.02


@pytest.mark.parametrize("is_open", [False, True], ids=["opened later", "open"])
@pytest.mark.parametrize("seed", range(3))
def test_damaged_cache_is_never_data(s3: S3Bucket, dataset: Path, tmp_path: Path, seed: int, is_open: bool) -> None:
    cache = tmp_path / "cache"
    found = rm.open(s3.url("data"), cache_dir=cache)
    loader = build(found)
    list(loader)
    damage_blocks(cache, random.Random(seed))
    if not is_open:
        loader = build(rm.open(s3.url("data"), cache_dir=cache))
    assert_equal_samples(loader, build(rm.open(dataset)))


def damage_blocks(cache: Path, generator: random.Random) -> None:
    """Change or remove most blocks, and the file with the size of the cache."""
    for path in find_blocks(cache):
        data = bytearray(path.read_bytes())
        match generator.randrange(5):
            case 0:
                data = data[: generator.randrange(len(data))]
            case 1:
                data[generator.randrange(len(data))] ^= 1 << generator.randrange(8)
            case 2:
                data = bytearray(generator.choice(find_blocks(cache)).read_bytes())
            case 3:
                path.unlink()
                continue
        path.write_bytes(data)
    (cache / "total").write_bytes(b"damaged")


def test_replaced_object_is_not_read_from_the_cache(s3: S3Bucket, dataset: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    old = rm.open(s3.url("data"), cache_dir=cache)
    list(old)
    write_dataset(tmp_path / "new" / "train", num_records=240, shards=3, num_bytes=50_001)
    upload_folder(s3, tmp_path / "new", "data")
    assert_equal_samples(rm.open(s3.url("data"), cache_dir=cache), rm.open(tmp_path / "new"))
    # Only blocks of the new version are kept.
    assert len({path.parent for path in find_blocks(cache)}) == 3
    with pytest.raises(rm.ShardChangedError):
        old.fetch(range(240))


def test_folder_with_other_files_is_left_alone(s3: S3Bucket, dataset: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    (cache / "photos").mkdir(parents=True)
    (cache / "photos" / "1.block").write_bytes(b"mine")
    (cache / "train.tfrecord").write_bytes(b"mine")
    list(rm.open(s3.url("data"), cache_dir=cache, cache_bytes=2 * MIB))
    assert (cache / "photos" / "1.block").read_bytes() == (cache / "train.tfrecord").read_bytes() == b"mine"


@pytest.mark.parametrize("world_size", [1, 2])
def test_resume_is_exact_with_a_cache_of_any_state(
    s3: S3Bucket, dataset: Path, tmp_path: Path, world_size: int
) -> None:
    def resume(samples: rm.Dataset) -> list[dict[str, Any]]:
        with build(samples).loader(threads=1) as loader:
            iterator = iter(loader)
            for _ in range(5):
                next(iterator)
            state = json.loads(json.dumps(loader.state_dict()))
        batches = []
        for rank in range(world_size):
            with build(samples).loader(threads=1, rank=rank, world_size=world_size) as loader:
                loader.load_state_dict(state)
                batches += list(loader)
        return batches

    expected = resume(rm.open(dataset))
    for _ in range(2):
        assert_equal_samples(
            resume(rm.open(s3.url("data"), cache_dir=tmp_path / "cache", cache_bytes=5 * MIB)), expected
        )
        for path in find_blocks(tmp_path / "cache")[::2]:
            path.unlink()


def test_disk_that_is_full_leads_to_one_warning_and_direct_reads(
    s3: S3Bucket, dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from recordmill.storage import block_cache

    def fail(*arguments: object) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(block_cache.os, "replace", fail)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        samples = rm.open(s3.url("data"), cache_dir=tmp_path / "cache")
        for _ in range(2):
            assert_equal_samples(build(samples), build(rm.open(dataset)))
    messages = [str(each.message) for each in caught if "cache" in str(each.message)]
    assert len(messages) == 1 and "No space left" in messages[0]
    assert not find_blocks(tmp_path / "cache")


def read_in_process(address: str, cache: str, connection: Any) -> None:
    samples = rm.open(address, cache_dir=cache)
    with build(samples).loader(threads=1) as loader:
        batches = list(loader)
        connection.send((len(batches), sum(int(batch["id"].sum()) for batch in batches)))


@pytest.mark.usefixtures("_light_main")
def test_processes_share_a_cache(s3: S3Bucket, dataset: Path, tmp_path: Path, proxied: Proxied) -> None:
    proxy = proxied(s3)
    context = multiprocessing.get_context("spawn")
    pipes = [context.Pipe() for _ in range(3)]
    processes = [
        context.Process(target=read_in_process, args=(s3.url("data"), str(tmp_path / "cache"), pipe[1]))
        for pipe in pipes
    ]
    for process in processes:
        process.start()
    results = [pipe[0].recv() for pipe in pipes]
    for process, pipe in zip(processes, pipes, strict=True):
        process.join()
        pipe[0].close()
        pipe[1].close()
    assert results == [(12, sum(range(240)))] * 3
    proxy.reset_counts()
    assert_equal_samples(build(rm.open(s3.url("data"), cache_dir=tmp_path / "cache")), build(rm.open(dataset)))
    assert not any(map(is_data_request, proxy.requests))


def test_pickled_dataset_uses_the_cache(s3: S3Bucket, dataset: Path, tmp_path: Path, proxied: Proxied) -> None:
    samples = rm.open(s3.url("data"), cache_dir=tmp_path / "cache")
    list(samples)
    proxy = proxied(s3)
    assert_equal_samples(pickle.loads(pickle.dumps(samples)), rm.open(dataset))
    assert not any(map(is_data_request, proxy.requests))


def test_signed_addresses_do_not_appear_in_the_cache(s3: S3Bucket, dataset: Path, tmp_path: Path) -> None:
    list(rm.open(s3.url("data"), cache_dir=tmp_path / "cache").take(3))
    names = [path.name for path in (tmp_path / "cache").rglob("*")]
    assert names and not any(s3.bucket in name for name in names)


@pytest.mark.parametrize("options", [{"cache_bytes": -1}, {"cache_bytes": "1 GB"}])
def test_invalid_sizes_are_rejected(tmp_path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="cache_bytes"):
        rm.open("s3://bucket/data", cache_dir=tmp_path / "cache", **options)
    with pytest.raises(ValueError, match="requires cache_dir="):
        rm.open("s3://bucket/data", cache_bytes=5)


@pytest.mark.parametrize("max_requests", [0, -1, "many"])
def test_invalid_numbers_of_requests_are_rejected(max_requests: Any) -> None:
    with pytest.raises(ValueError, match="max_requests"):
        rm.open("s3://bucket/data", max_requests=max_requests)


@pytest.mark.parametrize("folder, error", [("", ValueError), ("s3://bucket/cache", rm.UnsupportedPathError)])
def test_cache_must_be_a_local_folder(
    s3: S3Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str, error: type[Exception]
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match="cache"):
        rm.open(s3.url("data"), cache_dir=folder)
    assert list(tmp_path.iterdir()) == []

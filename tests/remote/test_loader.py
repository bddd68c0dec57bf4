"""Loaders of remote datasets: the order of local ones, resumed epochs, requests ahead, and statistics."""

from __future__ import annotations

import gc
import json
import re
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordmill as rm
from recordmill.errors import RemoteError
from recordmill.shards import remote_reads
from recordmill.types import Traffic
from tests.concurrency.helpers import wait_until
from tests.remote.datasets import assert_equal_samples, is_shard, read_folder, read_ids, upload_folder, write_dataset
from tests.remote.fault_proxy import FaultProxy, Faults
from tests.remote.loopback import Request
from tests.remote.object_store import S3Bucket

pytestmark = pytest.mark.deep

Proxied = Callable[..., FaultProxy]
Build = Callable[[rm.Dataset], rm.Dataset]


@pytest.fixture
def dataset(s3: S3Bucket, tmp_path: Path) -> Path:
    """Folder of a local dataset with four shards, which is also in the bucket, below "data/"."""
    write_dataset(tmp_path / "data" / "train", num_records=200, shards=4)
    upload_folder(s3, tmp_path / "data", "data")
    return tmp_path / "data"


def is_data_request(request: Request) -> bool:
    """Return True for requests of the content of shards."""
    return bool(request.range) and is_shard(request.path.rpartition("/")[2])


def count_requested_bytes(proxy: FaultProxy) -> Counter[tuple[str, int]]:
    """Return how often each byte of each shard was requested."""
    count: Counter[tuple[str, int]] = Counter()
    for request in filter(is_data_request, proxy.requests):
        first, last = re.fullmatch(r"bytes=(\d+)-(\d+)", request.range).groups()  # type: ignore[union-attr]
        count.update((request.path, byte) for byte in range(int(first), int(last) + 1))
    return count


PIPELINES: dict[str, Build] = {
    "file order": lambda samples: samples.batch(7),
    "full": lambda samples: samples.shuffle(seed=1, block=1).batch(7),
    "blocks": lambda samples: samples.shuffle(seed=1, block=5).batch(7),
    "window": lambda samples: samples.shuffle(seed=1, window=30).batch(7),
    "samples": lambda samples: samples.shuffle(seed=1, block=5).skip(3).take(50),
    "repeat": lambda samples: samples.shuffle(seed=1, block=9).repeat(2).batch(16, last="drop"),
    "map": lambda samples: samples.shuffle(seed=1, block=5).map(add_one).batch(7),
    "filter": lambda samples: samples.shuffle(seed=1, block=5).filter(is_even).batch(7, last="drop"),
    "mix": lambda samples: rm.mix([samples.take(120), samples.skip(100)], [2, 1], num_samples=90).batch(8),
}


def add_one(sample: dict[str, Any]) -> dict[str, Any]:
    return sample | {"id": sample["id"] + 1}


def is_even(sample: dict[str, Any]) -> bool:
    return sample["id"] % 2 == 0


@pytest.mark.parametrize("threads", [0, 2])
@pytest.mark.parametrize("name", PIPELINES)
def test_loader_yields_same_batches_as_locally(s3: S3Bucket, dataset: Path, name: str, threads: int) -> None:
    build = PIPELINES[name]
    with (
        build(rm.open(s3.url("data"))).loader(threads=threads) as found,
        build(rm.open(dataset)).loader(threads=threads) as expected,
    ):
        assert len(found) == len(expected) if name != "filter" else True
        for _ in range(3):
            assert_equal_samples(found, expected)
        assert found.state_dict() == expected.state_dict()


def test_iteration_of_a_dataset_yields_same_samples_as_locally(s3: S3Bucket, dataset: Path) -> None:
    for build in (PIPELINES["samples"], PIPELINES["full"]):
        assert_equal_samples(build(rm.open(s3.url("data"))), build(rm.open(dataset)))


@pytest.mark.parametrize("rank", [0, 1, 2])
def test_ranks_receive_same_batches_as_locally(s3: S3Bucket, dataset: Path, rank: int) -> None:
    options = {"threads": 1, "rank": rank, "world_size": 3}
    build = PIPELINES["blocks"]
    with (
        build(rm.open(s3.url("data"))).loader(**options) as found,
        build(rm.open(dataset)).loader(**options) as expected,
    ):
        for _ in range(2):
            assert_equal_samples(found, expected)


@pytest.mark.parametrize("name", ["blocks", "full", "filter", "mix"])
@pytest.mark.parametrize("world_size", [1, 2])
def test_resumed_epoch_continues_with_any_number_of_ranks(
    s3: S3Bucket, dataset: Path, name: str, world_size: int
) -> None:
    build = PIPELINES[name]

    def resume(samples: rm.Dataset, other: rm.Dataset) -> list[dict[str, Any]]:
        with build(samples).loader(threads=1, rank=0, world_size=3 - world_size) as loader:
            iterator = iter(loader)
            for _ in range(4):
                next(iterator)
            state = json.loads(json.dumps(loader.state_dict()))
        batches = []
        for rank in range(world_size):
            with build(other).loader(threads=1, rank=rank, world_size=world_size) as loader:
                loader.load_state_dict(state)
                batches += list(loader) + list(loader)
        return batches

    remote, local = rm.open(s3.url("data")), rm.open(dataset)
    expected = resume(local, local)
    assert_equal_samples(resume(remote, remote), expected)
    assert_equal_samples(resume(local, remote), expected)  # A state does not depend on where the shards are.


def test_default_shuffle_of_remote_shards_reads_blocks(s3: S3Bucket, tmp_path: Path) -> None:
    write_dataset(tmp_path / "data" / "train", num_records=40, shards=2, num_bytes=200_000)
    upload_folder(s3, tmp_path / "data", "data")
    local, remote = rm.open(tmp_path / "data"), rm.open(s3.url("data"))
    assert "block" not in repr(local.shuffle(seed=1)).rpartition("shuffle")[2] or "block=None" in repr(local.shuffle())
    mean = 40 * 200_000 // 40
    block = int(re.search(r"block=(\d+)", repr(remote.shuffle(seed=1)))[1])  # type: ignore[index]
    assert 4 << 20 <= block * mean <= 8 << 20
    assert read_ids(remote.shuffle(seed=1)) == read_ids(local.shuffle(seed=1, block=block))
    assert read_ids(remote.shuffle(seed=1, block=1)) == read_ids(local.shuffle(seed=1))


@pytest.mark.parametrize("cache_bytes", [None, 64 << 20, 1 << 20])
def test_default_shuffle_does_not_depend_on_the_cache(
    s3: S3Bucket, dataset: Path, tmp_path: Path, cache_bytes: int | None
) -> None:
    plain = rm.open(s3.url("data")).shuffle(seed=1)
    cached = rm.open(s3.url("data"), cache_dir=tmp_path / "cache", cache_bytes=cache_bytes).shuffle(seed=1)
    for _ in range(2):
        assert read_ids(cached) == read_ids(plain)
    assert repr(cached.stages) == repr(plain.stages)


@pytest.mark.parametrize("offset_bits, number_bits", [(8, 19), (44, 0)])
def test_loader_reads_shards_that_are_too_large_or_too_many_for_the_table_of_requests(
    s3: S3Bucket, dataset: Path, monkeypatch: pytest.MonkeyPatch, offset_bits: int, number_bits: int
) -> None:
    monkeypatch.setattr(remote_reads, "_OFFSET_BITS", offset_bits)
    monkeypatch.setattr(remote_reads, "_NUMBER_BITS", number_bits)
    remote, local = (
        samples.shuffle(seed=1, block=5).batch(7) for samples in (rm.open(s3.url("data")), rm.open(dataset))
    )
    with remote.loader() as loader:
        assert_equal_samples(loader, local)


# Requests


@pytest.mark.parametrize("name", ["file order", "blocks", "full", "samples", "repeat", "filter"])
def test_epoch_requests_no_byte_twice(
    s3: S3Bucket, dataset: Path, proxied: Proxied, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recordmill.storage.remote._MAX_GAP_BYTES", 0)  # Bytes between records may be requested again.
    monkeypatch.setattr("recordmill.pipeline.read_ahead._WINDOWS_AHEAD", 0)  # The next epoch may request them again.
    proxy = proxied(s3)
    with PIPELINES[name](rm.open(s3.url("data"))).loader(threads=2) as loader:
        proxy.reset_counts()
        list(loader)
    assert set(count_requested_bytes(proxy).values()) == {1}


@pytest.mark.parametrize("threads", [0, 2])
def test_blocks_before_a_filter_are_requested_once(
    s3: S3Bucket, dataset: Path, proxied: Proxied, monkeypatch: pytest.MonkeyPatch, threads: int
) -> None:
    monkeypatch.setattr("recordmill.pipeline.filtered_run._CHUNK_SAMPLES", 8)  # Each group of blocks has many chunks.
    monkeypatch.setattr("recordmill.storage.remote._MAX_GAP_BYTES", 0)
    proxy = proxied(s3)
    pipeline = rm.open(s3.url("data")).shuffle(seed=1, block=20).filter(is_even).batch(7)
    with pipeline.loader(threads=threads) as loader:
        proxy.reset_counts()
        batches = list(loader)
    assert sorted(number for batch in batches for number in batch["id"].tolist()) == list(range(0, 200, 2))
    num_blocks = 200 // 20
    assert len(list(filter(is_data_request, proxy.requests))) <= num_blocks + 4  # Some blocks extend over two shards.
    assert set(count_requested_bytes(proxy).values()) == {1}


def test_first_window_of_the_next_epoch_is_requested_before_the_epoch_ends(
    s3: S3Bucket, dataset: Path, proxied: Proxied, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Several windows in an epoch, each of several jobs.
    monkeypatch.setattr("recordmill.pipeline.read_ahead._WINDOW_BYTES", 20_000)
    monkeypatch.setattr("recordmill.storage.remote._MAX_GAP_BYTES", 0)
    monkeypatch.setattr("recordmill.pipeline.engine._MAX_ELEMENTS_PER_JOB", 1)
    monkeypatch.setattr("recordmill.pipeline.engine._FIRST_SAMPLES", 1)
    proxy, build = proxied(s3), PIPELINES["blocks"]
    total = sum(len(data) for name, data in read_folder(dataset).items() if is_shard(name))
    with (
        build(rm.open(s3.url("data"))).loader(threads=1, prefetch=2) as found,
        build(rm.open(dataset)).loader() as local,
    ):
        assert_equal_samples(found, local)
        deadline = time.monotonic() + 20
        while max(count_requested_bytes(proxy).values()) < 2 and time.monotonic() < deadline:
            time.sleep(0.01)  # The thread that requests ahead may not have sent the requests yet.
        assert max(count_requested_bytes(proxy).values()) == 2
        proxy.reset_counts()
        batches = iter(found)
        first = next(batches)
        # The first window was not requested again.
        assert count_requested_bytes(proxy).total() < total * 2 / 3
        assert_equal_samples([first, *batches], local)


@pytest.mark.parametrize("name", ["blocks", "full", "mix", "filter"])
def test_abandoned_iteration_does_not_disturb_the_next_one(s3: S3Bucket, dataset: Path, name: str) -> None:
    build = PIPELINES[name]
    with build(rm.open(s3.url("data"))).loader(threads=2) as found, build(rm.open(dataset)).loader() as expected:
        for count in (1, 3, 0, 5):
            for _, _ in zip(range(count), found, strict=False):
                pass
            for _, _ in zip(range(count), expected, strict=False):
                pass
            assert found.state_dict() == expected.state_dict()
        assert_equal_samples(found, expected)
        found.set_epoch(7)
        expected.set_epoch(7)
        assert_equal_samples(found, expected)


def test_two_loaders_of_one_dataset_run_at_the_same_time(s3: S3Bucket, dataset: Path) -> None:
    samples, local = rm.open(s3.url("data")), rm.open(dataset)
    one, other = PIPELINES["blocks"], PIPELINES["full"]
    with one(samples).loader(threads=1) as first, other(samples).loader(threads=1) as second:
        pairs = list(zip(first, second, strict=True))
    assert_equal_samples([pair[0] for pair in pairs], one(local))
    assert_equal_samples([pair[1] for pair in pairs], other(local))


def test_mixture_of_two_buckets_and_local_files(s3: S3Bucket, dataset: Path, tmp_path: Path) -> None:
    write_dataset(tmp_path / "other" / "val", num_records=70, shards=2)
    upload_folder(s3, tmp_path / "other", "other")

    def mix(one: str | Path, other: str | Path) -> rm.Dataset:
        parts = [rm.open(one).shuffle(seed=2, block=6), rm.open(other).shuffle(seed=3, block=4)]
        return rm.mix(parts, [0.7, 0.3], num_samples=150).batch(10)

    expected = mix(dataset, tmp_path / "other")
    for one, other in (
        (s3.url("data"), s3.url("other")),
        (dataset, s3.url("other")),
        (s3.url("data"), tmp_path / "other"),
    ):
        with mix(one, other).loader(threads=2) as found, expected.loader() as local:
            for _ in range(2):
                assert_equal_samples(found, local)
            assert found.stats().traffic is not None


@pytest.mark.usefixtures("_light_main")
def test_functions_run_in_processes(s3: S3Bucket, dataset: Path) -> None:
    def build(samples: rm.Dataset) -> rm.Dataset:
        return samples.shuffle(seed=1, block=5).map(np_sum, workers="processes").batch(20)

    with build(rm.open(s3.url("data"))).loader(threads=2) as found:
        assert_equal_samples(found, build(rm.open(dataset)).loader(threads=0))


def np_sum(sample: dict[str, Any]) -> dict[str, Any]:
    return {"id": sample["id"], "sum": np.frombuffer(sample["text"], np.uint8).sum()}


# Statistics


def test_traffic_counts_requests_retries_and_bytes(
    s3: S3Bucket, dataset: Path, proxied: Proxied, quick_retries: None
) -> None:
    proxy = proxied(s3)
    samples = rm.open(s3.url("data"))
    with samples.shuffle(seed=1, block=5).batch(7).loader(threads=2) as loader:
        assert loader.stats().traffic == Traffic()
        proxy.reset_counts()
        proxy.faults = Faults(error_rate=1, attempts=2, match=is_data_request)
        list(loader)

        def read_counts() -> tuple[int, int]:
            traffic = loader.stats().traffic
            assert traffic is not None
            return traffic.requests, traffic.retries

        # Requests for the next epoch may still be on their way.
        assert wait_until(lambda: read_counts() == (proxy.count(), proxy.count(fault="error")))
        traffic = loader.stats().traffic
        assert traffic is not None and traffic.retries > 0
        good = Counter((request.path, request.range) for request in proxy.requests if not request.fault)
        assert traffic.num_bytes >= sum(len(part) for part in map(str, good)) > 0
        assert traffic.cached_bytes == 0
        assert loader.stats().to_json()["traffic"]["requests"] == traffic.requests
        assert f"{traffic.requests:,} requests" in str(loader.stats())
    with rm.open(dataset).batch(7).loader() as local:
        assert local.stats().traffic is None and "traffic" not in local.stats().to_json()


@pytest.mark.parametrize(
    "build, low, high",
    [
        (lambda samples: samples.shuffle(block=1), 1, 1),
        (lambda samples: samples.shuffle(block=10), 0.8, 0.99),
        (lambda samples: samples.shuffle(window=20), 0.0, 1),
    ],
)
def test_shuffle_quality_is_between_file_order_and_full_shuffle(
    s3: S3Bucket, dataset: Path, build: Build, low: float, high: float
) -> None:
    for samples in (rm.open(s3.url("data")), rm.open(dataset)):
        quality = build(samples).loader().stats().shuffle_quality
        assert quality is not None and low <= quality <= high
        assert samples.loader().stats().shuffle_quality is None


# Threads


def find_request_threads() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name.startswith("recordmill-re")}


@pytest.mark.parametrize("is_complete", [True, False], ids=["complete", "abandoned"])
def test_threads_end_with_loader_and_dataset(s3: S3Bucket, dataset: Path, is_complete: bool) -> None:
    before = find_request_threads()
    samples = rm.open(s3.url("data"))
    loader = samples.shuffle(seed=1, block=5).batch(7).loader(threads=2)
    for _, _ in zip(range(100 if is_complete else 2), loader, strict=False):
        pass
    assert find_request_threads() - before
    loader.close()
    del samples, loader
    deadline = time.monotonic() + 20
    while find_request_threads() - before and time.monotonic() < deadline:
        gc.collect()
        time.sleep(0.01)
    assert not find_request_threads() - before


def test_loader_that_is_closed_while_requests_stall_ends(
    s3: S3Bucket, dataset: Path, proxied: Proxied, quick_retries: None
) -> None:
    proxy = proxied(s3)
    samples = rm.open(s3.url("data"), storage_options={"client_options": {"timeout": "300ms"}})
    loader = samples.shuffle(seed=1, block=5).batch(7).loader(threads=2)
    proxy.faults = Faults(stall_rate=1, match=is_data_request)
    errors: list[BaseException] = []

    def consume() -> None:
        try:
            list(loader)
        except BaseException as error:  # noqa: BLE001 (checked by the main thread)
            errors.append(error)

    thread = threading.Thread(target=consume)
    thread.start()
    while not any(is_data_request(request) for request in proxy.requests):
        time.sleep(0.01)
    loader.close()
    thread.join()
    assert len(errors) == 1 and isinstance(errors[0], RemoteError | ValueError | RuntimeError), errors

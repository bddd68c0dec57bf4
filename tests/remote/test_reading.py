"""Reading from a bucket returns what the same local files contain, with few requests."""

from __future__ import annotations

import re
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordmill as rm
from recordmill.datasets.manifest import manifest_path
from tests.recorded import RECORDINGS
from tests.remote.datasets import (
    assert_equal_datasets,
    assert_equal_samples,
    is_shard,
    read_folder,
    upload_folder,
    write_dataset,
)
from tests.remote.fault_proxy import FaultProxy
from tests.remote.keys import AWKWARD_KEYS
from tests.remote.loopback import Request
from tests.remote.object_store import S3Bucket

pytestmark = pytest.mark.deep

Proxied = Callable[..., FaultProxy]
FORMATS = [("tfrecord", None), ("tfrecord", "gzip"), ("tfrecord", "zlib"), ("recordio", None), ("ofrecord", None)]


@pytest.fixture
def dataset(s3: S3Bucket, tmp_path: Path) -> Path:
    """Folder of a local dataset "train" with three shards, which is also in the bucket, below "data/"."""
    write_dataset(tmp_path / "data" / "train")
    upload_folder(s3, tmp_path / "data", "data")
    return tmp_path / "data"


@pytest.fixture
def index_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder in which indexes of remote shards are kept."""
    monkeypatch.setenv("RECORDMILL_CACHE", str(tmp_path / "indexes"))
    return tmp_path / "indexes"


def find_shard_requests(proxy: FaultProxy) -> list[Request]:
    """Return the requests for content of shards."""
    return [each for each in proxy.requests if each.range and not each.path.rpartition("/")[2].startswith(".")]


# Addresses


@pytest.mark.parametrize(
    "key",
    [
        "data",
        "data/",
        "data/train",
        "data/train-*",
        "data/train-0000[0-2]-of-00003.tfrecord",
        "**/train-*",
        "data/**/train-*",
        "*/train-0000?-of-*",
        "data/train-{00000..00002}-of-00003.tfrecord",
        "data/train-{00000,00001,00002}-of-00003.tfrecord",
        "data/.train.manifest.json",
    ],
)
def test_open_accepts_each_kind_of_address(s3: S3Bucket, dataset: Path, key: str) -> None:
    assert_equal_datasets(rm.open(s3.url(key)), rm.open(dataset))


def test_open_accepts_list_of_objects_in_its_order(s3: S3Bucket, dataset: Path) -> None:
    names = [f"train-0000{number}-of-00003.tfrecord" for number in (2, 0)]
    found = rm.open([s3.url(f"data/{name}") for name in names])
    assert_equal_datasets(found, rm.open([dataset / name for name in names]))


def test_open_accepts_s3a_and_path_objects(s3: S3Bucket, dataset: Path) -> None:
    expected = rm.open(dataset)
    assert_equal_datasets(rm.open(s3.url("data").replace("s3://", "s3a://")), expected)
    assert_equal_datasets(rm.open(Path(s3.url("data"))), expected)


def test_open_accepts_file_address(dataset: Path) -> None:
    assert_equal_datasets(rm.open(f"file://{dataset}"), rm.open(dataset))
    assert_equal_datasets(rm.open(f"file://localhost{dataset}/train"), rm.open(dataset))


def test_open_of_bucket_finds_shards_in_its_root(s3: S3Bucket, dataset: Path) -> None:
    upload_folder(s3, dataset)
    for address in (s3.url(), s3.url().rstrip("/"), s3.url("train"), s3.url("train-*")):
        assert_equal_datasets(rm.open(address), rm.open(dataset))


def test_open_ignores_hidden_objects_folders_and_folder_markers(s3: S3Bucket, dataset: Path) -> None:
    s3.put("data/", b"")
    s3.put("data/.hidden", b"no shard")
    s3.put("data/.train.lock.tmp-0123", b"no shard")
    s3.put("data/other/file.txt", b"no shard")
    assert_equal_datasets(rm.open(s3.url("data")), rm.open(dataset))


@pytest.mark.parametrize("key", ["nothing", "nothing/", "data/nothing-*", "data/train-00000", "**/nothing", "dat"])
def test_open_of_missing_object_raises_file_not_found(s3: S3Bucket, dataset: Path, key: str) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        rm.open(s3.url(key))
    assert caught.value.filename == s3.url(key)


def test_open_rejects_mixture_of_local_paths_and_addresses(s3: S3Bucket, dataset: Path) -> None:
    with pytest.raises(rm.UnsupportedPathError, match=r"is an address, but .* is a local path"):
        rm.open([s3.url("data"), str(dataset)])


def test_open_of_incomplete_dataset_names_missing_shard(s3: S3Bucket, dataset: Path) -> None:
    s3.delete("data/train-00001-of-00003.tfrecord")
    with pytest.raises(rm.IncompleteDatasetError) as caught:
        rm.open(s3.url("data"))
    assert caught.value.missing == [s3.url("data/train-00001-of-00003.tfrecord")]
    found = rm.open(s3.url("data"), allow_incomplete=True)
    (dataset / "train-00001-of-00003.tfrecord").unlink()
    assert_equal_samples(found, rm.open(dataset, allow_incomplete=True))


@pytest.mark.parametrize("same_size", [False, True])
def test_open_detects_shard_that_differs_from_manifest(
    s3: S3Bucket, dataset: Path, tmp_path: Path, same_size: bool
) -> None:
    num_bytes = 300 if same_size else 500
    write_dataset(tmp_path / "other" / "train", num_bytes=num_bytes)
    other = read_folder(tmp_path / "other")["train-00001-of-00003.tfrecord"]
    key = "data/train-00001-of-00003.tfrecord"
    s3.put(key, other[::-1] if same_size else other)
    # Equal sizes are noticed when the shard is read, so that opening a dataset needs no request per shard.
    with pytest.raises((rm.IncompleteDatasetError, rm.DamageError)) as caught:
        list(rm.open(s3.url("data")))
    assert key in str(caught.value)


# Formats and indexes


@pytest.mark.parametrize("has_indexes", [True, False], ids=["indexes", "no-indexes"])
@pytest.mark.parametrize("kind,compression", FORMATS)
def test_each_format_has_same_records_as_locally(
    s3: S3Bucket, tmp_path: Path, index_cache: Path, kind: str, compression: str | None, has_indexes: bool
) -> None:
    folder = tmp_path / "data"
    write_dataset(folder / "train", format=kind, compression=compression)
    upload_folder(s3, folder, "data", lambda name: is_shard(name) or (has_indexes and name.endswith(".rmx")))
    expected = rm.open(folder)
    found = rm.open(s3.url("data"))
    assert_equal_datasets(found, expected)
    positions = np.random.default_rng(0).permutation(60)
    assert_equal_samples(found.batch(13), expected.batch(13))
    assert_equal_samples(found.fetch(positions), expected.fetch(positions))
    assert found.fingerprint() == expected.fingerprint()


def test_scan_keeps_index_in_cache_and_not_in_bucket(
    s3: S3Bucket, tmp_path: Path, index_cache: Path, proxied: Proxied
) -> None:
    write_dataset(tmp_path / "data" / "train", num_records=150, num_bytes=20_000)
    upload_folder(s3, tmp_path / "data", "data", is_shard)
    proxy, keys = proxied(s3), s3.list_keys()
    assert_equal_datasets(rm.open(s3.url("data")), rm.open(tmp_path / "data"))
    assert s3.list_keys() == keys
    assert len(list(index_cache.iterdir())) == 3
    assert sum(map(count_bytes, find_shard_requests(proxy))) >= 150 * 20_000

    proxy.reset_counts()
    again = rm.open(s3.url("data"))
    # Only what detects the format, and the blocks that identify the shards.
    assert sum(map(count_bytes, find_shard_requests(proxy))) < 150 * 20_000 / 2
    assert_equal_datasets(again, rm.open(tmp_path / "data"))


def count_bytes(request: Request) -> int:
    first, last = re.fullmatch(r"bytes=(\d+)-(\d+)", request.range).groups()  # type: ignore[union-attr]
    return int(last) - int(first) + 1


def test_index_in_cache_is_not_used_for_another_version(s3: S3Bucket, tmp_path: Path, index_cache: Path) -> None:
    for number, num_bytes in enumerate((300, 200)):
        write_dataset(tmp_path / str(number) / "train", num_bytes=num_bytes)
        upload_folder(s3, tmp_path / str(number), "data", is_shard)
        assert_equal_datasets(rm.open(s3.url("data")), rm.open(tmp_path / str(number)))


def test_damaged_records_are_reported_as_locally(s3: S3Bucket, tmp_path: Path, index_cache: Path) -> None:
    (path,) = write_dataset(tmp_path / "train.tfrecord", shards=None)
    data = bytearray(Path(path).read_bytes())
    data[len(data) // 2] ^= 1
    Path(path).write_bytes(data)
    s3.put("train.tfrecord", bytes(data))
    found, expected = (rm.verify(place) for place in (s3.url("train.tfrecord"), path))
    assert [(fault.kind, fault.record, fault.offset) for fault in found.faults] == [
        (fault.kind, fault.record, fault.offset) for fault in expected.faults
    ]
    assert found.num_faults == 1 and found.faults[0].shard == s3.url("train.tfrecord")
    with pytest.raises(rm.DamageError) as caught:
        list(rm.open(s3.url("train.tfrecord")))
    assert caught.value.shard == s3.url("train.tfrecord") and caught.value.record == found.faults[0].record


def test_empty_object_and_single_file_dataset(s3: S3Bucket, tmp_path: Path) -> None:
    write_dataset(tmp_path / "data" / "one.tfrecord", num_records=5, shards=None)
    upload_folder(s3, tmp_path / "data", "data")
    s3.put("data/empty.tfrecord", b"")
    (tmp_path / "data" / "empty.tfrecord").write_bytes(b"")
    assert_equal_datasets(rm.open(s3.url("data/one.tfrecord")), rm.open(tmp_path / "data" / "one.tfrecord"))
    names = ["one.tfrecord", "empty.tfrecord"]
    found = rm.open([s3.url(f"data/{name}") for name in names])
    assert_equal_datasets(found, rm.open([tmp_path / "data" / name for name in names]))


def test_shard_larger_than_a_chunk_is_streamed_and_read_at_random(
    s3: S3Bucket, tmp_path: Path, index_cache: Path
) -> None:
    (path,) = write_dataset(tmp_path / "large.tfrecord", num_records=40, shards=None, num_bytes=700_000, index="never")
    s3.put("large.tfrecord", Path(path).read_bytes())
    assert list(rm.iterate_payloads(s3.url("large.tfrecord"))) == list(rm.iterate_payloads(path))
    assert_equal_datasets(rm.open(s3.url("large.tfrecord")), rm.open(path))


# Other readers


def test_shard_reader_returns_payloads_as_locally(s3: S3Bucket, dataset: Path) -> None:
    name = "train-00001-of-00003.tfrecord"
    with rm.ShardReader(s3.url(f"data/{name}")) as found, rm.ShardReader(dataset / name) as expected:
        assert list(found) == list(expected)
        assert found[-1] == expected[-1] and found[3:7] == expected[3:7]
        assert np.array_equal(found.index.offsets, expected.index.offsets)
        assert found.path == s3.url(f"data/{name}")


def test_shard_reader_joins_several_objects(s3: S3Bucket, tmp_path: Path) -> None:
    paths = write_dataset(tmp_path / "data" / "train", shards=2, format="recordio")
    upload_folder(s3, tmp_path / "data", "data", is_shard)
    addresses = [s3.url(f"data/{Path(path).name}") for path in paths]
    with rm.ShardReader(addresses) as found, rm.ShardReader(paths) as expected:
        assert list(found) == list(expected)


@pytest.mark.parametrize("compression", [None, "gzip"])
def test_payload_reader_and_iteration_return_payloads_as_locally(
    s3: S3Bucket, tmp_path: Path, compression: str | None
) -> None:
    write_dataset(tmp_path / "data" / "train", compression=compression)
    upload_folder(s3, tmp_path / "data", "data")
    expected = list(rm.iterate_payloads(tmp_path / "data"))
    assert list(rm.iterate_payloads(s3.url("data"))) == expected
    payloads = []
    for number in range(3):
        suffix = ".gz" if compression else ""
        with rm.PayloadReader(s3.url(f"data/train-0000{number}-of-00003.tfrecord{suffix}")) as reader:
            payloads += iter(reader.read, None)
    assert payloads == expected


def test_info_and_verify_return_the_same_as_locally(s3: S3Bucket, dataset: Path) -> None:
    for options in ({}, {"stats": True}):
        found = rm.info(s3.url("data"), **options).to_json()
        expected = rm.info(dataset, **options).to_json()
        for shard in expected["shards"]:
            shard["path"] = s3.url(f"data/{Path(shard['path']).name}")
        assert found == expected
    assert rm.verify(s3.url("data")) == rm.verify(dataset)


def test_verify_reports_missing_and_foreign_shards(s3: S3Bucket, dataset: Path) -> None:
    s3.delete("data/train-00002-of-00003.tfrecord")
    s3.put("data/train-00003-of-00004.tfrecord", b"")
    kinds = {(fault.kind, fault.shard) for fault in rm.verify(s3.url("data/train")).faults}
    assert ("missing_shard", s3.url("data/train-00002-of-00003.tfrecord")) in kinds


def test_diff_compares_local_and_remote_datasets(s3: S3Bucket, dataset: Path, tmp_path: Path) -> None:
    write_dataset(tmp_path / "other" / "train", num_records=50, shards=2)
    upload_folder(s3, tmp_path / "other", "other")
    same = rm.diff(s3.url("data"), dataset)
    assert same.equal and same.same_order and same.num_records == (60, 60)
    different = rm.diff(tmp_path / "other", s3.url("data"))
    assert (different.num_only_in_a, different.num_only_in_b) == (0, 10)
    assert all(path.startswith(s3.url("data")) for path, _ in different.only_in_b)


@pytest.mark.parametrize("name", ["scalar", "vector", "no_header_record"])
def test_read_faces_finds_identities_as_locally(s3: S3Bucket, tmp_path: Path, name: str) -> None:
    folder = Path(shutil.copytree(RECORDINGS / "mxnet" / "faces" / name, tmp_path / name))
    upload_folder(s3, folder, name)
    found, expected = rm.read_faces(s3.url(f"{name}/train.rec")), rm.read_faces(folder / "train.rec")
    assert np.array_equal(found.images, expected.images) and found.properties == expected.properties
    assert np.array_equal(found.identities, expected.identities) and expected.properties


# Number of requests


@pytest.mark.parametrize("key", ["data/", "data/train", "data/train-*", "data/.train.manifest.json"])
def test_open_with_manifest_takes_at_most_three_requests(
    s3: S3Bucket, dataset: Path, proxied: Proxied, key: str
) -> None:
    proxy = proxied(s3)
    assert len(rm.open(s3.url(key))) == 60
    assert 1 <= proxy.count() <= 3


def test_first_block_shuffled_batch_takes_two_requests_per_shard(
    s3: S3Bucket, tmp_path: Path, proxied: Proxied
) -> None:
    write_dataset(tmp_path / "data" / "train", num_records=1600, shards=8, num_bytes=1000)
    upload_folder(s3, tmp_path / "data", "data")
    proxy = proxied(s3)
    samples = rm.open(s3.url("data/"))
    proxy.reset_counts()
    batch = next(iter(samples.shuffle(seed=3, block=50).batch(32)))
    touched = {request.path for request in find_shard_requests(proxy)}
    assert 1 <= len(touched) <= 8
    assert proxy.count() <= 2 * len(touched)
    expected = next(iter(rm.open(tmp_path / "data").shuffle(seed=3, block=50).batch(32)))
    assert_equal_samples([batch], [expected])


def test_requests_of_a_batch_are_merged_and_sent_at_once(s3: S3Bucket, tmp_path: Path, proxied: Proxied) -> None:
    write_dataset(tmp_path / "data" / "train", num_records=40, shards=2, num_bytes=1000)
    upload_folder(s3, tmp_path / "data", "data")
    proxy = proxied(s3)
    samples = rm.open(s3.url("data/"))
    samples.fetch([0])
    proxy.reset_counts()
    batch = samples.fetch([19, 3, 7, 3, 38, 21])
    data = find_shard_requests(proxy)
    assert sorted(request.path.rpartition("/")[2] for request in data) == [
        f"train-0000{number}-of-00002.tfrecord" for number in range(2)
    ]
    assert_equal_samples(batch, rm.open(tmp_path / "data").fetch([19, 3, 7, 3, 38, 21]))


@pytest.mark.parametrize("max_requests", [1, 4])
def test_max_requests_limits_requests_at_the_same_time(
    s3: S3Bucket, tmp_path: Path, proxied: Proxied, max_requests: int
) -> None:
    write_dataset(tmp_path / "data" / "train", num_records=160, shards=16, num_bytes=1000)
    upload_folder(s3, tmp_path / "data", "data")
    proxy = proxied(s3, latency=0.002)
    samples = rm.open(s3.url("data/"), max_requests=max_requests)
    list(samples.shuffle(seed=0).batch(40).loader(threads=2))
    assert 1 <= proxy.peak_in_flight <= max_requests


# Keys and listings


def test_awkward_keys_can_be_read(s3: S3Bucket, tmp_path: Path) -> None:
    for number, key in enumerate(AWKWARD_KEYS):
        (path,) = write_dataset(tmp_path / f"{number}.tfrecord", num_records=3 + number, shards=None)
        s3.put(key, Path(path).read_bytes())
    for number, key in enumerate(AWKWARD_KEYS):
        expected = list(rm.iterate_payloads(tmp_path / f"{number}.tfrecord"))
        with rm.ShardReader(s3.url(key)) as reader:
            assert list(reader) == expected, key
        if not key.startswith("brackets/"):  # That key is a pattern.
            assert list(rm.iterate_payloads(s3.url(key))) == expected, key
    for pattern in ("unicode", "unicode/größe*", "brackets", "brackets/[[]0*"):
        assert len(rm.open(s3.url(pattern))) == 3 + (7 if pattern.startswith("unicode") else 8)


def test_folders_with_awkward_names_can_be_listed(s3: S3Bucket, tmp_path: Path) -> None:
    write_dataset(tmp_path / "data" / "train")
    expected = rm.open(tmp_path / "data")
    for folder in ("with space", "50%", "a#b", "日本/größe", "plus+1"):
        upload_folder(s3, tmp_path / "data", folder)
        for address in (folder, f"{folder}/train", f"{folder}/train-*"):
            assert_equal_datasets(rm.open(s3.url(address)), expected)


def test_listing_of_10000_objects_is_complete(s3: S3Bucket, tmp_path: Path, proxied: Proxied) -> None:
    write_dataset(tmp_path / "data" / "part-12345.tfrecord", num_records=4, shards=None)
    upload_folder(s3, tmp_path / "data", "many")
    s3.fill([f"many/part-{number:05d}.tfrecord" for number in range(10_000) if number % 1000])
    proxy = proxied(s3)
    samples = rm.open(s3.url("many/part-12345.tfrecord"))
    assert len(samples) == 4
    assert proxy.count() < 20
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        storage: Any = samples.pipeline.sources[0].storage  # type: ignore[attr-defined]
        assert len(storage.expand(s3.url("many/part-*"))) == 9991
        assert len(storage.expand(s3.url("**/part-*"))) == 9991
    assert proxy.count() < 40


def test_manifest_path_of_prefix_in_bucket(s3: S3Bucket) -> None:
    assert manifest_path(s3.url("data/train")) == s3.url("data/.train.manifest.json")


def test_dataset_of_raw_payloads(s3: S3Bucket, dataset: Path) -> None:
    found, expected = rm.open(s3.url("data"), payload="raw"), rm.open(dataset, payload="raw")
    assert_equal_datasets(found, expected)
    assert found[5] == expected[5]
    assert found[0] == {"payload": next(rm.iterate_payloads(s3.url("data")))}

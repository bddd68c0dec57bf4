"""Faults of servers and networks while reading: the right data or an error that names the cause, never wrong data."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import recordmill as rm
from recordmill.errors import RemoteError
from tests.remote.datasets import (
    assert_equal_datasets,
    assert_equal_samples,
    check_error,
    is_shard,
    upload_folder,
    write_dataset,
)
from tests.remote.fault_proxy import FaultProxy, Faults
from tests.remote.loopback import Request
from tests.remote.object_store import S3Bucket

pytestmark = [pytest.mark.deep, pytest.mark.usefixtures("quick_retries")]

Proxied = Callable[..., FaultProxy]
# Options with which requests to a server that stalls end soon.
IMPATIENT = {"client_options": {"timeout": "250ms"}}
TEMPORARY_FAULTS: dict[str, dict[str, Any]] = {
    "status-503": {"error_rate": 1},
    "status-500": {"error_rate": 1, "error_status": 500},
    "status-429": {"error_rate": 1, "error_status": 429, "retry_after": 1},
    "reset-before": {"reset_rate": 1, "reset_point": "before"},
    "reset-after": {"reset_rate": 1, "reset_point": "after"},
    "truncated": {"truncate_rate": 1},
    "short": {"short_rate": 1},
    "short-adapted": {"short_rate": 1, "content_range": "adapt"},
    "long": {"long_rate": 1},
    "long-adapted": {"long_rate": 1, "content_range": "adapt"},
    "stall": {"stall_rate": 1},
}
TEMPORARY = pytest.mark.parametrize("fault", TEMPORARY_FAULTS)


def is_shard_request(request: Request) -> bool:
    """Return True for requests of the content of shards."""
    return request.path.endswith(".tfrecord") and is_shard(request.path.rpartition("/")[2])


def is_hidden_request(request: Request) -> bool:
    """Return True for requests of indexes and manifests."""
    return request.path.rpartition("/")[2].startswith(".")


def is_listing(request: Request) -> bool:
    return "list-type=2" in request.query


@pytest.fixture
def dataset(s3: S3Bucket, tmp_path: Path) -> Path:
    """Folder of a local dataset with two shards, which is also in the bucket, below "data/"."""
    write_dataset(tmp_path / "data" / "train", num_records=30, shards=2)
    upload_folder(s3, tmp_path / "data", "data")
    return tmp_path / "data"


def read_traffic(samples: rm.Dataset) -> Any:
    """Return the traffic of a dataset."""
    return samples.pipeline.sources[0].storage.traffic  # type: ignore[attr-defined]


# Temporary faults


@TEMPORARY
def test_temporary_fault_of_every_request_is_repaired_by_a_retry(
    s3: S3Bucket, dataset: Path, proxied: Proxied, fault: str
) -> None:
    proxied(s3, Faults(**TEMPORARY_FAULTS[fault], attempts=1))
    samples = rm.open(s3.url("data/"), storage_options=IMPATIENT)
    assert_equal_datasets(samples, rm.open(dataset))
    assert read_traffic(samples).retries > 0


@TEMPORARY
def test_temporary_fault_of_a_scan_is_repaired_by_a_retry(
    s3: S3Bucket, dataset: Path, proxied: Proxied, fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECORDMILL_CACHE", str(tmp_path / "indexes"))
    for key in s3.list_keys():
        if not is_shard(key.rpartition("/")[2]):
            s3.delete(key)
    proxied(s3, Faults(**TEMPORARY_FAULTS[fault], times=3))
    payloads = list(rm.iterate_payloads(dataset))
    with rm.ShardReader(s3.url("data/train-00000-of-00002.tfrecord"), storage_options=IMPATIENT) as reader:
        assert list(reader) == payloads[:15]
    assert_equal_datasets(rm.open(s3.url("data/"), storage_options=IMPATIENT), rm.open(dataset))


@pytest.mark.parametrize("seed", range(2))
def test_loader_yields_same_batches_under_random_faults(
    s3: S3Bucket, tmp_path: Path, proxied: Proxied, seed: int
) -> None:
    write_dataset(tmp_path / "data" / "train", num_records=400, shards=5)
    upload_folder(s3, tmp_path / "data", "data")
    rates = {f"{name}_rate": 0.03 for name in ("error", "reset", "truncate", "short", "long", "stall")}
    proxy = proxied(s3, Faults(**rates, stall_seconds=5), seed=seed)
    samples = rm.open(s3.url("data"), storage_options=IMPATIENT)
    expected = rm.open(tmp_path / "data").shuffle(seed=seed, block=7).batch(16)
    loader = samples.shuffle(seed=seed, block=7).batch(16).loader(threads=2)
    assert_equal_samples(loader, expected)
    loader.close()
    assert sum(proxy.count_faults().values()) > 0


# Faults that stay


@TEMPORARY
def test_permanent_fault_of_shard_names_address_range_and_attempts(
    s3: S3Bucket, dataset: Path, proxied: Proxied, fault: str
) -> None:
    proxy = proxied(s3)
    samples = rm.open(s3.url("data/"), storage_options=IMPATIENT)
    samples.fetch([0])
    proxy.faults = Faults(**TEMPORARY_FAULTS[fault], match=is_shard_request)
    traffic = read_traffic(samples)
    with pytest.raises(RemoteError) as caught:
        samples.fetch([3, 4])
    error = caught.value
    expected = {"status": "http_status", "short": "wrong_length", "long": "wrong_length"}
    assert error.kind in (expected.get(fault.partition("-")[0], "connection"), "wrong_length"), error
    assert error.shard == s3.url("data/train-00000-of-00002.tfrecord") or "train-00001" in str(error.shard)
    assert error.byte_range is not None and error.attempts == 6 and "6 attempts" in str(error)
    assert f"bytes {error.byte_range[0]}-{error.byte_range[1]}" in str(error)
    assert traffic.retries == 5 * len({request.target for request in proxy.requests if is_shard_request(request)})
    check_error(error)
    proxy.faults = Faults()
    assert_equal_samples(samples.fetch([3, 4]), rm.open(dataset).fetch([3, 4]))


@pytest.mark.parametrize("match", [is_listing, is_hidden_request], ids=["listing", "manifest"])
@pytest.mark.parametrize("fault", ["status-503", "reset-before", "truncated", "stall"])
def test_permanent_fault_while_opening_raises_remote_error(
    s3: S3Bucket, dataset: Path, proxied: Proxied, fault: str, match: Callable[[Request], bool]
) -> None:
    proxied(s3, Faults(**TEMPORARY_FAULTS[fault], match=match))
    with pytest.raises(RemoteError) as caught:
        rm.open(s3.url("data/"), storage_options=IMPATIENT)
    assert s3.url("data") in str(caught.value) and caught.value.attempts == 6
    check_error(caught.value)


@pytest.mark.parametrize("fault", ["status-503", "reset-after", "short", "stall"])
def test_permanent_fault_in_loader_raises_the_same_error(
    s3: S3Bucket, dataset: Path, proxied: Proxied, fault: str
) -> None:
    proxy = proxied(s3)
    samples = rm.open(s3.url("data/"), storage_options=IMPATIENT)
    proxy.faults = Faults(**TEMPORARY_FAULTS[fault], match=is_shard_request)
    with samples.batch(4).loader(threads=2) as loader:
        with pytest.raises(RemoteError) as caught:
            list(loader)
        check_error(caught.value)
        proxy.faults = Faults()
        assert_equal_samples(loader, rm.open(dataset).batch(4))


def test_requests_wait_longer_after_each_attempt(
    s3: S3Bucket, dataset: Path, proxied: Proxied, monkeypatch: pytest.MonkeyPatch
) -> None:
    from recordmill.storage import object_store

    waits: list[float] = []
    monkeypatch.setattr(object_store, "_BACKOFF_S", 0.1)
    monkeypatch.setattr(object_store, "_MAX_BACKOFF_S", 5.0)
    monkeypatch.setattr(object_store.time, "sleep", waits.append)
    proxied(s3, Faults(error_rate=1))
    with pytest.raises(RemoteError):
        rm.open(s3.url("data/"))
    assert len(waits) == 5
    assert all(0.05 * 2**attempt <= wait <= 0.1 * 2**attempt for attempt, wait in enumerate(waits, 1))


def test_unreachable_server_raises_remote_error(s3: S3Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{closed.getsockname()[1]}")
    with pytest.raises(RemoteError) as caught:
        rm.open(s3.url("data/"))
    assert caught.value.kind == "connection" and caught.value.attempts == 6
    check_error(caught.value)


# Changed objects


def test_wrong_etag_is_never_data(s3: S3Bucket, dataset: Path, proxied: Proxied) -> None:
    proxied(s3, Faults(wrong_etag_rate=0.3, match=is_shard_request), seed=1)
    samples, expected = rm.open(s3.url("data/")), rm.open(dataset)
    errors = []
    for position in range(30):
        try:
            assert_equal_samples(samples.fetch([position]), expected.fetch([position]))
        except rm.ShardChangedError as error:
            errors.append(error)
    assert errors and all("data/train-" in str(error.shard) for error in errors)
    for error in errors:
        check_error(error)


@pytest.mark.parametrize("is_read", [False, True], ids=["unread", "read"])
@pytest.mark.parametrize("num_bytes", [300, 200, 500], ids=["same-size", "smaller", "larger"])
def test_object_replaced_after_open_raises_shard_changed(
    s3: S3Bucket, dataset: Path, tmp_path: Path, num_bytes: int, is_read: bool
) -> None:
    samples = rm.open(s3.url("data/"))
    if is_read:
        samples.fetch([0, 29])
    write_dataset(tmp_path / "other" / "train", num_records=31, shards=2, num_bytes=num_bytes)
    upload_folder(s3, tmp_path / "other", "data", is_shard)
    with pytest.raises(rm.ShardChangedError) as caught:
        samples.fetch([1])
    assert caught.value.shard == s3.url("data/train-00000-of-00002.tfrecord")
    check_error(caught.value)


def test_object_replaced_while_it_is_streamed_raises_shard_changed(
    s3: S3Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (path,) = write_dataset(tmp_path / "large.tfrecord", num_records=30, shards=None, num_bytes=1_000_000)
    s3.put("large.tfrecord", Path(path).read_bytes())
    monkeypatch.setattr("recordmill.storage.remote_file._MAX_CHUNKS_AHEAD", 1)
    with rm.PayloadReader(s3.url("large.tfrecord")) as reader:
        assert reader.read() == next(rm.iterate_payloads(path))
        s3.put("large.tfrecord", Path(path).read_bytes()[::-1])
        with pytest.raises(rm.ShardChangedError):
            list(iter(reader.read, None))


def test_object_deleted_after_open_raises_file_not_found(s3: S3Bucket, dataset: Path) -> None:
    samples = rm.open(s3.url("data/"))
    s3.delete("data/train-00001-of-00002.tfrecord")
    assert_equal_samples(samples.fetch([0]), rm.open(dataset).fetch([0]))
    with pytest.raises(FileNotFoundError) as caught:
        samples.fetch([29])
    assert caught.value.filename == s3.url("data/train-00001-of-00002.tfrecord")


# Access


@pytest.mark.parametrize(
    "status, code, kind",
    [
        (403, "AccessDenied", "access_denied"),
        (403, "SignatureDoesNotMatch", "access_denied"),
        (403, "InvalidAccessKeyId", "access_denied"),
        (401, "Unauthorized", "access_denied"),
        (400, "ExpiredToken", "expired_credentials"),
        (403, "ExpiredToken", "expired_credentials"),
        (403, "RequestExpired", "expired_credentials"),
        (404, "NoSuchBucket", "missing_bucket"),
        (400, "InvalidRequest", "http_status"),
        (301, "PermanentRedirect", "http_status"),
    ],
)
def test_refused_requests_are_explained_and_not_repeated(
    s3: S3Bucket, dataset: Path, proxied: Proxied, status: int, code: str, kind: str
) -> None:
    proxy = proxied(s3)
    samples = rm.open(s3.url("data/"))
    proxy.faults = Faults(error_rate=1, error_status=status, error_code=code)
    proxy.reset_counts()
    with pytest.raises(RemoteError) as caught:
        samples.fetch([0])
    assert caught.value.kind == kind, caught.value
    assert caught.value.attempts == 1
    # An index that cannot be read is rebuilt, so the shard is requested after it.
    assert sum(map(is_shard_request, proxy.requests)) == 1
    if kind.endswith(("denied", "credentials")):
        assert caught.value.hint and code in str(caught.value)
    check_error(caught.value)


def test_denied_listing_is_explained(s3: S3Bucket, dataset: Path, proxied: Proxied) -> None:
    proxied(s3, Faults(error_rate=1, error_status=403, match=is_listing))
    with pytest.raises((RemoteError, FileNotFoundError)) as caught:
        rm.open(s3.url("data/"))
    assert s3.url("data") in str(caught.value)


def test_objects_can_be_read_without_permission_to_list(s3: S3Bucket, dataset: Path, proxied: Proxied) -> None:
    proxied(s3, Faults(error_rate=1, error_status=403, match=is_listing))
    expected = rm.open(dataset)
    for key in ("data/train", "data/.train.manifest.json", "data/train-{00000..00001}-of-00002.tfrecord"):
        assert_equal_samples(rm.open(s3.url(key)), expected)


def test_missing_bucket_is_named(s3: S3Bucket) -> None:
    with pytest.raises((RemoteError, FileNotFoundError)) as caught:
        rm.open(s3.url("data/").replace(s3.bucket, "no-such-bucket"))
    assert "no-such-bucket" in str(caught.value)
    assert isinstance(caught.value, RemoteError) and caught.value.kind == "missing_bucket"

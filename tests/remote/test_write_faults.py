"""Faults of servers and networks while writing: complete objects, or an error after which nothing remains."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import recordmill as rm
from recordmill.errors import RemoteError
from tests.remote.datasets import check_error, read_bucket, read_folder, write_dataset
from tests.remote.fault_proxy import FaultProxy, Faults
from tests.remote.loopback import Request
from tests.remote.object_store import S3Bucket

pytestmark = [pytest.mark.deep, pytest.mark.usefixtures("quick_retries")]

Proxied = Callable[..., FaultProxy]
WRITES = ("PUT", "POST", "DELETE")
_MILLISECOND = timedelta(milliseconds=1)
# Options with which requests to a server that stalls end soon, and parts of uploads are repeated soon.
IMPATIENT = {
    "client_options": {"timeout": "250ms"},
    "retry_config": {"backoff": {"init_backoff": _MILLISECOND, "max_backoff": _MILLISECOND, "base": 2}},
}
TEMPORARY_FAULTS: dict[str, dict[str, Any]] = {
    "status-503": {"error_rate": 1},
    "status-500": {"error_rate": 1, "error_status": 500},
    "reset-before": {"reset_rate": 1, "reset_point": "before"},
    "reset-after": {"reset_rate": 1, "reset_point": "after"},
    "truncated": {"truncate_rate": 1},
    "stall": {"stall_rate": 1},
}


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("fault", TEMPORARY_FAULTS)
def test_temporary_fault_of_each_write_is_repaired_by_a_retry(
    s3: S3Bucket, tmp_path: Path, proxied: Proxied, fault: str
) -> None:
    options: dict[str, Any] = {"num_records": 8, "shards": 2, "num_bytes": 40_000}
    proxied(s3, Faults(**TEMPORARY_FAULTS[fault], attempts=1, methods=WRITES))
    write_dataset(s3.url("data/train"), **options, storage_options=IMPATIENT)
    write_dataset(tmp_path / "data" / "train", **options)
    assert read_bucket(s3, "data") == read_folder(tmp_path / "data")


STAGES: dict[str, Callable[[Request], bool]] = {
    "lock": lambda request: request.method == "PUT" and request.path.endswith(".lock"),
    "start-upload": lambda request: request.method == "POST" and request.query.startswith("uploads"),
    "part": lambda request: "partNumber=2" in request.query,
    "complete-upload": lambda request: request.method == "POST" and "uploadId=" in request.query,
    "journal": lambda request: request.method == "PUT" and ".journal" in request.path,
    "copy": lambda request: request.method == "PUT" and request.path.endswith("train-00001-of-00002.tfrecord"),
    "manifest": lambda request: request.method == "PUT" and request.path.endswith("manifest.json"),
}


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("status", [503, 403])
@pytest.mark.parametrize("stage", STAGES)
def test_permanent_fault_of_one_step_leaves_nothing(s3: S3Bucket, proxied: Proxied, stage: str, status: int) -> None:
    proxied(s3, Faults(error_rate=1, error_status=status, methods=WRITES, match=STAGES[stage]))
    with pytest.raises(rm.WriteError) as caught:
        write_dataset(
            s3.url("data/train"),
            num_records=8,
            shards=2,
            num_bytes=40_000,
            storage_options=IMPATIENT,
        )
    assert s3.url("data/") in str(caught.value.shard)
    check_error(caught.value)
    assert caught.value.kind == ("access_denied" if status == 403 else "http_status"), caught.value
    assert s3.list_keys() == s3.multipart_uploads() == []


def test_temporary_object_that_cannot_be_removed_does_not_fail_the_commit(s3: S3Bucket, proxied: Proxied) -> None:
    copied = []

    def is_first_removal_after_copy(request: Request) -> bool:
        if request.method == "PUT" and request.path.endswith("train-00000-of-00002.tfrecord"):
            copied.append(request)
        return bool(copied) and request.query.startswith("delete")

    proxied(s3, Faults(error_rate=1, methods=WRITES, match=is_first_removal_after_copy, times=6))
    write_dataset(s3.url("data/train"), shards=2)
    assert len(rm.open(s3.url("data"))) == 60
    assert sum(".tmp-" in key for key in s3.list_keys()) == 1
    rm.pack([{"id": 1}, {"id": 2}], s3.url("data/train"), shards=2, overwrite=True)
    assert not any(".tmp-" in key for key in s3.list_keys())


def test_read_only_bucket_is_explained(s3: S3Bucket, proxied: Proxied) -> None:
    proxied(s3, Faults(error_rate=1, error_status=403, methods=WRITES))
    with pytest.raises(rm.WriteError) as caught:
        write_dataset(s3.url("data/train"))
    assert caught.value.kind == "access_denied" and caught.value.errno == 13
    assert s3.list_keys() == []


def test_missing_bucket_is_explained(s3: S3Bucket) -> None:
    with pytest.raises((rm.WriteError, RemoteError)) as caught:
        write_dataset(s3.url("data/train").replace(s3.bucket, "no-such-bucket"))
    assert caught.value.kind == "missing_bucket"

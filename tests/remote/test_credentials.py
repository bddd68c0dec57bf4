"""Credentials and options of stores: environment, profiles, anonymous access, and `storage_options`."""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import recordmill as rm
from recordmill.errors import RemoteError
from recordmill.storage.connect import create_store, load_obstore
from tests.remote.datasets import assert_equal_datasets, check_error, upload_folder, write_dataset
from tests.remote.fault_proxy import FaultProxy
from tests.remote.object_store import ACCESS_KEY, SECRET_KEY, S3Bucket

pytestmark = [pytest.mark.deep, pytest.mark.usefixtures("quick_retries")]

Proxied = Callable[..., FaultProxy]
CREDENTIALS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")


@pytest.fixture
def dataset(s3: S3Bucket, tmp_path: Path) -> Path:
    """Folder of a local dataset with two shards, which is also in the bucket, below "data/"."""
    write_dataset(tmp_path / "data" / "train", num_records=30, shards=2)
    upload_folder(s3, tmp_path / "data", "data")
    return tmp_path / "data"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Home folder without `~/.aws`; the environment has no credentials, and no metadata service can be reached."""
    for name in CREDENTIALS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    with socket.socket() as closed:  # Instead of 169.254.169.254.
        closed.bind(("127.0.0.1", 0))
        monkeypatch.setenv("AWS_METADATA_ENDPOINT", f"http://127.0.0.1:{closed.getsockname()[1]}")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    return tmp_path


def write_profile(home: Path, name: str, lifetime: timedelta) -> Path:
    """Write a profile whose credentials come from a program and expire; return the log of the program's runs."""
    log, program = home / "runs.txt", home / "credentials.py"
    program.write_text(
        "import datetime, json\n"
        f"open({str(log)!r}, 'a').write('run\\n')\n"
        f"end = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds={lifetime.total_seconds()})\n"
        f"keys = {{'Version': 1, 'AccessKeyId': {ACCESS_KEY!r}, 'SecretAccessKey': {SECRET_KEY!r}}}\n"
        "print(json.dumps(keys | {'Expiration': end.isoformat()}))\n"
    )
    (home / ".aws").mkdir()
    (home / ".aws/config").write_text(f"[profile {name}]\ncredential_process = {sys.executable} {program}\n")
    return log


def test_profile_provides_credentials(s3: S3Bucket, dataset: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = write_profile(home, "team", timedelta(hours=1))
    assert_equal_datasets(rm.open(s3.url("data"), storage_options={"profile": "team"}), rm.open(dataset))
    monkeypatch.setenv("AWS_PROFILE", "team")
    assert_equal_datasets(rm.open(s3.url("data")), rm.open(dataset))
    assert log.exists()


def test_expiring_credentials_of_a_profile_are_replaced_in_time(home: Path) -> None:
    lifetime = timedelta(minutes=12)
    log = write_profile(home, "team", lifetime)
    store = create_store(load_obstore(), "s3://bucket", {"profile": "team"}, 0)
    for _ in range(3):
        credentials = store.credential_provider()
        assert credentials["access_key_id"] == ACCESS_KEY
        # obstore asks again before this time, so no request is signed with credentials that have expired.
        assert credentials["expires_at"] <= datetime.now(UTC) + lifetime
    assert len(log.read_text().splitlines()) > 3  # boto3 runs the program each time, as less than 15 minutes remain.


def test_missing_profile_is_named(s3: S3Bucket, home: Path, dataset: Path) -> None:
    with pytest.raises(RemoteError, match="nobody") as caught:
        rm.open(s3.url("data"), storage_options={"profile": "nobody"})
    check_error(caught.value)


def test_profile_file_without_credentials_is_ignored(s3: S3Bucket, dataset: Path, home: Path) -> None:
    (home / ".aws").mkdir()
    (home / ".aws/config").write_text("[default]\nregion = us-east-1\n")
    with pytest.raises(RemoteError) as caught:
        rm.open(s3.url("data"))
    assert caught.value.kind == "no_credentials"


def test_missing_credentials_are_explained(s3: S3Bucket, home: Path) -> None:
    with pytest.raises(RemoteError) as caught:
        rm.open(s3.url("data/"))
    assert caught.value.kind == "no_credentials", caught.value
    assert "AWS_ACCESS_KEY_ID" in str(caught.value.hint) and "skip_signature" in str(caught.value.hint)
    check_error(caught.value)


def test_anonymous_access_reads_public_objects(
    s3: S3Bucket, dataset: Path, proxied: Proxied, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = proxied(s3)
    for name in CREDENTIALS:
        monkeypatch.delenv(name)
    anonymous = {"skip_signature": True}
    with pytest.raises(RemoteError) as caught:
        rm.open(s3.url("data/train-00000-of-00002.tfrecord"), storage_options=anonymous)
    assert caught.value.kind == "access_denied"
    s3.make_public()
    for key in s3.list_keys():
        s3.put(key, s3.get(key), public=True)
    assert_equal_datasets(rm.open(s3.url("data"), storage_options=anonymous), rm.open(dataset))
    assert not any("authorization" in request.headers for request in proxy.requests)


def test_options_replace_environment(s3: S3Bucket, dataset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = {
        "endpoint": s3.endpoint,
        "access_key_id": ACCESS_KEY,
        "secret_access_key": SECRET_KEY,
        "region": "us-east-1",
    }
    for name in s3.environment:
        if name.startswith("AWS_"):
            monkeypatch.delenv(name)
    samples = rm.open(s3.url("data"), storage_options=options)
    assert_equal_datasets(samples, rm.open(dataset))
    for text in (repr(samples), str(samples), samples.fingerprint(), repr(samples.loader())):
        assert SECRET_KEY not in text


@pytest.mark.parametrize(
    "options",
    [
        {"no_such_option": 1},
        {"region": object()},
        {"client_options": {"nothing": 1}},
        {"aws_allow_http": "true"},
        {"token": "with a line break\n"},
    ],
)
def test_unknown_options_are_rejected(s3: S3Bucket, options: dict[str, Any]) -> None:
    with pytest.raises((RemoteError, ValueError, TypeError)) as caught:
        rm.open(s3.url("data"), storage_options=options)
    assert getattr(caught.value, "attempts", 1) == 1

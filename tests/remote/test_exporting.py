"""Exports to a bucket: the same files as a local export, all objects or none, faults, and Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordmill as rm
from tests.remote.datasets import check_error, read_bucket, read_folder, upload_folder
from tests.remote.fault_proxy import FaultProxy, Faults
from tests.remote.http_folder import HttpFolder
from tests.remote.keys import AWKWARD_KEYS
from tests.remote.loopback import Request
from tests.remote.object_store import SECRET_KEY, S3Bucket
from tests.remote.test_write_faults import IMPATIENT, TEMPORARY_FAULTS, WRITES
from tests.viewer.conftest import Client

pytestmark = [pytest.mark.deep, pytest.mark.usefixtures("quick_retries")]

Proxied = Callable[..., FaultProxy]
FORMS = {"folder": "photos", "webdataset": "tars", "jsonl": "a.jsonl", "csv": "a.csv", "parquet": "a.parquet"}
JPEG = b"\xff\xd8\xff\xe0 a photograph "


@pytest.fixture
def s3(s3: S3Bucket) -> Iterator[S3Bucket]:
    """Bucket in which no temporary object may remain."""
    yield s3
    assert [key for key in s3.list_keys() if ".tmp-" in key] == []


@pytest.fixture
def packed(photos: Path, tmp_path: Path) -> Path:
    """Two shards with 24 images in two classes."""
    rm.pack(rm.ImageFolder(photos), tmp_path / "packed" / "train", shards=2, keep_name=True)
    return tmp_path / "packed"


def write_images(path: Path, num_records: int, num_bytes: int = 0, keys: tuple[str, ...] = ()) -> Path:
    generator = np.random.default_rng(0)
    with rm.ShardWriter(path) as writer:
        for number in range(num_records):
            name = keys[number] if keys else f"{number % 3}/{number:05}.jpg"
            writer.write({"image": JPEG + generator.bytes(num_bytes) + b"%d" % number, "name": name, "label": number})
    return path


# The same files as locally


@pytest.mark.parametrize("form", FORMS)
def test_export_uploads_same_files_as_locally(s3: S3Bucket, packed: Path, tmp_path: Path, form: str) -> None:
    if form == "parquet":
        pytest.importorskip("pyarrow")
    options: dict[str, Any] = {"to": form} | ({"max_shard_bytes": 8_000} if form == "webdataset" else {})
    found = rm.export(packed, s3.url(f"deep/out/{FORMS[form]}"), **options)
    expected = rm.export(packed, tmp_path / "out" / FORMS[form], **options)
    assert read_bucket(s3, "deep/out") == read_folder(tmp_path / "out")
    assert found.path == s3.url(f"deep/out/{FORMS[form]}")
    assert found.to_json() == expected.to_json() | {"path": found.path}


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("form", FORMS)
def test_export_uploads_large_files_in_parts(
    s3: S3Bucket, tmp_path: Path, proxied: Proxied, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    if form == "parquet":
        pytest.importorskip("pyarrow")
    monkeypatch.setattr("recordmill.conversion.export.remote_folder._MAX_PUT_BYTES", 150_000)
    shard = write_images(tmp_path / "a.tfrecord", 8, num_bytes=200_000)
    proxy = proxied(s3)
    rm.export(shard, s3.url(f"out/{FORMS[form]}"), to=form)  # type: ignore[arg-type]
    rm.export(shard, tmp_path / "out" / FORMS[form], to=form)  # type: ignore[arg-type]
    assert read_bucket(s3, "out") == read_folder(tmp_path / "out")
    assert any("partNumber=3" in request.query for request in proxy.requests)


def test_export_uploads_many_images_in_parallel(s3: S3Bucket, tmp_path: Path, proxied: Proxied) -> None:
    shard = write_images(tmp_path / "a.tfrecord", 300)
    proxy = proxied(s3, Faults(latency=0.01))
    assert rm.export(shard, s3.url("out/photos"), to="folder").num_files == 301
    rm.export(shard, tmp_path / "out/photos", to="folder")
    assert read_bucket(s3, "out") == read_folder(tmp_path / "out")
    assert 8 <= proxy.peak_in_flight <= 33


def test_export_keeps_awkward_names(s3: S3Bucket, tmp_path: Path) -> None:
    shard = write_images(tmp_path / "a.tfrecord", len(AWKWARD_KEYS), keys=AWKWARD_KEYS)
    for number, key in enumerate(AWKWARD_KEYS):
        rm.export(shard, s3.url(f"out/{number}/{key}"), to="folder")
        rm.export(shard, tmp_path / f"out/{number}/{key}", to="folder")
        rm.export(shard, s3.url(f"out/{number}/{key}.csv"), to="csv")
        rm.export(shard, tmp_path / f"out/{number}/{key}.csv", to="csv")
    assert read_bucket(s3, "out") == read_folder(tmp_path / "out")
    for number, key in enumerate(AWKWARD_KEYS):
        rm.export(shard, s3.url(f"out/{number}/{key}"), to="webdataset", overwrite=True)
        rm.export(shard, tmp_path / f"out/{number}/{key}", to="webdataset", overwrite=True)
    assert read_bucket(s3, "out") == read_folder(tmp_path / "out")


def test_export_reads_and_writes_buckets(s3: S3Bucket, photos: Path, tmp_path: Path) -> None:
    rm.pack(rm.ImageFolder(photos), s3.url("data/train"), keep_name=True)
    dataset = rm.open(s3.url("data")).filter(lambda sample: sample["label"] == 0)
    rm.export(dataset, s3.url("cats"), to="folder")
    assert {name: data for name, data in read_bucket(s3, "cats").items() if name[-4:] == ".png"} == {
        name: data for name, data in read_folder(photos).items() if name.startswith("cat/")
    }


def test_export_fills_root_of_a_bucket(s3: S3Bucket, packed: Path, tmp_path: Path) -> None:
    s3.put("old/x.jpg", b"old")
    rm.export(packed, tmp_path / "local", to="folder")
    for address in (s3.url().rstrip("/"), s3.url()):
        rm.export(packed, address, to="folder", overwrite=True)
        assert read_bucket(s3) == read_folder(tmp_path / "local")


def test_export_command_writes_to_a_bucket(s3: S3Bucket, packed: Path, tmp_path: Path) -> None:
    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "recordmill", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    rm.export(packed, tmp_path / "local", to="folder")
    done = run("export", packed, s3.url("photos"), "--to", "folder")
    assert done.returncode == 0 and done.stdout.splitlines()[-1] == s3.url("photos"), done.stderr
    assert read_bucket(s3, "photos") == read_folder(tmp_path / "local")
    again = run("export", packed, s3.url("photos"), "--to", "folder")
    assert again.returncode == 2 and "--overwrite" in again.stderr
    assert run("export", packed, s3.url("photos"), "--to", "folder", "--overwrite", "--quiet").returncode == 0
    assert run("export", packed, "https://127.0.0.1:9/photos", "--to", "folder").returncode == 2


# Destinations that exist, or that must not be written


def test_export_replaces_folder_and_removes_old_objects(s3: S3Bucket, packed: Path, tmp_path: Path) -> None:
    for key in ("photos/cat/old.jpg", "photos/deep/er/old.jpg", "photos/labels.txt", "photos/labels.lst"):
        s3.put(key, b"old")
    others = {"photos.csv": b"other", "photos-2/x.jpg": b"other", "other": b"other"}
    for key, data in others.items():
        s3.put(key, data)
    rm.export(packed, s3.url("photos/"), to="folder", overwrite=True)
    rm.export(packed, tmp_path / "local", to="folder")
    expected = {f"photos/{name}": data for name, data in read_folder(tmp_path / "local").items()}
    assert read_bucket(s3) == expected | others


@pytest.mark.parametrize("form", FORMS)
def test_export_refuses_existing_destination(s3: S3Bucket, packed: Path, form: str) -> None:
    if form == "parquet":
        pytest.importorskip("pyarrow")
    key = f"out/{FORMS[form]}" + ("/deep/x" if form in ("folder", "webdataset") else "")
    s3.put(key, b"old")
    with pytest.raises(rm.OutputExistsError) as caught:
        rm.export(packed, s3.url(f"out/{FORMS[form]}"), to=form)  # type: ignore[arg-type]
    check_error(caught.value)
    assert read_bucket(s3) == {key: b"old"}
    rm.export(packed, s3.url(f"out/{FORMS[form]}"), to=form, overwrite=True)  # type: ignore[arg-type]
    assert read_bucket(s3).get(key) != b"old"


def test_export_refuses_folder_that_another_writer_has_filled(s3: S3Bucket, packed: Path) -> None:
    def write_other(sample: dict[str, Any]) -> dict[str, Any]:
        s3.put("photos/other.jpg", b"other")
        return sample

    with pytest.raises(rm.OutputExistsError):
        rm.export(rm.open(packed).map(write_other), s3.url("photos"), to="folder")
    assert read_bucket(s3) == {"photos/other.jpg": b"other"}


def test_export_refuses_address_of_a_folder_for_a_single_file(s3: S3Bucket, packed: Path) -> None:
    for address in (s3.url("out/"), s3.url()):
        with pytest.raises(rm.OutputExistsError, match="is a folder"):
            rm.export(packed, address, to="jsonl")


def test_export_refuses_destination_that_contains_a_source(s3: S3Bucket) -> None:
    rm.pack([{"image": JPEG, "label": 1}], s3.url("data/train"), shards=1)
    before = read_bucket(s3)
    shard = "data/train-00000-of-00001.tfrecord"
    for key, form in (("data", "folder"), ("data/", "webdataset"), ("", "folder"), (shard, "jsonl")):
        for address in (s3.url(key), s3.url(key).replace("s3://", "s3a://")):
            with pytest.raises(rm.InputError) as caught:
                rm.export(s3.url("data"), address, to=form, overwrite=True)  # type: ignore[arg-type]
            assert caught.value.kind == "same_file"
    assert read_bucket(s3) == before
    rm.export(s3.url("data"), s3.url("data-2"), to="folder")


def test_export_refuses_web_server(http_folder: HttpFolder, packed: Path) -> None:
    for form in ("folder", "jsonl"):
        with pytest.raises(rm.UnsupportedPathError, match="web server") as caught:
            rm.export(packed, f"{http_folder.url}/out?token={SECRET_KEY}", to=form)  # type: ignore[arg-type]
        check_error(caught.value)
    assert http_folder.requests == () and read_folder(http_folder.path) == {}


# Errors and faults


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("form", FORMS)
def test_failing_record_leaves_nothing(s3: S3Bucket, tmp_path: Path, form: str) -> None:
    if form == "parquet":
        pytest.importorskip("pyarrow")

    def fail(sample: dict[str, Any]) -> dict[str, Any]:
        if sample["label"] == 29:
            raise ValueError("stop")
        return sample

    dataset = rm.open(write_images(tmp_path / "a.tfrecord", 30, num_bytes=20_000)).map(fail)
    options: dict[str, Any] = {"max_shard_bytes": 150_000} if form == "webdataset" else {}
    with pytest.raises(rm.RecordmillError):
        rm.export(dataset, s3.url(f"out/{FORMS[form]}"), to=form, **options)  # type: ignore[arg-type]
    assert s3.list_keys() == s3.multipart_uploads() == []


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("form", ["folder", "webdataset", "jsonl"])
@pytest.mark.parametrize("fault", TEMPORARY_FAULTS)
def test_temporary_fault_of_each_write_is_repaired_by_a_retry(
    s3: S3Bucket, tmp_path: Path, proxied: Proxied, fault: str, form: str
) -> None:
    shard = write_images(tmp_path / "a.tfrecord", 12, num_bytes=10_000)
    options: dict[str, Any] = {"to": form, "classes": [f"class {number}" for number in range(12)]}
    proxied(s3, Faults(**TEMPORARY_FAULTS[fault], attempts=1, methods=WRITES))
    rm.export(shard, s3.url(f"out/{FORMS[form]}"), **options, storage_options=IMPATIENT)
    rm.export(shard, tmp_path / "out" / FORMS[form], **options)
    assert read_bucket(s3, "out") == read_folder(tmp_path / "out")


STAGES: dict[str, tuple[str, Callable[[Request], bool]]] = {
    "image": ("folder", lambda request: ".tmp-" in request.path and request.path.endswith("3.jpg")),
    "copy-image": ("folder", lambda request: request.path.endswith("photos/1/00004.jpg")),
    "copy-labels": ("folder", lambda request: request.path.endswith("photos/labels.jsonl")),
    "start-upload": ("webdataset", lambda request: request.query.startswith("uploads")),
    "part": ("webdataset", lambda request: "partNumber=2" in request.query),
    "complete-upload": ("webdataset", lambda request: request.method == "POST" and "uploadId=" in request.query),
    "copy-tar": ("webdataset", lambda request: request.path.endswith("tars/000001.tar")),
    "file": ("jsonl", lambda request: "partNumber=2" in request.query),
    "copy-file": ("jsonl", lambda request: request.path.endswith("a.jsonl")),
}


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("status", [503, 403])
@pytest.mark.parametrize("stage", STAGES)
def test_permanent_fault_of_one_step_leaves_nothing(
    s3: S3Bucket, tmp_path: Path, proxied: Proxied, stage: str, status: int
) -> None:
    form, match = STAGES[stage]
    shard = write_images(tmp_path / "a.tfrecord", 12, num_bytes=30_000)
    extra: dict[str, dict[str, Any]] = {
        "folder": {"class_folders": False},
        "webdataset": {"max_shard_bytes": 200_000},
        "jsonl": {"classes": [f"class {number}" for number in range(12)]},
    }
    proxied(s3, Faults(error_rate=1, error_status=status, methods=("PUT", "POST"), match=match))
    with pytest.raises(rm.WriteError) as caught:
        rm.export(shard, s3.url(f"out/{FORMS[form]}"), to=form, storage_options=IMPATIENT, **extra[form])  # type: ignore[arg-type]
    check_error(caught.value)
    assert caught.value.kind == ("access_denied" if status == 403 else "http_status"), caught.value
    assert str(caught.value.shard).startswith(s3.url("out/")) and ".tmp-" not in str(caught.value)
    assert s3.list_keys() == s3.multipart_uploads() == []


def test_fault_while_files_are_renamed_leaves_complete_objects(s3: S3Bucket, tmp_path: Path, proxied: Proxied) -> None:
    rm.export(write_images(tmp_path / "a.tfrecord", 12), s3.url("photos"), to="folder")
    before = read_bucket(s3, "photos")
    proxied(s3, Faults(error_rate=1, error_status=403, methods=("PUT",), match=STAGES["copy-labels"][1]))
    new = write_images(tmp_path / "b.tfrecord", 12, num_bytes=100)
    with pytest.raises(rm.WriteError):
        rm.export(new, s3.url("photos"), to="folder", overwrite=True)
    rm.export(new, tmp_path / "local", to="folder")
    after, expected = read_bucket(s3, "photos"), read_folder(tmp_path / "local")
    assert after.keys() == before.keys() and all(after[name] in (before[name], expected[name]) for name in after)


def test_read_only_and_missing_buckets_are_explained(s3: S3Bucket, packed: Path, proxied: Proxied) -> None:
    for form in ("folder", "jsonl"):
        with pytest.raises(rm.WriteError) as caught:
            rm.export(packed, s3.url(FORMS[form]).replace(s3.bucket, "no-such-bucket"), to=form)  # type: ignore[arg-type]
        assert caught.value.kind == "missing_bucket"
    for methods in (WRITES, ("GET", "HEAD")):
        proxied(s3, Faults(error_rate=1, error_status=403, methods=methods))
        for form in ("folder", "jsonl"):
            with pytest.raises(rm.WriteError) as caught:
                rm.export(packed, s3.url(FORMS[form]), to=form)  # type: ignore[arg-type]
            assert caught.value.kind == "access_denied" and caught.value.errno == 13
            check_error(caught.value)
    assert s3.list_keys() == []


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("number", [2, 20, 50])
@pytest.mark.parametrize("form", ["folder", "webdataset", "jsonl"])
def test_interrupted_export_leaves_nothing(
    s3: S3Bucket, tmp_path: Path, proxied: Proxied, form: str, number: int
) -> None:
    shard = write_images(tmp_path / "a.tfrecord", 40, num_bytes=60_000)
    options: dict[str, Any] = {"max_shard_bytes": 300_000} if form == "webdataset" else {}
    requests = []

    def interrupt(request: Request) -> bool:
        requests.append(request)
        if len(requests) == number:
            os.kill(os.getpid(), signal.SIGINT)
        return False

    proxied(s3, Faults(latency=0.005, error_rate=1, methods=WRITES, match=interrupt))
    with pytest.raises(KeyboardInterrupt):
        rm.export(shard, s3.url(f"out/{FORMS[form]}"), to=form, **options)  # type: ignore[arg-type]
    assert s3.list_keys() == []
    stop = time.monotonic() + 5  # If Ctrl-C interrupts the start of an upload, its thread aborts it a moment later.
    while s3.multipart_uploads() and time.monotonic() < stop:
        time.sleep(0.05)
    assert s3.multipart_uploads() == []


# Looking at remote datasets


def test_head_and_viewer_read_a_bucket(s3: S3Bucket, photos: Path) -> None:
    rm.pack(rm.ImageFolder(photos), s3.url("data/train"), shards=2, keep_name=True)
    command = [sys.executable, "-m", "recordmill", "head", "-n", "2", s3.url("data")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "cat/01.png" in done.stdout and "(cat)" in done.stdout, done.stderr
    with rm.view(s3.url("data"), browser=False) as viewer:
        client = Client(viewer.url)
        view = client.create_view("label == 1")
        (record,) = client.get(f"api/records?start=3&stop=4&view={view['id']}")["records"]
        image = client.request(f"api/image/{record['position']}/image/0").body
    assert image == (photos / "dog/06.png").read_bytes()


def test_bucket_is_exported_into_the_working_folder(
    s3: S3Bucket, packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload_folder(s3, packed, "packed")
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    rm.export(s3.url("packed"), ".", to="folder")
    rm.export(packed, tmp_path / "expected", to="folder")
    assert read_folder(tmp_path / "work") == read_folder(tmp_path / "expected")


@pytest.mark.parametrize("form", ["folder", "csv"])
def test_temporary_objects_that_cannot_be_removed_are_named(
    s3: S3Bucket, packed: Path, proxied: Proxied, form: str
) -> None:
    denied = proxied(s3, Faults(error_rate=1, error_status=403, methods=("DELETE", "POST")))
    with pytest.warns(RuntimeWarning, match=r"\.tmp-[0-9a-f]+ could not be removed"):
        rm.export(packed, s3.url(FORMS[form]), to=form)
    denied.faults = Faults()
    for key in s3.list_keys():
        if ".tmp-" in key:
            s3.delete(key)
    assert len(read_bucket(s3)) == (26 if form == "folder" else 2)


def test_address_with_two_slashes_is_the_same_address(s3: S3Bucket, packed: Path) -> None:
    rm.export(packed, f"s3://{s3.bucket}//photos", to="folder")
    with pytest.raises(rm.OutputExistsError):
        rm.export(packed, s3.url("photos"), to="folder")

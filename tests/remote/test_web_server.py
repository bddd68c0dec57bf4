"""Reading from web servers: names without listings, redirects to signed addresses, tokens, and secrets in messages."""

from __future__ import annotations

import logging
import pickle
from pathlib import Path
from typing import Any

import pytest

import recordmill as rm
from recordmill.errors import RemoteError
from tests.remote.datasets import assert_equal_datasets, assert_equal_samples, read_folder, write_dataset
from tests.remote.fault_proxy import FaultProxy, Faults
from tests.remote.http_folder import SIGNATURE, HttpFolder
from tests.remote.keys import AWKWARD_KEYS

pytestmark = [pytest.mark.deep, pytest.mark.usefixtures("quick_retries")]

TOKEN = "secret-bearer-token"


@pytest.fixture
def dataset(http_folder: HttpFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder of a local dataset with three shards, which the web server has, too, below "data/"."""
    monkeypatch.setenv("RECORDMILL_CACHE", str(tmp_path / "indexes"))
    write_dataset(tmp_path / "data" / "train")
    for name, data in read_folder(tmp_path / "data").items():
        http_folder.put(f"data/{name}", data)
    return tmp_path / "data"


NAMES = [f"train-0000{number}-of-00003.tfrecord" for number in range(3)]


@pytest.mark.parametrize("name", ["train", ".train.manifest.json", "train-{00000..00002}-of-00003.tfrecord"])
def test_open_accepts_prefix_manifest_and_brace_range(http_folder: HttpFolder, dataset: Path, name: str) -> None:
    found = rm.open(f"{http_folder.url}/data/{name}")
    assert_equal_datasets(found, rm.open(dataset))
    with found.shuffle(seed=1).batch(7).loader(threads=2) as loader:
        block = int(repr(found.shuffle(seed=1)).rpartition("block=")[2].partition(",")[0].rstrip(")"))
        assert_equal_samples(loader, rm.open(dataset).shuffle(seed=1, block=block).batch(7))


def test_open_accepts_list_of_addresses(http_folder: HttpFolder, dataset: Path) -> None:
    found = rm.open([http_folder.url_of(f"data/{name}") for name in NAMES])
    assert_equal_datasets(found, rm.open(dataset))


def test_open_with_manifest_takes_at_most_three_requests(http_folder: HttpFolder, dataset: Path) -> None:
    http_folder.reset_counts()
    assert len(rm.open(f"{http_folder.url}/data/.train.manifest.json")) == 60
    assert http_folder.count() <= 3 + 3  # Without a listing, the size of each shard is a request.


@pytest.mark.parametrize("name", ["data", "data/", "data/*.tfrecord", "data/nothing.tfrecord", "data/nothing-{0..3}"])
def test_error_explains_that_web_servers_do_not_list_folders(http_folder: HttpFolder, dataset: Path, name: str) -> None:
    with pytest.raises(FileNotFoundError, match="do not list folders"):
        rm.open(f"{http_folder.url}/{name}")


def test_awkward_names_can_be_read(http_folder: HttpFolder, tmp_path: Path) -> None:
    (path,) = write_dataset(tmp_path / "local.tfrecord", num_records=4, shards=None)
    expected = list(rm.iterate_payloads(path))
    for key in AWKWARD_KEYS:
        http_folder.put(key, Path(path).read_bytes())
        assert list(rm.iterate_payloads(http_folder.url_of(key))) == expected, key


def test_readers_verify_and_info_accept_web_addresses(http_folder: HttpFolder, dataset: Path) -> None:
    address, path = http_folder.url_of(f"data/{NAMES[0]}"), dataset / NAMES[0]
    with rm.ShardReader(address) as found, rm.ShardReader(path) as expected:
        assert list(found) == list(expected)
    assert rm.verify(address).num_records == 20
    assert rm.info(address).num_records == rm.info(path).num_records
    assert rm.diff(address, path).equal


def test_server_without_ranges_is_reported(http_folder: HttpFolder, dataset: Path) -> None:
    http_folder.supports_ranges = False
    with pytest.raises(RemoteError) as caught:
        list(rm.open(http_folder.url_of(f"data/{NAMES[0]}")))
    assert caught.value.attempts == 1 and "Range request" in str(caught.value)


def test_writing_is_not_supported(http_folder: HttpFolder) -> None:
    with pytest.raises((rm.WriteError, rm.UnsupportedPathError)) as caught:
        write_dataset(f"{http_folder.url}/out/train")
    assert http_folder.url in str(caught.value)
    assert read_folder(http_folder.path) == {}


# Signed addresses and tokens


def check_no_secret(*texts: object) -> None:
    for text in texts:
        assert SIGNATURE not in str(text) and "AKIASIGNED" not in str(text) and TOKEN not in str(text)


def test_signed_address_is_read_and_hidden(
    http_folder: HttpFolder, dataset: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    address = http_folder.signed_url_of(f"data/{NAMES[0]}")
    samples = rm.open(address, cache_dir=tmp_path / "cache")
    assert_equal_samples(samples, rm.open(dataset / NAMES[0]))
    check_no_secret(samples, repr(samples), repr(samples.loader()), samples.fingerprint(), caplog.text)
    check_no_secret(
        rm.info(address), rm.info(address).to_json(), rm.ShardReader(address), rm.diff(address, dataset / NAMES[1])
    )
    check_no_secret(*tmp_path.rglob("*"))
    for path in (tmp_path / "indexes").rglob("*"):
        assert SIGNATURE.encode() not in path.read_bytes()


def test_redirects_to_signed_addresses_are_followed_and_hidden(
    http_folder: HttpFolder, dataset: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    samples = rm.open([http_folder.redirect_url_of(f"data/{name}") for name in NAMES])
    assert_equal_samples(samples, rm.open(dataset))
    check_no_secret(samples, repr(samples), caplog.text)


@pytest.mark.parametrize("status", [403, 404, 500, 503])
@pytest.mark.parametrize("is_redirected", [False, True], ids=["direct", "redirect"])
def test_errors_hide_signatures(
    http_folder: HttpFolder, dataset: Path, status: int, is_redirected: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    key = f"data/{NAMES[0]}"
    with FaultProxy(http_folder.url) as proxy:

        def move(address: str) -> str:
            return address.replace(f":{http_folder.port}", f":{proxy.port}")

        address = move(http_folder.redirect_url_of(key) if is_redirected else http_folder.signed_url_of(key))
        # The redirect leads to the server itself, past the proxy.
        proxy.faults = Faults(error_rate=1, error_status=status)
        with pytest.raises(OSError) as caught:  # noqa: PT011 (several classes)
            rm.open(address)
    error = caught.value
    check_no_secret(error, repr(error), error.__dict__, pickle.dumps(error), caplog.text)
    assert isinstance(error, RemoteError | FileNotFoundError)
    assert "localhost" in str(error) or "127.0.0.1" in str(error)


def test_denied_target_of_a_redirect_hides_its_signature(
    http_folder: HttpFolder, dataset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_folder, "signed_url_of", lambda key: f"{SIGNED.format(http_folder.port)}{SIGNATURE}x")
    with pytest.raises(RemoteError) as caught:
        rm.open(http_folder.redirect_url_of(f"data/{NAMES[0]}"))
    check_no_secret(caught.value, repr(caught.value), pickle.dumps(caught.value))


SIGNED = "http://localhost:{}/a?X-Amz-Credential=AKIASIGNED&X-Amz-Signature="


def test_token_is_sent_and_hidden_and_not_sent_to_another_host(http_folder: HttpFolder, dataset: Path) -> None:
    http_folder.token = TOKEN
    options: dict[str, Any] = {"client_options": {"default_headers": {"authorization": f"Bearer {TOKEN}"}}}
    samples = rm.open(f"{http_folder.url}/data/train", storage_options=options)
    assert_equal_samples(samples, rm.open(dataset))
    check_no_secret(samples, repr(samples), repr(samples.loader()))
    with pytest.raises(RemoteError) as caught:
        rm.open(f"{http_folder.url}/data/train")
    assert caught.value.kind == "access_denied"
    with pytest.raises(FileNotFoundError) as missing:
        rm.open(f"{http_folder.url}/data/nothing.tfrecord", storage_options=options)
    check_no_secret(missing.value, repr(missing.value))
    http_folder.reset_counts()
    rm.open(http_folder.redirect_url_of(f"data/{NAMES[0]}"), storage_options=options)
    signed = [request for request in http_folder.requests if "X-Amz-Signature" in request.query]
    assert signed and not any("authorization" in request.headers for request in signed)


def test_user_and_password_of_an_address_are_hidden(http_folder: HttpFolder, dataset: Path) -> None:
    address = f"{http_folder.url}/data/nothing.tfrecord".replace("http://", f"http://user:{TOKEN}@")
    with pytest.raises(OSError) as caught:  # noqa: PT011 (several classes)
        rm.open(address)
    check_no_secret(caught.value, repr(caught.value), caught.value.filename)


def test_damaged_file_at_a_signed_address_is_reported_without_signature(http_folder: HttpFolder, dataset: Path) -> None:
    data = bytearray((dataset / NAMES[0]).read_bytes())
    data[len(data) // 2] ^= 1
    http_folder.put("damaged.tfrecord", bytes(data))
    http_folder.put("text.tfrecord", b"no shard at all")
    for key in ("damaged.tfrecord", "text.tfrecord"):
        address = http_folder.signed_url_of(key)
        report = rm.verify(address)
        assert report.num_faults == 1
        with pytest.raises(rm.RecordmillError) as caught:
            list(rm.open(address))
        assert key in str(caught.value)
        check_no_secret(report, report.faults, caught.value, repr(caught.value), pickle.dumps(caught.value))


# Versions


def test_file_replaced_after_open_raises_shard_changed(http_folder: HttpFolder, dataset: Path, tmp_path: Path) -> None:
    samples = rm.open(f"{http_folder.url}/data/train")
    write_dataset(tmp_path / "other" / "train", num_records=61)
    for name, data in read_folder(tmp_path / "other").items():
        http_folder.put(f"data/{name}", data)
    with pytest.raises(rm.ShardChangedError):
        samples.fetch([0])


@pytest.mark.parametrize("fault", ["error", "reset", "truncate", "short", "long", "stall"])
def test_temporary_faults_are_repaired_by_a_retry(http_folder: HttpFolder, dataset: Path, fault: str) -> None:
    with FaultProxy(http_folder.url, Faults(**{f"{fault}_rate": 1}, times=4)) as proxy:
        options = {"client_options": {"timeout": "250ms"}}
        samples = rm.open(f"{proxy.url}/data/train", storage_options=options)
        assert_equal_samples(samples, rm.open(dataset))
        assert proxy.count(fault=fault) >= 2

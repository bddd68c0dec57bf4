"""The test bed itself: every fault of the proxy, and round trips through moto and the static HTTP server."""

from __future__ import annotations

import hashlib
import http.client
import json
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest

from benches.object_server import ObjectServer
from tests.remote.fault_proxy import FaultProxy, Faults
from tests.remote.http_folder import SIGNATURE, HttpFolder
from tests.remote.keys import AWKWARD_KEYS
from tests.remote.object_store import ACCESS_KEY, MotoServer, S3Bucket

pytestmark = pytest.mark.deep

ROOT = Path(__file__).parents[2]
DATA = bytes(range(256)) * 400
ETAG = f'"{hashlib.md5(DATA, usedforsecurity=False).hexdigest()}"'


class Answer:
    """A complete response."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.body = response.read()


class Client:
    """An HTTP client with one connection, which it opens again after errors."""

    def __init__(self, url: str, timeout: float = 60) -> None:
        self.connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=timeout)

    def send(self, method: str, path: str, span: str = "", body: bytes | None = None, **headers: str) -> Answer:
        try:
            self.connection.request(method, path, body, {**headers, **({"Range": f"bytes={span}"} if span else {})})
            return Answer(self.connection.getresponse())
        except BaseException:
            self.connection.close()
            raise


class UntimedProxy(FaultProxy):
    """A proxy that records for how long it would sleep."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.slept: list[float] = []

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


@pytest.fixture
def folder(http_folder: HttpFolder) -> HttpFolder:
    http_folder.put("data", DATA)
    return http_folder


@pytest.fixture
def connect() -> Iterator[Callable[..., Client]]:
    clients: list[Client] = []

    def connect(server: FaultProxy | HttpFolder, timeout: float = 60) -> Client:
        clients.append(Client(server.url, timeout))
        return clients[-1]

    yield connect
    for client in clients:
        client.connection.close()


def create_store(bucket: str, retries: int = 0, **client_options: Any) -> Any:
    """Return an obstore of a bucket with the credentials and the endpoint of the environment."""
    from obstore.store import S3Store

    return S3Store(
        bucket,
        client_options={"allow_http": True, "timeout": "10s", **client_options},
        retry_config={
            "max_retries": retries,
            "retry_timeout": timedelta(seconds=30),
            "backoff": {"init_backoff": timedelta(milliseconds=1), "max_backoff": timedelta(milliseconds=2), "base": 2},
        },
    )


# The proxy without faults


def test_proxy_keeps_connections_and_streams_ranges(folder: HttpFolder, connect: Callable[..., Client]) -> None:
    with FaultProxy(folder.url) as proxy:
        client = connect(proxy)
        assert client.send("GET", "/data").body == DATA
        client_socket = client.connection.sock
        part = client.send("GET", "/data", "10-19")
        head = client.send("HEAD", "/data")
        assert client.connection.sock is client_socket
    assert (part.status, part.body, part.headers["content-range"]) == (206, DATA[10:20], f"bytes 10-19/{len(DATA)}")
    assert (head.status, head.headers["content-length"], head.body) == (200, str(len(DATA)), b"")
    assert part.headers["etag"] == head.headers["etag"] == ETAG


def test_proxy_records_requests_and_passes_host_on(folder: HttpFolder, connect: Callable[..., Client]) -> None:
    with FaultProxy(folder.url) as proxy:
        client = connect(proxy)
        client.send("GET", "/data", "0-1")
        client.send("HEAD", "/a%20b?x=%2F")
        found = [(each.method, each.path, each.query, each.range) for each in proxy.requests]
        assert found == [("GET", "/data", "", "bytes=0-1"), ("HEAD", "/a b", "x=%2F", "")]
        assert (proxy.count(), proxy.count("GET"), proxy.count("GET", "PUT", fault="")) == (2, 1, 1)
        assert [each.headers["host"] for each in folder.requests] == [urlsplit(proxy.url).netloc] * 2
        proxy.reset_counts()
        assert proxy.requests == ()


def test_proxy_serves_many_connections_and_leaves_no_thread(folder: HttpFolder) -> None:
    before = set(threading.enumerate())  # Threads of other tests may end meanwhile.

    def read_four(start: int) -> bytes:
        client = Client(proxy.url)
        parts = [client.send("GET", "/data", f"{at}-{at + 9}").body for at in range(start, start + 40, 10)]
        client.connection.close()
        return b"".join(parts)

    with FaultProxy(folder.url, latency=0.05) as proxy, ThreadPoolExecutor(100) as pool:
        starts = range(0, 4000, 40)
        assert list(pool.map(read_four, starts)) == [DATA[start : start + 40] for start in starts]
    assert proxy.peak_in_flight > 1
    assert set(threading.enumerate()) <= before


def test_proxy_reports_unreachable_server(connect: Callable[..., Client]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"http://127.0.0.1:{server.getsockname()[1]}"
    with FaultProxy(address) as proxy:
        assert connect(proxy).send("GET", "/data").status == 502


def test_proxy_as_program_ends_with_its_standard_input(folder: HttpFolder) -> None:
    command = [sys.executable, "-m", "tests.remote.fault_proxy", folder.url, "error_rate=1", "error_status=500"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        client = Client(process.stdout.readline().strip())
        assert client.send("GET", "/data").status == 500
        client.connection.close()
    assert process.returncode == 0


# Faults


@pytest.mark.parametrize("status", [403, 404, 416, 429, 500, 503])
def test_error_has_status_and_code(folder: HttpFolder, connect: Callable[..., Client], status: int) -> None:
    with FaultProxy(folder.url, error_rate=1, error_status=status, retry_after=3, times=2) as proxy:
        client = connect(proxy)
        answer = client.send("GET", "/data")
        assert answer.status == status
        assert b"<Code>" in answer.body
        assert answer.headers["retry-after"] == "3"
        assert client.send("HEAD", "/data").status == status
        assert client.send("GET", "/data").body == DATA
    assert folder.count() == 1
    assert [request.fault for request in proxy.requests] == ["error", "error", ""]


def test_latency_applies_to_all_requests_and_is_tenfold_for_slow_ones(
    folder: HttpFolder, connect: Callable[..., Client]
) -> None:
    with UntimedProxy(folder.url, latency=0.03, slow_rate=0.25) as proxy:
        client = connect(proxy)
        for start in range(200):
            client.send("GET", "/data", f"{start}-{start}")
        num_slow = proxy.count(fault="slow")
        client.send("PUT", "/data")
    assert sorted(set(proxy.slept)) == pytest.approx([0.03, 0.3])
    assert 25 <= num_slow == sum(slept > 0.1 for slept in proxy.slept) <= 75


def test_bandwidth_limits_bytes_per_second(folder: HttpFolder, connect: Callable[..., Client]) -> None:
    with UntimedProxy(folder.url, bandwidth=10_000) as proxy:
        assert connect(proxy).send("GET", "/data").body == DATA
    # Without sleeping, the last chunk is due when all bytes would have passed.
    assert proxy.slept[-1] == pytest.approx(len(DATA) / 10_000, abs=2)


@pytest.mark.parametrize("point", ["before", "after"])
def test_reset_ends_connection(folder: HttpFolder, connect: Callable[..., Client], point: str) -> None:
    with FaultProxy(folder.url, reset_rate=1, reset_point=point, times=1) as proxy:
        client = connect(proxy)
        with pytest.raises((ConnectionResetError, http.client.IncompleteRead)):
            client.send("GET", "/data")
        assert folder.count() == (point == "after")
        assert client.send("GET", "/data").body == DATA


def test_truncated_body_is_shorter_than_announced(folder: HttpFolder, connect: Callable[..., Client]) -> None:
    with FaultProxy(folder.url, truncate_rate=1) as proxy:
        client = connect(proxy)
        for span in ("0-9999", "5-5"):
            with pytest.raises(http.client.IncompleteRead) as raised:
                client.send("GET", "/data", span)
            assert raised.value.expected > 0
        assert client.send("HEAD", "/data").headers["content-length"] == str(len(DATA))
    assert [request.fault for request in proxy.requests] == ["truncate", "truncate", ""]


@pytest.mark.parametrize("content_range", ["keep", "adapt"])
@pytest.mark.parametrize("kind", ["short", "long"])
def test_short_and_long_bodies_have_consistent_length(
    folder: HttpFolder, connect: Callable[..., Client], kind: str, content_range: str
) -> None:
    with FaultProxy(folder.url, **{f"{kind}_rate": 1, "content_range": content_range}) as proxy:
        client = connect(proxy)
        for _ in range(5):
            answer = client.send("GET", "/data", "100-1099")
            num_bytes = len(answer.body)
            assert num_bytes < 1000 if kind == "short" else num_bytes > 1000
            assert answer.headers["content-length"] == str(num_bytes)
            assert answer.body[:1000] == DATA[100 : 100 + min(1000, num_bytes)]
            last = 1099 if content_range == "keep" else 99 + num_bytes
            assert answer.headers["content-range"] == f"bytes 100-{last}/{len(DATA)}"


def test_wrong_etag_is_of_another_version(folder: HttpFolder, connect: Callable[..., Client]) -> None:
    with FaultProxy(folder.url, wrong_etag_rate=1, attempts=1) as proxy:
        client = connect(proxy)
        for method in ("GET", "HEAD"):
            answers = [client.send(method, "/data") for _ in range(2)]
            assert [answer.headers["etag"] == ETAG for answer in answers] == [False, True]
            assert answers[0].body == answers[1].body


def test_stall_sends_headers_and_no_body(folder: HttpFolder, connect: Callable[..., Client]) -> None:
    with FaultProxy(folder.url, stall_rate=1) as proxy:
        client = connect(proxy, timeout=0.5)
        client.connection.request("GET", "/data")
        response = client.connection.getresponse()
        with pytest.raises(TimeoutError):
            response.read()
        response.close()
        client.connection.close()
        with pytest.raises(TimeoutError):
            client.send("HEAD", "/data")
        assert proxy.count_faults() == {"stall": 2}


def test_stall_ends_after_its_seconds(folder: HttpFolder, connect: Callable[..., Client]) -> None:
    with UntimedProxy(folder.url, stall_rate=1, stall_seconds=7) as proxy:
        assert connect(proxy).send("GET", "/data").body == DATA
    assert sum(proxy.slept) == pytest.approx(7, abs=0.1)


# Decisions


def find_faults(folder: HttpFolder, seed: int, order: list[int], num_threads: int, faults: Faults) -> dict[str, str]:
    """Return the fault of each range of one byte."""

    def read(number: int) -> None:
        client = Client(proxy.url)
        try:
            client.send("GET", "/data", f"{number}-{number}")
        except (OSError, http.client.HTTPException):
            pass
        finally:
            client.connection.close()

    with FaultProxy(folder.url, faults, seed=seed) as proxy, ThreadPoolExecutor(num_threads) as pool:
        list(pool.map(read, order))
    return {request.range: request.fault for request in proxy.requests}


def test_faults_depend_on_seed_and_not_on_order(folder: HttpFolder) -> None:
    faults = Faults(error_rate=0.1, reset_rate=0.1, truncate_rate=0.1, wrong_etag_rate=0.1)
    order = list(range(200))
    expected = find_faults(folder, 1, order, 1, faults)
    assert find_faults(folder, 1, order[::-1], 16, faults) == expected
    assert find_faults(folder, 2, order, 16, faults) != expected
    names = list(expected.values())
    assert all(8 <= names.count(name) <= 36 for name in ("error", "reset", "truncate", "wrong_etag"))


def test_attempts_of_equal_requests_are_decided_separately(folder: HttpFolder, connect: Callable[..., Client]) -> None:
    with FaultProxy(folder.url, error_rate=0.5) as proxy:
        client = connect(proxy)
        statuses = [client.send("GET", "/data").status for _ in range(50)]
        assert 10 < statuses.count(503) < 40
        proxy.reset_counts()
        assert [client.send("GET", "/data").status for _ in range(50)] == statuses


def test_limits_of_faults_count_attempts_or_all_requests(folder: HttpFolder, connect: Callable[..., Client]) -> None:
    with FaultProxy(folder.url, error_rate=1, attempts=2) as proxy:
        client = connect(proxy)
        order = ["0-0", "1-1", "0-0", "0-0", "1-1", "1-1"]
        assert [client.send("GET", "/data", span).status for span in order] == [503, 503, 503, 206, 503, 206]
        proxy.faults = Faults(error_rate=1, times=2)
        assert [client.send("GET", "/data", span).status for span in order] == [503, 503, 206, 206, 206, 206]
        assert proxy.count_faults() == {"error": 6, "": 6}


def test_methods_and_match_select_requests(folder: HttpFolder, connect: Callable[..., Client]) -> None:
    folder.put("other", b"x")
    with FaultProxy(folder.url, error_rate=1, methods=("GET",), match=lambda request: request.path == "/data") as proxy:
        client = connect(proxy)
        assert [client.send("GET", path).status for path in ("/data", "/other")] == [503, 200]
        assert client.send("HEAD", "/data").status == 200


def test_rates_are_checked() -> None:
    with pytest.raises(ValueError, match="rates must be"):
        Faults(error_rate=0.6, reset_rate=0.6)
    with pytest.raises(ValueError, match="rates must be"):
        Faults(slow_rate=-0.1)
    with pytest.raises(ValueError, match="cannot be combined"):
        FaultProxy("http://127.0.0.1:1", Faults(), latency=1)


# moto


def test_bucket_round_trip_with_any_key(s3: S3Bucket) -> None:
    import obstore

    store = create_store(s3.bucket)
    for key in AWKWARD_KEYS:
        s3.put(key, key.encode())
    assert s3.list_keys() == sorted(AWKWARD_KEYS)
    listed = [entry["path"] for page in obstore.list(store) for entry in page]
    assert sorted(listed) == s3.list_keys()
    assert [bytes(store.get(key).bytes()) for key in AWKWARD_KEYS] == [key.encode() for key in AWKWARD_KEYS]
    for key in AWKWARD_KEYS:
        store.put(key, key.encode()[::-1])
        assert s3.get(key) == key.encode()[::-1]


def test_multipart_upload_appears_when_it_is_complete(s3: S3Bucket, proxied: Callable[..., FaultProxy]) -> None:
    import obstore

    proxy = proxied(s3)
    store = create_store(s3.bucket)
    data = DATA * 120
    with obstore.open_writer(store, "large", buffer_size=5 << 20) as writer:
        writer.write(data)
        assert s3.list_keys() == []
    assert s3.get("large") == data
    assert s3.multipart_uploads() == []
    assert proxy.count("POST") == 2
    assert proxy.count("PUT") == 3


def test_lost_response_of_upload_is_observable(s3: S3Bucket, proxied: Callable[..., FaultProxy]) -> None:
    from obstore.exceptions import BaseError

    proxied(s3, Faults(reset_rate=1, reset_point="after", methods=("PUT",)))
    with pytest.raises(BaseError):
        create_store(s3.bucket).put("small", b"data", use_multipart=False)
    assert s3.get("small") == b"data"


def test_faults_of_uploads_leave_unfinished_upload_visible(s3: S3Bucket, proxied: Callable[..., FaultProxy]) -> None:
    from obstore.exceptions import BaseError

    faults = Faults(
        error_rate=1, error_status=403, methods=("POST", "DELETE"), match=lambda request: "uploadId" in request.query
    )
    proxied(s3, faults)
    with pytest.raises(BaseError):
        create_store(s3.bucket).put("large", bytes(6 << 20), use_multipart=True, chunk_size=5 << 20)
    assert s3.list_keys() == []
    assert s3.multipart_uploads() == ["large"]


def test_conditional_puts_are_supported(s3: S3Bucket) -> None:
    from obstore.exceptions import AlreadyExistsError, PreconditionError

    store = create_store(s3.bucket)
    result = store.put("lock", b"1", mode="create")
    with pytest.raises(AlreadyExistsError):
        store.put("lock", b"2", mode="create")
    store.put("lock", b"3", mode={"e_tag": result["e_tag"]})
    with pytest.raises(PreconditionError):
        store.put("lock", b"4", mode={"e_tag": result["e_tag"]})
    assert s3.get("lock") == b"3"


def test_anonymous_access_reaches_public_objects_only(s3: S3Bucket) -> None:
    from obstore.exceptions import BaseError
    from obstore.store import S3Store

    s3.put("public", b"for all", public=True)
    s3.put("private", b"secret")
    store = S3Store(s3.bucket, skip_signature=True, client_options={"allow_http": True})
    assert bytes(store.get("public").bytes()) == b"for all"
    with pytest.raises(BaseError):
        store.get("private")


def test_listing_of_10000_keys_takes_10_requests(s3: S3Bucket, proxied: Callable[..., FaultProxy]) -> None:
    import obstore

    keys = [f"train/{number:05}.tfrecord" for number in range(10_000)]
    s3.fill(keys, b"x")
    s3.put("validation/0.tfrecord", b"")
    proxy = proxied(s3)
    entries = [entry for page in obstore.list(create_store(s3.bucket), "train") for entry in page]
    assert sorted(entry["path"] for entry in entries) == keys
    assert {entry["size"] for entry in entries} == {1}
    assert proxy.count() <= 11


def test_proxy_records_signed_requests_of_the_environment(s3: S3Bucket, proxied: Callable[..., FaultProxy]) -> None:
    s3.put("data", DATA)
    proxy = proxied(s3)
    assert bytes(create_store(s3.bucket).get_range("data", start=5, end=9)) == DATA[5:9]
    (request,) = proxy.requests
    assert (request.path, request.range) == (f"/{s3.bucket}/data", "bytes=5-8")
    assert ACCESS_KEY in request.headers["authorization"]
    assert ACCESS_KEY not in repr(request)


# These are the reasons why a reader checks lengths and ETags itself.
UNDETECTED = {"short", "long", "wrong_etag"}


@pytest.mark.parametrize(
    "fault", ["error", "reset", "truncate", "short", "long", "wrong_etag", "stall"], ids=lambda fault: fault
)
def test_each_fault_reaches_obstore(s3: S3Bucket, proxied: Callable[..., FaultProxy], fault: str) -> None:
    from obstore.exceptions import BaseError

    s3.put("data", DATA)
    proxy = proxied(s3, Faults(**{f"{fault}_rate": 1}))
    store = create_store(s3.bucket, timeout="1s")
    if fault in UNDETECTED:
        result = store.get("data", options={"range": (100, 1100)})
        data = bytes(result.bytes())
        assert (data == DATA[100:1100], result.meta["e_tag"] == ETAG) == (fault == "wrong_etag", fault != "wrong_etag")
    else:
        with pytest.raises(BaseError):
            store.get_range("data", start=100, end=1100)
    assert proxy.count_faults() == {fault: 1}


@pytest.mark.parametrize("fault", ["error", "reset", "truncate"])
def test_retry_of_obstore_survives_two_faults(s3: S3Bucket, proxied: Callable[..., FaultProxy], fault: str) -> None:
    s3.put("data", DATA)
    proxy = proxied(s3, Faults(**{f"{fault}_rate": 1}, times=2))
    assert bytes(create_store(s3.bucket, retries=3).get_range("data", start=100, end=50_100)) == DATA[100:50_100]
    assert proxy.count_faults() == {fault: 2, "": 1}


def test_moto_process_ends_with_its_context() -> None:
    with MotoServer() as server:
        server.run("create", "some-bucket")
        assert server.run("keys", "some-bucket") == []
    assert server._process.returncode == 0


# Static servers


def test_folder_serves_awkward_keys_and_ranges(http_folder: HttpFolder, connect: Callable[..., Client]) -> None:
    client = connect(http_folder)
    for key in AWKWARD_KEYS:
        http_folder.put(key, key.encode())
        assert client.send("GET", f"/{quote(key)}", "0-3").body == key.encode()[:4]
        assert urllib.request.urlopen(http_folder.url_of(key)).read() == key.encode()
    assert client.send("GET", "/missing").status == 404
    assert client.send("GET", f"/{AWKWARD_KEYS[0]}", "1000-").status == 416
    assert client.send("GET", f"/{AWKWARD_KEYS[0]}", "-3").body == b"ord"
    http_folder.supports_ranges = False
    answer = client.send("GET", f"/{AWKWARD_KEYS[0]}", "0-3")
    assert (answer.status, answer.body) == (200, AWKWARD_KEYS[0].encode())


def test_folder_etag_changes_with_content(folder: HttpFolder, connect: Callable[..., Client]) -> None:
    client = connect(folder)
    etag = client.send("HEAD", "/data").headers["etag"]
    assert client.send("GET", "/data", **{"If-Match": etag}).status == 200
    assert client.send("GET", "/data", **{"If-None-Match": etag}).status == 304
    folder.put("data", b"new")
    assert client.send("GET", "/data", **{"If-Match": etag}).status == 412


def test_redirect_leads_to_signed_address_of_another_host(folder: HttpFolder, connect: Callable[..., Client]) -> None:
    folder.token = "secret-token"
    client = connect(folder)
    assert client.send("GET", "/data").status == 401
    answer = client.send("GET", "/redirect/data", Authorization="Bearer secret-token")
    assert answer.status == 302
    target = urlsplit(answer.headers["location"])
    assert (target.hostname, SIGNATURE in target.query) == ("localhost", True)
    assert client.send("GET", f"{target.path}?{target.query}").body == DATA
    assert client.send("GET", f"{target.path}?X-Amz-Signature=wrong").status == 403
    assert "authorization" in folder.requests[1].headers


def test_object_server_serves_objects_and_listings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import obstore
    from obstore.store import S3Store

    keys = [f"train/{number:04}.bin" for number in range(1200)]
    other = "größe 100%#.bin"
    (tmp_path / "data" / "train").mkdir(parents=True)
    for key in (*keys, other):
        (tmp_path / "data" / key).write_bytes(key.encode())
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with ObjectServer(tmp_path, latency_ms=1) as server:
        store = S3Store("data", endpoint=server.url, skip_signature=True, client_options={"allow_http": True})
        listed = [entry for page in obstore.list(store) for entry in page]
        assert sorted(entry["path"] for entry in listed) == sorted([*keys, other])
        parents = store.list_with_delimiter()
        assert (list(parents["common_prefixes"]), len(parents["objects"])) == (["train"], 1)
        assert bytes(store.get_range(keys[7], start=2, length=5)) == keys[7].encode()[2:7]
        head = store.head(other)
        assert head["e_tag"] == next(entry["e_tag"] for entry in listed if entry["path"] == other)
        assert bytes(store.get(other, options={"if_match": head["e_tag"]}).bytes()) == other.encode()
        with pytest.raises(FileNotFoundError):
            store.head("missing")
        stats = json.load(urllib.request.urlopen(f"{server.url}/.stats"))
        assert stats["requests"] == 7
    assert server._process.returncode == 0

"""Object stores for the tests of remote storage: moto, a static HTTP server, and a proxy that injects faults."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.remote.fault_proxy import FaultProxy, Faults
from tests.remote.http_folder import HttpFolder
from tests.remote.object_store import MotoServer, S3Bucket, create_environment

_NUMBERS = count()


@pytest.fixture(scope="session")
def moto_server() -> Iterator[MotoServer]:
    """Process with an S3 server."""
    with MotoServer() as server:
        yield server


@pytest.fixture
def bucket(moto_server: MotoServer) -> Iterator[str]:
    """Name of a new, empty bucket."""
    name = f"bucket-{os.getpid()}-{next(_NUMBERS)}"
    moto_server.run("create", name)
    yield name
    moto_server.run("delete", name)


@pytest.fixture
def s3(moto_server: MotoServer, bucket: str, monkeypatch: pytest.MonkeyPatch) -> S3Bucket:
    """Bucket that clients find through environment variables."""
    for name in os.environ:
        if name.startswith("AWS_"):
            monkeypatch.delenv(name)
    environment = create_environment(moto_server.url)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return S3Bucket(moto_server, bucket, environment)


@pytest.fixture
def proxied(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., FaultProxy]]:
    """Function that puts a `FaultProxy` before a bucket: `proxied(s3, Faults(...), seed=0)`."""
    with contextlib.ExitStack() as stack:

        def start(s3: S3Bucket, faults: Faults | None = None, **options: Any) -> FaultProxy:
            proxy = stack.enter_context(FaultProxy(s3.endpoint, faults, **options))
            s3.environment["AWS_ENDPOINT_URL"] = proxy.url
            monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.url)
            return proxy

        yield start


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Folder with two classes of images."""
    generator = np.random.default_rng(0)
    for number in range(24):
        path = tmp_path / "photos" / ("cat" if number % 2 else "dog") / f"{number:02}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(generator.integers(0, 255, (20, 15 + number), np.uint8)).save(path)
    return tmp_path / "photos"


@pytest.fixture
def quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Repeat failed requests after a millisecond."""
    monkeypatch.setattr("recordmill.storage.object_store._BACKOFF_S", 0.001)
    monkeypatch.setattr("recordmill.storage.object_store._MAX_BACKOFF_S", 0.001)


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Upload in parts of 64 KiB, so that small shards have many parts."""
    monkeypatch.setattr("recordmill.storage.remote_output._PART_BYTES", 64 << 10)


@pytest.fixture
def http_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HttpFolder]:
    """Static HTTP server of an empty folder."""
    folder = tmp_path / "http"
    folder.mkdir()
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
    with HttpFolder(folder) as server:
        yield server

"""S3 buckets of a moto server that runs in a process of its own."""

from __future__ import annotations

import base64
import http.client
import json
import subprocess
import sys
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote, urlsplit

_PROGRAM = Path(__file__).with_name("moto_program.py")
ACCESS_KEY = "AKIATESTBEDTESTBED00"
SECRET_KEY = "secret-key-of-the-test-bed"
REGION = "us-east-1"
# moto serves private objects to any signature of any access key.
_SIGNED = {
    "Authorization": f"AWS4-HMAC-SHA256 Credential={ACCESS_KEY}/20260101/{REGION}/s3/aws4_request, "
    f"SignedHeaders=host, Signature={'0' * 64}"
}


class MotoServer:
    """Context manager around a process with a moto server; `url` is its address."""

    def __init__(self) -> None:
        self.url = ""
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        """Start the process."""
        self._process = subprocess.Popen(
            [sys.executable, "-I", str(_PROGRAM)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        try:
            self.url = self._read_line()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exception: object) -> None:
        """End the process."""
        with self._process:  # Closes its standard input, at which it ends.
            pass

    def run(self, name: str, bucket: str, *arguments: Any) -> Any:
        """Run a command of `moto_program`."""
        with self._lock:
            assert self._process.stdin is not None
            self._process.stdin.write(json.dumps([name, bucket, *arguments]) + "\n")
            self._process.stdin.flush()
            return json.loads(self._read_line())

    def _read_line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline().strip()
        if not line:
            raise RuntimeError(
                "the moto server has ended, see its standard error; moto comes with the dependency group `cloud`"
            )
        return line


@dataclass(frozen=True)
class S3Bucket:
    """A bucket of a `MotoServer`.

    Parameters
    ----------
    server : MotoServer
        Server of the bucket.
    bucket : str
        Name of the bucket.
    environment : dict of str to str
        Environment variables with which clients find the server.
    """

    server: MotoServer = field(repr=False)
    bucket: str
    environment: dict[str, str] = field(repr=False)

    @property
    def endpoint(self) -> str:
        """Address of the server, without a proxy."""
        return self.server.url

    def url(self, key: str = "") -> str:
        """Return the address of an object, such as "s3://bucket/key"."""
        return f"s3://{self.bucket}/{key}"

    def put(self, key: str, data: bytes, *, public: bool = False) -> None:
        """Store an object, without the proxy; anybody can read a public one without credentials."""
        self._request("PUT", key, data, {"x-amz-acl": "public-read"} if public else {})

    def get(self, key: str) -> bytes:
        """Return the content of an object, without the proxy."""
        return self._request("GET", key)

    def delete(self, key: str) -> None:
        """Delete an object, without the proxy."""
        self._request("DELETE", key)

    def make_public(self) -> None:
        """Let anybody list the bucket without credentials."""
        self._request("PUT", "", headers={"x-amz-acl": "public-read"}, query="?acl")

    def fill(self, keys: Iterable[str], data: bytes = b"") -> None:
        """Store the same content under many keys."""
        self.server.run("fill", self.bucket, list(keys), base64.b64encode(data).decode())

    def list_keys(self) -> list[str]:
        """Return all keys, in order."""
        return self.server.run("keys", self.bucket)

    def multipart_uploads(self) -> list[str]:
        """Return the keys of multipart uploads that are neither completed nor aborted."""
        return self.server.run("uploads", self.bucket)

    def _request(
        self, method: str, key: str, data: bytes | None = None, headers: dict[str, str] | None = None, query: str = ""
    ) -> bytes:
        connection = http.client.HTTPConnection(urlsplit(self.endpoint).netloc, timeout=60)
        try:
            path = f"/{self.bucket}/{quote(key)}{query}"
            connection.request(method, path, data, {**_SIGNED, **(headers or {})})
            response = connection.getresponse()
            body = response.read()
        finally:
            connection.close()
        if response.status >= 300:
            raise RuntimeError(f"{method} {path}: {response.status} {body[:500]!r}")
        return body


def create_environment(endpoint: str) -> dict[str, str]:
    """Return the environment variables with which clients find an S3 server."""
    return {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": ACCESS_KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
        "AWS_REGION": REGION,
        "AWS_ALLOW_HTTP": "true",
        "NO_PROXY": "127.0.0.1,localhost",
    }

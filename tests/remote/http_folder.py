"""A static HTTP server with ranges, ETags and redirects to signed addresses, like a CDN or a download site."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from urllib.parse import quote

from tests.remote.loopback import Connection, LoopbackServer, Request

SIGNATURE = "5ec2e7516a7u2e" + "0" * 50


class HttpFolder(LoopbackServer):
    """Context manager that serves the files of a folder.

    `url` is its address. Addresses under ``/redirect/`` redirect to a signed address of the same file, at the host name
    "localhost" instead of "127.0.0.1", so that clients have to treat it as another host.

    Parameters
    ----------
    path : Path
        Folder of the files.

    Attributes
    ----------
    supports_ranges : bool, default True
        Whether requests with a range get a part of a file; otherwise they get all of it.
    token : str, optional
        Bearer token that requests without a signature must have.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.supports_ranges = True
        self.token: str | None = None

    def put(self, key: str, data: bytes) -> None:
        """Write a file."""
        path = self.path / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    def url_of(self, key: str) -> str:
        """Return the address of a file."""
        return f"{self.url}/{quote(key)}"

    def redirect_url_of(self, key: str) -> str:
        """Return an address that redirects to the signed address of a file."""
        return f"{self.url}/redirect/{quote(key)}"

    def signed_url_of(self, key: str) -> str:
        """Return the signed address of a file, at another host name."""
        return f"http://localhost:{self.port}/{quote(key)}?X-Amz-Credential=AKIASIGNED&X-Amz-Signature={SIGNATURE}"

    async def handle(self, ordinal: int, request: Request, body: bytes, connection: Connection) -> bool:
        status, headers, data = self._respond(request)
        await connection.respond(request, status, headers, data)
        return True

    def _respond(self, request: Request) -> tuple[int, dict[str, str], bytes]:
        if request.method not in ("GET", "HEAD"):
            return 405, {"allow": "GET, HEAD"}, b""
        if "X-Amz-Signature=" in request.query:
            if not request.query.endswith(f"X-Amz-Signature={SIGNATURE}"):
                return 403, {}, b"the signature does not match"
        elif self.token is not None and request.headers.get("authorization") != f"Bearer {self.token}":
            return 401, {"www-authenticate": "Bearer"}, b"a token is required"
        if request.path.startswith("/redirect/"):
            return 302, {"location": self.signed_url_of(request.path.removeprefix("/redirect/"))}, b""
        path = self.path / request.path.removeprefix("/")
        if ".." in path.parts or not path.is_file():
            return 404, {"content-type": "text/plain"}, b"no such file"
        return send_object(request, path.read_bytes(), supports_ranges=self.supports_ranges)


def send_object(request: Request, data: bytes, *, supports_ranges: bool = True) -> tuple[int, dict[str, str], bytes]:
    """Return status, headers and body of the response to a request of an object, or of a part of it."""
    etag = compute_etag(data)
    headers = {"etag": etag, "content-type": "application/octet-stream"}
    if request.headers.get("if-match", etag) not in (etag, "*"):
        return 412, headers, b""
    if request.headers.get("if-none-match") in (etag, "*"):
        return 304, headers, b""
    if not supports_ranges:
        return 200, headers, data
    headers["accept-ranges"] = "bytes"
    if not request.range:
        return 200, headers, data
    span = parse_range(request.range, len(data))
    if span is None:
        return 416, {**headers, "content-range": f"bytes */{len(data)}"}, b""
    start, stop = span
    return 206, {**headers, "content-range": f"bytes {start}-{stop - 1}/{len(data)}"}, data[start:stop]


def compute_etag(data: bytes) -> str:
    """Return the quoted ETag of an object."""
    return f'"{hashlib.md5(data, usedforsecurity=False).hexdigest()}"'


def parse_range(text: str, size: int) -> tuple[int, int] | None:
    """Return start and stop of the header Range for a file of `size` bytes; None if there are no such bytes."""
    found = re.fullmatch(r"bytes=(\d*)-(\d*)", text)
    if found is None or found.group() == "bytes=-":
        return None
    first, last = found.groups()
    if not first:
        start, stop = max(0, size - int(last)), size
    else:
        start, stop = int(first), min(size, int(last) + 1 if last else size)
    return (start, stop) if start < stop else None

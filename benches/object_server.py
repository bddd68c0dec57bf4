"""A read-only S3 server for a local folder, in a process of its own, that sends files with `sendfile`.

It is fast enough not to limit what it measures. Objects are at ``/{bucket}/{key}``, where buckets are the subfolders of
the folder. It supports GET with a range, HEAD, ETag, If-Match, and ListObjectsV2, and ignores signatures.
``GET /.stats`` returns the number of requests and of bytes as JSON. Programs use `ObjectServer`; to try it by hand:

    python -m benches.object_server FOLDER --port 9000 --latency-ms 30
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import contextlib
import datetime
import email.utils
import io
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Self
from urllib.parse import parse_qs, quote, unquote
from xml.sax.saxutils import escape

_HEAD_BYTES = 64 * 1024
_MAX_KEYS = 1000
_XMLNS = "http://s3.amazonaws.com/doc/2006-03-01/"
_REASONS = {200: "OK", 206: "Partial Content", 304: "Not Modified", 400: "Bad Request", 404: "Not Found"} | {
    405: "Method Not Allowed",
    412: "Precondition Failed",
    416: "Range Not Satisfiable",
}


class ObjectServer:
    """Context manager around a server process; `url` is its address.

    Parameters
    ----------
    folder : Path
        Folder whose subfolders are the buckets.
    latency_ms : float, default 0
        Milliseconds before each response.
    """

    def __init__(self, folder: Path, *, latency_ms: float = 0) -> None:
        self.url = ""
        self._command = [sys.executable, str(Path(__file__).resolve()), str(folder), "--stop-at-eof"]
        self._command += ["--latency-ms", str(latency_ms)]

    def __enter__(self) -> Self:
        """Start the process."""
        self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().strip()
        if not self.url:
            self.__exit__()
            raise RuntimeError("the object server did not start, see its standard error")
        return self

    def __exit__(self, *exception: object) -> None:
        """End the process."""
        with self._process:  # Closes its standard input, at which it ends.
            pass


@dataclass(frozen=True)
class _Response:
    """Status, headers and body: bytes, or a part of a file."""

    status: int
    headers: dict[str, str]
    data: bytes = b""
    file: BinaryIO | None = None
    start: int = 0
    length: int = 0


def _error(status: int, code: str, headers: dict[str, str] | None = None) -> _Response:
    text = f'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{code}</Code><Message>{code}</Message></Error>'
    return _Response(status, {"Content-Type": "application/xml", **(headers or {})}, text.encode())


class Folder:
    """Responses to requests for the objects of a folder."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.num_requests = 0
        self.num_bytes = 0

    def respond(self, method: str, target: str, headers: dict[str, str]) -> _Response:
        """Return the response; its file must be closed by the caller."""
        path, _, query = target.partition("?")
        if method not in ("GET", "HEAD"):
            return _error(405, "MethodNotAllowed")
        if path == "/.stats":
            stats = {"requests": self.num_requests, "bytes": self.num_bytes}
            return _Response(200, {"Content-Type": "application/json"}, json.dumps(stats).encode())
        self.num_requests += 1
        name = unquote(path)
        if ".." in name.split("/"):
            return _error(400, "InvalidURI")
        bucket, _, key = name.lstrip("/").partition("/")
        if key:
            return self._send_object(os.path.join(self.path, bucket, key), headers)
        if "list-type=2" in query.split("&"):
            return self._list_objects(bucket, {k: v[0] for k, v in parse_qs(query, keep_blank_values=True).items()})
        return _error(400, "InvalidRequest")

    def _send_object(self, path: str, headers: dict[str, str]) -> _Response:
        try:
            file = open(path, "rb", buffering=0)  # noqa: SIM115 (closed by the caller)
        except OSError:
            return _error(404, "NoSuchKey")
        response = _open_part(file, headers)
        if response.file is None:
            file.close()
        return response

    def _list_objects(self, bucket: str, query: dict[str, str]) -> _Response:
        root = os.path.join(self.path, bucket)
        if not os.path.isdir(root):
            return _error(404, "NoSuchBucket")
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
        limit = min(int(query.get("max-keys", _MAX_KEYS)), _MAX_KEYS)
        after = query.get("start-after", "")
        if token := query.get("continuation-token"):
            after = base64.urlsafe_b64decode(token).decode()
        encode = quote if query.get("encoding-type") == "url" else str
        entries, token = _select_entries(root, prefix, delimiter, after, limit)
        lines = [_format_entry(root, entry, encode) for entry in entries]
        more = f"<NextContinuationToken>{token}</NextContinuationToken>" if token else ""
        text = (
            f'<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="{_XMLNS}"><Name>{escape(bucket)}</Name>'
            f"<Prefix>{escape(encode(prefix))}</Prefix><KeyCount>{len(entries)}</KeyCount><MaxKeys>{limit}</MaxKeys>"
            f"<IsTruncated>{str(bool(token)).lower()}</IsTruncated>{more}{''.join(lines)}</ListBucketResult>"
        )
        return _Response(200, {"Content-Type": "application/xml"}, text.encode())


def _open_part(file: io.FileIO, headers: dict[str, str]) -> _Response:
    """Return the response with the requested range of a file."""
    status = os.fstat(file.fileno())
    etag = f'"{status.st_mtime_ns:x}-{status.st_size:x}"'
    common = {
        "ETag": etag,
        "Last-Modified": email.utils.formatdate(status.st_mtime, usegmt=True),
        "Accept-Ranges": "bytes",
        "Content-Type": "application/octet-stream",
    }
    if headers.get("if-match", etag) not in (etag, "*"):
        return _error(412, "PreconditionFailed", common)
    if headers.get("if-none-match") in (etag, "*"):
        return _Response(304, common)
    size = status.st_size
    if "range" not in headers:
        return _Response(200, common, file=file, start=0, length=size)
    found = re.fullmatch(r"bytes=(\d*)-(\d*)", headers["range"])
    if found is None:
        return _error(400, "InvalidArgument")
    first, last = found.groups()
    start = int(first) if first else max(0, size - int(last or 0))
    stop = min(size, int(last) + 1) if first and last else size
    if start >= stop:
        return _error(416, "InvalidRange", {"Content-Range": f"bytes */{size}"})
    common["Content-Range"] = f"bytes {start}-{stop - 1}/{size}"
    return _Response(206, common, file=file, start=start, length=stop - start)


def _walk_keys(root: str, prefix: str) -> Iterator[str]:
    """Yield the keys with a prefix, in any order."""
    folder = prefix.rpartition("/")[0]
    for path, _, names in os.walk(os.path.join(root, folder)):
        parent = os.path.relpath(path, root)
        for name in names:
            key = name if parent == "." else f"{parent}/{name}"
            if key.startswith(prefix):
                yield key


def _select_entries(root: str, prefix: str, delimiter: str, after: str, limit: int) -> tuple[list[str], str]:
    """Return one page of keys and common prefixes, which end with the delimiter, and the token of the next page."""
    entries: set[str] = set()
    for key in _walk_keys(root, prefix):
        head, found, _ = key[len(prefix) :].partition(delimiter) if delimiter else (key, "", "")
        entries.add(prefix + head + found if found else key)
    left = sorted((entry for entry in entries if entry.encode() > after.encode()), key=str.encode)
    page = left[:limit]
    token = base64.urlsafe_b64encode(page[-1].encode()).decode() if len(left) > limit and page else ""
    return page, token


def _format_entry(root: str, entry: str, encode: type[str]) -> str:
    path = os.path.join(root, entry)
    name = escape(encode(entry))
    if os.path.isdir(path) or entry.endswith("/"):
        return f"<CommonPrefixes><Prefix>{name}</Prefix></CommonPrefixes>"
    status = os.stat(path)
    changed = datetime.datetime.fromtimestamp(status.st_mtime, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    return (
        f"<Contents><Key>{name}</Key><LastModified>{changed}</LastModified>"
        f"<ETag>&quot;{status.st_mtime_ns:x}-{status.st_size:x}&quot;</ETag><Size>{status.st_size}</Size>"
        f"<StorageClass>STANDARD</StorageClass></Contents>"
    )


async def _serve_connection(client: socket.socket, folder: Folder, latency: float) -> None:
    loop = asyncio.get_running_loop()
    received = b""
    with client, contextlib.suppress(OSError):
        while True:
            while b"\r\n\r\n" not in received:
                data = await loop.sock_recv(client, _HEAD_BYTES)
                if not data or len(received) > _HEAD_BYTES:
                    return
                received += data
            head, _, received = received.partition(b"\r\n\r\n")
            first, *lines = head.decode("latin-1").split("\r\n")
            method, target, _ = first.split(" ", 2)
            pairs = (line.partition(":") for line in lines)
            headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
            if latency:
                await asyncio.sleep(latency)
            await _send_response(client, method, folder, folder.respond(method, target, headers))
            if headers.get("connection", "").lower() == "close" or method not in ("GET", "HEAD"):
                return


async def _send_response(client: socket.socket, method: str, folder: Folder, response: _Response) -> None:
    loop = asyncio.get_running_loop()
    file, length = response.file, response.length if response.file is not None else len(response.data)
    lines = [f"HTTP/1.1 {response.status} {_REASONS[response.status]}", f"Content-Length: {length}"]
    lines += [f"{name}: {value}" for name, value in response.headers.items()]
    head = "\r\n".join([*lines, "", ""]).encode("latin-1")
    with file or contextlib.nullcontext():
        if method == "HEAD":
            await loop.sock_sendall(client, head)
        elif file is None:
            await loop.sock_sendall(client, head + response.data)
        else:
            folder.num_bytes += length
            await _send_file(client, head, file, response.start, length)


async def _send_file(client: socket.socket, head: bytes, file: BinaryIO, start: int, length: int) -> None:
    loop = asyncio.get_running_loop()
    sent = 0
    with contextlib.suppress(BlockingIOError):
        # The head travels in the same packet as the beginning of the file.
        sent = client.send(head, socket.MSG_MORE if length else 0)
    if sent < len(head):
        await loop.sock_sendall(client, head[sent:])
    sent = 0
    with contextlib.suppress(BlockingIOError):
        # A small part fits into the buffer of the socket, and `sock_sendfile` takes longer.
        sent = os.sendfile(client.fileno(), file.fileno(), start, length) if length else 0
    if sent < length:
        await loop.sock_sendfile(client, file, start + sent, length - sent, fallback=False)


async def _serve(folder: Folder, port: int, latency: float, stop_at_eof: bool) -> None:
    loop = asyncio.get_running_loop()
    tasks: set[asyncio.Task[None]] = set()
    stop = asyncio.Event()
    if stop_at_eof:
        loop.add_reader(sys.stdin.fileno(), stop.set)  # Nothing is ever written to it: it is readable at its end.
    with socket.create_server(("127.0.0.1", port), backlog=1024) as listener:
        listener.setblocking(False)
        print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)

        async def accept() -> None:
            while True:
                client, _ = await loop.sock_accept(listener)
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                task = asyncio.create_task(_serve_connection(client, folder, latency))
                tasks.add(task)
                task.add_done_callback(tasks.discard)

        accepting = asyncio.create_task(accept())
        await stop.wait()
        accepting.cancel()


def main() -> None:
    """Serve until interrupted, or until standard input ends."""
    parser = argparse.ArgumentParser(prog="python -m benches.object_server", description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="folder whose subfolders are the buckets")
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1 (any free one)")
    parser.add_argument("--latency-ms", type=float, default=0, help="before each response (%(default)s)")
    parser.add_argument("--stop-at-eof", action="store_true", help="end when standard input does")
    options = parser.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(Folder(options.folder), options.port, options.latency_ms / 1000, options.stop_at_eof))


if __name__ == "__main__":
    main()

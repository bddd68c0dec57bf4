"""An HTTP/1.1 server on the loopback interface that runs in one thread and records its requests."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
import threading
import weakref
from collections import Counter
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Self
from urllib.parse import unquote

CHUNK_BYTES = 256 * 1024
_BUFFER_BYTES = 1024 * 1024


@dataclass(frozen=True)
class Request:
    """A request without its body.

    Parameters
    ----------
    method : str
        Such as "GET".
    target : str
        Path and query as sent, still percent-encoded.
    headers : dict of str to str
        Headers with names in lowercase.
    fault : str
        Name of the fault that the request met, "" for none.
    """

    method: str
    target: str
    headers: dict[str, str] = field(repr=False)
    fault: str = ""

    @property
    def path(self) -> str:
        """Path without the query, decoded."""
        return unquote(self.target.partition("?")[0])

    @property
    def query(self) -> str:
        """Query as sent, without the question mark."""
        return self.target.partition("?")[2]

    @property
    def range(self) -> str:
        """Value of the header Range, "" for the whole object."""
        return self.headers.get("range", "")


@dataclass(frozen=True)
class Head:
    """First line and headers of a message; the names of the headers are in lowercase."""

    words: tuple[str, str, str]
    headers: dict[str, str]


async def read_head(reader: asyncio.StreamReader) -> Head | None:
    """Read the first line and the headers of a message; None at the end of the connection."""
    try:
        text = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.IncompleteReadError as error:
        if error.partial:
            raise
        return None
    first, *lines = text[:-4].split("\r\n")
    words = (*first.split(" ", 2), "", "")[:3]
    pairs = (line.partition(":") for line in lines)
    return Head(words, {name.strip().lower(): value.strip() for name, _, value in pairs})


async def read_chunked(reader: asyncio.StreamReader) -> bytes:
    """Read a body with `Transfer-Encoding: chunked`."""
    body = bytearray()
    while size := int((await reader.readline()).split(b";")[0], 16):
        body += await reader.readexactly(size)
        await reader.readexactly(2)
    while (await reader.readline()).strip():
        pass  # A trailer.
    return bytes(body)


class Connection:
    """One connection of a client."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def receive(self) -> tuple[Request, bytes] | None:
        """Read a request and its body; None at the end of the connection."""
        head = await read_head(self.reader)
        if head is None:
            return None
        if head.headers.get("expect", "").lower() == "100-continue":
            self.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        if head.headers.get("transfer-encoding", "").lower() == "chunked":
            body = await read_chunked(self.reader)
        else:
            body = await self.reader.readexactly(int(head.headers.get("content-length", 0)))
        return Request(head.words[0], head.words[1], head.headers), body

    def write_head(self, status: int, headers: dict[str, str]) -> None:
        """Write the status line and the headers, which must contain the length of the body."""
        reason = HTTPStatus(status).phrase if status in HTTPStatus._value2member_map_ else "Unknown"
        lines = [f"HTTP/1.1 {status} {reason}", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
        self.writer.write("\r\n".join(lines).encode("latin-1"))

    async def respond(self, request: Request, status: int, headers: dict[str, str], body: bytes = b"") -> None:
        """Write a complete response; the body is omitted for HEAD."""
        self.write_head(status, {**headers, "content-length": str(len(body))})
        if request.method != "HEAD":
            self.writer.write(body)
        await self.writer.drain()

    def is_abandoned(self) -> bool:
        """Whether the client has closed the connection."""
        return self.reader.at_eof() or self.reader.exception() is not None or self.writer.transport.is_closing()

    def reset(self) -> None:
        """Close the connection with a TCP RST."""
        # Closing with a linger time of 0 discards unsent data and sends RST instead of FIN.
        connected = self.writer.get_extra_info("socket")
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


class LoopbackServer:
    """Context manager that serves HTTP at `url` from one thread; subclasses implement `handle`."""

    def __init__(self) -> None:
        self.url = ""
        self.port = 0
        self._lock = threading.Lock()
        self._log: dict[int, Request] = {}
        self._num_received = 0
        self._in_flight = 0
        self._peak_in_flight = 0
        self._error: BaseException | None = None
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self._transports: weakref.WeakSet[asyncio.BaseTransport] = weakref.WeakSet()
        self._thread = threading.Thread(target=self._run, name=type(self).__name__)

    async def handle(self, ordinal: int, request: Request, body: bytes, connection: Connection) -> bool:
        """Respond to a request; return whether the connection stays open."""
        raise NotImplementedError

    async def shut_down(self) -> None:
        """Release what `handle` opened."""

    @property
    def requests(self) -> tuple[Request, ...]:
        """Requests in order of arrival since the last call of `reset_counts`."""
        with self._lock:
            return tuple(self._log.values())

    @property
    def peak_in_flight(self) -> int:
        """Largest number of requests that were in progress at the same time."""
        with self._lock:
            return self._peak_in_flight

    def count(self, *methods: str, fault: str | None = None) -> int:
        """Return the number of requests with one of the methods, by default any, and with the fault if it is given."""
        matches = (not methods or each.method in methods for each in self.requests if fault in (None, each.fault))
        return sum(matches)

    def count_faults(self) -> Counter[str]:
        """Return the number of requests for each fault; "" is for requests without a fault."""
        return Counter(request.fault for request in self.requests)

    def reset_counts(self) -> None:
        """Forget the requests so far."""
        with self._lock:
            self._log.clear()
            self._peak_in_flight = self._in_flight

    def record_fault(self, ordinal: int, fault: str) -> None:
        """Set the fault of a recorded request."""
        with self._lock:
            if ordinal in self._log:
                self._log[ordinal] = replace(self._log[ordinal], fault=fault)

    def __enter__(self) -> Self:
        """Start the server."""
        self._thread.start()
        self._ready.wait()
        if self._error is not None:
            self._thread.join()
            raise self._error
        return self

    def __exit__(self, *exception: object) -> None:
        """Close all connections, stop the thread, and raise an error of `handle`."""
        if self._loop is not None and self._stop is not None and self._thread.is_alive():
            with contextlib.suppress(RuntimeError):  # The loop has already ended.
                self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        if self._error is not None and exception[:1] in ((), (None,)):
            raise self._error

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:  # noqa: BLE001 (raised in the thread that entered the context)
            self._error = error
        finally:
            self._ready.set()

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        server = await asyncio.start_server(self._connect, "127.0.0.1", 0, limit=_BUFFER_BYTES, backlog=1024)
        self.port = server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._ready.set()
        await self._stop.wait()
        for listener in server.sockets:
            self._loop.remove_reader(listener.fileno())
        # Connections that were just accepted begin. After `Server.close`, they would fail and leak their sockets.
        for _ in range(10):
            await asyncio.sleep(0)
        server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        for transport in self._transports:  # A closed transport remains until the client has received all bytes.
            transport.abort()
        await self.shut_down()
        for _ in range(3):  # Aborted transports close their sockets in the next iteration of the loop.
            await asyncio.sleep(0)

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        self._transports.add(writer.transport)
        connection = Connection(reader, writer)
        try:
            while await self._serve_request(connection):
                pass
            writer.close()
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            writer.transport.abort()  # The client has gone, or the server stops.
        except Exception as error:  # noqa: BLE001 (raised when the context ends)
            self._error = self._error or error
            writer.transport.abort()
        finally:
            self._connections.discard(task)

    async def _serve_request(self, connection: Connection) -> bool:
        message = await connection.receive()
        if message is None:
            return False
        request, body = message
        with self._lock:
            ordinal = self._num_received
            self._num_received += 1
            self._log[ordinal] = request
            self._in_flight += 1
            self._peak_in_flight = max(self._peak_in_flight, self._in_flight)
        try:
            stays = await self.handle(ordinal, request, body, connection)
        finally:
            with self._lock:
                self._in_flight -= 1
        return stays and request.headers.get("connection", "").lower() != "close"

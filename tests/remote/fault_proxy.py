"""A reverse proxy on the loopback interface that injects faults into HTTP requests and responses.

To run it in a process of its own, for measurements: ``python -m tests.remote.fault_proxy URL latency=0.03``. It prints
its address, and ends when its standard input does.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Literal
from urllib.parse import urlsplit

from tests.remote.loopback import CHUNK_BYTES, Connection, LoopbackServer, Request, read_chunked, read_head

# Parameters of a query that differ between runs with the same requests.
_RANDOM_PARAMETERS = ("uploadId=", "X-Amz-", "continuation-token=")
_PACED_BYTES = 16 * 1024  # per write, if the bandwidth is limited
_BURST_S = 0.02
_POLL_S = 0.05
_WRONG_ETAG = '"00000000000000000000000000000000"'
# Names of errors in the XML of S3 by HTTP status.
_CODES = {
    400: "InvalidRequest",
    401: "AccessDenied",
    403: "AccessDenied",
    404: "NoSuchKey",
    412: "PreconditionFailed",
    416: "InvalidRange",
    429: "TooManyRequests",
    500: "InternalError",
    503: "SlowDown",
}


@dataclass(frozen=True)
class Faults:
    """Which faults a `FaultProxy` injects, and how often.

    A request meets at most one of the faults error, reset, truncate, short, long, wrong_etag and stall; their rates
    add up to 1 at most. Whether it does depends only on the seed of the proxy, on method, path, query and range of the
    request, and on its attempt: the number of equal requests before it. Hence neither the order of parallel requests
    nor their timing changes the faults.

    Parameters
    ----------
    latency : float, default 0
        Seconds before each request, of any method and path, is processed.
    slow_rate, slow_factor : float, default 0 and 10
        Share of requests whose latency is multiplied by the factor.
    error_rate, error_status, error_code, retry_after
        Share of requests that get an error instead of reaching the server, its HTTP status (default 503), the code in
        its XML (default: the usual one of S3 for the status), and the seconds of its header Retry-After (default:
        no header).
    reset_rate, reset_point
        Share of requests whose connection is reset (TCP RST), and when: "before" the server gets the request, "after"
        the server has processed it (in the middle of the body of the response, if it has one), or "any" of the two
        (default).
    truncate_rate : float, default 0
        Share of responses whose body ends before its announced length, with the connection.
    short_rate, long_rate, content_range
        Share of responses whose body is shorter, or longer, than requested, with a consistent Content-Length. The
        header Content-Range is kept (default, "keep") or adapted to the body ("adapt").
    wrong_etag_rate : float, default 0
        Share of responses with the ETag of another version.
    stall_rate, stall_seconds : float, default 0 and 60
        Share of responses that pause after their headers (before them, if there is no body), and for how long.
    bandwidth : float, optional
        Bytes per second that all bodies together, of requests and responses of any method, pass at.
    methods : tuple of str, default ("GET", "HEAD")
        Methods of the requests that meet faults. Uploads use "PUT", "POST" and "DELETE".
    match : callable, optional
        Function of a `Request` that returns whether it can meet faults.
    times : int, optional
        Number of requests, in order of arrival, that meet a fault until none does.
    attempts : int, optional
        Number of attempts of each request, from the first, that can meet a fault. ``error_rate=1, attempts=2`` lets
        the third attempt succeed.
    """

    latency: float = 0.0
    slow_rate: float = 0.0
    slow_factor: float = 10.0
    error_rate: float = 0.0
    error_status: int = 503
    error_code: str | None = None
    retry_after: int | None = None
    reset_rate: float = 0.0
    reset_point: Literal["before", "after", "any"] = "any"
    truncate_rate: float = 0.0
    short_rate: float = 0.0
    long_rate: float = 0.0
    content_range: Literal["keep", "adapt"] = "keep"
    wrong_etag_rate: float = 0.0
    stall_rate: float = 0.0
    stall_seconds: float = 60.0
    bandwidth: float | None = None
    methods: tuple[str, ...] = ("GET", "HEAD")
    match: Callable[[Request], bool] | None = None
    times: int | None = None
    attempts: int | None = None

    def __post_init__(self) -> None:
        """Check the rates."""
        rates = [*self.exclusive_rates.values(), self.slow_rate]
        if not all(0 <= rate <= 1 for rate in rates) or sum(rates[:-1]) > 1 + 1e-9:
            raise ValueError(f"rates must be from 0 to 1 and add up to 1 at most, got {self}")

    @property
    def exclusive_rates(self) -> dict[str, float]:
        """Rate of each fault of which a request meets at most one."""
        names = ("error", "reset", "truncate", "short", "long", "wrong_etag", "stall")
        return {name: getattr(self, f"{name}_rate") for name in names}


class _Draws:
    """Random numbers that depend on the seed, the request and its attempt, but not on other requests."""

    def __init__(self, seed: int, request: Request, attempt: int) -> None:
        self._key = f"{seed}\n{identify_request(request)}\n{attempt}"

    def draw(self, name: str) -> float:
        """Return a number from 0 to 1, 1 excluded, that differs between names."""
        digest = hashlib.blake2b(f"{name}\n{self._key}".encode(), digest_size=8).digest()
        return (int.from_bytes(digest, "big") >> 11) / 2**53


def identify_request(request: Request) -> str:
    """Return what equal requests have in common, in any run of a program."""
    parameters = (each for each in request.query.split("&") if not each.startswith(_RANDOM_PARAMETERS))
    return f"{request.method} {request.target.partition('?')[0]}?{'&'.join(parameters)} {request.range}"


@dataclass(frozen=True)
class _Fault:
    """A decision for one request."""

    name: str
    draws: _Draws
    slow: bool


class _Response:
    """Status, headers and body of the response of the server behind the proxy."""

    def __init__(
        self, status: int, headers: dict[str, str], length: int, reader: asyncio.StreamReader, ready: bytes | None
    ) -> None:
        self.status = status
        self.headers = headers
        self.length = length
        self._reader = reader
        self._ready = ready
        self._left = length

    async def read(self, num_bytes: int) -> bytes:
        """Read at most `num_bytes` of the body; b"" at its end."""
        num_bytes = min(num_bytes, self._left)
        if self._ready is not None:
            data = self._ready[self.length - self._left :][:num_bytes]
        else:
            data = await self._reader.read(num_bytes) if num_bytes else b""
            if num_bytes and not data:
                raise ConnectionError("the server closed the connection in the middle of a body")
        self._left -= len(data)
        return data

    async def skip_rest(self) -> None:
        """Read the rest of the body, so that the connection can be used again."""
        while await self.read(CHUNK_BYTES):
            pass


class _Upstream:
    """Connections to the server behind the proxy, which are used again."""

    def __init__(self, url: str) -> None:
        address = urlsplit(url)
        if address.scheme != "http" or not address.hostname:
            raise ValueError(f"the server behind the proxy must have an http:// address, got {url}")
        self._address = (address.hostname, address.port or 80)
        self._idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    @contextlib.asynccontextmanager
    async def send(self, request: Request, body: bytes):
        """Send a request and yield the response."""
        skipped = ("connection", "keep-alive", "proxy-connection", "transfer-encoding", "content-length", "expect")
        headers = {name: value for name, value in request.headers.items() if name not in skipped}
        if body or "content-length" in request.headers:
            headers["content-length"] = str(len(body))
        lines = [
            f"{request.method} {request.target} HTTP/1.1",
            *(f"{name}: {value}" for name, value in headers.items()),
        ]
        message = "\r\n".join([*lines, "", ""]).encode("latin-1") + body
        reader, writer, response = await self._exchange(message, request.method)
        keep = False
        try:
            yield response
            await response.skip_rest()
            keep = response.headers.get("connection", "").lower() != "close"
        finally:
            if keep:
                self._idle.append((reader, writer))
            else:
                writer.transport.abort()

    async def _exchange(self, message: bytes, method: str):
        while True:
            is_new = not self._idle
            if is_new:
                reader, writer = await asyncio.open_connection(*self._address, limit=4 * CHUNK_BYTES)
            else:
                reader, writer = self._idle.pop()
            try:
                return reader, writer, await self._ask(reader, writer, message, method)
            except (OSError, asyncio.IncompleteReadError):
                writer.transport.abort()
                if is_new:
                    raise
                # The server has closed an idle connection: try the next one.
            except BaseException:
                writer.transport.abort()
                raise

    async def _ask(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, message: bytes, method: str
    ) -> _Response:
        writer.write(message)
        await writer.drain()
        head = await read_head(reader)
        while head is not None and head.words[1] == "100":
            head = await read_head(reader)
        if head is None:
            raise ConnectionError("the server closed the connection without a response")
        status, headers = int(head.words[1]), head.headers
        if method == "HEAD" or status in (204, 304):
            return _Response(status, headers, 0, reader, b"")
        if headers.get("transfer-encoding", "").lower() == "chunked":
            body = await read_chunked(reader)
        elif "content-length" in headers:
            return _Response(status, headers, int(headers["content-length"]), reader, None)
        else:
            body = await reader.read(-1)
            headers["connection"] = "close"
        return _Response(status, headers, len(body), reader, body)

    def close(self) -> None:
        """Close all idle connections."""
        for _, writer in self._idle:
            writer.transport.abort()
        self._idle.clear()


class FaultProxy(LoopbackServer):
    """Reverse proxy that passes requests on to `upstream_url` and injects faults.

    Bodies of responses are streamed, connections of clients are kept alive, and the header Host is passed on. The proxy
    is a context manager; `url` is its address.

    Parameters
    ----------
    upstream_url : str
        Address of the server behind the proxy, such as "http://127.0.0.1:5000".
    faults : Faults, optional
        Faults to inject; they can be replaced at any time through the attribute `faults`.
    seed : int, default 0
        Seed of the decisions.
    **options
        Fields of `Faults`, instead of `faults`.
    """

    def __init__(self, upstream_url: str, faults: Faults | None = None, *, seed: int = 0, **options) -> None:
        if faults is not None and options:
            raise ValueError(f"faults= cannot be combined with {', '.join(options)}")
        super().__init__()
        self.upstream_url = upstream_url
        self._upstream = _Upstream(upstream_url)
        self._seed = seed
        self._faults = faults or Faults(**options)
        self._attempts: Counter[str] = Counter()
        self._num_faults = 0
        self._busy_until = 0.0

    @property
    def faults(self) -> Faults:
        """Faults that are injected; setting them restarts the counts of `times` and `attempts`."""
        return self._faults

    @faults.setter
    def faults(self, faults: Faults) -> None:
        with self._lock:
            self._faults = faults
            self._restart()

    def reset_counts(self) -> None:
        """Forget the requests so far, and restart the counts of `times` and `attempts`."""
        super().reset_counts()
        with self._lock:
            self._restart()

    def _restart(self) -> None:
        self._attempts.clear()
        self._num_faults = 0

    async def shut_down(self) -> None:
        self._upstream.close()

    def _decide(self, request: Request) -> tuple[Faults, _Fault]:
        """Return the present faults and the one that the request meets."""
        with self._lock:
            faults = self._faults
            identity = identify_request(request)
            attempt = self._attempts[identity]
            self._attempts[identity] += 1
            draws = _Draws(self._seed, request, attempt)
            name, slow = "", False
            if self._can_fail(faults, request, attempt):
                name = _choose(faults.exclusive_rates, draws.draw("fault"))
                slow = draws.draw("slow") < faults.slow_rate
                self._num_faults += bool(name)
        return faults, _Fault(name, draws, slow)

    def _can_fail(self, faults: Faults, request: Request, attempt: int) -> bool:
        return (
            request.method in faults.methods
            and (faults.times is None or self._num_faults < faults.times)
            and (faults.attempts is None or attempt < faults.attempts)
            and (faults.match is None or faults.match(request))
        )

    async def handle(self, ordinal: int, request: Request, body: bytes, connection: Connection) -> bool:
        faults, fault = self._decide(request)
        self.record_fault(ordinal, fault.name or "slow" * fault.slow)
        await self._sleep(faults.latency * (faults.slow_factor if fault.slow else 1))
        await self._pace(faults, len(body))
        if fault.name == "error":
            await _send_error(faults, request, connection)
            return True
        before = faults.reset_point == "before" or (faults.reset_point == "any" and fault.draws.draw("point") < 0.5)
        if fault.name == "reset" and before:
            connection.reset()
            return False
        try:
            async with self._upstream.send(request, body) as response:
                return await self._relay(ordinal, request, response, connection, faults, fault)
        except ConnectionRefusedError as error:
            text = f"the server behind the proxy does not respond: {error}"
            await connection.respond(request, 502, {"content-type": "text/plain"}, text.encode())
            return False

    async def _relay(
        self,
        ordinal: int,
        request: Request,
        response: _Response,
        connection: Connection,
        faults: Faults,
        fault: _Fault,
    ) -> bool:
        """Send the response to the client, with its fault; return whether the connection stays open."""
        name = fault.name
        needs_body = name in ("truncate", "short", "long")
        if (needs_body and not response.length) or (needs_body and response.status not in (200, 206)):
            self.record_fault(ordinal, "")
            name = ""
        if name == "reset" and not response.length:
            connection.reset()
            return False
        headers, position, extra = _alter(response, name, faults, fault.draws)
        if name == "stall" and not response.length:
            await self._stall(connection, faults.stall_seconds)
        connection.write_head(response.status, headers)
        if name == "stall" and response.length:
            await connection.writer.drain()
            await self._stall(connection, faults.stall_seconds)
        await self._copy(response, connection, position, faults)
        if extra:
            connection.writer.write(extra)
        await connection.writer.drain()
        if name == "reset":
            connection.reset()
        return name not in ("reset", "truncate")

    async def _copy(self, response: _Response, connection: Connection, num_bytes: int, faults: Faults) -> None:
        step = _PACED_BYTES if faults.bandwidth else CHUNK_BYTES
        while num_bytes and (data := await response.read(min(step, num_bytes))):
            await self._pace(faults, len(data))
            num_bytes -= len(data)
            connection.writer.write(data)
            await connection.writer.drain()

    async def _sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def _stall(self, connection: Connection, seconds: float) -> None:
        """Wait, at most until the client closes the connection."""
        while seconds > 0:
            await self._sleep(min(seconds, _POLL_S))
            seconds -= _POLL_S
            if connection.is_abandoned():
                raise ConnectionAbortedError

    async def _pace(self, faults: Faults, num_bytes: int) -> None:
        """Wait until the bytes, and all before them, have passed at the limited bandwidth."""
        if not faults.bandwidth or not num_bytes:
            return
        now = asyncio.get_running_loop().time()
        # A burst makes up for the time by which the sleep before took too long.
        self._busy_until = max(now - _BURST_S, self._busy_until) + num_bytes / faults.bandwidth
        await self._sleep(self._busy_until - now)


def _choose(rates: dict[str, float], number: float) -> str:
    """Return the fault at a number from 0 to 1, "" for none."""
    for name, rate in rates.items():
        if number < rate:
            return name
        number -= rate
    return ""


def _alter(response: _Response, name: str, faults: Faults, draws: _Draws) -> tuple[dict[str, str], int, bytes]:
    """Return headers, the number of bytes of the body to send, and bytes to add."""
    skipped = ("connection", "keep-alive", "transfer-encoding")
    headers = {key: value for key, value in response.headers.items() if key not in skipped}
    if response.length or "content-length" not in headers:
        headers["content-length"] = str(response.length)
    if name == "wrong_etag" and "etag" in headers:
        headers["etag"] = _WRONG_ETAG
    if name not in ("truncate", "short", "long", "reset"):
        return headers, response.length, b""
    position = int(draws.draw("position") * response.length)
    if name in ("truncate", "reset"):
        return headers, position, b""
    extra = bytes(1 + int(draws.draw("extra") * 1000)) if name == "long" else b""
    sent = response.length if name == "long" else position
    headers["content-length"] = str(sent + len(extra))
    if faults.content_range == "adapt" and "content-range" in headers:
        span, _, total = headers["content-range"].removeprefix("bytes ").partition("/")
        start = int(span.partition("-")[0])
        headers["content-range"] = f"bytes {start}-{start + sent + len(extra) - 1}/{total}"
    return headers, sent, extra


async def _send_error(faults: Faults, request: Request, connection: Connection) -> None:
    code = faults.error_code or _CODES.get(faults.error_status, "InternalError")
    text = f'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{code}</Code><Message>Fault</Message></Error>'
    headers = {"content-type": "application/xml"}
    if faults.retry_after is not None:
        headers["retry-after"] = str(faults.retry_after)
    await connection.respond(request, faults.error_status, headers, text.encode())


def main(words: list[str]) -> None:
    """Run a proxy until standard input ends; `words` are the address of the server, and fields of `Faults`."""
    kinds = {each.name: {"float": float, "int": int}.get(str(each.type).split(" ")[0], str) for each in fields(Faults)}
    options = {name: kinds.get(name, int)(value) for name, _, value in (word.partition("=") for word in words[1:])}
    with FaultProxy(words[0], **options) as proxy:
        print(proxy.url, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1:])

"""HTTP server of the viewer. It requires a token, and refuses requests from other machines and from other pages."""

from __future__ import annotations

import contextlib
import hmac
import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from recordmill.errors import RecordmillError, WhereError
from recordmill.viewer.jobs import error_to_json

_HOST = "127.0.0.1"
_MAX_BODY_BYTES = 64 << 10
# Seconds after which a connection without a request is closed.
_IDLE_SECONDS = 60
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; img-src 'self' blob: data:; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
}
_STATIC_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}


@dataclass(frozen=True, slots=True)
class Request:
    """A request: method, segments of the path after the token, query, and JSON body."""

    method: str
    path: tuple[str, ...]
    query: dict[str, str]
    body: Any = None


@dataclass(frozen=True, slots=True)
class Response:
    """A response: body, media type, and further headers."""

    body: bytes
    media_type: str
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"Cache-Control": "no-store"})


class RequestError(Exception):
    """Raised for a request that cannot be answered; contains the HTTP status of the response."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def json_response(value: Any, status: int = 200) -> Response:
    """Return a response with a JSON body. NaN and infinite numbers become null."""
    text = json.dumps(_replace_nonfinite(value), ensure_ascii=False, allow_nan=False)
    return Response(text.encode("utf-8", "backslashreplace"), "application/json", status)


def _replace_nonfinite(value: Any) -> Any:
    if isinstance(value, float):
        return value if value - value == 0 else None
    if isinstance(value, dict):
        return {key: _replace_nonfinite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_replace_nonfinite(item) for item in value]
    return value


class ViewerServer(ThreadingHTTPServer):
    """HTTP server on the loopback address.

    Parameters
    ----------
    respond : callable
        Answers a `Request` with a `Response`, or raises `RequestError` or an error of recordmill. Called by several
        threads.
    port : int
        0 for a free port.
    """

    daemon_threads = True

    def __init__(self, respond: Callable[[Request], Response], port: int) -> None:
        super().__init__((_HOST, port), _Handler)
        self.respond = respond
        self.token = secrets.token_urlsafe(24)
        self.static = {
            file.name: file.read_bytes() for file in (files("recordmill.viewer") / "static").iterdir() if file.is_file()
        }

    @property
    def url(self) -> str:
        """Address of the page, with the token."""
        return f"http://{_HOST}:{self.server_port}/{self.token}/"

    def check_host(self, host: str | None, origin: str | None) -> None:
        """Refuse requests for an unknown host name (DNS rebinding) and requests from web pages of other servers."""
        hosts = [f"{name}:{self.server_port}" for name in (_HOST, "localhost")]
        if host not in hosts:
            raise RequestError(403, f"this viewer answers only requests for {hosts[0]}")
        if origin is not None and origin not in [f"http://{name}" for name in hosts]:
            raise RequestError(403, "requests from other pages are not allowed")

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore connections that the browser closed early."""


class _Handler(BaseHTTPRequestHandler):
    """Checks a request, lets the server answer it, and sends the response."""

    protocol_version = "HTTP/1.1"
    server_version = "recordmill"
    sys_version = ""
    timeout = _IDLE_SECONDS
    # Headers and body are sent separately, so Nagle's algorithm would delay each response by 40 ms.
    disable_nagle_algorithm = True
    server: ViewerServer

    def do_GET(self) -> None:
        """Answer a GET request."""
        self._answer()

    def do_POST(self) -> None:
        """Answer a POST request."""
        self._answer()

    def do_DELETE(self) -> None:
        """Answer a DELETE request."""
        self._answer()

    def _answer(self) -> None:
        with contextlib.suppress(ConnectionError, TimeoutError):
            self._send(self._respond())

    def _respond(self) -> Response:
        try:
            request = self._parse_request()
            if request.path[0] != "api":
                return self._get_static(request)
            return self.server.respond(request)
        except RequestError as error:
            return json_response({"error": {"message": str(error), "column": None, "hint": None}}, error.status)
        except WhereError as error:
            return json_response({"error": error_to_json(error)}, 400)
        except RecordmillError as error:
            return json_response({"error": error_to_json(error)}, 422)
        except ValueError as error:
            return json_response({"error": error_to_json(error)}, 400)
        except (KeyError, IndexError) as error:
            return json_response({"error": {"message": str(error.args[0]), "column": None, "hint": None}}, 404)
        except Exception as error:  # noqa: BLE001 (reported to the page)
            return json_response({"error": error_to_json(error)}, 500)

    def _parse_request(self) -> Request:
        body = self._read_body()
        self.server.check_host(self.headers.get("Host"), self.headers.get("Origin"))
        parts = urlsplit(self.path)
        first, token, *path = parts.path.split("/") if parts.path.count("/") > 1 else ("", "", "")
        if first or not hmac.compare_digest(token.encode(), self.server.token.encode()):
            raise RequestError(403, "the token in the address is missing or wrong; use the address that was printed")
        return Request(self.command, tuple(map(unquote, path)), dict(parse_qsl(parts.query)), body)

    def _read_body(self) -> Any:
        """Read the body even if the request is refused, so that the connection can be reused."""
        length = self.headers.get("Content-Length", "0")
        if not length.isdecimal() or int(length) > _MAX_BODY_BYTES or "Transfer-Encoding" in self.headers:
            self.close_connection = True
            raise RequestError(413, f"the body must have at most {_MAX_BODY_BYTES:,} bytes")
        data = self.rfile.read(int(length))
        try:
            return json.loads(data) if data else None
        except ValueError as error:
            raise RequestError(400, f"the body is not valid JSON: {error}") from None

    def _get_static(self, request: Request) -> Response:
        name = request.path[0] or "index.html"
        content = self.server.static.get(name) if len(request.path) == 1 else None
        if content is None or request.method != "GET":
            raise RequestError(404, "there is no such page")
        return Response(content, _STATIC_TYPES.get(name[name.rfind(".") :], "application/octet-stream"))

    def _send(self, response: Response) -> None:
        self.send_response(response.status)
        for name, value in {**_HEADERS, **response.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Type", response.media_type)
        self.send_header("Content-Length", str(len(response.body)))
        self.end_headers()
        self.wfile.write(response.body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (name of the base class)
        """Do not log requests."""

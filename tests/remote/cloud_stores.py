"""Servers with the parts of the APIs of Google Cloud Storage and Azure Blob Storage that recordmill uses.

They keep objects in memory and do not check signatures.
"""

from __future__ import annotations

import base64
import re
from http import HTTPStatus
from itertools import count
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

from tests.remote.http_folder import compute_etag, send_object
from tests.remote.loopback import Connection, LoopbackServer, Request

Response = tuple[int, dict[str, str], bytes]
BUCKET = "photos"
_MODIFIED = "Fri, 27 Nov 2026 10:00:00 GMT"


class CloudStore(LoopbackServer):
    """A server with one bucket or container, `BUCKET`; subclasses implement the API of a store.

    Attributes
    ----------
    objects : dict of str to bytes
        Content of each object by key.
    uploads : dict of str to dict
        Parts of the uploads that are neither completed nor aborted.
    """

    def __init__(self) -> None:
        super().__init__()
        self.objects: dict[str, bytes] = {}
        self.uploads: dict[str, dict[Any, bytes]] = {}
        self._numbers = count()

    @property
    def options(self) -> dict[str, Any]:
        """Value of `storage_options` with which clients find the server."""
        raise NotImplementedError

    async def handle(self, ordinal: int, request: Request, body: bytes, connection: Connection) -> bool:
        key = unquote(urlsplit(request.target).path).split(f"{BUCKET}/", 1)[-1] if "/" in request.target[1:] else ""
        query = {name: values[0] for name, values in parse_qs(request.query, keep_blank_values=True).items()}
        status, headers, data = self.respond(request, key, query, body)
        await connection.respond(request, status, {"last-modified": _MODIFIED, **headers}, data)
        return True

    def respond(self, request: Request, key: str, query: dict[str, str], body: bytes) -> Response:
        """Return status, headers and body of the response to a request."""
        raise NotImplementedError

    def read(self, request: Request, key: str) -> Response:
        """Respond to GET and HEAD."""
        if key not in self.objects:
            return 404, {}, b""
        return send_object(request, self.objects[key])

    def store(self, key: str, data: bytes, *, create: bool) -> Response:
        """Store an object, unless it exists and must be created."""
        if create and key in self.objects:
            return 412, {}, b""
        self.objects[key] = data
        return 201, {"etag": compute_etag(data)}, b""

    def delete(self, key: str) -> Response:
        """Respond to DELETE."""
        return (202, {}, b"") if self.objects.pop(key, None) is not None else (404, {}, b"")

    def list_folder(self, query: dict[str, str]) -> tuple[list[str], list[str]]:
        """Return the keys and the folders that a listing contains."""
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
        keys, folders = [], set()
        for key in sorted(self.objects):
            if key.startswith(prefix):
                folder, found, _ = key[len(prefix) :].partition(delimiter) if delimiter else (key, "", "")
                if found:
                    folders.add(prefix + folder + delimiter)
                else:
                    keys.append(key)
        return keys, sorted(folders)


class GoogleStore(CloudStore):
    """The XML API of Google Cloud Storage, see https://cloud.google.com/storage/docs/xml-api/reference-methods."""

    @property
    def options(self) -> dict[str, Any]:
        key = f'{{"gcs_base_url": "{self.url}", "disable_oauth": true, "client_email": "", "private_key": "", '
        return {
            "service_account_key": key + '"private_key_id": ""}',
            "client_options": {"allow_http": True},
        }

    def respond(self, request: Request, key: str, query: dict[str, str], body: bytes) -> Response:
        if "list-type" in query:
            return self._list(query)
        if "uploads" in query or "uploadId" in query:
            return self._upload(request, key, query, body)
        if request.method == "PUT":
            copied = request.headers.get("x-goog-copy-source")
            if copied is not None:
                body = self.objects[unquote(copied).split("/", 1)[1]]
            return self.store(key, body, create=request.headers.get("x-goog-if-generation-match") == "0")
        return self.delete(key) if request.method == "DELETE" else self.read(request, key)

    def _list(self, query: dict[str, str]) -> Response:
        keys, folders = self.list_folder(query)
        contents = "".join(
            f"<Contents><Key>{escape(key)}</Key><Size>{len(self.objects[key])}</Size>"
            f"<LastModified>2026-11-27T10:00:00.000Z</LastModified><ETag>{compute_etag(self.objects[key])}</ETag></Contents>"
            for key in keys
        )
        prefixes = "".join(f"<CommonPrefixes><Prefix>{escape(name)}</Prefix></CommonPrefixes>" for name in folders)
        return 200, {}, f"<ListBucketResult>{contents}{prefixes}</ListBucketResult>".encode()

    def _upload(self, request: Request, key: str, query: dict[str, str], body: bytes) -> Response:
        if "uploads" in query:
            number = f"upload-{next(self._numbers)}"
            self.uploads[number] = {}
            text = f"<InitiateMultipartUploadResult><UploadId>{number}</UploadId></InitiateMultipartUploadResult>"
            return 200, {}, text.encode()
        if request.method == "PUT":
            self.uploads[query["uploadId"]][int(query["partNumber"])] = body
            return 200, {"etag": compute_etag(body)}, b""
        parts = self.uploads.pop(query["uploadId"])
        if request.method == "DELETE":
            return 204, {}, b""
        data = b"".join(parts[number] for number in sorted(parts))
        self.store(key, data, create=False)
        text = f"<CompleteMultipartUploadResult><ETag>{compute_etag(data)}</ETag></CompleteMultipartUploadResult>"
        return 200, {}, text.encode()


class AzureStore(CloudStore):
    """The REST API of Azure Blob Storage, see https://learn.microsoft.com/rest/api/storageservices/blob-service-rest-api."""

    @property
    def options(self) -> dict[str, Any]:
        return {
            "account_name": "account",
            "account_key": base64.b64encode(b"key of the test bed").decode(),
            "endpoint": self.url,
        }

    def respond(self, request: Request, key: str, query: dict[str, str], body: bytes) -> Response:
        if query.get("comp") == "list":
            return self._list(query)
        if query.get("comp") == "batch":
            return self._delete_batch(body.decode())
        if request.method != "PUT":
            return self.read(request, key)
        if query.get("comp") == "block":
            self.uploads.setdefault(key, {})[query["blockid"]] = body
            return 201, {}, b""
        if query.get("comp") == "blocklist":
            parts = self.uploads.pop(key)
            body = b"".join(parts[block] for block in re.findall(r"<(?:Latest|Uncommitted)>([^<]+)<", body.decode()))
        copied = request.headers.get("x-ms-copy-source")
        if copied is not None:
            body = self.objects[unquote(urlsplit(copied).path).split(f"{BUCKET}/", 1)[1]]
        status, headers, data = self.store(key, body, create=request.headers.get("if-none-match") == "*")
        return (409 if status == 412 else status), headers, data

    def _delete_batch(self, body: str) -> Response:
        """Respond to a batch, whose parts are DELETE requests."""
        text = ""
        for number, target in enumerate(re.findall(r"^DELETE (\S+)", body, re.MULTILINE)):
            status, _, _ = self.delete(unquote(target).split(f"{BUCKET}/", 1)[1])
            head = f"--responses\r\nContent-Type: application/http\r\nContent-ID: {number}\r\n\r\n"
            text += f"{head}HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\nx-ms-request-id: {number}\r\n\r\n"
        return 202, {"content-type": "multipart/mixed; boundary=responses"}, f"{text}--responses--\r\n".encode()

    def _list(self, query: dict[str, str]) -> Response:
        keys, folders = self.list_folder(query)
        blobs = "".join(
            f"<Blob><Name>{escape(key)}</Name><Properties><Last-Modified>{_MODIFIED}</Last-Modified>"
            f"<Content-Length>{len(self.objects[key])}</Content-Length><Content-Type>application/octet-stream</Content-Type>"
            f"<Etag>{compute_etag(self.objects[key])[1:-1]}</Etag></Properties></Blob>"
            for key in keys
        )
        prefixes = "".join(f"<BlobPrefix><Name>{escape(name)}</Name></BlobPrefix>" for name in folders)
        text = f"<EnumerationResults><Blobs>{blobs}{prefixes}</Blobs><NextMarker/></EnumerationResults>"
        return 200, {}, text.encode()

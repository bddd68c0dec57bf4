"""Routes below ``api/``: each address calls one function of the viewer and returns JSON or an image."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable

from recordmill.decode.signatures import find_image_format
from recordmill.value_text import to_json_value
from recordmill.viewer.overlays import create_overlay
from recordmill.viewer.overview import Overview
from recordmill.viewer.preview import Preview
from recordmill.viewer.records import ViewedRecords
from recordmill.viewer.server import Request, RequestError, Response, json_response
from recordmill.viewer.verification import Verification
from recordmill.viewer.views import Views

_MAX_CELLS = 200
# Maximum number of records that are read at the same time, because each may be large.
_MAX_READERS = 3
_CACHED = {"Cache-Control": "private, max-age=3600"}
Route = Callable[..., Response]


class Routes:
    """Answers the requests of the viewer page for one dataset."""

    def __init__(self, records: ViewedRecords) -> None:
        self._records = records
        self._views = Views(records)
        self._overview = Overview(records.records, records.positions, records.label_feature)
        self._verification = Verification(records.records)
        self._preview = None if records.pipeline is None else Preview(records.pipeline)
        self._readers = threading.BoundedSemaphore(_MAX_READERS)
        self._routes: dict[tuple[str, str, int], Route] = {
            ("GET", "dataset", 0): self._get_dataset,
            ("GET", "records", 0): self._get_records,
            ("GET", "record", 1): self._get_record,
            ("GET", "thumbnail", 3): self._get_thumbnail,
            ("GET", "image", 3): self._get_image,
            ("GET", "value", 2): self._get_value,
            ("GET", "overlay", 2): self._get_overlay,
            ("POST", "views", 0): self._create_view,
            ("GET", "views", 1): self._get_view,
            ("DELETE", "views", 1): self._cancel_view,
            ("GET", "overview", 0): self._get_overview,
            ("GET", "verify", 0): self._get_verification,
            ("POST", "verify", 0): self._start_verification,
            ("DELETE", "verify", 0): self._cancel_verification,
            ("GET", "preview", 1): self._get_preview,
            ("GET", "preview", 4): self._get_preview_image,
        }

    def respond(self, request: Request) -> Response:
        """Answer a request for an address below ``api/``."""
        name, *arguments = request.path[1:] or ("",)
        route = self._routes.get((request.method, name, len(arguments)))
        if route is None:
            raise RequestError(404, "there is no such address")
        return route(request, *arguments)

    def close(self) -> None:
        """Stop all work in the background."""
        self._views.cancel_all()
        self._overview.cancel()
        self._verification.cancel()

    def _get_dataset(self, request: Request) -> Response:
        del request
        return json_response(self._records.describe())

    def _get_records(self, request: Request) -> Response:
        start, stop = (_parse_integer(request.query.get(name, ""), name) for name in ("start", "stop"))
        view = request.query.get("view")
        positions = self._records.positions if view is None else self._views.get_positions(view)
        chosen = positions[start : min(stop, start + _MAX_CELLS)]
        with self._readers:
            return json_response({"records": [self._records.describe_cell(int(position)) for position in chosen]})

    def _get_record(self, request: Request, position: str) -> Response:
        del request
        with self._readers:
            return json_response(self._records.describe_record(_parse_integer(position, "the position")))

    def _get_thumbnail(self, request: Request, position: str, feature: str, number: str) -> Response:
        del request
        with self._readers:
            data = self._records.create_thumbnail(*_parse_image_arguments(position, feature, number))
        return Response(data, f"image/{find_image_format(data)}", headers=_CACHED)

    def _get_image(self, request: Request, position: str, feature: str, number: str) -> Response:
        del request
        with self._readers:
            data = self._records.read_image(*_parse_image_arguments(position, feature, number))
        return Response(data, f"image/{find_image_format(data)}")

    def _get_value(self, request: Request, position: str, feature: str) -> Response:
        del request
        with self._readers:
            value = self._records.read_feature(_parse_integer(position, "the position"), feature)
            is_bytes = isinstance(value, bytes)
            data = value if is_bytes else json.dumps(to_json_value(value, full=True)).encode()
        suffix = (find_image_format(data) or "bin") if is_bytes else "json"
        name = f"{re.sub(r'[^A-Za-z0-9_-]+', '-', feature)[:80]}-{int(position)}.{suffix}"
        headers = {"Cache-Control": "no-store", "Content-Disposition": f'attachment; filename="{name}"'}
        return Response(data, "application/octet-stream" if is_bytes else "application/json", headers=headers)

    def _get_overlay(self, request: Request, position: str, feature: str) -> Response:
        del request
        with self._readers:
            value = self._records.read_feature(_parse_integer(position, "the position"), feature)
            return Response(create_overlay(value), "image/png", headers=_CACHED)

    def _create_view(self, request: Request) -> Response:
        body = request.body if isinstance(request.body, dict) else {}
        where, sort = body.get("where", ""), body.get("sort")
        if not isinstance(where, str) or not (sort is None or isinstance(sort, str)):
            raise RequestError(400, 'expected {"where": text, "sort": name or null, "descending": true or false}')
        identifier = self._views.create(where, sort, descending=bool(body.get("descending")))
        return json_response({"id": identifier}, 201)

    def _get_view(self, request: Request, identifier: str) -> Response:
        del request
        return json_response(self._views.describe(identifier))

    def _cancel_view(self, request: Request, identifier: str) -> Response:
        del request
        self._views.get(identifier).cancel()
        return json_response({})

    def _get_overview(self, request: Request) -> Response:
        del request
        return json_response(self._overview.to_json())

    def _get_verification(self, request: Request) -> Response:
        del request
        return json_response(self._verification.to_json())

    def _start_verification(self, request: Request) -> Response:
        self._verification.start()
        return self._get_verification(request)

    def _cancel_verification(self, request: Request) -> Response:
        self._verification.cancel()
        return self._get_verification(request)

    def _get_preview(self, request: Request, position: str) -> Response:
        num_epochs = _parse_integer(request.query.get("epochs", "1"), "epochs")
        return json_response(self._require_preview().describe(_parse_integer(position, "the position"), num_epochs))

    def _get_preview_image(self, request: Request, position: str, epoch: str, feature: str, number: str) -> Response:
        del request
        parsed = _parse_image_arguments(position, feature, number)
        data = self._require_preview().encode_image(parsed[0], _parse_integer(epoch, "the epoch"), *parsed[1:])
        return Response(data, "image/png")

    def _require_preview(self) -> Preview:
        if self._preview is None:
            raise RequestError(404, "the dataset has no stages that change samples, so there is nothing to preview")
        return self._preview


def _parse_integer(text: str, name: str) -> int:
    if not text.isdecimal() or len(text) > 18:
        raise RequestError(400, f"{name} must be an integer of at least 0, got {text[:40]!r}")
    return int(text)


def _parse_image_arguments(position: str, feature: str, number: str) -> tuple[int, str, int]:
    return _parse_integer(position, "the position"), feature, _parse_integer(number, "the number of the image")

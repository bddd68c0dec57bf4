"""Datasets for the tests of the viewer, and a client of its server."""

from __future__ import annotations

import http.client
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest
from PIL import Image

import recordmill as rm

NUM_RECORDS = 60  # in two shards of 30
CLASSES = ["cat", "<b>dog</b>", "bird & co"]


def encode_image(number: int, size: tuple[int, int] = (96, 64), encoding: str = "JPEG") -> bytes:
    out = io.BytesIO()
    pixels = np.full((size[1], size[0], 3), (number * 37 % 256, 90, 200), np.uint8)
    pixels[: size[1] // 2, : size[0] // 2] = (255, 255 - number % 256, 0)
    Image.fromarray(pixels).save(out, encoding)
    return out.getvalue()


def encode_mask(number: int, size: tuple[int, int] = (96, 64)) -> bytes:
    out = io.BytesIO()
    mask = np.zeros((size[1], size[0]), np.uint8)
    mask[10:40, 10 : 20 + number % 60] = 1 + number % 3
    Image.fromarray(mask).save(out, "PNG")
    return out.getvalue()


def create_example(number: int) -> dict[str, Any]:
    return {
        "image": encode_image(number),
        "mask": encode_mask(number),
        "label": number % 3,
        "key": f"photos/{number:04}.jpg",
        "width": 96 + number,
        "caption": f"<script>alert({number})</script>",
        "image/object/bbox/xmin": np.array([0.1, 0.5], np.float32),
        "image/object/bbox/ymin": np.array([0.2, 0.5], np.float32),
        "image/object/bbox/xmax": np.array([0.4, 0.9], np.float32),
        "image/object/bbox/ymax": np.array([0.6, 1.0], np.float32),
        "image/object/class/text": [b"nose", b"ear"],
    }


@pytest.fixture(scope="session")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two shards of photos with masks, boxes, captions that contain HTML, and class names."""
    folder = tmp_path_factory.mktemp("photos")
    for shard in range(2):
        with rm.ShardWriter(folder / f"train-{shard}.tfrecord") as writer:
            for number in range(shard * 30, shard * 30 + 30):
                writer.write(create_example(number))
    (folder / "labels.txt").write_text("\n".join(CLASSES) + "\n")
    return folder


@dataclass(frozen=True)
class Answer:
    """Status, headers and body of an HTTP response."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Client:
    """Sends requests to a viewer, by default below its token and with the headers of a browser."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.host = parts.netloc
        self.root = parts.path

    def request(
        self, path: str, method: str = "GET", body: Any = None, headers: dict[str, str] | None = None
    ) -> Answer:
        connection = http.client.HTTPConnection(self.host, timeout=30)
        data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        target = path if path.startswith("/") else self.root + path
        connection.request(method, target, data, {"Host": self.host} | (headers or {}))
        response = connection.getresponse()
        received = {name.lower(): value for name, value in response.getheaders()}
        answer = Answer(response.status, received, response.read())
        connection.close()
        return answer

    def get(self, path: str) -> Any:
        answer = self.request(path)
        assert answer.status == 200, answer.body
        return answer.json

    def create_view(self, where: str = "", sort: str | None = None, *, descending: bool = False) -> dict[str, Any]:
        """Create a view and wait until it is computed; return its state."""
        body = {"where": where, "sort": sort, "descending": descending}
        identifier = self.request("api/views", "POST", body).json["id"]
        while (state := self.get(f"api/views/{identifier}"))["state"] == "running":
            pass
        return state


@pytest.fixture
def client(photos: Path) -> Iterator[Client]:
    """Client of a viewer of `photos`."""
    with rm.view(photos, browser=False) as viewer:
        yield Client(viewer.url)

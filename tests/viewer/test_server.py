"""The server of the viewer answers only its own page, and stays up whatever it is asked."""

from __future__ import annotations

import concurrent.futures
import hashlib
import http.client
import json
import math
import os
import socket
import threading
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import numpy as np
import pytest

import recordmill as rm
from recordmill.testing import messages
from tests.shards.helpers import write_shard
from tests.viewer.conftest import CLASSES, NUM_RECORDS, Client, create_example, encode_image


def test_address_is_of_this_machine_and_contains_token(photos: Path) -> None:
    with rm.view(photos, browser=False) as viewer, rm.view(photos, browser=False) as other:
        parts = urlsplit(viewer.url)
        assert parts.hostname == "127.0.0.1" and len(parts.path.strip("/")) >= 22
        assert urlsplit(other.url).path != parts.path and repr(viewer) == f"<Viewer at {viewer.url}>"
        connection = socket.create_connection(("127.0.0.1", parts.port or 0))
        connection.close()


def test_closed_viewer_does_not_answer(photos: Path) -> None:
    viewer = rm.view(photos, browser=False)
    waiting = threading.Thread(target=viewer.wait)
    waiting.start()
    viewer.close()
    waiting.join(10)
    assert not waiting.is_alive()
    with pytest.raises(ConnectionError):
        Client(viewer.url).request("api/dataset")


@pytest.mark.parametrize("path", ["/", "/api/dataset", "/wrong/", "/wrong/api/dataset", "//api/dataset", "/%00/", "*"])
def test_requests_without_token_are_refused(client: Client, path: str) -> None:
    answer = client.request(path) if path != "*" else client.request("/x*/")
    assert answer.status == 403 and "token" in answer.json["error"]["message"]


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "example.com"},
        {"Host": "127.0.0.1"},
        {"Host": "127.0.0.1:1"},
        {"Origin": "http://example.com"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
    ],
)
def test_requests_for_other_hosts_and_from_other_pages_are_refused(client: Client, headers: dict[str, str]) -> None:
    answer = client.request("api/dataset", headers=headers)
    assert answer.status == 403
    assert client.get("api/dataset")["num_records"] == NUM_RECORDS


def test_page_itself_and_localhost_are_accepted(client: Client) -> None:
    port = client.host.rpartition(":")[2]
    for host in (client.host, f"localhost:{port}"):
        assert client.request("api/dataset", headers={"Host": host, "Origin": f"http://{host}"}).status == 200
    page = client.request("")
    assert page.status == 200 and page.headers["content-type"].startswith("text/html")


@pytest.mark.parametrize(
    "path",
    ["../server.py", "..%2Fserver.py", "%2e%2e/server.py", "static/../../view.py", "index.html/..", "/etc/passwd"],
)
def test_paths_outside_of_the_page_are_not_served(client: Client, path: str) -> None:
    answer = client.request(path)
    assert answer.status in (403, 404) and b"import" not in answer.body


def test_answers_forbid_scripts_of_other_origins(client: Client) -> None:
    for path in ("", "api/dataset", "api/image/0/image/0", "api/value/0/caption", "api/nothing"):
        headers = client.request(path).headers
        assert headers["x-content-type-options"] == "nosniff" and headers["referrer-policy"] == "no-referrer"
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]


@pytest.mark.parametrize(
    "method, path, body, status",
    [
        ("GET", "api/", None, 404),
        ("GET", "api/nothing", None, 404),
        ("POST", "api/dataset", None, 404),
        ("GET", "api/records", None, 400),
        ("GET", "api/records?start=-1&stop=3", None, 400),
        ("GET", f"api/records?start={'9' * 40}&stop=3", None, 400),
        ("GET", "api/records?start=0&stop=3&view=99", None, 404),
        ("GET", "api/record/60", None, 404),
        ("GET", "api/record/x", None, 400),
        ("GET", "api/image/0/image/1", None, 404),
        ("GET", "api/image/0/label/0", None, 404),
        ("GET", "api/value/0/missing", None, 404),
        ("GET", "api/overlay/0/label", None, 422),
        ("GET", "api/overlay/0/image", None, 422),
        ("POST", "api/views", b"{", 400),
        ("POST", "api/views", b"\xff", 400),
        ("POST", "api/views", {"where": 3}, 400),
        ("POST", "api/views", {"sort": "widht"}, 422),
        ("POST", "api/views", b" " * 100_000, 413),
        ("DELETE", "api/views/99", None, 404),
        ("GET", "api/preview/0", None, 404),
        ("PUT", "api/verify", None, 501),
    ],
)
def test_wrong_requests_are_errors_with_a_message(
    client: Client, method: str, path: str, body: Any, status: int
) -> None:
    answer = client.request(path, method, body)
    assert answer.status == status and (status == 501 or answer.json["error"]["message"])
    assert client.get("api/dataset")["num_records"] == NUM_RECORDS


def test_broken_http_does_not_stop_the_server(client: Client) -> None:
    host, _, port = client.host.partition(":")
    for data in (b"\0\0\0\0\r\n\r\n", b"GET " + b"a" * 100_000, b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nab", b""):
        with socket.create_connection((host, int(port))) as connection:
            connection.sendall(data)
    assert client.get("api/dataset")["num_records"] == NUM_RECORDS


def test_dataset_is_described(client: Client, photos: Path) -> None:
    plain = client.get("api/dataset")
    assert (plain["num_records"], plain["format"], plain["payload"]) == (NUM_RECORDS, "tfrecord", "example")
    assert plain["classes"] == CLASSES and plain["pipeline"] is None
    assert (plain["label_feature"], plain["key_feature"]) == ("label", "key")
    assert "image" in plain["image_features"] and {"label", "width", "key"} <= set(plain["sortable"])
    assert plain["schema"]["width"] == {"kind": "int64", "shape": []}
    assert plain["num_bytes"] == sum(path.stat().st_size for path in photos.glob("train-*"))


def test_cells_have_keys_labels_and_thumbnails(client: Client) -> None:
    cells = client.get(f"api/records?start=10&stop={10**6}")["records"]
    assert [cell["position"] for cell in cells] == list(range(10, NUM_RECORDS))
    cell = cells[1]
    assert (cell["key"], cell["label"], cell["class"], cell["error"]) == ("photos/0011.jpg", 2, CLASSES[2], None)
    assert cell["images"] == ["api/thumbnail/11/image/0"]
    assert {"name": "caption", "text": "<script>alert(11)</script>"} in cell["values"]
    thumbnail = client.request(cell["images"][0])
    assert thumbnail.status == 200 and len(thumbnail.body) <= 20_000
    assert thumbnail.headers["content-type"] in ("image/jpeg", "image/png")


def test_record_has_all_features_and_its_place(client: Client, photos: Path) -> None:
    record = client.get("api/record/35")
    shard = sorted(photos.glob("train-*"))[1]
    with rm.ShardReader(shard) as reader:
        payload, offset = reader[5], int(reader.index.offsets[5])
    assert (record["shard"], record["record"], record["offset"]) == (str(shard), 5, offset)
    assert record["sha256"] == hashlib.sha256(payload).hexdigest()
    assert record["index"] == str(shard.with_name(f".{shard.name}.rmx"))
    features = {feature["name"]: feature for feature in record["features"]}
    assert set(features) == set(create_example(0))
    image = features["image"]["images"][0]
    assert (image["format"], image["width"], image["height"]) == ("jpeg", 96, 64)
    original = client.request(image["url"])
    assert original.body == encode_image(35) and original.headers["content-type"] == "image/jpeg"
    assert features["caption"]["text"] == "<script>alert(35)</script>" and not features["caption"]["truncated"]


def test_overlays_of_masks_and_boxes(client: Client) -> None:
    overlays = {overlay["kind"]: overlay for overlay in client.get("api/record/4")["overlays"]}
    assert overlays["boxes"]["boxes"] == [[0.1, 0.2, 0.4, 0.6], [0.5, 0.5, 0.9, 1.0]]
    assert overlays["boxes"]["labels"] == ["nose", "ear"]
    png = client.request(overlays["mask"]["url"])
    pixels = rm.decode_png(png.body)
    assert png.headers["content-type"] == "image/png" and pixels.shape == (64, 96, 4)
    assert (pixels[0, 0, 3], pixels[20, 15, 3] > 0) == (0, True)


def test_values_are_downloads(client: Client) -> None:
    answer = client.request("api/value/3/caption")
    assert answer.body == b"<script>alert(3)</script>"
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"] == 'attachment; filename="caption-3.bin"'
    name = "image/object/bbox/xmin"
    answer = client.request(f"api/value/3/{quote(name, safe='')}")
    assert json.loads(answer.body)["values"] == pytest.approx([0.1, 0.5])
    assert 'filename="image-object-bbox-xmin-3.json"' in answer.headers["content-disposition"]


def test_view_filters_and_sorts(client: Client) -> None:
    state = client.create_view("label == 1 and width > 120", "width", descending=True)
    expected = [number for number in reversed(range(NUM_RECORDS)) if number % 3 == 1 and number + 96 > 120]
    assert (state["state"], state["num_records"], state["num_skipped"]) == ("done", len(expected), 0)
    assert state["done"] == state["total"]
    cells = client.get(f"api/records?start=0&stop=100&view={state['id']}")["records"]
    assert [cell["position"] for cell in cells] == expected
    by_text = client.create_view(sort="key")
    cells = client.get(f"api/records?start=0&stop=5&view={by_text['id']}")["records"]
    assert [cell["position"] for cell in cells] == [0, 1, 2, 3, 4]


def test_records_without_a_number_are_last(tmp_path: Path) -> None:
    values = [("float32", [2.0]), ("bytes", [b"x"]), ("float32", [math.nan]), None, ("float32", [1.0]), ("float32", [])]
    rows = [{"x": ("float32", [0.0])}] * 20 + [{} if value is None else {"x": value} for value in values]
    write_shard(tmp_path, "tfrecord", [messages.encode_example(row | {"y": ("int64", [1])}) for row in rows])
    with rm.view(tmp_path, browser=False) as viewer:
        client = Client(viewer.url)
        for descending, expected in ((False, [*range(20), 24, 20]), (True, [20, 24, *range(20)])):
            view = client.create_view(sort="x", descending=descending)
            cells = client.get(f"api/records?start=0&stop=100&view={view['id']}")["records"]
            assert [cell["position"] for cell in cells] == [*expected, 21, 22, 23, 25]


def test_wrong_condition_names_its_column(client: Client) -> None:
    answer = client.request("api/views", "POST", {"where": "labl == 1"})
    assert answer.status == 400 and answer.json["error"]["column"] == 0
    assert "labl" in answer.json["error"]["message"]
    assert client.request("api/views", "POST", {"where": "label == __import__('os')"}).status == 400


def test_old_views_are_dropped_and_views_can_be_cancelled(client: Client) -> None:
    first = client.create_view("label == 0")
    assert client.request(f"api/views/{first['id']}", "DELETE").status == 200
    for _ in range(8):
        client.create_view("label == 0")
    assert client.request(f"api/views/{first['id']}").status == 404


def test_many_clients_at_once(client: Client) -> None:
    def read(number: int) -> bytes:
        return client.request(f"api/image/{number % NUM_RECORDS}/image/0").body

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        bodies = list(pool.map(read, range(200)))
    assert bodies == [encode_image(number % NUM_RECORDS) for number in range(200)]


def test_shuffled_and_cut_dataset_is_shown_in_its_order(photos: Path) -> None:
    dataset = rm.open(photos).shuffle(seed=3).take(7)
    with rm.view(dataset, browser=False) as viewer:
        client = Client(viewer.url)
        assert client.get("api/dataset")["num_records"] == 7
        cells = client.get("api/records?start=0&stop=7")["records"]
        assert [cell["key"] for cell in cells] == [sample["key"].decode() for sample in dataset]
        assert client.create_view("label == 1")["num_records"] == sum(int(sample["label"]) == 1 for sample in dataset)


def test_damaged_records_and_images_are_shown_as_errors(tmp_path: Path) -> None:
    image = encode_image(0)
    files = [image, image[: len(image) // 3], b"\xff\xd8\xff" + b"x" * 500, image[:24] + os.urandom(400)]
    rm.pack([{"image": data, "label": 0} for data in files * 2], tmp_path / "x.tfrecord")
    data = bytearray((tmp_path / "x.tfrecord").read_bytes())
    data[-20] ^= 1
    (tmp_path / "x.tfrecord").write_bytes(data)
    with rm.view(tmp_path, browser=False) as viewer:
        client = Client(viewer.url)
        cells = client.get("api/records?start=0&stop=10")["records"]
        assert [cell["error"] is None for cell in cells] == [True] * 7 + [False]
        statuses = [client.request(cell["images"][0]).status for cell in cells[:4]]
        assert statuses[0] == 200 and set(statuses[1:]) <= {200, 422}
        record = client.get("api/record/7")
        assert "checksum" in record["error"] and record["record"] == 7 and record["features"] == []
        view = client.create_view("label == 0")
        assert (view["num_records"], view["num_skipped"]) == (7, 1)


def test_large_feature_is_not_read_for_the_grid(tmp_path: Path) -> None:
    rm.pack([{"data": b"x" * (20 << 20), "label": 1}, {"data": b"y", "label": 2}], tmp_path / "x.tfrecord")
    with rm.view(tmp_path, browser=False) as viewer:
        client = Client(viewer.url)
        large, small = client.get("api/records?start=0&stop=2")["records"]
        assert "20,971,5" in large["error"] and small["label"] == 2
        features = {feature["name"]: feature for feature in client.get("api/record/0")["features"]}
        assert features["data"]["num_bytes"] == 20 << 20 and features["data"]["truncated"]
        assert len(features["data"]["text"]) == 2000
        assert client.request("api/value/0/data").body == b"x" * (20 << 20)


def test_shard_that_is_truncated_while_viewed_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "x.tfrecord"
    rm.pack([create_example(number) for number in range(20)], path)
    with rm.view(path, browser=False) as viewer:
        client = Client(viewer.url)
        assert client.get("api/record/19")["error"] is None
        os.truncate(path, path.stat().st_size // 2)
        assert client.get("api/record/19")["error"] is not None
        assert client.request("api/image/19/image/0").status == 422
        assert client.get("api/dataset")["num_records"] == 20


@pytest.mark.parametrize("family", ["ofrecord", "rec"])
def test_other_formats(tmp_path: Path, family: str) -> None:
    rm.pack([{"image": encode_image(number), "label": number} for number in range(5)], tmp_path / f"x.{family}")
    with rm.view(tmp_path, browser=False) as viewer:
        client = Client(viewer.url)
        cells = client.get("api/records?start=0&stop=5")["records"]
        assert [cell["label"] for cell in cells] == list(range(5))
        assert all(client.request(cell["images"][0]).status == 200 for cell in cells)
        assert client.get("api/record/4")["error"] is None


def test_film_strip_and_numbers(tmp_path: Path) -> None:
    frames = [encode_image(number) for number in range(12)]
    rm.pack([{"frames": frames, "x": np.arange(1000, dtype=np.float32)}], tmp_path / "x.tfrecord")
    with rm.view(tmp_path, browser=False) as viewer:
        client = Client(viewer.url)
        cell = client.get("api/records?start=0&stop=1")["records"][0]
        assert cell["images"] == [f"api/thumbnail/0/frames/{number}" for number in range(8)]
        assert cell["values"][0]["text"].startswith("0, 1, 2, ")
        feature = next(part for part in client.get("api/record/0")["features"] if part["name"] == "frames")
        assert len(feature["images"]) == 12
        assert client.request("api/image/0/frames/11").body == frames[11]


def test_empty_dataset(tmp_path: Path) -> None:
    rm.pack([], tmp_path / "x.tfrecord")
    with rm.view(tmp_path, browser=False) as viewer:
        client = Client(viewer.url)
        assert client.get("api/dataset")["num_records"] == 0
        assert client.get("api/records?start=0&stop=9")["records"] == []


def test_port_in_use_is_an_error(photos: Path) -> None:
    with rm.view(photos, browser=False) as viewer, pytest.raises(OSError, match="in use"):
        rm.view(photos, browser=False, port=urlsplit(viewer.url).port or 0)


def test_stalled_connection_does_not_block_others(client: Client) -> None:
    stalled = http.client.HTTPConnection(client.host)
    stalled.connect()
    assert client.get("api/dataset")["num_records"] == NUM_RECORDS
    stalled.close()


def test_overview_and_verification_run_in_the_background(client: Client) -> None:
    while (overview := client.get("api/overview"))["state"] == "running":
        pass
    assert (overview["state"], overview["sampled"], overview["num_read"]) == ("done", False, NUM_RECORDS)
    features = {feature["name"]: feature for feature in overview["result"]["features"]}
    assert [entry["class"] for entry in features["label"]["value_counts"]] == CLASSES
    assert client.get("api/verify")["state"] == "idle"
    assert client.request("api/verify", "POST").status == 200
    while (report := client.get("api/verify"))["state"] == "running":
        pass
    assert (report["state"], report["done"], report["faults"]) == ("done", NUM_RECORDS, [])


def test_preview_of_pipeline(photos: Path) -> None:
    specs = {"image": rm.Image(resize=(24, 32), flip=rm.Flip(0.5)), "mask": rm.Mask()}
    with rm.view(rm.open(photos).shuffle(seed=1).decode(**specs).batch(4), browser=False) as viewer:
        client = Client(viewer.url)
        assert "decode" in client.get("api/dataset")["pipeline"]
        samples = client.get("api/preview/7?epochs=4")["samples"]
        assert [sample["epoch"] for sample in samples] == [0, 1, 2, 3]
        image = samples[0]["images"][0]
        assert (image["width"], image["height"]) == (32, 24)
        assert rm.decode_png(client.request(image["url"]).body).shape == (24, 32, 3)
        assert client.request(image["mask"]).headers["content-type"] == "image/png"
        for path in ("api/preview/7?epochs=99", "api/preview/7?epochs=x", "api/preview/60", "api/preview/7/0/label/0"):
            assert client.request(path).status in (400, 404)

"""HTML of datasets, schemas, info and reports in notebooks: content, escaping, bounded size and time, damage."""

from __future__ import annotations

import base64
import io
import sys
import time
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import recordmill as rm
from recordmill.pipeline.dataset import Dataset
from tests.images import encode_image, encode_jpeg, encode_png, make_pixels
from tests.pipeline.sources import SourceOrigin

MAX_HTML_BYTES = 200_000
HOSTILE = '<script>alert("x")</script> & \'"'
FORMATS = ("tfrecord", "ofrecord", "recordio")


class Page(HTMLParser):
    """Tags, text and images of an HTML fragment; the fragment must be well-formed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.text = ""
        self.images: list[bytes] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag == "img":
            self.images.append(base64.b64decode((dict(attributes)["src"] or "").partition("base64,")[2]))
        else:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def read_page(value: object) -> Page:
    html = value._repr_html_()  # type: ignore[attr-defined]
    assert len(html.encode()) <= MAX_HTML_BYTES
    page = Page(html)
    assert set(page.tags) <= {*("div", "b", "table", "thead", "tbody", "tr", "th", "td", "img", "details", "summary")}
    return page


def write(path: Path, records: list[dict], classes: list[str] | None = None, **options) -> Dataset:
    with rm.ShardWriter(path, **options) as writer:
        for record in records:
            writer.write(record)
    if classes:
        (path.parent / "labels.txt").write_text("".join(f"{name}\n" for name in classes), encoding="utf-8")
    return rm.open(path)


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """Return a dataset of 20 JPEG images of 240 x 180 pixels with two classes."""
    records = [{"image": encode_jpeg(number, 240, 180), "label": number % 2} for number in range(20)]
    return write(tmp_path_factory.mktemp("photos") / "a.tfrecord", records, ["cat", "dog"])


def test_dataset_shows_size_features_classes_and_thumbnails(photos: Dataset) -> None:
    page = read_page(photos)
    for text in ("Dataset of 20 samples", "a.tfrecord", "image", "bytes", "label", "int64", "classes: 2"):
        assert text in page.text
    assert len(page.images) == 12
    assert page.text.count("cat") == 7 and page.text.count("dog") == 7
    for data in page.images:
        assert max(Image.open(io.BytesIO(data)).size) == 128


def test_dataset_with_stages_lists_them_and_shows_source_images(photos: Dataset) -> None:
    dataset = photos.decode(image=rm.Image(resize=(8, 8))).shuffle(seed=7).batch(4)
    page = read_page(dataset)
    for text in ("Dataset of 5 batches", ".decode(image=Image(", ".shuffle(seed=7)", ".batch(4"):
        assert text in page.text
    assert page.images == read_page(photos).images


@pytest.mark.parametrize(
    "change, count",
    [
        (lambda dataset: dataset.filter(lambda _: True), "an unknown number of"),
        (lambda dataset: dataset.repeat(), "endlessly many"),
        (lambda dataset: dataset.take(0), "0"),
        (lambda dataset: rm.mix([dataset, dataset], [1, 1]), "40"),
    ],
)
def test_dataset_of_any_length_shows_thumbnails(photos: Dataset, change: Callable, count: str) -> None:
    page = read_page(change(photos))
    assert f"Dataset of {count} samples" in page.text and len(page.images) == 12


def test_display_reads_no_more_than_the_first_records(photos: Dataset) -> None:
    read_page(photos)
    start = time.perf_counter()
    photos._repr_html_()
    assert time.perf_counter() - start < 0.5  # The target is 0.1 s; machines that run tests may be busy.


@pytest.mark.parametrize("format_", FORMATS)
def test_dataset_of_any_format_shows_thumbnails(format_: str, tmp_path: Path) -> None:
    records = [{"image": encode_png(number), "label": number} for number in range(3)]
    page = read_page(write(tmp_path / "a.rec", records, format=format_))
    assert len(page.images) == 3


def test_texts_are_escaped(tmp_path: Path) -> None:
    records = [{"image": encode_png(0), "label": 0, HOSTILE: b"x"}, {"image": encode_png(1), "label": 1, HOSTILE: b"x"}]
    dataset = write(tmp_path / "<b>.tfrecord", records, [HOSTILE, "<i>"])
    page = read_page(dataset.map(lambda sample: sample))
    assert HOSTILE in page.text and "<i>" in page.text and "<b>" in page.text
    assert HOSTILE in read_page(dataset.schema).text
    assert HOSTILE in read_page(rm.info(tmp_path / "<b>.tfrecord")).text
    label = write(tmp_path / "text.tfrecord", [{"image": encode_png(0), "label": HOSTILE.encode()}])
    assert HOSTILE in read_page(label).text


@pytest.mark.parametrize("has_pillow", [True, False])
def test_html_of_noise_and_many_texts_stays_small(
    has_pillow: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (200, 200, 3), dtype=np.uint8)
    names = {f"{number}{HOSTILE * 20}": b'"' * 1000 for number in range(100)}
    image = encode_image(Image.fromarray(noise))
    dataset = write(tmp_path / "a.tfrecord", [{"image": image, **names} for _ in range(20)], ['"' * 500] * 100)
    if not has_pillow:
        monkeypatch.setitem(sys.modules, "PIL", None)
    for _ in range(40):
        dataset = dataset.map(lambda sample: sample).take(10**9)
    page = read_page(dataset)
    assert page.images and "…" in page.text
    read_page(rm.info(tmp_path / "a.tfrecord"))
    read_page(dataset.schema)


def test_records_with_several_images_show_each(tmp_path: Path) -> None:
    records = [{"image": encode_png(number), "mask": encode_png(number, mode="L")} for number in range(10)]
    page = read_page(write(tmp_path / "a.tfrecord", records))
    assert len(page.images) == 12 and "mask" in page.text


def test_large_record_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecord"
    write(path, [{"image": encode_png(0)}, {"image": encode_png(1) + bytes(100 << 20)}, {"image": encode_png(2)}])
    dataset = rm.open(path)
    start = time.perf_counter()
    page = read_page(dataset)
    assert time.perf_counter() - start < 0.5
    assert len(page.images) == 2
    assert "record 1: 104,8" in page.text


def test_large_image_is_not_decoded(tmp_path: Path) -> None:
    large = encode_image(Image.new("RGB", (4000, 4000)))
    page = read_page(write(tmp_path / "a.tfrecord", [{"image": large}, {"image": encode_png(0)}]))
    assert len(page.images) == 1 and "large image" in page.text


@pytest.mark.parametrize(
    "data",
    [
        encode_jpeg(0, 300, 200)[:2000],
        encode_png(0)[:60],
        b"\x89PNG\r\n\x1a\n" + bytes(50),
        b"\xff\xd8\xff" + b"\xff" * 50,
        b"GIF89a" + b"\xff" * 50,
        b"RIFF\xff\xff\xff\xffWEBPVP8 " + bytes(50),
        b"II*\0" + b"\xff" * 50,
        b"BM" + b"\xff" * 60,
    ],
    ids=range(8),
)
def test_damaged_image_shows_a_message(data: bytes, tmp_path: Path) -> None:
    page = read_page(write(tmp_path / "a.tfrecord", [{"image": data}, {"image": encode_png(0)}]))
    assert len(page.images) == 1


def test_image_that_needs_pillow_shows_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gif = encode_image(Image.fromarray(make_pixels(0)), "GIF")
    dataset = write(tmp_path / "a.tfrecord", [{"image": gif}, {"image": encode_png(0)}])
    monkeypatch.setitem(sys.modules, "PIL", None)
    page = read_page(dataset)
    assert len(page.images) == 1 and "recordmill[image]" in page.text


def test_damaged_record_shows_a_message(tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecord"
    write(path, [{"image": encode_png(number)} for number in range(3)])
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    page = read_page(rm.open(path))
    assert len(page.images) == 2 and "record 1:" in page.text
    report = read_page(rm.verify(path))
    assert "intact records: 2, faults: 1" in report.text and "checksum" in report.text


def test_deleted_shard_shows_messages(tmp_path: Path) -> None:
    dataset = write(tmp_path / "a.tfrecord", [{"image": encode_png(0)}])
    (tmp_path / "a.tfrecord").write_bytes(b"")
    page = read_page(dataset)
    assert page.images == [] and "record 0:" in page.text


def test_empty_dataset_has_html(tmp_path: Path) -> None:
    assert "Dataset of 0 samples" in read_page(write(tmp_path / "a.tfrecord", [])).text
    assert "0 records" in read_page(rm.info(tmp_path / "a.tfrecord")).text


def test_dataset_without_images_shows_a_table_of_values(tmp_path: Path) -> None:
    records = [{"text": f"line {n} <b>".encode(), "n": n, "x": [0.5, 1.5], "raw": bytes([0, 255])} for n in range(9)]
    page = read_page(write(tmp_path / "a.tfrecord", records))
    assert page.images == []
    for text in ("line 0 <b>", "line 4 <b>", "0.5, 1.5", "2 bytes"):
        assert text in page.text
    assert "line 5" not in page.text


def test_sequence_dataset_shows_a_table(tmp_path: Path) -> None:
    records = [{"words": rm.FeatureList([[1], [2, 3]]), "id": 7}]
    dataset = write(tmp_path / "a.tfrecord", records, payload="sequence_example")
    assert "sequence of int64" in read_page(dataset).text


def test_raw_records_have_html(tmp_path: Path) -> None:
    with rm.PayloadWriter(tmp_path / "a.tfrecord", format="tfrecord") as writer:
        writer.write(b"\x00\xffpayload")
    assert "9 bytes" in read_page(rm.open(tmp_path / "a.tfrecord", payload="raw")).text


def test_custom_source_has_html() -> None:
    from tests.pipeline.sources import Numbers

    page = read_page(Dataset(SourceOrigin(Numbers(20, frozenset({3})))))
    assert "Dataset of 20 samples" in page.text and "this one" in page.text


def test_info_shows_statistics_and_shards(photos: Dataset) -> None:
    path = photos.origin.sources[0].paths[0]  # type: ignore[attr-defined]
    text = read_page(rm.info(path, stats=True)).text
    for part in ("tfrecord: 20 records in 1 shard", "statistics of all records: 20 read, 0 damaged", "0.5", path):
        assert part in text


def test_report_of_sound_shards_shows_guarantees(photos: Dataset) -> None:
    path = photos.origin.sources[0].paths[0]  # type: ignore[attr-defined]
    assert "intact records: 20, faults: 0" in read_page(rm.verify(path)).text

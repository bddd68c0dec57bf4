"""`info(stats=True)` describes all records: ranges and counts of values, and sizes of images."""

from __future__ import annotations

import io
import math
import tempfile
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from PIL import Image

import recordmill as rm
from recordmill.testing import messages
from tests.shards.helpers import write_shard

INT64 = st.integers(-(2**63), 2**63 - 1)
FLOAT32 = st.floats(width=32)
VALUES = {"int64": INT64 | st.integers(0, 3), "float32": FLOAT32, "bytes": st.binary(max_size=70)}
FEATURE = st.sampled_from(sorted(VALUES)).flatmap(
    lambda kind: st.tuples(st.just(kind), st.lists(VALUES[kind], min_size=0, max_size=3))
)
EXAMPLES = st.lists(st.dictionaries(st.sampled_from("abc"), FEATURE, max_size=3), min_size=1, max_size=30)


def encode_image(encoding: str, width: int, height: int) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (width, height), "teal").save(out, encoding)
    return out.getvalue()


def describe(examples: list[dict[str, tuple[str, list[Any]]]], name: str) -> dict[str, Any]:
    """Return the statistics of a feature, computed one value at a time."""
    lists = [example[name] for example in examples if name in example]
    values = [value for _, of_record in lists for value in of_record]
    numbers = [value for value in values if not isinstance(value, bytes)]
    finite = [value for value in numbers if math.isfinite(value)]
    lengths = [len(value) for value in values if isinstance(value, bytes)]
    counts = Counter(value for value in values if isinstance(value, bytes) or math.isfinite(value))
    countable = all(len(of_record) <= 1 for _, of_record in lists) and max(lengths, default=0) <= 64
    return {
        "kinds": list(dict.fromkeys(kind for kind, _ in lists)),
        "num_missing": len(examples) - len(lists),
        "num_values": len(values),
        "num_per_record": (min(len(v) for _, v in lists), max(len(v) for _, v in lists)),
        "num_nonfinite": len(numbers) - len(finite),
        "minimum": min(finite, default=None),
        "maximum": max(finite, default=None),
        "num_bytes": (min(lengths), max(lengths)) if lengths else None,
        "value_counts": counts if countable else None,
        "images": None,
    }


@settings(max_examples=80)
@given(EXAMPLES)
def test_statistics_equal_those_of_one_value_at_a_time(examples: list[dict[str, tuple[str, list[Any]]]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = write_shard(Path(folder), "tfrecord", [messages.encode_example(example) for example in examples])
        found = rm.info(path, stats=True).statistics
    assert found is not None and (found.num_records, found.num_damaged) == (len(examples), 0)
    assert set(found.features) == {name for example in examples for name in example}
    for name, feature in found.features.items():
        expected = describe(examples, name)
        assert {key: getattr(feature, key) for key in expected} == expected
        finite = [
            Fraction(value)
            for example in examples
            for value in example.get(name, ("", []))[1]
            if not isinstance(value, bytes) and math.isfinite(value)
        ]
        if finite:
            scale = max(map(abs, finite))
            assert feature.mean == pytest.approx(float(sum(finite) / len(finite)), rel=1e-12, abs=float(scale) * 1e-12)
        else:
            assert feature.mean is None


def test_large_integers_are_added_exactly(tmp_path: Path) -> None:
    values = [2**63 - 1] * 9999 + [-(2**63)] * 9999 + [1] * 2
    path = write_shard(tmp_path, "tfrecord", [messages.encode_example({"a": ("int64", [value])}) for value in values])
    found = rm.info(path, stats=True).statistics
    assert found is not None and found.features["a"].mean == sum(values) / len(values)


@pytest.mark.parametrize("family", ["tfrecord", "ofrecord"])
def test_statistics_of_all_shards_and_their_schema(tmp_path: Path, family: str) -> None:
    rows = [{"label": number % 7, "box": np.arange(4, dtype=np.float32) * number} for number in range(3000)]
    rm.pack(rows, tmp_path / f"train.{family}", shards=3)
    plain = rm.info(tmp_path, stats=True).to_json()["statistics"]
    assert (plain["num_records"], plain["num_damaged"]) == (3000, 0)
    label, box = plain["features"]["label"], plain["features"]["box"]
    assert label["value_counts"][0] == {"value": 0, "count": 429} and len(label["value_counts"]) == 7
    assert (label["minimum"], label["maximum"], label["num_per_record"]) == (0, 6, (1, 1))
    assert (box["minimum"], box["maximum"], box["num_per_record"], box["value_counts"]) == (0.0, 8997.0, (4, 4), None)
    assert box["mean"] == pytest.approx(1.5 * 1499.5)


def test_more_than_1000_distinct_values_are_not_counted(tmp_path: Path) -> None:
    rm.pack([{"a": number, "b": number % 1000} for number in range(1001)], tmp_path / "x.tfrecord")
    found = rm.info(tmp_path, stats=True).statistics
    assert found is not None and found.features["a"].value_counts is None
    assert found.features["b"].value_counts == {number: 2 if number == 0 else 1 for number in range(1000)}


def test_sizes_and_formats_of_images(tmp_path: Path) -> None:
    files = [encode_image("JPEG", 64, 40 + number) for number in range(5)] + [encode_image("PNG", 9, 300)]
    files += [encode_image("GIF", 7, 8), b"not an image", files[0][:20]]
    rm.pack([{"image": data} for data in files], tmp_path / "x.tfrecord")
    found = rm.info(tmp_path, stats=True).statistics
    images = found and found.features["image"].images
    assert images is not None and (images.widths, images.heights) == ((7, 64), (8, 300))
    assert images.formats == {"jpeg": 6, "png": 1, "gif": 1, "unknown": 1}
    assert images.num_unreadable == 2


def test_images_and_labels_of_recordio(tmp_path: Path) -> None:
    rm.pack([{"image": encode_image("JPEG", 32, 24), "label": number % 2} for number in range(8)], tmp_path / "x.rec")
    found = rm.info(tmp_path, stats=True).statistics
    assert found is not None and found.features["label"].value_counts == {0.0: 4, 1.0: 4}
    images = found.features["image"].images
    assert images is not None and (images.widths, images.heights, images.formats) == ((32, 32), (24, 24), {"jpeg": 8})


@pytest.mark.parametrize("family", ["tfrecord", "ofrecord"])
def test_damaged_records_are_skipped_and_counted(tmp_path: Path, family: str) -> None:
    path = tmp_path / f"x.{family}"
    rm.pack([{"a": number, "text": "abcd"} for number in range(100)], path)
    data = bytearray(path.read_bytes())
    size = len(data) // 100
    for number in (20, 21, 77):
        data[number * size + size // 2] ^= 0x40
    path.write_bytes(data)
    summary = rm.info(path, stats=True)
    found = summary.statistics
    assert found is not None and (found.num_records, found.num_damaged) == (97, 3)
    assert found.features["a"].value_counts == {number: 1 for number in range(100) if number not in (20, 21, 77)}
    assert "record 20" in (summary.shards[0].damage or "")


def test_record_that_is_no_message_is_counted_as_damaged(tmp_path: Path) -> None:
    payloads = [messages.encode_example({"a": ("int64", [number])}) for number in range(9)]
    path = write_shard(tmp_path, "tfrecord", [*payloads[:4], b"\xff\xff", *payloads[4:]])
    summary = rm.info(path, stats=True)
    found = summary.statistics
    assert found is not None and (found.num_records, found.num_damaged) == (9, 1)
    assert summary.shards[0].damage is not None and rm.info(path).statistics is None


def test_statistics_of_empty_shard(tmp_path: Path) -> None:
    path = write_shard(tmp_path, "tfrecord", [])
    found = rm.info(path, stats=True).statistics
    assert found is not None and (found.num_records, found.num_damaged, found.features) == (0, 0, {})

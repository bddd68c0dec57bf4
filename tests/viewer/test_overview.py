"""The overview of a dataset: ranges, counts and histograms of all records or of a sample of them."""

from __future__ import annotations

import itertools
import math
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import recordmill as rm
from recordmill.conversion.source import ShardRecords
from recordmill.testing.messages import encode_example, encode_ofrecord
from recordmill.viewer.histogram import HistogramCollector
from recordmill.viewer.overview import Overview
from tests.images import encode_jpeg, encode_png
from tests.shards.helpers import FORMATS, write_shard

FLOATS = st.floats(allow_nan=False, allow_infinity=False, width=64)
INTEGERS = st.integers(-(2**63), 2**63 - 1) | st.integers(-50, 50)


def compute(paths: Any, **options: Any) -> dict[str, Any]:
    """Return the answer of the overview after its work has ended."""
    overview = Overview(ShardRecords(rm.open(paths).pipeline.sources), label_feature="label", **options)
    return wait(overview)


def wait(overview: Overview) -> dict[str, Any]:
    answer = overview.to_json()
    while answer["state"] == "running":
        time.sleep(0.01)
        answer = overview.to_json()
    assert answer["error"] is None, answer["error"]
    return answer


def by_name(answer: dict[str, Any]) -> dict[str, Any]:
    return {feature["name"]: feature for feature in answer["result"]["features"]}


def count_by_edges(values: Sequence[float], edges: Sequence[float]) -> list[int]:
    return [sum(low <= value < high for value in values) for low, high in itertools.pairwise(edges)]


def write_examples(path: Path, examples: Sequence[dict[str, Any]]) -> Path:
    with rm.ShardWriter(path) as writer:
        for example in examples:
            writer.write(example)
    return path


def test_overview_describes_all_records(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    labels, scores = rng.integers(0, 5, 300).tolist(), rng.normal(0, 20, 300).tolist()
    examples = [
        {"label": label, "score": np.float32(score), "text": b"ab" * (label + 1)}
        for label, score in zip(labels, scores, strict=True)
    ]
    paths = [write_examples(tmp_path / f"{n}.tfrecord", examples[n * 100 : n * 100 + 100]) for n in range(3)]
    answer = compute(paths)
    features, result = by_name(answer), answer["result"]
    assert (answer["state"], answer["sampled"], answer["num_read"], answer["total"]) == ("done", False, 300, 300)
    assert (result["num_records"], result["num_damaged"]) == (300, 0)
    label, score, text = features["label"], features["score"], features["text"]
    assert (label["minimum"], label["maximum"], label["num_values"], label["num_missing"]) == (0, 4, 300, 0)
    assert label["mean"] == pytest.approx(sum(labels) / 300)
    assert {entry["value"]: entry["count"] for entry in label["value_counts"]} == Counter(labels)
    assert label["histogram"] == {"edges": [0, 1, 2, 3, 4, 5], "counts": [labels.count(n) for n in range(5)]}
    exact = [float(np.float32(value)) for value in scores]
    assert (score["minimum"], score["maximum"]) == (min(exact), max(exact))
    assert score["histogram"]["counts"] == count_by_edges(exact, score["histogram"]["edges"])
    assert sum(score["histogram"]["counts"]) == 300 and len(score["histogram"]["counts"]) <= 32
    assert list(text["num_bytes"]) == [2, 10]
    assert text["histogram"] is None and text["images"] is None
    readers = [rm.ShardReader(path) for path in paths]
    lengths = [length for reader in readers for length in reader.index.lengths.tolist()]
    assert result["record_bytes"]["counts"] == count_by_edges(lengths, result["record_bytes"]["edges"])
    assert sum(result["record_bytes"]["counts"]) == 300
    expected = [{"path": str(path), "num_records": 100, "num_bytes": path.stat().st_size} for path in paths]
    assert result["shards"] == expected


def test_overview_names_the_classes_of_labels(tmp_path: Path) -> None:
    path = write_examples(tmp_path / "train.tfrecord", [{"label": n % 3, "other": n % 3} for n in range(9)])
    (tmp_path / "labels.txt").write_text("0:cat\n1:dog\n", "utf-8")
    features = by_name(compute(path))
    assert {entry["value"]: entry["class"] for entry in features["label"]["value_counts"]} == {
        0: "cat",
        1: "dog",
        2: None,
    }
    assert {entry["class"] for entry in features["other"]["value_counts"]} == {None}


def test_overview_has_one_bin_per_integer_if_there_are_few(tmp_path: Path) -> None:
    path = write_examples(tmp_path / "a.tfrecord", [{"n": [1, 2, 2, 900][k % 4]} for k in range(40)])
    assert by_name(compute(path))["n"]["histogram"] == {"edges": [1, 2, 900, 901], "counts": [10, 20, 10]}


def test_overview_counts_sizes_and_formats_of_images(tmp_path: Path) -> None:
    sizes = [(20 + n, 14 + n % 3) for n in range(40)]
    images = [(encode_png if n % 4 == 0 else encode_jpeg)(n, *size) for n, size in enumerate(sizes)]
    images[5] = images[5][:20]
    path = write_examples(tmp_path / "a.tfrecord", [{"image": image} for image in images])
    found = by_name(compute(path))["image"]["images"]
    kept = [size for n, size in enumerate(sizes) if n != 5]
    assert found["formats"] == {"jpeg": 30, "png": 10} and found["num_unreadable"] == 1
    for name, axis in (("widths", 0), ("heights", 1)):
        values = [size[axis] for size in kept]
        assert found[name]["counts"] == count_by_edges(values, found[name]["edges"])
        assert sum(found[name]["counts"]) == 39


def test_overview_counts_features_that_are_missing_or_change_their_kind(tmp_path: Path) -> None:
    payloads = [
        encode_example({"a": ("int64", [n])} if n < 5 else {"a": ("float32", [n / 2])} if n < 8 else {})
        for n in range(12)
    ]
    feature = by_name(compute(write_shard(tmp_path, "tfrecord", payloads)))["a"]
    assert (feature["kinds"], feature["num_missing"], feature["num_values"]) == (["int64", "float32"], 4, 8)
    assert (feature["minimum"], feature["maximum"]) == (0, 4) and sum(feature["histogram"]["counts"]) == 8


def test_overview_of_sequences_counts_all_values(tmp_path: Path) -> None:
    path = write_examples(tmp_path / "a.tfrecord", [{"xs": np.arange(n, dtype=np.int64)} for n in range(1, 50)])
    feature = by_name(compute(path))["xs"]
    values = [value for n in range(1, 50) for value in range(n)]
    assert feature["value_counts"] is None and feature["num_values"] == len(values)
    assert feature["histogram"]["counts"] == count_by_edges(values, feature["histogram"]["edges"])


@pytest.mark.parametrize("format_name", FORMATS)
def test_overview_reads_all_formats(format_name: str, tmp_path: Path) -> None:
    encode = encode_ofrecord if format_name == "ofrecord" else encode_example
    payloads = [encode({"id": ("int64", [number])}) for number in range(20)]
    answer = compute(write_shard(tmp_path, format_name, payloads))
    (feature,) = answer["result"]["features"]
    numbers = list(range(20))
    if feature["name"] == "id":
        assert feature["histogram"] == {"edges": [*numbers, 20], "counts": [1] * 20}
    else:
        lengths = [len(payload) for payload in payloads]
        assert list(feature["num_bytes"]) == [min(lengths), max(lengths)]
    assert answer["result"]["num_records"] == 20 and answer["num_read"] == 20


def test_overview_reads_image_records_of_recordio(tmp_path: Path) -> None:
    examples = [{"image": encode_jpeg(n), "label": float(n % 4)} for n in range(12)]
    with rm.ShardWriter(tmp_path / "a.rec") as writer:
        for example in examples:
            writer.write(example)
    features = by_name(compute(tmp_path / "a.rec"))
    assert features["image"]["images"]["formats"] == {"jpeg": 12}
    assert sum(features["label"]["histogram"]["counts"]) == 12


def test_overview_counts_damaged_records_and_reads_the_others(tmp_path: Path) -> None:
    payloads = [encode_example({"n": ("int64", [number])}) for number in range(50)]
    path = write_shard(tmp_path, "tfrecord", payloads)
    offsets = rm.ShardReader(path, index="never").index.offsets.tolist()
    data = bytearray(path.read_bytes())
    for number in (0, 17, 49):
        data[offsets[number] + 12] ^= 0xFF
    path.write_bytes(data)
    answer = compute(path)
    assert (answer["state"], answer["num_read"], answer["result"]["num_damaged"]) == ("done", 50, 3)
    feature = by_name(answer)["n"]
    assert {entry["value"] for entry in feature["value_counts"]} == set(range(50)) - {0, 17, 49}


def test_overview_counts_payloads_that_are_no_messages_as_damaged(tmp_path: Path) -> None:
    payloads = [encode_example({"n": ("int64", [number])}) for number in range(300)]
    payloads[123] = b"\xff" * 20
    answer = compute(write_shard(tmp_path, "tfrecord", payloads))
    assert answer["result"]["num_damaged"] == 1 and by_name(answer)["n"]["num_values"] == 299


def test_overview_samples_blocks_of_all_shards(tmp_path: Path) -> None:
    paths = [
        write_examples(tmp_path / f"{n}.tfrecord", [{"shard": n, "row": row} for row in range(500)]) for n in range(8)
    ]
    answer = compute(paths, max_records=800)
    features, result = by_name(answer), answer["result"]
    assert answer["sampled"] and 700 <= answer["num_read"] <= 800 and answer["done"] == answer["total"]
    counts = {entry["value"]: entry["count"] for entry in features["shard"]["value_counts"]}
    assert counts.keys() == set(range(8)) and max(counts.values()) < 3 * min(counts.values())
    assert sum(features["shard"]["histogram"]["counts"]) == answer["num_read"]
    assert result["num_records"] == sum(result["record_bytes"]["counts"]) == 4000
    rows = {entry["value"] for entry in features["row"]["value_counts"]}
    assert len(rows) > 200


def test_overview_samples_if_there_are_too_many_bytes(tmp_path: Path) -> None:
    path = write_examples(tmp_path / "a.tfrecord", [{"data": bytes(1000)} for _ in range(400)])
    answer = compute(path, max_bytes=100_000)
    assert answer["sampled"] and 50 <= answer["num_read"] <= 100


def test_overview_of_chosen_positions(tmp_path: Path) -> None:
    path = write_examples(tmp_path / "a.tfrecord", [{"n": n} for n in range(100)])
    source, chosen = ShardRecords(rm.open(path).pipeline.sources), np.array([99, 5, 7, 5])
    answer = wait(Overview(source, chosen))
    counts = by_name(answer)["n"]["value_counts"]
    assert {entry["value"]: entry["count"] for entry in counts} == {5: 2, 7: 1, 99: 1}
    assert answer["result"]["num_records"] == sum(answer["result"]["record_bytes"]["counts"]) == 4


def test_overview_of_an_empty_shard(tmp_path: Path) -> None:
    with rm.ShardWriter(tmp_path / "a.tfrecord"):
        pass
    answer = compute(tmp_path / "a.tfrecord", max_bytes=0)
    assert answer["result"]["num_records"] == 0 and answer["result"]["record_bytes"] is None
    assert answer["result"]["features"] == [] and not answer["sampled"]


def test_overview_stops_when_it_is_cancelled(tmp_path: Path) -> None:
    path = write_examples(tmp_path / "a.tfrecord", [{"data": bytes(100_000)} for _ in range(2000)])
    overview = Overview(ShardRecords(rm.open(path).pipeline.sources))
    overview.to_json()
    overview.cancel()
    answer = wait(overview)
    assert answer["state"] == "cancelled" and answer["num_read"] < 2000 and answer["result"] is None


def check_histogram(chunks: list[list[float]], *, is_integer: bool) -> None:
    collector = HistogramCollector(is_integer=is_integer)
    for chunk in chunks:
        collector.add(np.array(chunk, np.int64 if is_integer else np.float64))
    values = [float(value) for chunk in chunks for value in chunk]
    histogram = collector.finish()
    if not values:
        assert histogram is None
        return
    assert histogram is not None
    edges, counts = histogram["edges"], histogram["counts"]
    assert len(edges) == len(counts) + 1 <= 33 and sum(counts) == len(values)
    assert all(map(math.isfinite, edges)) and all(low <= high for low, high in itertools.pairwise(edges))
    assert edges[0] <= min(values) and max(values) <= edges[-1]
    if max(map(abs, values)) < 2**40:
        scale = max(map(abs, values))
        # Values nearer to an edge than the rounding of floats may be in either bin.
        shifted = [[(value + sign * scale * 1e-14) for value in values] for sign in (-1, 1)]
        below = [[sum(value < edge for value in row) for edge in edges[1:-1]] for row in shifted]
        total = [sum(counts[: number + 1]) for number in range(len(counts) - 1)]
        assert all(high <= exact <= low for low, exact, high in zip(below[0], total, below[1], strict=True))


@given(st.lists(st.lists(FLOATS | st.floats(-5, 5), max_size=30), max_size=4))
def test_histogram_counts_every_float(chunks: list[list[float]]) -> None:
    check_histogram(chunks, is_integer=False)


@given(st.lists(st.lists(INTEGERS, max_size=30), max_size=4))
def test_histogram_counts_every_integer(chunks: list[list[float]]) -> None:
    check_histogram(chunks, is_integer=True)


@pytest.mark.parametrize(
    "values",
    [np.arange(10) / 10, np.linspace(0, 1, 1001), np.arange(640) * 1.0, np.array([-3.0, 250.0])],
    ids=["tenths", "unit", "hundreds", "negative"],
)
def test_histogram_has_round_edges(values: Any) -> None:
    collector = HistogramCollector(is_integer=False)
    collector.add(values)
    histogram = collector.finish()
    assert histogram is not None
    edges = np.array(histogram["edges"])
    width = float(edges[1] - edges[0])
    assert np.allclose(np.diff(edges), width) and 8 <= len(edges) - 1 <= 32
    assert round(width / 10 ** math.floor(math.log10(width) + 1e-9), 6) in (1, 2, 5)
    assert np.allclose(edges / width, np.rint(edges / width))
    assert histogram["counts"] == count_by_edges(values.tolist(), histogram["edges"])


def test_overview_omits_records_that_need_much_memory(tmp_path: Path) -> None:
    path = write_examples(tmp_path / "a.tfrecord", [{"data": bytes(size)} for size in (10, 20 << 20, 30)])
    answer = compute(path)
    assert answer["sampled"] and answer["num_read"] == 2 and answer["done"] == 3
    assert answer["result"]["num_too_large"] == 1
    assert list(by_name(answer)["data"]["num_bytes"]) == [10, 30]

"""Datasets of examples: positions, inferred and explicit schemas, arrays, errors that name the record, processes."""

from __future__ import annotations

import multiprocessing
import os
import pickle
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordmill as rm

FORMATS = ("tfrecord", "ofrecord")


def example(number: int) -> dict[str, Any]:
    return {
        "id": np.int64(number),
        "vector": np.array([number, -1.5], np.float32),
        "tokens": np.arange(number % 4, dtype=np.int64),
        "name": b"record %d" % number,
    }


def write(path: Path, examples: Sequence[dict[str, Any]], format: str = "tfrecord", **options: Any) -> Path:  # noqa: A002
    """Write examples and remove the sidecar, so that the schema must be inferred."""
    noted = options.pop("noted", False)
    with rm.ShardWriter(path, format=format, **options) as writer:
        for row in examples:
            writer.write(row)
    for kept in [] if noted else path.parent.glob(".*.rmx"):
        kept.unlink()
    return path.parent


def equal(first: dict[str, Any], second: dict[str, Any]) -> bool:
    same = set(first) == set(second)
    return same and all(
        first[name] == second[name]
        if isinstance(first[name], bytes)
        else np.array_equal(first[name], second[name])
        and np.asarray(first[name]).dtype == np.asarray(second[name]).dtype
        for name in first
    )


@pytest.fixture(params=FORMATS)
def dataset(request: pytest.FixtureRequest, tmp_path: Path) -> rm.Dataset:
    return rm.open(write(tmp_path / "part", [example(n) for n in range(23)], request.param, shards=3))


def order(num_records: int = 23, shards: int = 3) -> list[int]:
    """Return the numbers of the examples in the order of the shards."""
    return [number for shard in range(shards) for number in range(shard, num_records, shards)]


def test_dataset_indexes_like_list(dataset: rm.Dataset) -> None:
    numbers = order()
    assert len(dataset) == 23
    for place in (0, 7, 8, 22, -1, -23):
        assert equal(dataset[place], example(numbers[place]))
    for part in (slice(None), slice(5, 12), slice(None, None, -3), slice(20, 99), slice(9, 3)):
        found = dataset[part]
        assert len(found) == len(numbers[part])
        assert all(equal(one, example(number)) for one, number in zip(found, numbers[part], strict=True))
    assert [int(one["id"]) for one in dataset] == numbers
    assert [int(one["id"]) for one in dataset.fetch([22, 0, 0, -1, 11])] == [numbers[p] for p in (22, 0, 0, -1, 11)]
    for place in (23, -24):
        with pytest.raises(IndexError):
            dataset[place]


def test_inferred_schema_has_kinds_and_shapes(dataset: rm.Dataset) -> None:
    assert {name: (entry.kind, entry.shape) for name, entry in dataset.schema.items()} == {
        "id": ("int64", ()),
        "vector": ("float32", (2,)),
        "tokens": ("int64", (None,)),
        "name": ("bytes", ()),
    }
    assert not any(entry.optional or entry.sequence for entry in dataset.schema.values())


def test_to_numpy_is_dense_for_features_of_constant_count(dataset: rm.Dataset) -> None:
    columns, numbers = dataset.to_numpy(), order()
    assert columns["id"].tolist() == numbers
    assert columns["vector"].shape == (23, 2)
    assert columns["vector"][:, 0].tolist() == numbers
    assert isinstance(columns["tokens"], rm.Ragged)
    assert columns["tokens"].to_list() == [list(range(number % 4)) for number in numbers]
    assert columns["name"].to_list() == [b"record %d" % number for number in numbers]


def test_dataset_reads_same_after_pickle_fork_and_in_threads(dataset: rm.Dataset) -> None:
    numbers = order()
    copied = pickle.loads(pickle.dumps(dataset))
    assert [int(one["id"]) for one in copied] == numbers
    child = os.fork()
    if child == 0:
        os._exit(0 if [int(one["id"]) for one in dataset] == numbers else 3)
    assert [int(dataset[place]["id"]) for place in range(23)] == numbers
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(lambda place: int(dataset[place % 23]["id"]), range(200))) == [
            numbers[place % 23] for place in range(200)
        ]


def _ids(dataset: rm.Dataset) -> list[int]:
    return [int(one["id"]) for one in dataset]


def test_dataset_reads_in_spawned_process(tmp_path: Path) -> None:
    dataset = rm.open(write(tmp_path / "part", [example(n) for n in range(5)]))
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(_ids, (dataset,)) == list(range(5))


def test_inferred_schema_marks_optional_and_variable_features(tmp_path: Path) -> None:
    rows = [{"a": 1, "b": [1.0, 2.0]}, {"b": [3.0]}, {"a": 5, "b": [], "c": b"x"}]
    dataset = rm.open(write(tmp_path / "part", rows))
    schema = dataset.schema
    assert (schema["a"].shape, schema["a"].optional) == ((None,), True)
    assert (schema["b"].shape, schema["b"].optional) == ((None,), False)
    assert (schema["c"].kind, schema["c"].optional) == ("bytes", True)
    assert [one["a"].tolist() for one in dataset] == [[1], [], [5]]
    assert [list(one["c"]) for one in dataset] == [[], [], [b"x"]]


def test_schema_fills_defaults_and_optional_features(tmp_path: Path) -> None:
    folder = write(tmp_path / "part", [{"a": 1}, {"a": 2, "b": [1.0, 2.0], "name": b"n"}])
    schema = rm.Schema(
        {
            "a": rm.Feature("int64"),
            "b": rm.Feature("float32", (2,), default=[7, 8]),
            "c": rm.Feature("int64", (None,), optional=True),
            "name": rm.Feature("bytes", default=b"none"),
        }
    )
    columns = rm.open(folder, schema=schema).to_numpy()
    assert columns["b"].tolist() == [[7, 8], [1, 2]]
    assert columns["c"].to_list() == [[], []]
    assert columns["name"].to_list() == [b"none", b"n"]
    assert rm.open(folder, schema={"a": rm.Feature("int64", (1,))}).to_numpy()["a"].tolist() == [[1], [2]]


@pytest.mark.parametrize(
    "feature",
    [rm.Feature("int64"), rm.Feature("int64", (3,)), rm.Feature("float32", (2,)), rm.Feature("bytes")],
    ids=lambda feature: f"{feature.kind}{feature.shape}",
)
def test_fetch_names_record_that_violates_schema(tmp_path: Path, feature: rm.Feature) -> None:
    rows = [{"v": np.ones((2 if place == 17 else 1) * (feature.count or 1), feature.kind)} for place in range(30)]
    rows = [{"v": [b"a"] * (2 if place == 17 else 1)} for place in range(30)] if feature.kind == "bytes" else rows
    folder = write(tmp_path / "part", rows, shards=2)
    dataset = rm.open(folder, schema=rm.Schema({"v": feature}))
    assert len(dataset) == 30
    with pytest.raises(rm.FeatureError) as caught:
        dataset[:]
    second = sorted(folder.glob("part*"))[1]
    assert (caught.value.shard, caught.value.record) == (str(second), 8)
    assert caught.value.kind == "feature_mismatch"
    assert "v" in str(caught.value)
    assert caught.value.hint


def test_fetch_names_record_without_required_feature(tmp_path: Path) -> None:
    folder = write(tmp_path / "part", [{"a": 1}, {"b": 1}])
    with pytest.raises(rm.FeatureError) as caught:
        rm.open(folder, schema=rm.Schema({"a": rm.Feature("int64")})).to_numpy()
    assert caught.value.record == 1


def test_fetch_names_shard_record_and_offset_of_damage(tmp_path: Path) -> None:
    folder = write(tmp_path / "part", [example(n) for n in range(10)], shards=2)
    second = sorted(folder.glob("part*"))[1]
    offset = int(rm.ShardReader(second).index.offsets[3])
    data = bytearray(second.read_bytes())
    data[offset + 14] ^= 1
    second.write_bytes(data)
    dataset = rm.open(folder)
    assert [int(one["id"]) for one in dataset.fetch([0, 5, 7, 9])] == [0, 1, 5, 9]
    with pytest.raises(rm.ChecksumError) as caught:
        dataset.fetch([0, 8])
    assert (caught.value.shard, caught.value.record, caught.value.offset) == (str(second), 3, offset)


def test_dataset_keeps_examples_without_features(tmp_path: Path) -> None:
    with rm.ShardWriter(tmp_path / "part.tfrecord", payload="raw") as writer:
        for _ in range(3):
            writer.write(b"")
    dataset = rm.open(writer.paths, payload="example")
    assert list(dataset) == dataset[:] == [{}, {}, {}] and dataset[-1] == {}


@pytest.mark.parametrize("family, at, error", [("tfrecord", 14, rm.ChecksumError), ("ofrecord", 9, rm.PayloadError)])
def test_iteration_yields_examples_before_damaged_one(
    tmp_path: Path, family: str, at: int, error: type[rm.DamageError]
) -> None:
    path = write(tmp_path / "part", [example(number) for number in range(700)], family, shards=1)
    (shard,) = path.glob("part*")
    data = bytearray(shard.read_bytes())
    data[int(rm.ShardReader(shard).index.offsets[610]) + at] = 0xFF
    shard.write_bytes(data)
    found: list[int] = []
    with pytest.raises(error) as caught:
        found.extend(int(one["id"]) for one in rm.open(path))
    assert found == list(range(610)) and caught.value.record == 610


def test_open_reads_frames_of_sequence_examples_as_rows(tmp_path: Path) -> None:
    rows = [
        {"label": 1, "ids": rm.FeatureList([[1], [2], [3]]), "boxes": rm.FeatureList([[0.5, 1.0]])},
        {"label": 2, "ids": rm.FeatureList([[4]]), "boxes": rm.FeatureList([[2.0, 3.0], [4.0, 5.0]])},
    ]
    dataset = rm.open(write(tmp_path / "part", rows, payload="sequence_example"))
    assert (dataset.schema["ids"].shape, dataset.schema["ids"].sequence) == ((None,), True)
    assert dataset.schema["boxes"].shape == (None, 2)
    columns = dataset.to_numpy()
    assert columns["label"].tolist() == [1, 2]
    assert columns["ids"].to_list() == [[1, 2, 3], [4]]
    assert dataset[1]["boxes"].tolist() == [[2.0, 3.0], [4.0, 5.0]]


def test_open_uses_schema_of_writer(tmp_path: Path) -> None:
    schema = rm.Schema({"a": rm.Feature("int64", (None,), optional=True)})
    folder = write(tmp_path / "part", [{"a": [1]}, {"a": [2]}], schema=schema, noted=True)
    assert rm.open(folder).schema == schema
    assert rm.open(folder)[1]["a"].tolist() == [2]


def test_open_refuses_shards_of_two_formats(tmp_path: Path) -> None:
    write(tmp_path / "a", [example(1)], "tfrecord")
    write(tmp_path / "b", [example(1)], "ofrecord")
    with pytest.raises(rm.FormatError) as caught:
        rm.open(tmp_path)
    assert caught.value.kind == "wrong_format"


def test_open_reads_label_id_and_image_of_image_records(tmp_path: Path) -> None:
    rows = [{"image": b"jpeg %d" % n, "label": float(n), "id": 100 + n} for n in range(4)]
    dataset = rm.open(write(tmp_path / "part.rec", rows, "recordio") / "part.rec")
    assert [(one["image"], float(one["label"]), int(one["id"])) for one in dataset] == [
        (b"jpeg %d" % n, float(n), 100 + n) for n in range(4)
    ]

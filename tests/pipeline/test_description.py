"""`str` of datasets, loaders and schemas; lists of positions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import recordmill as rm
from recordmill.adapters.loader import FrameworkLoader


@pytest.fixture
def dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> rm.Dataset:
    monkeypatch.chdir(tmp_path)
    with rm.ShardWriter("some.tfrecord") as writer:
        for label in range(8):
            writer.write({"label": label, "scores": np.ones(label, np.float32)})
    return rm.open("some.tfrecord")


def test_str_of_dataset_shows_size_stages_and_features(dataset: rm.Dataset) -> None:
    assert str(dataset.shuffle(seed=1).batch(3)).splitlines() == [
        "Dataset of 3 batches",
        "  open('some.tfrecord': 8 x (label, scores))",
        "    .shuffle(seed=1)",
        "    .batch(3, last='keep')",
        "features of the records:",
        "  label: int64",
        "  scores: float32[?]",
    ]


def test_str_of_dataset_without_length_says_so(dataset: rm.Dataset) -> None:
    assert str(dataset.repeat()).startswith("Dataset of endlessly many samples\n")
    assert str(dataset.filter(bool)).startswith("Dataset of an unknown number of samples\n")


def test_str_of_loader_shows_options_and_dataset(dataset: rm.Dataset) -> None:
    batches = dataset.batch(2)
    with batches.loader(threads=0, rank=1, world_size=2) as loader:
        first, second, third, *_ = str(loader).splitlines()
        assert first == "Loader of 2 batches per epoch, next epoch 0"
        assert second == "  threads 0, prefetch 2, rank 1 of 2" and third == "  Dataset of 4 batches"
        wrapped = FrameworkLoader(loader)
        assert str(loader).splitlines()[0] in str(wrapped) and repr(loader) in repr(wrapped)


def test_str_of_schema_has_one_line_per_feature() -> None:
    schema = rm.Schema(
        {
            "mask": rm.Feature("int64", (3, 4)),
            "tokens": rm.Feature("int64", (None,), optional=True),
            "frames": rm.Feature("bytes", (None,), sequence=True),
            "weight": rm.Feature("float32", default=1.0),
        }
    )
    assert str(schema).splitlines() == [
        "mask: int64[3x4]",
        "tokens: int64[?], optional",
        "frames: sequence of bytes",
        "weight: float32, with a default",
    ]


def test_str_of_info_and_report_name_counts_and_damage(dataset: rm.Dataset) -> None:
    assert str(rm.info("some.tfrecord")).startswith("tfrecord: 8 records in 1 shard, ")
    assert str(rm.verify("some.tfrecord")) == "intact records: 8, faults: 0"
    path = Path("some.tfrecord")
    path.write_bytes(path.read_bytes()[:-3])
    assert "some.tfrecord, record 7, " in str(rm.verify(path))
    assert "damaged: some.tfrecord" in str(rm.info(path))


@pytest.mark.parametrize("positions", [[1, 5, -1], np.array([1, 5, -1])])
def test_list_of_positions_returns_list_of_elements(dataset: rm.Dataset, positions: object) -> None:
    assert [int(example["label"]) for example in dataset[positions]] == [1, 5, 7]
    assert [int(batch["label"][0]) for batch in dataset.batch(1)[positions]] == [1, 5, 7]


@pytest.mark.parametrize("positions", [[True, False], np.ones(8, bool), np.ones((2, 2), int), [0.5], np.ones(3)])
def test_masks_and_floats_are_no_positions(dataset: rm.Dataset, positions: object) -> None:
    with pytest.raises(TypeError, match="positions must be integers"):
        dataset[positions]


def test_empty_list_of_positions_returns_empty_list(dataset: rm.Dataset) -> None:
    assert dataset[[]] == [] and dataset[np.array([])] == []

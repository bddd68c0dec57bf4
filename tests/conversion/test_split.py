"""`split` divides records into disjoint and complete parts."""

from __future__ import annotations

import contextlib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

import recordmill as rm


@pytest.fixture
def source(tmp_path: Path) -> Path:
    with rm.ShardWriter(tmp_path / "all" / "data", shards=2) as writer:
        for number in range(100):
            writer.write({"number": number, "label": int(number % 10 == 0), "person": f"p{number % 7}"})
    return tmp_path / "all" / "data"


def read(path: Path, name: str = "number") -> list[Any]:
    return [value if isinstance(value := example[name], bytes) else int(value) for example in rm.open(path)]


def test_split_is_disjoint_complete_and_deterministic(source: Path, tmp_path: Path) -> None:
    parts = {"train": 0.7, "val": 0.2, "test": 0.1}
    result = rm.split(source, tmp_path / "a", parts)
    assert {name: part.num_records for name, part in result.parts.items()} == {"train": 70, "val": 20, "test": 10}
    assert sorted(number for name in parts for number in read(tmp_path / "a" / name)) == list(range(100))
    rm.split(source, tmp_path / "b", parts, workers=2)
    rm.split(source, tmp_path / "c", parts, seed=1)
    assert read(tmp_path / "a" / "val") == read(tmp_path / "b" / "val") != read(tmp_path / "c" / "val")


def test_split_by_class_gives_each_part_its_share(source: Path, tmp_path: Path) -> None:
    result = rm.split(source, tmp_path, {"train": 0.8, "val": 0.2}, by="label")
    assert result.counts == {"train": {0: 72, 1: 8}, "val": {0: 18, 1: 2}}
    assert Counter(read(tmp_path / "val", "label")) == {0: 18, 1: 2}


def test_split_keeps_groups_together(source: Path, tmp_path: Path) -> None:
    rm.split(source, tmp_path, {"train": 0.7, "val": 0.3}, group="person", format="ofrecord")
    train, val = (set(read(tmp_path / name, "person")) for name in ("train", "val"))
    assert train | val == {f"p{number}".encode() for number in range(7)} and not train & val
    assert len(read(tmp_path / "val")) in range(25, 36)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=60), st.integers(1, 99))
def test_split_by_class_is_exact_up_to_one_record(
    tmp_path_factory: pytest.TempPathFactory, labels: list[int], percent: int
) -> None:
    folder = tmp_path_factory.mktemp("split")
    with rm.ShardWriter(folder / "a.tfrecord") as writer:
        for label in labels:
            writer.write({"label": label})
    shares = {"one": percent / 100, "two": 1 - percent / 100}
    with contextlib.suppress(rm.InputError):  # A part would be empty.
        result = rm.split(folder / "a.tfrecord", folder / "out", shares, by="label")
        _check_counts(result, labels, shares)


def _check_counts(result: rm.SplitResult, labels: list[int], shares: dict[str, float]) -> None:
    for label, count in Counter(labels).items():
        found = {name: result.counts[name].get(label, 0) for name in shares}
        assert sum(found.values()) == count
        assert all(abs(found[name] - count * shares[name]) < 1 + 1e-6 for name in shares)


def test_split_refuses_invalid_options(source: Path, tmp_path: Path) -> None:
    for parts in ({"train": 0.5}, {}, {"../x": 1.0}, {"a": -1.0, "b": 2.0}):
        with pytest.raises(ValueError, match=r"part|share"):
            rm.split(source, tmp_path, parts)
    with pytest.raises(ValueError, match="combined"):
        rm.split(source, tmp_path, {"train": 1.0}, by="label", group="person")
    with pytest.raises(rm.FeatureError, match="persn"):
        rm.split(source, tmp_path, {"train": 1.0}, group="persn")


def test_split_writes_no_part_if_one_exists(source: Path, tmp_path: Path) -> None:
    rm.convert(source, tmp_path / "val")
    with pytest.raises(rm.OutputExistsError):
        rm.split(source, tmp_path, {"train": 0.5, "val": 0.5})
    assert not list(tmp_path.glob("train*"))

"""`diff` compares records independent of order and shards; `iterate_payloads` reads many shards in order."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

import recordmill as rm

SHARD = "train-00000-of-00001.tfrecord"


def write(path: Path, labels: Iterable[int], shards: int = 1, compression: str | None = None) -> Path:
    with rm.ShardWriter(path / "train", format="tfrecord", shards=shards, compression=compression) as writer:
        for label in labels:
            writer.write({"label": label, "scores": np.ones(label % 3 + 1, np.float32)})
    return path


def test_same_records_in_other_order_shards_and_compression_are_equal(tmp_path: Path) -> None:
    first = write(tmp_path / "a", range(50), 3)
    second = write(tmp_path / "b", reversed(range(50)), 2, "gzip")
    result = rm.diff(first, second)
    assert result.equal and not result.same_order and result.num_records == (50, 50)
    assert rm.diff(first, first).same_order


def test_differing_records_are_named_on_both_sides(tmp_path: Path) -> None:
    first = write(tmp_path / "a", [0, 1, 2, 3])
    second = write(tmp_path / "b", [2, 0, 9, 1, 8])
    result = rm.diff(first, second)
    assert not result.equal and (result.num_only_in_a, result.num_only_in_b) == (1, 2)
    assert result.only_in_a == [(str(first / SHARD), 3)]
    assert result.only_in_b == [(str(second / SHARD), 2), (str(second / SHARD), 4)]
    assert f"only in a: {first / SHARD}, record 3" in str(result)


def test_repeated_records_are_counted(tmp_path: Path) -> None:
    result = rm.diff(write(tmp_path / "a", [5, 5, 5, 1]), write(tmp_path / "b", [1, 5]))
    assert (result.num_only_in_a, result.num_only_in_b) == (2, 0)


def test_more_than_ten_differences_are_counted_and_ten_are_listed(tmp_path: Path) -> None:
    result = rm.diff(write(tmp_path / "a", range(30)), write(tmp_path / "b", [0]))
    assert result.num_only_in_a == 29 and [record for _, record in result.only_in_a] == list(range(1, 11))
    assert "only in a: 19 more" in str(result)


def test_different_schemas_are_reported_by_feature(tmp_path: Path) -> None:
    first = write(tmp_path / "a", [1, 2])
    with rm.ShardWriter(tmp_path / "b" / "train", format="tfrecord") as writer:
        writer.write({"label": 1.5, "name": "x"})
    result = rm.diff(first, tmp_path / "b")
    assert result.schema_differences == {
        "label": ("int64", "float32"),
        "scores": ("float32[?]", None),
        "name": (None, "bytes"),
    }
    assert not result.to_json()["equal"]


@pytest.mark.deep
def test_records_beyond_the_memory_limit_are_compared_in_files(tmp_path: Path) -> None:
    count = 270_000
    sides = (tmp_path / "a.tfrecord", range(count)), (tmp_path / "b.tfrecord", range(count, 0, -1))
    for path, numbers in sides:
        with rm.ShardWriter(path, payload="raw") as writer:
            for number in numbers:
                writer.write(b"%d" % number)
    result = rm.diff(sides[0][0], sides[1][0])
    assert result.only_in_a == [(str(sides[0][0]), 0)] and result.only_in_b == [(str(sides[1][0]), 0)]
    assert (result.num_only_in_a, result.num_only_in_b) == (1, 1)


def test_incomplete_dataset_is_compared_only_if_allowed(tmp_path: Path) -> None:
    first = write(tmp_path / "a", range(10), 2)
    (first / "train-00001-of-00002.tfrecord").unlink()
    with pytest.raises(rm.IncompleteDatasetError):
        rm.diff(first, first)
    assert rm.diff(first, first, allow_incomplete=True).num_records == (5, 5)


def test_payloads_of_many_shards_are_read_in_order(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.rec" for number in range(3)]
    for number, path in enumerate(paths):
        with rm.PayloadWriter(path, format="recordio") as writer:
            writer.write(b"%d" % number)
            writer.write(b"")
    assert list(rm.iterate_payloads(paths)) == [b"0", b"", b"1", b"", b"2", b""]


def test_payloads_before_damage_are_yielded(tmp_path: Path) -> None:
    path = write(tmp_path, range(5)) / SHARD
    path.write_bytes(path.read_bytes()[:-2])
    payloads = rm.iterate_payloads(path)
    assert all(next(payloads) for _ in range(4))
    with pytest.raises(rm.DamageError) as caught:
        next(payloads)
    assert (caught.value.shard, caught.value.record) == (str(path), 4)


def test_folder_without_shards_names_the_folder_that_has_some(tmp_path: Path) -> None:
    write(tmp_path / "out" / "train", range(3))
    for use in (rm.open, rm.info, lambda path: rm.diff(path, path)):
        with pytest.raises(FileNotFoundError, match=r"contains no shards, but its folder '.*out/train' does"):
            use(tmp_path / "out")

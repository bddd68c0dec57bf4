"""Forms of features in batches: they depend on the samples of the batch only, not on others built in the same job."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from recordmill.pipeline.dataset import Dataset
from recordmill.types import Ragged
from tests.pipeline.sources import numbers


def with_ragged_features(sample: dict[str, Any]) -> dict[str, Any]:
    return sample | {"tokens": np.arange(sample["id"] // 8), "name": b"x" * int(sample["id"] % 3)}


def describe(value: Any) -> str:
    """Return type, dtype and values."""
    if isinstance(value, Ragged):
        return f"Ragged {value.to_list()}"
    if isinstance(value, np.ndarray):
        return f"ndarray {value.dtype} {value.shape} {value.tolist()}"
    return f"list {[np.asarray(row).tolist() for row in value]}"


def describe_batches(dataset: Dataset, threads: int, **options: Any) -> list[dict[str, str]]:
    with dataset.loader(threads=threads, **options) as loader:
        return [{name: describe(value) for name, value in batch.items()} for batch in loader]


@pytest.mark.parametrize("ragged", ["ragged", "pad", "list"])
@pytest.mark.parametrize("count", [25, 27, 40])
@pytest.mark.parametrize("rank, world_size", [(0, 1), (1, 2)])
def test_batch_form_does_not_depend_on_other_batches_of_job(
    ragged: Any, count: int, rank: int, world_size: int
) -> None:
    dataset = numbers(count).map(with_ragged_features).batch(4, last="pad", ragged=ragged)
    alone = describe_batches(dataset, 0, rank=rank, world_size=world_size)
    for threads in (1, 3, 8):
        assert describe_batches(dataset, threads, rank=rank, world_size=world_size) == alone
    assert alone[0]["id"].startswith("ndarray int64")


def with_many_types(sample: dict[str, Any]) -> dict[str, Any]:
    count = int(sample["id"]) + 1
    return {
        "bytes": b"x" * count,
        "text": "y" * count,
        "list": [1] * count,
        "tuple": (1,) * count,
        "dict": {"a": count},
        "word": None,
        "rows": np.ones((count, 2), np.float32),
        "number": 1.5,
    }


@pytest.mark.parametrize("filtered", [False, True])
def test_batch_pad_fills_lists_with_empty_values_of_their_type(filtered: bool) -> None:
    samples = numbers(6).filter(lambda _: True) if filtered else numbers(6)
    dataset = samples.map(with_many_types).batch(4, last="pad", ragged="list")
    empty: dict[str, Any] = {"bytes": b"", "text": "", "list": [], "tuple": (), "dict": {}, "word": None, "number": 0.0}
    alone = list(dataset.loader())[-1]
    assert alone["valid"].tolist() == [True, True, False, False]
    assert [alone["bytes"][0], alone["list"][1], alone["dict"][1]] == [b"x" * 5, [1] * 6, {"a": 6}]
    without = list(dataset.loader(rank=1, world_size=2))[-1]
    assert without["valid"].tolist() == [True, True, False, False]
    for batch in (alone, without):
        assert {name: batch[name][3] for name in empty} == empty
        assert {name: type(value[3]) for name, value in batch.items() if name in empty} == {
            name: np.float64 if name == "number" else type(value) for name, value in empty.items()
        }
    assert (alone["rows"][2].shape, alone["rows"][2].dtype) == ((0, 2), np.float32)


def test_batch_without_samples_has_form_of_other_ranks() -> None:
    def lengths(sample: dict[str, Any]) -> dict[str, Any]:
        return {"text": b"x" * int(sample["id"]), "rows": np.ones((int(sample["id"]), 2), np.float32)}

    dataset = numbers(9).map(lengths).batch(4, last="pad")
    ranks = [list(dataset.loader(rank=rank, world_size=2))[-1] for rank in range(2)]
    assert [rank["valid"].tolist() for rank in ranks] == [[True, False, False, False], [False] * 4]
    assert [type(rank["text"]) for rank in ranks] == [Ragged, Ragged]
    assert [list(map(bytes, rank["text"])) for rank in ranks] == [[b"x" * 8, b"", b"", b""], [b""] * 4]
    assert [(rank["rows"].shape, rank["rows"].dtype) for rank in ranks] == [((4, 8, 2), np.float32)] * 2
    assert [float(rank["rows"].sum()) for rank in ranks] == [16.0, 0.0]


@pytest.mark.parametrize("dtype", [np.int64, np.float32, np.uint8])
@pytest.mark.parametrize("inner", [(), (3,), (0,)])
@pytest.mark.parametrize("counts", [[], [0], [0, 0], [3, 0, 5], [7]])
@pytest.mark.parametrize("length", [None, 0, 2, 9])
def test_to_padded_truncates_and_fills_rows(
    dtype: Any, inner: tuple[int, ...], counts: list[int], length: int | None
) -> None:
    splits = np.cumsum([0, *counts], dtype=np.int64)
    data = (
        np.arange(int(splits[-1]) * int(np.prod(inner))).reshape(-1, *inner)
        if 0 not in inner
        else np.zeros((sum(counts), 0))
    )
    data = data.astype(dtype)
    width = max(counts, default=0) if length is None else length
    expected = np.full((len(counts), width, *inner), 7, dtype)
    for row, (start, count) in enumerate(zip(splits, counts, strict=False)):
        kept = min(count, width)
        expected[row, :kept] = data[start : start + kept]
    found = Ragged(data, splits).to_padded(7, length)
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    assert (found == expected).all()


def test_to_padded_refuses_length_beyond_memory() -> None:
    with pytest.raises(ValueError, match="fit into memory"):
        Ragged(np.arange(3), np.array([0, 3])).to_padded(0, 1 << 62)

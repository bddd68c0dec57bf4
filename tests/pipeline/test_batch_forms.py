"""Forms of features in batches: the samples of a batch decide, not those that were made together with it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from recordmill.pipeline.dataset import Dataset
from recordmill.types import Ragged
from tests.pipeline.sources import numbers


def rows(sample: dict[str, Any]) -> dict[str, Any]:
    return sample | {"tokens": np.arange(sample["id"] // 8), "name": b"x" * int(sample["id"] % 3)}


def told(value: Any) -> str:
    """Type, dtype and values."""
    if isinstance(value, Ragged):
        return f"Ragged {value.to_list()}"
    if isinstance(value, np.ndarray):
        return f"ndarray {value.dtype} {value.shape} {value.tolist()}"
    return f"list {[np.asarray(row).tolist() for row in value]}"


def forms(dataset: Dataset, threads: int, **options: Any) -> list[dict[str, str]]:
    with dataset.loader(threads=threads, **options) as loader:
        return [{name: told(value) for name, value in batch.items()} for batch in loader]


@pytest.mark.parametrize("ragged", ["ragged", "pad", "list"])
@pytest.mark.parametrize("count", [25, 27, 40])
@pytest.mark.parametrize("rank, world_size", [(0, 1), (1, 2)])
def test_batch_when_made_with_others_then_has_the_same_form(
    ragged: Any, count: int, rank: int, world_size: int
) -> None:
    dataset = numbers(count).map(rows).batch(4, last="pad", ragged=ragged)
    alone = forms(dataset, 0, rank=rank, world_size=world_size)
    for threads in (1, 3, 8):
        assert forms(dataset, threads, rank=rank, world_size=world_size) == alone
    assert alone[0]["id"].startswith("ndarray int64")


def of_many_kinds(sample: dict[str, Any]) -> dict[str, Any]:
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
def test_batch_when_padded_then_lists_are_filled_with_empty_rows_of_their_kind(filtered: bool) -> None:
    samples = numbers(6).filter(lambda _: True) if filtered else numbers(6)
    dataset = samples.map(of_many_kinds).batch(4, last="pad", ragged="list")
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


def test_batch_when_a_rank_has_no_sample_then_has_the_forms_of_others() -> None:
    def lengths(sample: dict[str, Any]) -> dict[str, Any]:
        return {"text": b"x" * int(sample["id"]), "rows": np.ones((int(sample["id"]), 2), np.float32)}

    dataset = numbers(9).map(lengths).batch(4, last="pad")
    ranks = [list(dataset.loader(rank=rank, world_size=2))[-1] for rank in range(2)]
    assert [rank["valid"].tolist() for rank in ranks] == [[True, False, False, False], [False] * 4]
    assert [type(rank["text"]) for rank in ranks] == [Ragged, Ragged]
    assert [list(map(bytes, rank["text"])) for rank in ranks] == [[b"x" * 8, b"", b"", b""], [b""] * 4]
    assert [(rank["rows"].shape, rank["rows"].dtype) for rank in ranks] == [((4, 8, 2), np.float32)] * 2
    assert [float(rank["rows"].sum()) for rank in ranks] == [16.0, 0.0]

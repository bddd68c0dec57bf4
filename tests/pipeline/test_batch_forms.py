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

"""Padded batches in the loaders of frameworks: same shapes, also after resuming."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordmill as rm
from tests.adapters.conftest import IGNORED_WARNINGS

os.environ.setdefault("KERAS_BACKEND", "jax")
pytestmark = [pytest.mark.deep, *IGNORED_WARNINGS]


@pytest.fixture
def dataset(tmp_path: Path) -> rm.Dataset:
    with rm.ShardWriter(tmp_path / "part") as writer:
        for number in range(30):
            writer.write({"tokens": np.arange(number % 7, dtype=np.float32), "label": np.float32(number)})
    padded: Any = {"ragged": "pad", "pad_value": -1, "pad_to": {"tokens": 8, "grid": (8, 4)}}
    return rm.open(tmp_path).map(add_grid).shuffle(seed=1).batch(4, last="drop", **padded)


def add_grid(sample: dict[str, Any]) -> dict[str, Any]:
    return sample | {"grid": np.ones((len(sample["tokens"]), 1 + int(sample["label"]) % 4), np.float32)}


@pytest.mark.parametrize("framework", ["torch", "jax"])
def test_framework_loader_resumes_padded_batches(framework: str, dataset: rm.Dataset) -> None:
    module = getattr(rm, framework)
    expected = list(dataset)
    with module.loader(dataset) as first, module.loader(dataset) as second:
        got = list(islice(iter(first), 3))
        second.load_state_dict(first.state_dict())
        got += second
    assert {tuple(batch["grid"].shape) for batch in got} == {(4, 8, 4)}
    assert len(got) == len(expected) == 7
    for batch, wanted in zip(got, expected, strict=True):
        assert all(np.array_equal(np.asarray(batch[name]), wanted[name]) for name in ("tokens", "grid", "label"))


def test_keras_dataset_has_fixed_shape_of_padded_batches(dataset: rm.Dataset) -> None:
    data = rm.keras.PyDataset(dataset, "grid", "label")
    shapes = {tuple(tuple(part.shape) for part in data[number]) for number in range(len(data))}
    assert shapes == {((4, 8, 4), (4,))}

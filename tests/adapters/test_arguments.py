"""Adapters refuse invalid arguments when they are passed."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import recordmill as rm
from tests.adapters.conftest import IGNORED_WARNINGS

os.environ.setdefault("KERAS_BACKEND", "jax")
pytestmark = IGNORED_WARNINGS
Create = Callable[[rm.Dataset], Any]


@pytest.fixture
def samples(squares: Path) -> rm.Dataset:
    return rm.open(squares / "tfrecord")


def list_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("recordmill")]


@pytest.mark.deep
@pytest.mark.parametrize(
    "create",
    [
        lambda dataset: rm.torch.MapDataset(dataset.shard(0, 2)),
        lambda dataset: rm.jax.Source(dataset.shard(0, 2)),
        lambda dataset: rm.keras.PyDataset(dataset.shard(0, 2).batch(4), "label"),
    ],
)
def test_positional_access_refuses_sharded_dataset(samples: rm.Dataset, create: Create) -> None:
    with pytest.raises(ValueError, match=r"with shard\(\) cannot be read by position"):
        create(samples)


@pytest.mark.deep
@pytest.mark.parametrize("epoch", [-1, 1.5, "1", True, 1 << 32])
def test_set_epoch_refuses_invalid_epoch(samples: rm.Dataset, epoch: Any) -> None:
    for data in (rm.torch.MapDataset(samples), rm.keras.PyDataset(samples.batch(4), "label")):
        with pytest.raises(ValueError, match="epoch must be an integer"):
            data.set_epoch(epoch)
    with pytest.raises(ValueError, match="epoch must be an integer"):
        rm.jax.Source(samples, epoch=epoch)


@pytest.mark.deep
@pytest.mark.parametrize("create", [lambda: rm.torch.loader, lambda: rm.torch.IterableDataset, lambda: rm.jax.loader])
def test_adapters_refuse_filter_with_last_keep_and_several_ranks(
    samples: rm.Dataset, create: Callable[[], Any]
) -> None:
    filtered = samples.filter(lambda sample: bool(sample["label"] % 2)).batch(4)
    with pytest.raises(ValueError, match="cannot be combined with filter and 2 ranks"):
        create()(filtered, rank=0, world_size=2)


@pytest.mark.deep
def test_constructors_refuse_invalid_options(samples: rm.Dataset) -> None:
    with pytest.raises(ValueError, match="threads and prefetch"):
        rm.torch.IterableDataset(samples.batch(4), threads=-1)
    with pytest.raises(TypeError, match="workers= is not supported"):
        rm.torch.IterableDataset(samples.batch(4), workers=(0, 2))
    with pytest.raises(ValueError, match="cannot be combined"):
        rm.jax.loader(samples.batch(4), device=object(), sharding=object())
    with pytest.raises(ValueError, match="ahead must be a non-negative integer"):
        rm.jax.loader(samples.batch(4), ahead=1.5)  # type: ignore[arg-type]


def slow(sample: dict[str, Any]) -> dict[str, Any]:
    time.sleep(0.02)
    return {"label": sample["label"]}


@pytest.mark.deep
@pytest.mark.parametrize("num_threads", [0, 2])
def test_torch_loader_stops_threads_when_caller_raises(samples: rm.Dataset, num_threads: int) -> None:
    batches: Iterator[Any] = iter(())

    def train() -> None:
        nonlocal batches
        with rm.torch.loader(samples.map(slow).batch(4), device="meta", threads=num_threads) as loader:
            batches = iter(loader)
            next(batches)
            raise KeyError("of the caller")

    with pytest.raises(KeyError, match="of the caller"):
        train()
    assert list(batches) == [] and list_threads() == []


@pytest.mark.parametrize(
    "name, class_name", [("torch", "IterableDataset"), ("torch", "MapDataset"), ("keras", "PyDataset")]
)
def test_dir_lists_classes_created_on_demand(name: str, class_name: str) -> None:
    listed = dir(getattr(rm, name))
    assert class_name in listed and listed == sorted(getattr(rm, name).__all__)

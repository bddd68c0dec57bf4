"""What adapters are given: refused where it is given, and never ignored in silence."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordmill as rm
from tests.adapters.conftest import QUIET

os.environ.setdefault("KERAS_BACKEND", "jax")
pytestmark = QUIET
Make = Callable[[rm.Dataset], Any]


@pytest.fixture
def samples(squares: Path) -> rm.Dataset:
    return rm.open(squares / "tfrecord")


def threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("recordmill")]


@pytest.mark.deep
@pytest.mark.parametrize(
    "make",
    [
        lambda some: rm.torch.MapDataset(some.shard(0, 2)),
        lambda some: rm.jax.Source(some.shard(0, 2)),
        lambda some: rm.keras.PyDataset(some.shard(0, 2).batch(4), "label"),
    ],
)
def test_data_set_by_position_when_divided_among_ranks_then_is_refused(samples: rm.Dataset, make: Make) -> None:
    with pytest.raises(ValueError, match=r"shard\(\) takes effect in loaders"):
        make(samples)


@pytest.mark.deep
@pytest.mark.parametrize("epoch", [-1, 1.5, "1", True, 1 << 32])
def test_epoch_when_it_is_none_then_is_refused(samples: rm.Dataset, epoch: Any) -> None:
    for data in (rm.torch.MapDataset(samples), rm.keras.PyDataset(samples.batch(4), "label")):
        with pytest.raises(ValueError, match="an epoch is a whole number"):
            data.set_epoch(epoch)
    with pytest.raises(ValueError, match="an epoch is a whole number"):
        rm.jax.Source(samples, epoch=epoch)


@pytest.mark.deep
def test_options_when_they_make_no_sense_then_are_refused_before_workers_start(samples: rm.Dataset) -> None:
    with pytest.raises(ValueError, match="threads and prefetch"):
        rm.torch.IterableDataset(samples.batch(4), threads=-1)
    with pytest.raises(TypeError, match="workers are those of the DataLoader"):
        rm.torch.IterableDataset(samples.batch(4), workers=(0, 2))
    with pytest.raises(ValueError, match="not both"):
        rm.jax.loader(samples.batch(4), device=object(), sharding=object())
    with pytest.raises(ValueError, match="ahead is a whole number"):
        rm.jax.loader(samples.batch(4), ahead=1.5)  # type: ignore[arg-type]


@pytest.mark.parametrize("x, y", [(None, None), (5, None), ([], None), ({"a": 5}, None), ("label", len)])
def test_names_when_they_are_none_then_are_refused(samples: rm.Dataset, x: Any, y: Any) -> None:
    with samples.batch(4).loader() as loader, pytest.raises(TypeError, match="is a name of a feature, or a list"):
        rm.keras.Stream(loader, x, y)


def test_stream_when_given_a_data_set_then_says_what_it_takes(samples: rm.Dataset) -> None:
    with pytest.raises(TypeError, match="takes a loader"):
        rm.keras.Stream(samples.batch(4), "label")  # type: ignore[arg-type]


def test_stream_when_nothing_passes_a_filter_then_ends_with_an_error(samples: rm.Dataset) -> None:
    with samples.filter(lambda sample: False).batch(4).loader(threads=0) as loader:
        batches = rm.keras.Stream(loader, "label").batches()
        with pytest.warns(RuntimeWarning, match="has no batch"), pytest.raises(ValueError, match="epochs in a row"):
            next(batches)


def test_stream_when_resumed_at_the_end_of_an_epoch_then_goes_on_with_the_next(samples: rm.Dataset) -> None:
    with samples.shuffle(1).batch(4).loader(threads=0) as loader:
        *_, last = ((batch["label"], loader.state_dict()) for batch in loader)
        stream = rm.keras.Stream(loader, "label")
        stream.load_state_dict(last[1])
        found = [batch[0] for batch in islice(stream.batches(), 2)]
    wanted = samples.shuffle(1).batch(4).fetch([0, 1], epoch=1)
    assert all(np.array_equal(one, two["label"]) for one, two in zip(found, wanted, strict=True))


def test_stream_when_asked_before_the_first_step_then_tells_what_keras_looked_at_is_not_behind(
    samples: rm.Dataset,
) -> None:
    with samples.batch(4).loader(threads=0) as loader:
        stream = rm.keras.Stream(loader, "label")
        for begin in (0, 8):
            batches = stream.batches()
            next(batches), next(batches)
            stream.epoch_begins(0, 2, None)
            assert stream.state_dict()["position"] == begin
            stream.batch_ends(0)
            assert stream.state_dict()["position"] == begin + 4
            next(batches)
            stream.batch_ends(1)


def slow(sample: dict[str, Any]) -> dict[str, Any]:
    time.sleep(0.02)
    return {"label": sample["label"]}


@pytest.mark.deep
@pytest.mark.parametrize("num_threads", [0, 2])
def test_loader_for_a_device_when_an_error_leaves_the_loop_then_it_arrives_and_nothing_is_left(
    samples: rm.Dataset, num_threads: int
) -> None:
    batches: Iterator[Any] = iter(())

    def train() -> None:
        nonlocal batches
        with rm.torch.loader(samples.map(slow).batch(4), device="meta", threads=num_threads) as loader:
            batches = iter(loader)
            next(batches)
            raise KeyError("of the caller")

    with pytest.raises(KeyError, match="of the caller"):
        train()
    assert list(batches) == [] and threads() == []


@pytest.mark.parametrize("name, late", [("torch", "IterableDataset"), ("torch", "MapDataset"), ("keras", "PyDataset")])
def test_package_when_listed_then_names_what_is_made_on_demand(name: str, late: str) -> None:
    listed = dir(getattr(rm, name))
    assert late in listed and listed == sorted(getattr(rm, name).__all__)

"""Resuming with torchdata's StatefulDataLoader."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import recordmill as rm
from tests.adapters.conftest import IGNORED_WARNINGS, equal
from tests.adapters.squares import BATCH, NUM_BATCHES, NUM_SAMPLES, batches, samples

pytestmark = [pytest.mark.deep, *IGNORED_WARNINGS]
WORKERS = [0, 1, 2, 4]


def stateful(dataset: Any, num_workers: int, **options: Any) -> Any:
    from torchdata.stateful_dataloader import StatefulDataLoader

    context = "fork" if num_workers else None
    return StatefulDataLoader(dataset, num_workers=num_workers, multiprocessing_context=context, **options)


class Worker:
    """Iterates over a dataset as one worker of a DataLoader, without a process."""

    def __init__(self, dataset: Any, index: int, count: int) -> None:
        self.dataset, self.index, self.count = dataset, index, count

    def __iter__(self) -> Any:
        from torch.utils.data import _utils

        _utils.worker._worker_info = _utils.worker.WorkerInfo(
            id=self.index, num_workers=self.count, seed=0, dataset=self.dataset
        )
        try:
            return iter(self.dataset)
        finally:
            _utils.worker._worker_info = None


@pytest.mark.parametrize(
    "interrupted, num_workers",
    [
        pytest.param(count, workers, marks=() if workers in (0, 2) or count in (0, 3) else pytest.mark.campaign)
        for count in range(NUM_BATCHES + 1)
        for workers in WORKERS
    ],
)
def test_resumed_iterable_dataset_continues_with_next_batch(interrupted: int, num_workers: int, squares: Path) -> None:
    pipeline = batches(squares, "tfrecord")
    first, second = (rm.torch.IterableDataset(pipeline) for _ in range(2))
    first.set_epoch(2)
    loader = stateful(first, num_workers, batch_size=None)
    iterator = iter(loader)
    got = list(islice(iterator, interrupted))
    state = json.loads(json.dumps(loader.state_dict()))
    del iterator
    resumed = stateful(second, num_workers, batch_size=None)
    resumed.load_state_dict(state)
    got += resumed
    assert equal(got, pipeline.fetch(range(NUM_BATCHES), epoch=2)) and len(got) == NUM_BATCHES


@pytest.mark.parametrize("num_workers", [0, 2])
def test_repeatedly_resumed_iterable_dataset_returns_each_batch_once(num_workers: int, squares: Path) -> None:
    pipeline = samples(squares, "recordio").batch(4, last="pad")
    got: list[Any] = []
    state = None
    while len(got) < len(pipeline):
        loader = stateful(rm.torch.IterableDataset(pipeline), num_workers, batch_size=None)
        if state is not None:
            loader.load_state_dict(state)
        got += islice(iter(loader), 7)
        state = loader.state_dict()
    assert equal(got, list(pipeline))


@pytest.mark.parametrize("interrupted", [0, 4])
@pytest.mark.parametrize("saved, loaded", [(3, 2), (2, 3)])
def test_load_state_dict_refuses_other_number_of_workers(
    saved: int, loaded: int, interrupted: int, squares: Path
) -> None:
    part = iter(Worker(rm.torch.IterableDataset(batches(squares, "tfrecord")), 1, saved))
    state = [part.state_dict(), *(part.state_dict() for _ in islice(part, interrupted // saved))][-1]
    other = iter(Worker(rm.torch.IterableDataset(batches(squares, "tfrecord")), 1, loaded))
    with pytest.raises(rm.StateError, match=rf"expected num_workers={loaded}, found num_workers={saved}"):
        other.load_state_dict(state)
    assert len(list(other)) == len(range(1, NUM_BATCHES, loaded))


@pytest.mark.parametrize("num_workers", [0, 2])
def test_resumed_map_dataset_continues_with_torchdata_sampler(num_workers: int, squares: Path) -> None:
    import torch

    def create() -> Any:
        order = torch.Generator().manual_seed(1)
        dataset = rm.torch.MapDataset(samples(squares, "ofrecord"))
        return stateful(dataset, num_workers, batch_size=BATCH, shuffle=True, generator=order)

    expected = list(create())
    loader = create()
    got = list(islice(iter(loader), 2))
    resumed = create()
    resumed.load_state_dict(loader.state_dict())
    got += resumed
    assert equal(got, expected) and sum(len(batch["label"]) for batch in got) == NUM_SAMPLES


def test_loader_and_iterator_implement_torchdata_stateful(squares: Path) -> None:
    from torchdata.stateful_dataloader import Stateful

    with rm.torch.loader(batches(squares, "tfrecord")) as loader:
        assert isinstance(loader, Stateful)
        assert isinstance(iter(rm.torch.IterableDataset(batches(squares, "tfrecord"))), Stateful)

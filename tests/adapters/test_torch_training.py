"""A small PyTorch network trains on each family, and a resumed training reaches the same weights."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import recordmill as rm
from tests.adapters.conftest import IGNORED_WARNINGS, equal
from tests.adapters.squares import FAMILIES, NUM_BATCHES, NUM_CLASSES, batches

pytestmark = [pytest.mark.deep, *IGNORED_WARNINGS]
EPOCHS = 6


class Training:
    """A network and its optimizer, with a checkpoint."""

    def __init__(self) -> None:
        import torch

        torch.manual_seed(0)
        torch.set_num_threads(1)
        nn = torch.nn
        self.model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, NUM_CLASSES))
        self.optimizer = torch.optim.Adam(self.model.parameters(), 0.01)
        self.losses: list[float] = []

    def step(self, batch: dict[str, Any]) -> None:
        from torch.nn.functional import cross_entropy

        self.optimizer.zero_grad()
        loss = cross_entropy(self.model(batch["image"]), batch["label"].long())
        loss.backward()
        self.optimizer.step()
        self.losses.append(loss.item())

    def checkpoint(self) -> dict[str, Any]:
        from copy import deepcopy

        return deepcopy({"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()})

    def restore(self, saved: dict[str, Any]) -> None:
        self.model.load_state_dict(saved["model"])
        self.optimizer.load_state_dict(saved["optimizer"])

    def weights(self) -> list[Any]:
        return [weight.numpy() for weight in self.model.state_dict().values()]


def create_own_loader(pipeline: rm.Dataset) -> tuple[Any, Callable[[int], None]]:
    loader = rm.torch.loader(pipeline)
    return loader, loader.set_epoch


def create_worker_loader(pipeline: rm.Dataset) -> tuple[Any, Callable[[int], None]]:
    from torchdata.stateful_dataloader import StatefulDataLoader

    dataset = rm.torch.IterableDataset(pipeline)
    loader = StatefulDataLoader(dataset, batch_size=None, num_workers=2, multiprocessing_context="fork")
    return loader, dataset.set_epoch


@pytest.mark.parametrize("create", [create_own_loader, create_worker_loader])
@pytest.mark.parametrize("family", FAMILIES)
def test_resumed_training_reaches_same_weights(family: str, create, squares: Path) -> None:
    pipeline = batches(squares, family)
    complete, first, second = Training(), Training(), Training()
    loader, set_epoch = create(pipeline)
    for epoch in range(EPOCHS):
        set_epoch(epoch)
        for number, batch in enumerate(loader):
            if (epoch, number) < (2, 3):
                first.step(batch)
            complete.step(batch)
    assert len(complete.losses) == EPOCHS * NUM_BATCHES
    assert sum(complete.losses[-NUM_BATCHES:]) < 0.7 * sum(complete.losses[:NUM_BATCHES])
    interrupted, set_epoch = create(pipeline)
    set_epoch(2)
    list(islice(iter(interrupted), 3))
    saved = first.checkpoint() | {"data": interrupted.state_dict()}
    resumed, set_epoch = create(pipeline)
    resumed.load_state_dict(saved["data"])
    second.restore(saved)
    for epoch in range(2, EPOCHS):
        if epoch > 2:
            set_epoch(epoch)
        for batch in resumed:
            second.step(batch)
    assert equal(second.weights(), complete.weights()) and not equal(first.weights(), complete.weights())

"""The base class of framework loaders: epochs, and states that exclude prefetched batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from recordmill.adapters.loader import BatchAndState, FrameworkLoader
from recordmill.concurrency.prefetch import Prefetcher
from tests.adapters.conftest import equal
from tests.adapters.squares import BATCH, NUM_BATCHES, batches


class PlainLoader(FrameworkLoader):
    """Returns batches unchanged."""

    def _convert_batches(self, batches: Iterator[BatchAndState]) -> Iterable[BatchAndState]:
        return batches


class PrefetchingLoader(FrameworkLoader):
    """Advances three batches ahead of the caller."""

    def _convert_batches(self, batches: Iterator[BatchAndState]) -> Iterable[BatchAndState]:
        return Prefetcher(batches, depth=2)


class ObservedLoader(PrefetchingLoader):
    """Takes its state while the caller waits for the first batch, as a signal handler may do."""

    def _convert_batches(self, batches: Iterator[BatchAndState]) -> Iterable[BatchAndState]:
        batches = iter(super()._convert_batches(batches))
        first, second = next(batches), next(batches)
        self.early_state = self.state_dict()
        yield from (first, second, *batches)


def create_loader(kind: type[FrameworkLoader], folder: Path) -> FrameworkLoader:
    return kind(batches(folder, "tfrecord").loader(threads=1))


@pytest.mark.parametrize("kind", [PlainLoader, PrefetchingLoader])
@pytest.mark.parametrize("interrupted", range(1, 2 * NUM_BATCHES))
def test_load_state_dict_continues_after_last_received_batch(
    kind: type[FrameworkLoader], interrupted: int, squares: Path
) -> None:
    with (
        create_loader(PlainLoader, squares) as whole,
        create_loader(kind, squares) as first,
        create_loader(kind, squares) as second,
    ):
        expected = [batch for _ in range(2) for batch in whole]
        got: list[Any] = []
        while len(got) < interrupted:
            got += islice(iter(first), interrupted - len(got))
        second.load_state_dict(first.state_dict())
        while len(got) < 2 * NUM_BATCHES:
            got += second
    assert len(got) == len(expected) and equal(got, expected)


@pytest.mark.parametrize("kind", [PlainLoader, PrefetchingLoader])
def test_loader_advances_epoch_after_complete_and_interrupted_iterations(
    kind: type[FrameworkLoader], squares: Path
) -> None:
    with create_loader(kind, squares) as loader, create_loader(PlainLoader, squares) as other:
        for epoch in (0, 1):
            assert [loader.epoch for _ in loader] == [epoch] * NUM_BATCHES
        assert loader.epoch == 2
        loader.set_epoch(7)
        next(iter(loader))
        assert loader.epoch == 7 and loader.state_dict()["epoch"] == 7
        other.set_epoch(8)
        assert equal(list(loader), list(other)) and loader.epoch == 9


def test_loader_forwards_length_rank_stats_and_report(squares: Path) -> None:
    with PlainLoader(batches(squares, "recordio").loader(rank=1, world_size=2)) as loader:
        assert (len(loader), loader.rank, loader.world_size) == (NUM_BATCHES // 2, 1, 2)
        list(loader)
        assert loader.stats().samples == NUM_BATCHES // 2 * BATCH and loader.report.num_samples > 0


@pytest.mark.parametrize("kind", [PlainLoader, PrefetchingLoader])
def test_state_dict_ignores_earlier_iterations(kind: type[FrameworkLoader], squares: Path) -> None:
    with create_loader(kind, squares) as loader:
        older, newer = iter(loader), iter(loader)
        next(older)
        next(newer)
        state = loader.state_dict()
        assert state["epoch"] == 1 and state["position"] == BATCH
        next(older)
        assert loader.state_dict() == state
        loader.load_state_dict(state)
        next(newer)
        assert loader.state_dict() == state and loader.epoch == 1
        list(older)
        assert loader.state_dict() == state


def test_state_dict_before_first_batch_is_start_of_iteration(squares: Path) -> None:
    with create_loader(ObservedLoader, squares) as loader:
        loader.set_epoch(3)
        begin = loader.state_dict()
        next(iter(loader))
        assert isinstance(loader, ObservedLoader) and loader.early_state == begin
        assert loader.state_dict()["position"] == BATCH

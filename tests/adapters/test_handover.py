"""What the loaders of all frameworks share: epochs, and states that do not run ahead."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from recordmill.adapters.handover import Handover, Stated
from recordmill.concurrency.prefetch import Prefetcher
from tests.adapters.conftest import same
from tests.adapters.digits import BATCH, NUM_BATCHES, batches


class Plain(Handover):
    """Hands over what it gets."""

    def _place(self, batches: Iterator[Stated]) -> Iterable[Stated]:
        return batches


class Hasty(Handover):
    """Runs three batches ahead."""

    def _place(self, batches: Iterator[Stated]) -> Iterable[Stated]:
        return Prefetcher(batches, depth=2)


class Asked(Hasty):
    """Is asked for its state while the first batch is waited for and others are made, as by a signal handler."""

    def _place(self, batches: Iterator[Stated]) -> Iterable[Stated]:
        ahead = iter(super()._place(batches))
        first, second = next(ahead), next(ahead)
        self.meanwhile = self.state_dict()
        yield from (first, second, *ahead)


def made(kind: type[Handover], folder: Path) -> Handover:
    return kind(batches(folder, "tfrecord").loader(threads=1))


@pytest.mark.parametrize("kind", [Plain, Hasty])
@pytest.mark.parametrize("interrupted", range(1, 2 * NUM_BATCHES))
def test_state_when_loaded_elsewhere_then_goes_on_behind_the_batch_last_delivered(
    kind: type[Handover], interrupted: int, squares: Path
) -> None:
    with made(Plain, squares) as whole, made(kind, squares) as first, made(kind, squares) as second:
        expected = [batch for _ in range(2) for batch in whole]
        got: list[Any] = []
        while len(got) < interrupted:
            got += islice(iter(first), interrupted - len(got))
        second.load_state_dict(first.state_dict())
        while len(got) < 2 * NUM_BATCHES:
            got += second
    assert len(got) == len(expected) and same(got, expected)


@pytest.mark.parametrize("kind", [Plain, Hasty])
def test_epochs_when_iterated_set_and_left_early_then_follow_one_another(kind: type[Handover], squares: Path) -> None:
    with made(kind, squares) as loader, made(Plain, squares) as other:
        for epoch in (0, 1):
            assert [loader.epoch for _ in loader] == [epoch] * NUM_BATCHES
        assert loader.epoch == 2
        loader.set_epoch(7)
        next(iter(loader))
        assert loader.epoch == 7 and loader.state_dict()["epoch"] == 7
        other.set_epoch(8)
        assert same(list(loader), list(other)) and loader.epoch == 9


def test_loader_when_asked_then_tells_its_length_rank_and_figures(squares: Path) -> None:
    with Plain(batches(squares, "recordio").loader(rank=1, world_size=2)) as loader:
        assert (len(loader), loader.rank, loader.world_size) == (NUM_BATCHES // 2, 1, 2)
        list(loader)
        assert loader.stats().samples == NUM_BATCHES // 2 * BATCH and loader.report.num_samples > 0


@pytest.mark.parametrize("kind", [Plain, Hasty])
def test_state_when_an_older_iteration_goes_on_then_is_that_of_the_newer(kind: type[Handover], squares: Path) -> None:
    with made(kind, squares) as loader:
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


def test_state_when_asked_for_before_a_batch_is_delivered_then_is_where_the_iteration_began(squares: Path) -> None:
    with made(Asked, squares) as loader:
        loader.set_epoch(3)
        begin = loader.state_dict()
        next(iter(loader))
        assert isinstance(loader, Asked) and loader.meanwhile == begin
        assert loader.state_dict()["position"] == BATCH

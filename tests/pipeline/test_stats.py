"""What a loader tells of its time, in the middle of an epoch as at its end."""

from __future__ import annotations

import time
from typing import Any

import pytest

from recordmill.pipeline.dataset import Dataset
from tests.pipeline.sources import numbers


def same(sample: dict[str, Any]) -> dict[str, Any]:
    return sample


@pytest.mark.parametrize("dataset", [numbers(800).batch(20), numbers(800).filter(lambda sample: True).batch(20)])
def test_stats_when_the_consumer_is_slow_then_tell_of_what_is_ready_and_of_workers(dataset: Dataset) -> None:
    with dataset.loader(threads=2, prefetch=4) as loader:
        run = iter(loader)
        for _ in range(10):
            next(run)
            time.sleep(0.02)
        middle = loader.stats()
        assert middle.workers == 2
        assert middle.worker_wait_s > 0
        assert middle.queue_depth > 0
        assert len(list(run)) == 30
    end = loader.stats()
    assert (end.elements, end.workers) == (40, 2)
    assert end.worker_wait_s >= middle.worker_wait_s
    assert end.to_json()["queue_depth"] == end.queue_depth


def test_stats_when_there_are_no_workers_then_tell_of_none() -> None:
    loader = numbers(40).map(same).batch(4).loader(threads=0)
    assert len(list(loader)) == 10
    assert (loader.stats().workers, loader.stats().queue_depth) == (0, 0)

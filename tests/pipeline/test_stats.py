"""Statistics of a loader, during and after an epoch."""

from __future__ import annotations

import time
from typing import Any

import pytest

import recordmill as rm
from recordmill.pipeline.dataset import Dataset
from recordmill.pipeline.stats import LoaderStats, StageStats
from tests.pipeline.sources import numbers


def same(sample: dict[str, Any]) -> dict[str, Any]:
    return sample


@pytest.mark.parametrize("dataset", [numbers(800).batch(20), numbers(800).filter(lambda sample: True).batch(20)])
def test_stats_of_slow_consumer_count_ready_results_and_workers(dataset: Dataset) -> None:
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


def test_stats_without_workers_count_none() -> None:
    loader = numbers(40).map(same).batch(4).loader(threads=0)
    assert len(list(loader)) == 10
    assert (loader.stats().workers, loader.stats().queue_depth) == (0, 0)


class Clocks:
    """Clocks that a test advances."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = self.computed = 0.0
        monkeypatch.setattr("recordmill.pipeline.stages.base.perf_counter", lambda: self.now)
        monkeypatch.setattr("recordmill.pipeline.stages.base.thread_time", lambda: self.computed)

    def advance(self, busy: float, waiting: float) -> None:
        self.computed += busy
        self.now += busy + waiting


def test_stage_stats_separate_busy_and_wait_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clocks = Clocks(monkeypatch)

    def on_samples(sample: dict[str, Any]) -> dict[str, Any]:
        clocks.advance(0.25, 1.0)
        return sample

    def on_batches(batch: dict[str, Any]) -> dict[str, Any]:
        clocks.advance(2.0, 0.5)
        return batch

    def passes(sample: dict[str, Any]) -> bool:
        clocks.advance(0.5, 0.0)
        return True

    dataset = numbers(12).filter(passes).map(on_samples).batch(4).map(on_batches)
    loader = dataset.loader(threads=0)
    list(loader)
    times = {stage.name: (stage.busy_s, stage.waited_s, stage.inside_s) for stage in loader.stats().stages}
    nothing = (0, 0, 0)
    assert times == {"map": (3 + 6, 12 + 1.5, 22.5), "filter": (6, 0, 6), "read": nothing, "batch": nothing}
    assert next(iter(times)) == "map"
    assert loader.stats().to_json()["stages"]["map"] == {"busy_s": 9, "waited_s": 13.5}


def test_bottleneck_names_what_stage_waits_for() -> None:
    def bottleneck(busy: float, waited: float) -> str:
        stages = (StageStats("map", busy, waited), StageStats("read", 0.1, 0.0))
        return LoaderStats(1, 1, 1, 10.0, 9.0, 1, 0.0, 0.0, stages).bottleneck

    assert "waiting for the interpreter lock" in bottleneck(1.0, 3.0)
    assert "75% of that" in bottleneck(1.0, 3.0)
    assert "waiting" not in bottleneck(3.0, 0.1)


def test_bottleneck_names_storage_only_if_read_waits() -> None:
    def bottleneck(busy: float, waited: float) -> str:
        stages = (StageStats("read", busy, waited), StageStats("batch", 0.1, 0.0))
        return LoaderStats(1, 1, 1, 10.0, 9.0, 1, 0.0, 0.0, stages).bottleneck

    assert "(storage)" in bottleneck(1.0, 3.0) and "faster storage" in bottleneck(1.0, 3.0)
    assert "storage" not in bottleneck(3.0, 0.1) and "more threads" in bottleneck(3.0, 0.1)


def test_bottleneck_does_not_suggest_processes_twice() -> None:
    stages = (StageStats("map", 1.0, 3.0), StageStats("read", 0.1, 0.0))
    text = LoaderStats(1, 1, 1, 10.0, 9.0, 1, 0.0, 0.0, stages, in_processes=True).bottleneck
    assert "workers=" not in text and "interpreter lock" not in text and "more processes" in text
    assert numbers(8).map(dict, workers="processes").batch(4).loader(threads=1).stats().in_processes
    assert not numbers(8).map(dict).batch(4).loader(threads=1).stats().in_processes


def test_stats_count_batches_before_error() -> None:
    def picky(sample: dict[str, Any]) -> dict[str, Any]:
        if sample["id"] == 91:
            raise ValueError("this one")
        return sample

    loader = numbers(100).map(picky).batch(1).loader(threads=2)
    with pytest.raises(rm.MapError):
        list(loader)
    stats = loader.stats()
    assert stats.samples == 91
    assert stats.num_bytes == 91 * 8

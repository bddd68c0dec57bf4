"""Assignment of elements to jobs."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, strategies as st

import recordmill as rm
from recordmill.pipeline.engine import JobPlanner, PrefetchOptions, run_epoch
from recordmill.pipeline.state import State


def plan_all(planner: JobPlanner) -> list[range]:
    """Return all jobs, planned as they are taken."""
    found: list[range] = []
    while planner.plan(len(found)) > len(found):
        found.append(planner.elements(len(found)))
        planner.remove_job(len(found) - 1)
        if len(found) == 1:
            planner.set_element_size(100_000)
    return found


@given(st.integers(0, 500), st.integers(0, 9), st.integers(0, 8), st.booleans(), st.integers(1, 5))
def test_planner_assigns_each_element_once_in_order(
    total: int, workers: int, prefetch: int, first_alone: bool, count: int
) -> None:
    for index in range(count):
        found = plan_all(
            JobPlanner(total, PrefetchOptions(workers, prefetch, (index, count)), 1, first_alone=first_alone)
        )
        assert [number for numbers in found for number in numbers] == list(range(total))[index::count]


def test_planner_first_alone_delays_other_jobs() -> None:
    planner = JobPlanner(100, PrefetchOptions(2, 2), 1, first_alone=True)
    assert planner.plan(0) == 1
    assert planner.plan(1) > 2


def test_planner_divides_last_elements_among_workers() -> None:
    planner = JobPlanner(4, PrefetchOptions(3, 2), 1, first_alone=True)
    planner.plan(0)
    planner.set_element_size(10)
    assert planner.plan(1) == 4
    assert [planner.elements(number) for number in range(4)] == [range(number, number + 1) for number in range(4)]


def test_planner_limits_seconds_of_job() -> None:
    for seconds, count in ((0.0, 64), (0.001, 64), (0.1, 2), (1.0, 1)):
        planner = JobPlanner(None, PrefetchOptions(1, 1), 1)
        planner.plan(0)
        planner.set_element_size(10, seconds)
        assert len(planner.elements(planner.plan(3) - 1)) == count


def test_planner_ignores_slow_first_call() -> None:
    planner = JobPlanner(None, PrefetchOptions(1, 1), 1)
    planner.plan(0)
    planner.set_element_size(10, 1.0)
    assert len(planner.elements(planner.plan(3) - 1)) == 1
    planner.set_element_size(10, 0.001)
    assert len(planner.elements(planner.plan(6) - 1)) == 64


def test_run_epoch_combines_elements_of_known_size_at_once(tmp_path: Path) -> None:
    with rm.ShardWriter(tmp_path / "small", format="tfrecord", shards=1) as writer:
        for number in range(100):
            writer.write({"id": number})
    loader = rm.open(tmp_path / "small-*").batch(1).loader(threads=0)
    assert len(list(loader)) == 100
    results = run_epoch(loader._create_builder(State(1)), PrefetchOptions(0, 0), None, loader._stats)
    counts = [len(result.elements) for result in results]
    assert sum(counts) == 100 and counts[0] > 1

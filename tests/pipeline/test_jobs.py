"""How elements are shared out among workers: all of them once, the first alone where that is asked for."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, strategies as st

import recordmill as rm
from recordmill.pipeline.run import Jobs, Pace, run
from recordmill.pipeline.state import State


def plan_all(jobs: Jobs) -> list[range]:
    """Jobs in order, planned as they are taken."""
    found: list[range] = []
    while jobs.plan(len(found)) > len(found):
        found.append(jobs[len(found)])
        jobs.done(len(found) - 1)
        if len(found) == 1:
            jobs.size_known(100_000)
    return found


@given(st.integers(0, 500), st.integers(0, 9), st.integers(0, 8), st.booleans(), st.integers(1, 5))
def test_jobs_when_planned_to_the_end_then_make_each_element_once_in_order(
    total: int, workers: int, prefetch: int, first_alone: bool, count: int
) -> None:
    for index in range(count):
        found = plan_all(Jobs(total, Pace(workers, prefetch, (index, count)), 1, first_alone=first_alone))
        assert [number for numbers in found for number in numbers] == list(range(total))[index::count]


def test_jobs_when_the_first_is_to_be_alone_then_others_follow_once_it_is_taken() -> None:
    jobs = Jobs(100, Pace(2, 2), 1, first_alone=True)
    assert jobs.plan(0) == 1
    assert jobs.plan(1) > 2


def test_jobs_when_few_elements_are_left_then_every_worker_gets_some() -> None:
    jobs = Jobs(4, Pace(3, 2), 1, first_alone=True)
    jobs.plan(0)
    jobs.size_known(10)
    assert jobs.plan(1) == 4
    assert [jobs[number] for number in range(4)] == [range(number, number + 1) for number in range(4)]


def test_jobs_when_functions_are_slow_then_few_elements_are_made_together() -> None:
    for seconds, count in ((0.0, 64), (0.001, 64), (0.1, 2), (1.0, 1)):
        jobs = Jobs(None, Pace(1, 1), 1)
        jobs.plan(0)
        jobs.size_known(10, seconds)
        assert len(jobs[jobs.plan(3) - 1]) == count


def test_jobs_when_only_the_first_call_is_slow_then_many_elements_are_made_together() -> None:
    jobs = Jobs(None, Pace(1, 1), 1)
    jobs.plan(0)
    jobs.size_known(10, 1.0)
    assert len(jobs[jobs.plan(3) - 1]) == 1
    jobs.size_known(10, 0.001)
    assert len(jobs[jobs.plan(6) - 1]) == 64


def test_run_when_an_earlier_one_told_how_large_elements_are_then_makes_them_in_bundles_at_once(tmp_path: Path) -> None:
    with rm.ShardWriter(tmp_path / "small", format="tfrecord", shards=1) as writer:
        for number in range(100):
            writer.write({"id": number})
    loader = rm.open(tmp_path / "small-*").batch(1).loader(threads=0)
    assert len(list(loader)) == 100
    made = [len(one.elements) for one in run(loader._maker(State(1)), Pace(0, 0), None, loader._tally, processes=False)]
    assert sum(made) == 100 and made[0] > 1

"""Crews of threads: order, errors, waiting, and that nothing of them is left in any case."""

from __future__ import annotations

import gc
import os
import threading
import time
import warnings
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from recordmill.errors import WorkerError
from recordmill.pipeline.crew.threads import ThreadCrew
from tests.pipeline.crews import nothing_left, tasks, until


def run(crew: ThreadCrew, count: int, ahead: int, start: int = 0) -> Iterator[Any]:
    for place in range(start, count):
        crew.order(min(count, place + ahead))
        yield crew.take(place)


@given(
    workers=st.integers(1, 9),
    ahead=st.integers(1, 20),
    count=st.integers(0, 60),
    start=st.integers(0, 10),
    naps=st.lists(st.integers(0, 3), min_size=1, max_size=7),
)
def test_elements_when_made_by_any_number_of_threads_then_come_in_order(
    workers: int, ahead: int, count: int, start: int, naps: list[int]
) -> None:
    def make(place: int) -> int:
        time.sleep(naps[place % len(naps)] * 1e-4)
        return place * place

    crew = ThreadCrew(make, workers, start=start)
    assert list(run(crew, count, ahead, start)) == [place * place for place in range(start, count)]
    assert crew.counters().num_made == max(0, count - start)
    assert len(crew.counters().workers) <= workers
    crew.dismiss()


def test_elements_when_the_first_is_slow_then_the_others_are_made_and_wait() -> None:
    gate = threading.Event()
    crew = ThreadCrew(lambda place: gate.wait() if place == 0 else place, 2)
    crew.order(30)
    assert until(lambda: crew.counters().num_ready == 29)
    with pytest.raises(TimeoutError):
        crew.take(0, timeout=0.01)
    assert [place for place, _ in crew.running()] == [0]
    assert crew.take(17) == 17
    gate.set()
    assert crew.take(0) is True
    assert [crew.take(place) for place in range(1, 17)] == list(range(1, 17))
    assert crew.running() == []
    counters = crew.counters()
    assert counters.num_ready == 12 and counters.waited_s > 0 and sum(one.busy_s for one in counters.workers) > 0
    crew.dismiss()


def test_error_when_raised_by_making_then_comes_at_its_place_with_its_cause() -> None:
    def make(place: int) -> int:
        if place != 3:
            return place
        try:
            return 1 // (place - 3)
        except ZeroDivisionError as error:
            raise KeyError(place) from error

    crew = ThreadCrew(make, 2)
    crew.order(6)
    assert [crew.take(place) for place in (5, 0, 1, 2)] == [5, 0, 1, 2]
    with pytest.raises(KeyError) as caught:
        crew.take(3)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert crew.take(4) == 4
    crew.dismiss()


def test_error_when_let_go_then_holds_no_memory_behind_it() -> None:
    class Large(np.ndarray):
        pass

    kept: list[weakref.ref[Any]] = []

    def make(place: int) -> None:
        large = np.zeros(10).view(Large)
        kept.append(weakref.ref(large))
        raise ValueError(place)

    crew = ThreadCrew(make, 1)
    gc.disable()
    try:
        crew.order(1)
        with pytest.raises(ValueError, match="0") as caught:
            crew.take(0)
        del caught
        assert until(lambda: kept[0]() is None)
    finally:
        gc.enable()
        crew.dismiss()


def test_element_when_taken_then_belongs_to_the_consumer_alone() -> None:
    class Large(np.ndarray):
        pass

    crew = ThreadCrew(lambda _: np.zeros(10).view(Large), 2)
    crew.order(4)
    seen = [weakref.ref(crew.take(place)) for place in range(4)]
    assert until(lambda: [one() for one in seen] == [None] * 4)
    crew.dismiss()


def test_place_when_not_ordered_or_taken_twice_then_is_refused_at_once() -> None:
    crew = ThreadCrew(lambda place: place, 1)
    crew.order(2)
    crew.order(1)
    assert crew.take(0) == 0
    for place in (0, 2, -1):
        with pytest.raises(ValueError, match=f"element {place} "):
            crew.take(place)
    crew.dismiss()
    crew.dismiss()
    for call in (lambda: crew.take(1), lambda: crew.order(5)):
        with pytest.raises(WorkerError, match="dismissed"):
            call()
    with pytest.raises(ValueError, match="at least one worker"):
        ThreadCrew(print, 0)


def test_crew_when_dismissed_while_the_consumer_waits_then_wakes_it() -> None:
    gate = threading.Event()
    crew = ThreadCrew(lambda _: gate.wait(), 1)
    crew.order(1)
    threading.Timer(0.02, crew.dismiss, kwargs={"timeout": 0.01}).start()
    with pytest.raises(WorkerError, match="dismissed"):
        crew.take(0)
    gate.set()


def test_thread_when_it_hangs_then_is_named_and_dismissing_does_not_wait_for_ever() -> None:
    with nothing_left():
        gate = threading.Event()
        crew = ThreadCrew(lambda place: gate.wait() if place == 1 else place, 2)
        crew.order(9)
        assert until(lambda: crew.counters().num_made == 8)
        crew.dismiss(timeout=0.01)
        assert [place for place, _ in crew.running()] == [1]
        gate.set()


def test_crew_when_nobody_has_it_any_more_then_its_threads_end() -> None:
    with nothing_left():
        crew = ThreadCrew(lambda place: place, 3)
        crew.order(100)
        assert crew.take(0) == 0 and tasks() >= 3
        del crew
    with nothing_left():
        elements = run(ThreadCrew(lambda place: place, 3), 100, 5)
        assert next(elements) == 0
        del elements


def cycle(number: int) -> None:
    """Start, go on for a while, and leave in one of six ways."""
    crew = ThreadCrew(lambda place: 1 // (7 - place), 1 + number % 4)
    elements = run(crew, 7 if number % 6 < 4 else 9, 1 + number % 5)
    way = number % 6
    if way == 0:
        assert len(list(elements)) == 7
    elif way in (1, 2):
        next(elements)
    elif way == 3:
        pass
    else:
        with pytest.raises(ZeroDivisionError):
            list(elements)
    if way not in (2, 5):
        crew.dismiss()


def test_crews_when_started_and_left_a_hundred_times_then_leave_nothing() -> None:
    with nothing_left():
        for number in range(100):
            cycle(number)


@pytest.mark.deep
def test_crews_when_started_and_left_a_thousand_times_then_leave_nothing() -> None:
    with nothing_left():
        for number in range(1000):
            cycle(number)


def test_crew_when_forked_then_the_copy_says_that_it_has_no_threads() -> None:
    gate = threading.Event()
    crew = ThreadCrew(lambda place: gate.wait() if place else place, 2)
    crew.order(2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking with threads, from Python 3.12 on
        child = os.fork()
    if child == 0:
        os._exit(_ends_well_in_a_copy(crew))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    gate.set()
    assert (crew.take(0), crew.take(1)) == (0, True)
    crew.dismiss()


def _ends_well_in_a_copy(crew: ThreadCrew) -> int:
    for call in (lambda: crew.take(1), lambda: crew.order(9)):
        try:
            call()
        except WorkerError as error:
            if "process" not in str(error):
                return 2
        else:
            return 3
    crew.dismiss()
    mine = ThreadCrew(lambda place: -place, 2)
    mine.order(2)
    return 0 if [mine.take(0), mine.take(1)] == [0, -1] else 4

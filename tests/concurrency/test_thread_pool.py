"""Thread pools keep the order of tasks, raise their errors, and leave nothing behind."""

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

from recordmill.concurrency.thread_pool import ThreadPool
from recordmill.errors import WorkerError
from tests.concurrency.helpers import check_no_leftovers, num_threads, wait_until


def run(pool: ThreadPool, count: int, ahead: int, start: int = 0) -> Iterator[Any]:
    for task in range(start, count):
        pool.submit(min(count, task + ahead))
        yield pool.result(task)


@given(
    workers=st.integers(1, 9),
    ahead=st.integers(1, 20),
    count=st.integers(0, 60),
    start=st.integers(0, 10),
    naps=st.lists(st.integers(0, 3), min_size=1, max_size=7),
)
def test_results_come_in_order_from_any_number_of_threads(
    workers: int, ahead: int, count: int, start: int, naps: list[int]
) -> None:
    def make(task: int) -> int:
        time.sleep(naps[task % len(naps)] * 1e-4)
        return task * task

    pool = ThreadPool(make, workers, start=start)
    assert list(run(pool, count, ahead, start)) == [task * task for task in range(start, count)]
    assert pool.counters().num_finished == max(0, count - start)
    assert len(pool.counters().workers) <= workers
    pool.close()


def test_slow_task_does_not_delay_other_tasks() -> None:
    gate = threading.Event()
    pool = ThreadPool(lambda task: gate.wait() if task == 0 else task, 2)
    pool.submit(30)
    assert wait_until(lambda: pool.counters().num_ready == 29)
    with pytest.raises(TimeoutError):
        pool.result(0, timeout=0.01)
    assert [task for task, _ in pool.running_tasks()] == [0]
    assert pool.result(17) == 17
    gate.set()
    assert pool.result(0) is True
    assert [pool.result(task) for task in range(1, 17)] == list(range(1, 17))
    assert pool.running_tasks() == []
    counters = pool.counters()
    assert counters.num_ready == 12 and counters.waited_s > 0 and sum(one.busy_s for one in counters.workers) > 0
    pool.close()


def test_error_is_raised_for_its_task_with_its_cause() -> None:
    def make(task: int) -> int:
        if task != 3:
            return task
        try:
            return 1 // (task - 3)
        except ZeroDivisionError as error:
            raise KeyError(task) from error

    pool = ThreadPool(make, 2)
    pool.submit(6)
    assert [pool.result(task) for task in (5, 0, 1, 2)] == [5, 0, 1, 2]
    with pytest.raises(KeyError) as caught:
        pool.result(3)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert pool.result(4) == 4
    pool.close()


def test_error_keeps_no_reference_to_arrays_of_its_task() -> None:
    class Large(np.ndarray):
        pass

    references: list[weakref.ref[Any]] = []

    def make(task: int) -> None:
        large = np.zeros(10).view(Large)
        references.append(weakref.ref(large))
        raise ValueError(task)

    pool = ThreadPool(make, 1)
    gc.disable()
    try:
        pool.submit(1)
        with pytest.raises(ValueError, match="0") as caught:
            pool.result(0)
        del caught
        assert wait_until(lambda: references[0]() is None)
    finally:
        gc.enable()
        pool.close()


def test_result_is_referenced_by_the_consumer_only() -> None:
    class Large(np.ndarray):
        pass

    pool = ThreadPool(lambda _: np.zeros(10).view(Large), 2)
    pool.submit(4)
    seen = [weakref.ref(pool.result(task)) for task in range(4)]
    assert wait_until(lambda: [one() for one in seen] == [None] * 4)
    pool.close()


def test_result_rejects_tasks_not_submitted_or_already_taken() -> None:
    pool = ThreadPool(lambda task: task, 1)
    pool.submit(2)
    pool.submit(1)
    assert pool.result(0) == 0
    for task in (0, 2, -1):
        with pytest.raises(ValueError, match=f"task {task} "):
            pool.result(task)
    pool.close()
    pool.close()
    for call in (lambda: pool.result(1), lambda: pool.submit(5)):
        with pytest.raises(WorkerError, match="were stopped"):
            call()
    with pytest.raises(ValueError, match="at least 1"):
        ThreadPool(print, 0)


def test_close_wakes_a_waiting_consumer() -> None:
    gate = threading.Event()
    pool = ThreadPool(lambda _: gate.wait(), 1)
    pool.submit(1)
    threading.Timer(0.02, pool.close, kwargs={"timeout": 0.01}).start()
    with pytest.raises(WorkerError, match="were stopped"):
        pool.result(0)
    gate.set()


def test_close_does_not_wait_for_a_hanging_task() -> None:
    with check_no_leftovers():
        gate = threading.Event()
        pool = ThreadPool(lambda task: gate.wait() if task == 1 else task, 2)
        pool.submit(9)
        assert wait_until(lambda: pool.counters().num_finished == 8)
        pool.close(timeout=0.01)
        assert [task for task, _ in pool.running_tasks()] == [1]
        gate.set()


def test_threads_end_when_the_pool_is_freed() -> None:
    with check_no_leftovers():
        pool = ThreadPool(lambda task: task, 3)
        pool.submit(100)
        assert pool.result(0) == 0 and num_threads() >= 3
        del pool
    with check_no_leftovers():
        elements = run(ThreadPool(lambda task: task, 3), 100, 5)
        assert next(elements) == 0
        del elements


def use_and_stop_pool(number: int) -> None:
    """Use a pool for a while, and stop in one of six ways."""
    pool = ThreadPool(lambda task: 1 // (7 - task), 1 + number % 4)
    elements = run(pool, 7 if number % 6 < 4 else 9, 1 + number % 5)
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
        pool.close()


def test_hundred_pools_leave_nothing_behind() -> None:
    with check_no_leftovers():
        for number in range(100):
            use_and_stop_pool(number)


@pytest.mark.campaign
def test_thousand_pools_leave_nothing_behind() -> None:
    with check_no_leftovers():
        for number in range(1000):
            use_and_stop_pool(number)


def test_forked_copy_refuses_to_use_the_pool() -> None:
    gate = threading.Event()
    pool = ThreadPool(lambda task: gate.wait() if task else task, 2)
    pool.submit(2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking with threads, from Python 3.12 on
        child = os.fork()
    if child == 0:
        os._exit(_check_forked_copy(pool))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    gate.set()
    assert (pool.result(0), pool.result(1)) == (0, True)
    pool.close()


def _check_forked_copy(pool: ThreadPool) -> int:
    for call in (lambda: pool.result(1), lambda: pool.submit(9)):
        try:
            call()
        except WorkerError as error:
            if "process" not in str(error):
                return 2
        else:
            return 3
    pool.close()
    own_pool = ThreadPool(lambda task: -task, 2)
    own_pool.submit(2)
    return 0 if [own_pool.result(0), own_pool.result(1)] == [0, -1] else 4

"""Process pools keep the order of tasks, raise errors, report dead workers, and leave nothing behind."""

from __future__ import annotations

import gc
import os
import signal
import threading
import warnings
from functools import partial
from itertools import count
from pathlib import Path

import numpy as np
import pytest

import recordmill as rm
from recordmill.concurrency import worker_process
from recordmill.concurrency.process_pool import ProcessPool
from recordmill.concurrency.shared_memory import MAX_SEGMENTS
from recordmill.errors import WorkerError
from tests.concurrency import tasks
from tests.concurrency.helpers import (
    are_equal,
    build_mixed_batch,
    call_until_interrupted,
    check_no_leftovers,
    child_processes,
    descriptors,
    is_running,
    wait_until,
)

pytestmark = pytest.mark.usefixtures("_light_main")


@pytest.mark.parametrize("workers, ahead", [(1, 1), (2, 2), (3, 9)])
def test_results_come_in_order_from_any_number_of_processes(workers: int, ahead: int) -> None:
    with check_no_leftovers():
        pool = ProcessPool(tasks.return_slowly, workers, start=3)
        for task in range(3, 33):
            pool.submit(min(33, task + ahead))
            assert pool.result(task) == task * task
        counters = pool.counters()
        assert (counters.num_finished, counters.num_ready, len(counters.workers)) == (30, 0, workers)
        assert counters.waited_s > 0 and sum(one.busy_s for one in counters.workers) > 0
        assert all(one.start_s > 0 for one in counters.workers if one.num_finished)
        pool.close()


def test_results_of_every_type_arrive_unchanged() -> None:
    pool = ProcessPool(build_mixed_batch, 2)
    pool.submit(12)
    results = [pool.result(task) for task in (5, *range(5), *range(6, 12))]
    expected = [build_mixed_batch(task) for task in (5, *range(5), *range(6, 12))]
    assert all(map(are_equal, results, expected))
    results[0]["large"] += 1
    pool.close()
    assert np.array_equal(results[0]["large"], expected[0]["large"] + 1)
    assert are_equal(results[1], expected[1])


def test_batches_read_by_processes_equal_those_of_the_dataset(tmp_path: Path) -> None:
    with rm.ShardWriter(tmp_path / "part", format="tfrecord", shards=2) as writer:
        for number in range(40):
            writer.write({"id": number, "name": b"n" * number, "v": np.full(3000, number, np.float32)})
    batches = rm.open(tmp_path / "part*").batch(16)
    pool = ProcessPool(batches.__getitem__, 2)
    pool.submit(len(batches))
    assert all(are_equal(pool.result(task), batches[task]) for task in range(len(batches)))
    pool.close()


def test_kept_arrays_never_change_and_use_few_descriptors() -> None:
    with check_no_leftovers():
        pool = ProcessPool(tasks.build_pattern, 2)
        results, before = [], descriptors()
        for task in range(40):
            pool.submit(task + 4)
            results.append(pool.result(task))
        assert descriptors() - before <= 4 * 2 + 2 * MAX_SEGMENTS
        for task in range(40, 80):
            pool.submit(task + 4)
            assert set(pool.result(task).tolist()) == {task}
        assert [set(array.tolist()) for array in results] == [{task} for task in range(40)]
        pool.close()
        del pool
        assert [set(array.tolist()) for array in results] == [{task} for task in range(40)]
        results.clear()


def test_errors_are_raised_for_their_tasks() -> None:
    pool = ProcessPool(tasks.fail, 2)
    pool.submit(8)
    expected = [ValueError, WorkerError, tasks.HeavyError, SystemExit, WorkerError, KeyboardInterrupt]
    caught = []
    for task, kind in enumerate(expected, 1):
        with pytest.raises(kind) as found:
            pool.result(task)
        caught.append(found.value)
    assert isinstance(caught[0].__cause__, KeyError)
    assert 'return {}["missing"]' in caught[0].__notes__[-1] and "worker process" in caught[0].__notes__[-1]
    assert "UnpicklableError: 4 and 5" in str(caught[1]) and caught[1].__notes__[0] == "a note"
    assert np.array_equal(caught[2].payload, np.arange(300_000))
    assert caught[3].code == 5
    assert isinstance(caught[4], WorkerError) and caught[4].place == 5 and "function" in str(caught[4])
    assert (pool.result(0), pool.result(7)) == (0, 7)
    pool.close()


def test_killed_worker_is_reported_with_its_task(tmp_path: Path) -> None:
    with check_no_leftovers():
        pool = ProcessPool(partial(tasks.hang, str(tmp_path)), 2)
        pool.submit(3)
        assert wait_until(lambda: (tmp_path / "hangs").exists() and (tmp_path / "hangs").read_text())
        assert wait_until(lambda: pool.counters().num_finished == 2)
        assert [task for task, _ in pool.running_tasks()] == [2]
        worker = int((tmp_path / "hangs").read_text())
        with pytest.raises(TimeoutError):
            pool.result(2, timeout=0.01)
        os.kill(worker, signal.SIGKILL)
        for _ in range(2):
            with pytest.raises(WorkerError, match="SIGKILL") as caught:
                pool.result(2)
        assert (caught.value.place, caught.value.exit_code) == (2, -signal.SIGKILL)
        assert (pool.result(0), pool.result(1)) == (0, 1)
        pool.close()


def test_worker_that_exits_is_reported_with_its_exit_code() -> None:
    pool = ProcessPool(tasks.exit_at, 1)
    pool.submit(5)
    assert [pool.result(task) for task in range(3)] == [0, 1, 2]
    with pytest.raises(WorkerError, match="exit code 7") as caught:
        pool.result(3)
    assert (caught.value.place, caught.value.exit_code) == (3, 7)
    pool.close()


def test_close_kills_a_hanging_worker(tmp_path: Path) -> None:
    with check_no_leftovers():
        pool = ProcessPool(partial(tasks.hang, str(tmp_path)), 2)
        pool.submit(20)
        assert wait_until((tmp_path / "hangs").exists)
        pool.close(timeout=0.05)
        pool.close()
        for call in (lambda: pool.result(1), lambda: pool.submit(50)):
            with pytest.raises(WorkerError, match="were stopped"):
                call()


def test_close_wakes_a_waiting_consumer(tmp_path: Path) -> None:
    with check_no_leftovers():
        pool = ProcessPool(partial(tasks.hang, str(tmp_path)), 1)
        pool.submit(3)
        timer = threading.Timer(0.02, pool.close, kwargs={"timeout": 0})
        timer.start()
        with pytest.raises(WorkerError, match="were stopped"):
            pool.result(2)
        timer.join()


def test_processes_end_when_the_pool_is_freed() -> None:
    with check_no_leftovers():
        pool = ProcessPool(tasks.return_process_id, 2)
        pool.submit(3)
        worker = pool.result(0)
        assert worker in child_processes()
        del pool
        gc.collect()
        assert not is_running(worker)


def test_pool_accepts_more_tasks_than_the_pipe_holds() -> None:
    pool = ProcessPool(abs, 1)
    pool.submit(9_000)
    assert [pool.result(task) for task in range(9_000)] == list(range(9_000))
    pool.close()


def submit_and_take(pool: ProcessPool, task: int = 0) -> object:
    pool.submit(task + 2)
    return pool.result(task)


@pytest.mark.parametrize(
    "function, message",
    [(lambda task: task, "cannot be sent"), (tasks.UnpicklableTask(), "could not start")],
    ids=["lambda", "start"],
)
def test_function_that_does_not_reach_the_workers_raises_worker_error(
    function: tasks.UnpicklableTask, message: str
) -> None:
    with check_no_leftovers():
        pool = ProcessPool(function, 2)
        with pytest.raises(WorkerError, match=message) as caught:
            submit_and_take(pool)
        assert caught.value.__cause__ is not None and caught.value.hint
        pool.close()


def test_failed_start_of_one_process_ends_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    real, started = worker_process._spawn_process, list[int]()

    def second_fails(files: tuple[int, ...]) -> int:
        if started:
            raise BlockingIOError(11, "no more processes")
        started.append(real(files))
        return started[0]

    monkeypatch.setattr(worker_process, "_spawn_process", second_fails)
    with check_no_leftovers():
        pool = ProcessPool(tasks.return_slowly, 2)
        with pytest.raises(BlockingIOError, match="no more"):
            pool.submit(2)
        assert not is_running(started[0])
        with pytest.raises(WorkerError, match="were stopped"):
            pool.submit(3)


def test_start_without_free_descriptors_names_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_more(files: tuple[int, ...]) -> int:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(worker_process, "_spawn_process", no_more)
    with check_no_leftovers():
        pool = ProcessPool(tasks.return_slowly, 2)
        with pytest.raises(OSError, match=r"2 worker processes: `ulimit -n` allows \d+; raise it") as caught:
            pool.submit(2)
        assert caught.value.errno == 24


def use_and_stop_pool(number: int) -> None:
    """Use a pool for a while, and stop in one of six ways."""
    pool = ProcessPool(tasks.fail, 1 + number % 2)
    way = number % 6
    if way != 0:
        pool.submit(3)
    if way in (2, 3):
        assert pool.result(0) == 0
    if way == 3:
        with pytest.raises(ValueError, match="cause"):
            pool.result(1)
    if way == 5:
        assert pool.result(0) == 0
        numbers = count(7)
        call_until_interrupted(lambda: submit_and_take(pool, next(numbers)))
    if way != 4:
        pool.close(timeout=number % 3)


def stop_before_ready(number: int) -> None:
    """Stop before a process is ready: at once, by freeing the pool, after a timeout, or by Ctrl-C."""
    pool = ProcessPool(tasks.fail, 1 + number % 2)
    pool.submit(3)
    way = number % 4
    if way == 1:
        with pytest.raises(TimeoutError):
            pool.result(0, timeout=0.001)
    if way == 2:
        call_until_interrupted(lambda: pool.result(0))
    if way != 3:
        pool.close(timeout=0)


def test_repeated_pools_leave_nothing_behind() -> None:
    with check_no_leftovers():
        for number in range(6):
            use_and_stop_pool(number)
            stop_before_ready(number)


@pytest.mark.campaign
def test_thousand_pools_leave_nothing_behind() -> None:
    with check_no_leftovers():
        for number in range(1_000):
            (stop_before_ready if number % 10 >= 2 else use_and_stop_pool)(number)


def test_forked_copy_neither_uses_nor_ends_the_processes() -> None:
    with check_no_leftovers():
        pool = ProcessPool(tasks.return_process_id, 1)
        pool.submit(2)
        worker = pool.result(0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if child == 0:
            os._exit(_check_forked_copy(pool))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        pool.submit(3)
        assert pool.result(2) == worker
        pool.close()


def _check_forked_copy(pool: ProcessPool) -> int:
    for call in (lambda: pool.result(1), lambda: pool.submit(9)):
        try:
            call()
        except WorkerError as error:
            if "process" not in str(error):
                return 2
        else:
            return 3
    pool.close()
    own_pool = ProcessPool(tasks.return_slowly, 1)
    own_pool.submit(2)
    found = [own_pool.result(0), own_pool.result(1)]
    own_pool.close()
    return 0 if found == [0, 1] else 4

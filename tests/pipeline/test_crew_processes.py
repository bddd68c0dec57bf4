"""Crews of processes: order, errors, deaths, and that nothing of them is left in any case."""

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
from recordmill.errors import WorkerError
from recordmill.pipeline.crew import process
from recordmill.pipeline.crew.processes import ProcessCrew
from recordmill.pipeline.crew.segments import MAX_SLOTS
from tests.pipeline import made
from tests.pipeline.crews import batch, children, descriptors, interrupted, is_running, nothing_left, same, until

pytestmark = pytest.mark.usefixtures("_light_main")


@pytest.mark.parametrize("workers, ahead", [(1, 1), (2, 2), (3, 9)])
def test_elements_when_made_by_any_number_of_processes_then_come_in_order(workers: int, ahead: int) -> None:
    with nothing_left():
        crew = ProcessCrew(made.napping, workers, start=3)
        for place in range(3, 33):
            crew.order(min(33, place + ahead))
            assert crew.take(place) == place * place
        counters = crew.counters()
        assert (counters.num_made, counters.num_ready, len(counters.workers)) == (30, 0, workers)
        assert counters.waited_s > 0 and sum(one.busy_s for one in counters.workers) > 0
        assert all(one.start_s > 0 for one in counters.workers if one.num_made)
        crew.dismiss()


def test_elements_of_every_kind_when_handed_over_then_are_equal() -> None:
    crew = ProcessCrew(batch, 2)
    crew.order(12)
    held = [crew.take(place) for place in (5, *range(5), *range(6, 12))]
    expected = [batch(place) for place in (5, *range(5), *range(6, 12))]
    assert all(map(same, held, expected))
    held[0]["large"] += 1
    crew.dismiss()
    assert np.array_equal(held[0]["large"], expected[0]["large"] + 1)
    assert same(held[1], expected[1])


def test_batches_when_read_by_processes_then_are_those_of_the_data_set(tmp_path: Path) -> None:
    with rm.ShardWriter(tmp_path / "part", format="tfrecord", shards=2) as writer:
        for number in range(40):
            writer.write({"id": number, "name": b"n" * number, "v": np.full(3000, number, np.float32)})
    batches = rm.open(tmp_path / "part*").batch(16)
    crew = ProcessCrew(batches.__getitem__, 2)
    crew.order(len(batches))
    assert all(same(crew.take(place), batches[place]) for place in range(len(batches)))
    crew.dismiss()


def test_arrays_when_all_are_kept_then_none_changes_and_descriptors_are_few() -> None:
    with nothing_left():
        crew = ProcessCrew(made.pattern, 2)
        held, before = [], descriptors()
        for place in range(40):
            crew.order(place + 4)
            held.append(crew.take(place))
        assert descriptors() - before <= 4 * 2 + 2 * MAX_SLOTS
        for place in range(40, 80):
            crew.order(place + 4)
            assert set(crew.take(place).tolist()) == {place}
        assert [set(array.tolist()) for array in held] == [{place} for place in range(40)]
        crew.dismiss()
        del crew
        assert [set(array.tolist()) for array in held] == [{place} for place in range(40)]
        held.clear()


def test_errors_when_raised_by_making_then_come_at_their_places() -> None:
    crew = ProcessCrew(made.fail, 2)
    crew.order(8)
    expected = [ValueError, WorkerError, made.HeavyError, SystemExit, WorkerError, KeyboardInterrupt]
    caught = []
    for place, kind in enumerate(expected, 1):
        with pytest.raises(kind) as found:
            crew.take(place)
        caught.append(found.value)
    assert isinstance(caught[0].__cause__, KeyError)
    assert 'return {}["missing"]' in caught[0].__notes__[-1] and "worker process" in caught[0].__notes__[-1]
    assert "UnpicklableError: 4 and 5" in str(caught[1]) and caught[1].__notes__[0] == "a note"
    assert np.array_equal(caught[2].payload, np.arange(300_000))
    assert caught[3].code == 5
    assert isinstance(caught[4], WorkerError) and caught[4].place == 5 and "function" in str(caught[4])
    assert (crew.take(0), crew.take(7)) == (0, 7)
    crew.dismiss()


def test_worker_when_killed_then_is_named_at_once_with_what_it_made(tmp_path: Path) -> None:
    with nothing_left():
        crew = ProcessCrew(partial(made.hang, str(tmp_path)), 2)
        crew.order(3)
        assert until(lambda: (tmp_path / "hangs").exists() and (tmp_path / "hangs").read_text())
        assert until(lambda: crew.counters().num_made == 2)
        assert [place for place, _ in crew.running()] == [2]
        worker = int((tmp_path / "hangs").read_text())
        with pytest.raises(TimeoutError):
            crew.take(2, timeout=0.01)
        os.kill(worker, signal.SIGKILL)
        for _ in range(2):
            with pytest.raises(WorkerError, match="SIGKILL") as caught:
                crew.take(2)
        assert (caught.value.place, caught.value.exit_code) == (2, -signal.SIGKILL)
        assert (crew.take(0), crew.take(1)) == (0, 1)
        crew.dismiss()


def test_worker_when_it_ends_by_itself_then_is_named() -> None:
    crew = ProcessCrew(made.exit_at, 1)
    crew.order(5)
    assert [crew.take(place) for place in range(3)] == [0, 1, 2]
    with pytest.raises(WorkerError, match="exit code 7") as caught:
        crew.take(3)
    assert (caught.value.place, caught.value.exit_code) == (3, 7)
    crew.dismiss()


def test_worker_when_it_hangs_then_dismissing_kills_it(tmp_path: Path) -> None:
    with nothing_left():
        crew = ProcessCrew(partial(made.hang, str(tmp_path)), 2)
        crew.order(20)
        assert until((tmp_path / "hangs").exists)
        crew.dismiss(timeout=0.05)
        crew.dismiss()
        for call in (lambda: crew.take(1), lambda: crew.order(50)):
            with pytest.raises(WorkerError, match="dismissed"):
                call()


def test_crew_when_dismissed_while_the_consumer_waits_then_wakes_it(tmp_path: Path) -> None:
    with nothing_left():
        crew = ProcessCrew(partial(made.hang, str(tmp_path)), 1)
        crew.order(3)
        timer = threading.Timer(0.02, crew.dismiss, kwargs={"timeout": 0})
        timer.start()
        with pytest.raises(WorkerError, match="dismissed"):
            crew.take(2)
        timer.join()


def test_crew_when_nobody_has_it_any_more_then_its_processes_end() -> None:
    with nothing_left():
        crew = ProcessCrew(made.pid, 2)
        crew.order(3)
        worker = crew.take(0)
        assert worker in children()
        del crew
        gc.collect()
        assert not is_running(worker)


def test_crew_when_its_orders_are_more_than_a_pipe_holds_then_goes_on() -> None:
    crew = ProcessCrew(abs, 1)
    crew.order(9_000)
    assert [crew.take(place) for place in range(9_000)] == list(range(9_000))
    crew.dismiss()


def order_and_take(crew: ProcessCrew, place: int = 0) -> object:
    crew.order(place + 2)
    return crew.take(place)


@pytest.mark.parametrize(
    "make, words",
    [(lambda place: place, "cannot be sent"), (made.Refuses(), "could not start")],
    ids=["lambda", "start"],
)
def test_work_when_it_does_not_reach_the_workers_then_says_so(make: made.Refuses, words: str) -> None:
    with nothing_left():
        crew = ProcessCrew(make, 2)
        with pytest.raises(WorkerError, match=words) as caught:
            order_and_take(crew)
        assert caught.value.__cause__ is not None and caught.value.hint
        crew.dismiss()


def test_crew_when_not_all_processes_start_then_none_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    real, started = process._spawned, list[int]()

    def second_fails(files: tuple[int, ...]) -> int:
        if started:
            raise BlockingIOError(11, "no more processes")
        started.append(real(files))
        return started[0]

    monkeypatch.setattr(process, "_spawned", second_fails)
    with nothing_left():
        crew = ProcessCrew(made.napping, 2)
        with pytest.raises(BlockingIOError, match="no more"):
            crew.order(2)
        assert not is_running(started[0])
        with pytest.raises(WorkerError, match="dismissed"):
            crew.order(3)


def test_crew_when_descriptors_do_not_suffice_then_the_error_tells_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_more(files: tuple[int, ...]) -> int:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(process, "_spawned", no_more)
    with nothing_left():
        crew = ProcessCrew(made.napping, 2)
        with pytest.raises(OSError, match=r"2 worker processes: `ulimit -n` allows \d+; raise it") as caught:
            crew.order(2)
        assert caught.value.errno == 24


def cycle(number: int) -> None:
    """Start, go on for a while, and leave in one of six ways."""
    crew = ProcessCrew(made.fail, 1 + number % 2)
    way = number % 6
    if way != 0:
        crew.order(3)
    if way in (2, 3):
        assert crew.take(0) == 0
    if way == 3:
        with pytest.raises(ValueError, match="cause"):
            crew.take(1)
    if way == 5:
        assert crew.take(0) == 0
        places = count(7)
        interrupted(lambda: order_and_take(crew, next(places)))
    if way != 4:
        crew.dismiss(timeout=number % 3)


def short_cycle(number: int) -> None:
    """Leave before a process is ready: at once, without a word, by an error, by Ctrl-C."""
    crew = ProcessCrew(made.fail, 1 + number % 2)
    crew.order(3)
    way = number % 4
    if way == 1:
        with pytest.raises(TimeoutError):
            crew.take(0, timeout=0.001)
    if way == 2:
        interrupted(lambda: crew.take(0))
    if way != 3:
        crew.dismiss(timeout=0)


def test_crews_when_started_and_left_again_and_again_then_leave_nothing() -> None:
    with nothing_left():
        for number in range(6):
            cycle(number)
            short_cycle(number)


@pytest.mark.deep
def test_crews_when_started_and_left_a_thousand_times_then_leave_nothing() -> None:
    with nothing_left():
        for number in range(1_000):
            (short_cycle if number % 10 >= 2 else cycle)(number)


def test_crew_when_forked_then_the_copy_neither_uses_nor_ends_its_processes() -> None:
    with nothing_left():
        crew = ProcessCrew(made.pid, 1)
        crew.order(2)
        worker = crew.take(0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if child == 0:
            os._exit(_ends_well_in_a_copy(crew))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        crew.order(3)
        assert crew.take(2) == worker
        crew.dismiss()


def _ends_well_in_a_copy(crew: ProcessCrew) -> int:
    for call in (lambda: crew.take(1), lambda: crew.order(9)):
        try:
            call()
        except WorkerError as error:
            if "process" not in str(error):
                return 2
        else:
            return 3
    crew.dismiss()
    mine = ProcessCrew(made.napping, 1)
    mine.order(2)
    found = [mine.take(0), mine.take(1)]
    mine.dismiss()
    return 0 if found == [0, 1] else 4

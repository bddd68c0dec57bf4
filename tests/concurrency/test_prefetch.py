"""Prefetching yields the items of an iterator, its errors and its end, and leaves no thread behind."""

from __future__ import annotations

import itertools
import multiprocessing
import threading

import pytest

from recordmill.concurrency.prefetch import Prefetcher


class Flaky:
    """Iterator that raises in place of every third item and continues after it."""

    def __init__(self, count: int) -> None:
        self._numbers = iter(range(count))

    def __next__(self) -> int:
        number = next(self._numbers)
        if number % 3 == 2:
            raise ValueError(f"item {number}")
        return number


_EARLIER: set[threading.Thread] = set()


@pytest.fixture(autouse=True)
def _ignore_threads_of_other_tests() -> None:
    """Remember the threads that objects of earlier tests still own."""
    _EARLIER.clear()
    _EARLIER.update(threading.enumerate())


def _threads() -> list[str]:
    own = [thread.name for thread in threading.enumerate() if thread not in _EARLIER]
    return [name for name in own if name == "recordmill-prefetch"]


@pytest.mark.parametrize("depth", [0, 1, 5, 100])
def test_prefetcher_yields_items_in_order_and_then_ends(depth: int) -> None:
    items = Prefetcher(iter(range(50)), depth)
    assert list(items) == list(range(50))
    assert list(items) == []
    items.close()
    assert _threads() == []


def test_prefetcher_raises_errors_in_place_of_their_items() -> None:
    items, seen = Prefetcher(Flaky(7), 2), []
    while True:
        try:
            seen.append(next(items))
        except ValueError as error:
            seen.append(str(error))
        except StopIteration:
            break
    assert seen == [0, 1, "item 2", 3, 4, "item 5", 6]


def test_prefetcher_takes_at_most_depth_items_ahead() -> None:
    taken = itertools.count()
    items = Prefetcher(taken, 3)
    assert next(items) == 0
    items.close()
    assert next(taken) <= 6


def test_close_stops_the_thread_and_closes_the_iterator() -> None:
    closed = threading.Event()

    def generate():
        try:
            yield from itertools.count()
        finally:
            closed.set()

    items = Prefetcher(generate(), 1)
    assert next(items) == 0
    items.close()
    assert closed.wait(5) and _threads() == []
    with pytest.raises(StopIteration):
        next(items)


def test_prefetcher_stops_when_depth_items_wait_and_one_is_next() -> None:
    changed, taken = threading.Condition(), 0

    def generate():
        nonlocal taken
        for number in range(100):
            with changed:
                taken += 1
                changed.notify_all()
            yield number

    def wait_for(count: int) -> None:
        with changed:
            assert changed.wait_for(lambda: taken >= count, timeout=30)

    items = Prefetcher(generate(), 2)
    wait_for(3)
    next(items)
    wait_for(4)
    assert taken == 4
    items.close()
    assert taken <= 5 and _threads() == []


def test_close_can_be_repeated_and_ends_the_iteration() -> None:
    items = Prefetcher(iter(range(10)), 1)
    items.close()
    items.close()
    assert list(items) == [] and _threads() == []


def test_error_of_a_generator_ends_the_iteration() -> None:
    def generate():
        yield 0
        raise OSError("gone")

    items = Prefetcher(generate(), 5)
    assert next(items) == 0
    with pytest.raises(OSError, match="gone"):
        next(items)
    assert list(items) == []
    items.close()
    assert _threads() == []


def test_close_in_the_prefetching_thread_does_not_wait_for_itself() -> None:
    started, closed = threading.Event(), threading.Event()

    def generate():
        started.wait(5)
        items.close()
        closed.set()
        yield 1

    items = Prefetcher(generate(), 1)
    started.set()
    assert closed.wait(5)
    assert list(items) == []


def _next_in_child(items: Prefetcher[int], answers: multiprocessing.Queue[str]) -> None:
    try:
        next(items)
    except RuntimeError as error:
        answers.put(str(error))
    items.close()


def test_prefetcher_refuses_to_continue_after_a_fork() -> None:
    context = multiprocessing.get_context("fork")
    items, answers = Prefetcher(iter(range(10)), 1), context.Queue()
    child = context.Process(target=_next_in_child, args=(items, answers))
    child.start()
    assert "after a fork" in answers.get(timeout=30)
    child.join(30)
    assert child.exitcode == 0
    assert list(items) == list(range(10))

"""Threaded maps keep the order of their inputs, raise errors in their place and leave no thread behind."""

from __future__ import annotations

import threading
import time

import pytest

from recordmill.concurrency.threads import map_ordered, map_range, num_cpus


def _slow_square(number: int) -> int:
    time.sleep(0.001 * (number % 3))
    return number * number


def test_map_range_returns_results_in_order() -> None:
    expected = [number * number for number in range(20)]
    assert map_range(_slow_square, 20) == map_range(_slow_square, 20, 3) == map_range(_slow_square, 20, 1) == expected
    assert map_range(_slow_square, 0) == []
    assert num_cpus() >= 1


@pytest.mark.parametrize("threads, ahead", [(1, 0), (3, 0), (3, 4)])
def test_map_ordered_yields_results_in_order(threads: int, ahead: int) -> None:
    assert list(map_ordered(_slow_square, iter(range(40)), threads, ahead)) == [n * n for n in range(40)]


def test_map_ordered_raises_an_error_after_the_results_before_it() -> None:
    results = map_ordered(lambda number: 6 // (3 - number), iter(range(9)), 2)
    assert [next(results) for _ in range(3)] == [2, 3, 6]
    with pytest.raises(ZeroDivisionError):
        next(results)
    assert list(results) == []


def test_map_ordered_raises_errors_of_its_inputs_after_the_results_before_them() -> None:
    def inputs():
        yield from range(5)
        raise OSError("input 5")

    results, seen = map_ordered(_slow_square, inputs(), 2, 8), []
    with pytest.raises(OSError, match="input 5"):
        seen.extend(results)
    assert seen == [0, 1, 4, 9, 16]


def test_map_ordered_leaves_no_thread_when_closed_early() -> None:
    results = map_ordered(_slow_square, iter(range(1000)), 2, name="recordmill-test")
    assert next(results) == 0
    results.close()
    assert [thread for thread in threading.enumerate() if thread.name.startswith("recordmill-test")] == []

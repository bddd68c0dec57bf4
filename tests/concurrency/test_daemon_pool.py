"""Threads that do not keep the process from ending."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import time

import pytest

from recordmill.concurrency.daemon_pool import DaemonPool, map_in_daemons


def find_threads(name: str) -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith(name)]


def wait_for_end(name: str) -> None:
    deadline = time.monotonic() + 20
    while find_threads(name) and time.monotonic() < deadline:
        gc.collect()
        time.sleep(0.001)
    assert not find_threads(name)


def test_pool_returns_results_and_errors() -> None:
    pool = DaemonPool(3, "test-results")
    futures = [pool.submit(lambda number: 6 // number, number) for number in (1, 2, 0)]
    assert [future.result() for future in futures[:2]] == [6, 3]
    with pytest.raises(ZeroDivisionError):
        futures[2].result()
    assert pool.submit(str, 5).result() == "5"
    pool.close()
    wait_for_end("test-results")


def test_pool_starts_threads_as_they_are_needed() -> None:
    pool, barrier = DaemonPool(3, "test-threads"), threading.Barrier(3)
    assert not find_threads("test-threads")
    pool.submit(int).result()
    assert len(find_threads("test-threads")) == 1
    futures = [pool.submit(barrier.wait) for _ in range(3)]  # Ends only if all run at the same time.
    assert sorted(future.result(timeout=20) for future in futures) == [0, 1, 2]
    futures = [pool.submit(int) for _ in range(20)]
    assert [future.result(timeout=20) for future in futures] == [0] * 20
    assert len(find_threads("test-threads")) == 3
    pool.close()
    wait_for_end("test-threads")


def test_threads_end_when_the_pool_is_garbage_collected() -> None:
    pool = DaemonPool(2, "test-garbage")
    pool.submit(int).result()
    del pool
    wait_for_end("test-garbage")


def test_cancelled_function_is_not_called() -> None:
    pool, start, calls = DaemonPool(1, "test-cancel"), threading.Event(), []
    first = pool.submit(start.wait)
    second = pool.submit(calls.append, 1)
    assert second.cancel()
    start.set()
    assert first.result(timeout=20) and pool.submit(calls.append, 2).result(timeout=20) is None
    assert calls == [2]
    pool.close()


@pytest.mark.parametrize("threads", [1, 3])
def test_map_returns_results_in_order_and_raises_the_first_error(threads: int) -> None:
    assert map_in_daemons(lambda number: number**2, 20, threads) == [number**2 for number in range(20)]
    assert map_in_daemons(str, 0, threads) == []
    with pytest.raises(ZeroDivisionError):
        map_in_daemons(lambda number: 1 // (number - 3), 20, threads)
    wait_for_end("recordmill-map")


def test_process_ends_while_a_function_runs() -> None:
    program = """
import threading
from recordmill.concurrency.daemon_pool import DaemonPool
pool = DaemonPool(2, "test")
future = pool.submit(threading.Event().wait)
class Last:
    def __del__(self):
        try:
            pool.submit(print, "called")
        except RuntimeError:
            print("refused")
last = Last()
"""
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert process.stdout in ("refused\n", "") and not process.stderr

"""User functions in several worker threads: results do not depend on the lock, and nobody waits for it forever."""

from __future__ import annotations

import pickle
import threading
import time
from typing import Any

import numpy as np
import pytest

from recordmill.errors import MapError
from recordmill.pipeline import function_lock
from recordmill.pipeline.function_lock import FunctionLock
from tests.pipeline.sources import numbers


def always(monkeypatch: pytest.MonkeyPatch, locked: bool) -> None:
    monkeypatch.setattr(function_lock._CallCosts, "prefers_lock", lambda _: locked)


def max_concurrent_calls(threads: int, seconds: float = 0.002) -> int:
    """Return the largest number of threads that call a function at the same time."""
    inside: set[int] = set()
    counts = []

    def call(sample: dict[str, Any]) -> dict[str, Any]:
        inside.add(threading.get_ident())
        time.sleep(seconds)
        counts.append(len(inside))
        inside.discard(threading.get_ident())
        return sample

    assert len(list(numbers(200).map(call).batch(10).loader(threads=threads))) == 20
    return max(counts)


def test_lock_admits_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    always(monkeypatch, locked=True)
    assert max_concurrent_calls(3) == 1
    always(monkeypatch, locked=False)
    assert max_concurrent_calls(3) > 1


def test_functions_that_wait_run_concurrently() -> None:
    assert max_concurrent_calls(2) == 2


def test_function_that_waits_for_another_thread_does_not_deadlock(monkeypatch: pytest.MonkeyPatch) -> None:
    always(monkeypatch, locked=True)
    monkeypatch.setattr(function_lock, "_LOCK_TIMEOUT_S", 0.02)
    barrier = threading.Barrier(2, timeout=20)

    def meet(sample: dict[str, Any]) -> dict[str, Any]:
        barrier.wait()
        return sample

    assert len(list(numbers(8).map(meet).batch(4).loader(threads=2))) == 2


def test_lock_is_released_when_a_function_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    always(monkeypatch, locked=True)
    monkeypatch.setattr(function_lock, "_LOCK_TIMEOUT_S", 60.0)

    def fail_sometimes(sample: dict[str, Any]) -> dict[str, Any]:
        if sample["id"] % 10 == 3:
            raise ValueError("three")
        return sample

    loader = numbers(100).map(fail_sometimes).batch(10).loader(threads=3)
    for _ in range(3):
        with pytest.raises(MapError, match="three"):
            list(loader)
    rest = numbers(100).map(fail_sometimes).batch(10).loader(threads=3, on_error="skip")
    assert sum(len(batch["id"]) for batch in rest) == 90


@pytest.mark.parametrize("threads", [0, 1, 2, 5])
def test_results_do_not_depend_on_the_lock(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    modes = iter(np.random.default_rng(threads).integers(0, 2, 100_000).tolist())
    sizes = iter(np.random.default_rng(threads).integers(1, 9, 100_000).tolist())
    monkeypatch.setattr(function_lock._CallCosts, "prefers_lock", lambda _: bool(next(modes)))
    monkeypatch.setattr(function_lock._CallCosts, "choose_piece_size", lambda _, count: min(count, next(sizes)))

    def add_number(sample: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
        return {"id": sample["id"], "number": rng.random()}

    def add_sum(batch: dict[str, Any]) -> dict[str, Any]:
        return batch | {"sum": batch["number"].sum(keepdims=True)}

    samples = numbers(300).shuffle(seed=2)
    passed = samples.map(add_number, rng=True).filter(lambda sample: sample["id"] % 3 != 1)
    batches = list(passed.batch(16).map(add_sum).loader(threads=threads))
    order = [number for number in (int(sample["id"]) for sample in samples) if number % 3 != 1]
    assert np.concatenate([batch["id"] for batch in batches]).tolist() == order
    expected = {int(sample["id"]): float(sample["number"]) for sample in samples.map(add_number, rng=True)}
    assert np.concatenate([batch["number"] for batch in batches]).tolist() == [expected[number] for number in order]


@pytest.mark.parametrize(
    "concurrent_s, locked", [(0.01, False), (0.02, False), (0.026, False), (0.03, True), (0.04, True)]
)
def test_lock_is_used_only_if_calls_are_clearly_faster(concurrent_s: float, locked: bool) -> None:
    costs = function_lock._CallCosts()
    for _ in range(4):
        costs.add(0.0, 0.01, 1, 1.0, locked=True)
    for _ in range(4):  # each of two threads, so that a call ends in half of the time
        costs.add(0.0, concurrent_s, 1, 2.0, locked=False)
    assert costs.prefers_lock() == locked


def test_pickled_lock_is_a_new_one() -> None:
    used = FunctionLock()
    with used._lock:
        assert pickle.loads(pickle.dumps(used))._lock.acquire(blocking=False)

"""Ctrl-C while worker processes start or end leaves no process, zombie or descriptor behind."""

from __future__ import annotations

import os
from typing import Any

import pytest

from recordmill.concurrency.process_pool import ProcessPool, WorkerGroup
from recordmill.concurrency.worker_process import WorkerProcess
from tests.concurrency import tasks
from tests.concurrency.helpers import check_no_leftovers

pytestmark = pytest.mark.usefixtures("_light_main")


def interrupt_once(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> None:
    """Raise KeyboardInterrupt in the first call of a function."""
    real, calls = getattr(owner, name), list[int]()

    def interrupted(*args: Any, **options: Any) -> Any:
        calls.append(1)
        if len(calls) > 1:
            return real(*args, **options)
        raise KeyboardInterrupt

    monkeypatch.setattr(owner, name, interrupted)


def start_pool() -> ProcessPool:
    pool = ProcessPool(tasks.return_slowly, 2)
    pool.submit(2)
    assert pool.result(0) == 0
    return pool


@pytest.mark.parametrize(
    "owner, name",
    [
        (WorkerGroup, "_wait_for_exits"),
        (WorkerProcess, "disconnect"),
        (WorkerProcess, "kill"),
        (WorkerProcess, "close"),
    ],
    ids=["waiting", "disconnecting", "killing", "closing"],
)
def test_interrupted_close_leaves_nothing_once_the_pool_is_freed(
    monkeypatch: pytest.MonkeyPatch, owner: Any, name: str
) -> None:
    with check_no_leftovers():
        pool = start_pool()
        interrupt_once(monkeypatch, owner, name)
        with pytest.raises(KeyboardInterrupt):
            pool.close()
        monkeypatch.undo()
        del pool


def test_close_can_be_repeated_after_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    with check_no_leftovers():
        pool = start_pool()
        interrupt_once(monkeypatch, WorkerProcess, "close")
        with pytest.raises(KeyboardInterrupt):
            pool.close()
        for _ in range(2):
            pool.close()


def test_interrupt_right_after_start_leaves_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.pidfd_open

    def interrupted(pid: int) -> int:
        if pid != os.getpid():
            raise KeyboardInterrupt
        return real(pid)

    with check_no_leftovers():
        pool = ProcessPool(tasks.return_slowly, 2)
        monkeypatch.setattr(os, "pidfd_open", interrupted)
        with pytest.raises(KeyboardInterrupt):
            pool.submit(2)
        del pool

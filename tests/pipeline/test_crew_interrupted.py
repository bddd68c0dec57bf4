"""Ctrl-C while worker processes are started or ended: none is left, not even as a zombie, and no descriptor."""

from __future__ import annotations

import os
from typing import Any

import pytest

from recordmill.pipeline.crew.process import WorkerProcess
from recordmill.pipeline.crew.processes import ProcessCrew
from recordmill.pipeline.crew.team import Team
from tests.pipeline import made
from tests.pipeline.crews import nothing_left

pytestmark = pytest.mark.usefixtures("_light_main")


def once(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> None:
    """Raise KeyboardInterrupt in the first call of a function."""
    real, calls = getattr(owner, name), list[int]()

    def interrupted(*args: Any, **options: Any) -> Any:
        calls.append(1)
        if len(calls) > 1:
            return real(*args, **options)
        raise KeyboardInterrupt

    monkeypatch.setattr(owner, name, interrupted)


def started() -> ProcessCrew:
    crew = ProcessCrew(made.napping, 2)
    crew.order(2)
    assert crew.take(0) == 0
    return crew


@pytest.mark.parametrize(
    "owner, name",
    [(Team, "_await_all"), (WorkerProcess, "let_go"), (WorkerProcess, "kill"), (WorkerProcess, "close")],
    ids=["waiting", "telling", "killing", "closing"],
)
def test_crew_when_its_end_is_interrupted_then_nothing_is_left_once_nobody_has_it(
    monkeypatch: pytest.MonkeyPatch, owner: Any, name: str
) -> None:
    with nothing_left():
        crew = started()
        once(monkeypatch, owner, name)
        with pytest.raises(KeyboardInterrupt):
            crew.dismiss()
        monkeypatch.undo()
        del crew


def test_crew_when_its_end_is_interrupted_then_it_can_be_dismissed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    with nothing_left():
        crew = started()
        once(monkeypatch, WorkerProcess, "close")
        with pytest.raises(KeyboardInterrupt):
            crew.dismiss()
        for _ in range(2):
            crew.dismiss()


def test_process_when_interrupted_right_behind_its_start_then_is_not_left(monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.pidfd_open

    def interrupted(pid: int) -> int:
        if pid != os.getpid():
            raise KeyboardInterrupt
        return real(pid)

    with nothing_left():
        crew = ProcessCrew(made.napping, 2)
        monkeypatch.setattr(os, "pidfd_open", interrupted)
        with pytest.raises(KeyboardInterrupt):
            crew.order(2)
        del crew

"""Task functions for tests of worker processes, which import this module."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np


class UnpicklableError(Exception):
    """An error that can be pickled but not unpickled."""

    def __init__(self, first: int, second: int) -> None:
        super().__init__(f"{first} and {second}")


class HeavyError(Exception):
    """An error with a payload."""

    def __init__(self, payload: Any) -> None:
        super().__init__("heavy")
        self.payload = payload


class UnpicklableTask:
    """A task function that cannot be unpickled."""

    def __reduce__(self) -> Any:
        return _refuse, ()

    def __call__(self, task: int) -> int:
        return task


class KillingTask(UnpicklableTask):
    """A task function that kills the process that unpickles it."""

    def __reduce__(self) -> Any:
        return signal.raise_signal, (signal.SIGTERM,)


def _refuse() -> None:
    raise ModuleNotFoundError("no module named 'elsewhere'", name="elsewhere")


def return_process_id(task: int) -> int:
    return os.getpid()


def return_slowly(task: int) -> int:
    time.sleep(task * 7 % 5 * 1e-3)
    return task * task


def build_pattern(task: int, count: int = 50_000) -> np.ndarray:
    return np.full(count + 1000 * (task % 7), task, np.int32)


def print_task(task: int) -> None:
    print(f"task {task}")


def hang(folder: str, task: int, at: int = 2) -> int:
    """Return all tasks but one, which hangs; a file shows that it has started."""
    if task == at:
        Path(folder, "hangs").write_text(str(os.getpid()))
        time.sleep(10_000)
    return task


def exit_at(task: int, at: int = 3, code: int = 7) -> int:
    if task == at:
        os._exit(code)
    return task


def fail(task: int) -> Any:
    """Fail in a different way in each task."""
    if task == 1:
        try:
            return {}["missing"]
        except KeyError as error:
            raise ValueError("has a cause") from error
    if task == 2:
        error = UnpicklableError(4, 5)
        error.add_note("a note")
        raise error
    if task == 3:
        raise HeavyError(np.arange(300_000))
    if task == 4:
        sys.exit(5)
    if task == 5:
        return lambda: None
    if task == 6:
        raise KeyboardInterrupt
    return task

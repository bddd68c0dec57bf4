"""Run functions in background threads. A job reports its progress and its result, and can be cancelled."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Literal

from recordmill.errors import RecordmillError

State = Literal["running", "done", "failed", "cancelled"]


class Cancelled(Exception):  # noqa: N818 (not an error)
    """Raised by `Job.check` in the function of a cancelled job."""


class Job:
    """A function that runs in a daemon thread.

    The function receives the job, sets `total`, calls `advance` regularly, and returns the result.
    """

    def __init__(self, work: Callable[[Job], Any]) -> None:
        self.state: State = "running"
        self.done = 0
        self.total = 0
        self.error: Exception | None = None
        self.result: Any = None
        self._is_cancelled = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(work,), daemon=True)
        self._thread.start()

    def _run(self, work: Callable[[Job], Any]) -> None:
        try:
            self.result = work(self)
        except Cancelled:
            self.state = "cancelled"
        except Exception as error:  # noqa: BLE001 (`to_json` reports it)
            self.error = error
            self.state = "failed"
        else:
            self.state = "done"

    def check(self) -> None:
        """Raise `Cancelled` if the job was cancelled."""
        if self._is_cancelled.is_set():
            raise Cancelled

    def advance(self, count: int) -> None:
        """Add `count` to the number of finished items; raise `Cancelled` if the job was cancelled."""
        self.check()
        self.done += count

    def cancel(self) -> None:
        """Stop the function at its next call of `check` or `advance`."""
        self._is_cancelled.set()

    def wait(self, timeout: float | None = None) -> None:
        """Wait until the function has ended."""
        self._thread.join(timeout)

    def to_json(self) -> dict[str, Any]:
        """Return the state, progress and error of the job as JSON."""
        error = None if self.error is None else error_to_json(self.error)
        return {"state": self.state, "done": self.done, "total": self.total, "error": error}


def error_to_json(error: Exception) -> dict[str, Any]:
    """Return an error as JSON: message, column in the filter expression, and hint."""
    hint = error.hint if isinstance(error, RecordmillError) else None
    if isinstance(error, RecordmillError):
        message = error.message
    else:
        message = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
    return {"message": message, "column": getattr(error, "column", None), "hint": hint}

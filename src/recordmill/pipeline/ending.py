"""Iterations that still go on when the interpreter ends are closed while their modules are whole."""

from __future__ import annotations

import atexit
import contextlib
from collections.abc import Generator
from typing import Any
from weakref import WeakSet

_GOING_ON: WeakSet[Generator[Any]] = WeakSet()


def close_at_exit(running: Generator[Any]) -> None:
    """Close an iteration when the interpreter ends, if it is still there.

    Parameters
    ----------
    running : generator
    """
    _GOING_ON.add(running)


@atexit.register
def _close_all() -> None:
    for running in list(_GOING_ON):
        with contextlib.suppress(ValueError):  # another thread is in it
            running.close()

"""The table of operations, and the one place that each call of an operation passes.

While a map function is being recorded, a call that touches a recorded value is handed to the recording;
every other call runs at once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class Recording(Protocol):
    """Notes the calls of one map function instead of running them."""

    def touches(self, value: Any) -> bool:
        """Whether a value, or one inside it, is a recorded one."""

    def note(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Note a call and give the recorded value that stands for its result."""


RECORDING: ContextVar[Recording | None] = ContextVar("recording", default=None)
OPS: dict[str, Callable[..., Any]] = {}


def op(name: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Enter a function into the table of operations.

    Parameters
    ----------
    name : str
        By which recordings know it, such as ``"image.resize"``.

    Returns
    -------
    callable
        Decorator of the function that runs the operation on tensors.
    """

    def enter(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            recording = RECORDING.get()
            if recording is not None and recording.touches((args, kwargs)):
                noted: R = recording.note(name, args, kwargs)
                return noted
            return function(*args, **kwargs)

        if name in OPS:
            raise ValueError(f"two operations are called {name!r}")
        OPS[name] = call
        return call

    return enter


def run(name: str, *args: Any, **kwargs: Any) -> Any:
    """Call an operation by name.

    Parameters
    ----------
    name : str
    *args, **kwargs
        What the operation takes.

    Returns
    -------
    object
    """
    return OPS[name](*args, **kwargs)

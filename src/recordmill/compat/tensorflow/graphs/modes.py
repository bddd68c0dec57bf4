"""Eager and graph execution, and settings of sessions, which have no effect here."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from types import SimpleNamespace
from typing import Any, Self


class Mode:
    """The execution mode that the program chose; None until it does."""

    eager: bool | None = None


# Number of enclosing `with graph.as_default()` blocks.
_GRAPH_DEPTH: ContextVar[int] = ContextVar("graph_depth", default=0)


def are_eager(otherwise: bool) -> bool:
    """Return whether iterators return values instead of symbols."""
    if _GRAPH_DEPTH.get():
        return False
    return otherwise if Mode.eager is None else Mode.eager


def enable_eager_execution(*unused: Any, **others: Any) -> None:
    """Let iterators return values."""
    del unused, others
    Mode.eager = True


def disable_eager_execution() -> None:
    """Let iterators return symbols, which sessions fetch."""
    Mode.eager = False


enable_v2_behavior, disable_v2_behavior = enable_eager_execution, disable_eager_execution


class Graph:
    """The graph of the process; all instances stand for the same one."""

    @contextlib.contextmanager
    def as_default(self) -> Iterator[Self]:
        """Return a context in which iterators return symbols."""
        token = _GRAPH_DEPTH.set(_GRAPH_DEPTH.get() + 1)
        try:
            yield self
        finally:
            _GRAPH_DEPTH.reset(token)

    def finalize(self) -> None:
        """Do nothing."""


@contextlib.contextmanager
def control_dependencies(control_inputs: Any) -> Iterator[None]:
    """Return a context without effect: operations run when they are called or fetched."""
    del control_inputs
    yield


class ConfigProto(SimpleNamespace):
    """Settings of a session, which have no effect."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{"gpu_options": SimpleNamespace(), **settings})

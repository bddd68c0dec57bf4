"""Choice between eager and graph execution. Settings of graphs and sessions are accepted, but have no effect."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from types import SimpleNamespace
from typing import Any, Self


class ExecutionMode:
    """Execution mode of the process: `eager` is None until the program chooses a mode."""

    eager: bool | None = None


# Number of enclosing `with graph.as_default()` blocks.
_GRAPH_DEPTH: ContextVar[int] = ContextVar("graph_depth", default=0)


def is_eager(otherwise: bool) -> bool:
    """Return True if iterators return values, or False if they return symbolic tensors.

    If the program has not chosen a mode, return `otherwise`.
    """
    if _GRAPH_DEPTH.get():
        return False
    return otherwise if ExecutionMode.eager is None else ExecutionMode.eager


def enable_eager_execution(*unused: Any, **others: Any) -> None:
    """``tf.enable_eager_execution``: make dataset iterators return values instead of symbolic tensors."""
    del unused, others
    ExecutionMode.eager = True


def disable_eager_execution() -> None:
    """``tf.disable_eager_execution``: make dataset iterators return symbolic tensors instead of values."""
    ExecutionMode.eager = False


enable_v2_behavior, disable_v2_behavior = enable_eager_execution, disable_eager_execution


class Graph:
    """``tf.Graph``; all instances refer to the single graph of the process."""

    @contextlib.contextmanager
    def as_default(self) -> Iterator[Self]:
        """Return a context manager in which iterators return symbolic tensors."""
        token = _GRAPH_DEPTH.set(_GRAPH_DEPTH.get() + 1)
        try:
            yield self
        finally:
            _GRAPH_DEPTH.reset(token)

    def finalize(self) -> None:
        """Do nothing. In TensorFlow, this method makes the graph read-only."""


@contextlib.contextmanager
def control_dependencies(control_inputs: Any) -> Iterator[None]:
    """``tf.control_dependencies``: return a context manager without effect."""
    del control_inputs
    yield


class ConfigProto(SimpleNamespace):
    """``tf.ConfigProto``: settings of a session, which have no effect."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{"gpu_options": SimpleNamespace(), **settings})

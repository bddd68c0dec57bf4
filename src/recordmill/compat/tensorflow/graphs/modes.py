"""Whether TensorFlow 1's iterators give values at once, and settings of sessions, which change nothing here."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from types import SimpleNamespace
from typing import Any, Self


class Mode:
    """What the program asked for: None as long as it did not."""

    eager: bool | None = None


# How many `with graph.as_default()` are around a program's line.
_INSIDE: ContextVar[int] = ContextVar("inside", default=0)


def are_eager(otherwise: bool) -> bool:
    """Whether iterators give values at once."""
    if _INSIDE.get():
        return False
    return otherwise if Mode.eager is None else Mode.eager


def enable_eager_execution(config: Any = None, device_policy: Any = None, execution_mode: Any = None) -> None:
    """Iterators give values at once from now on."""
    del config, device_policy, execution_mode
    Mode.eager = True


def disable_eager_execution() -> None:
    """Iterators give values of a graph from now on, which sessions fetch."""
    Mode.eager = False


def enable_v2_behavior() -> None:
    """As `enable_eager_execution`."""
    Mode.eager = True


disable_v2_behavior = disable_eager_execution


def nothing(*unused: Any, **others: Any) -> None:
    """Nothing: a setting of TensorFlow's own."""
    del unused, others


enable_resource_variables = enable_v2_tensorshape = enable_control_flow_v2 = enable_tensor_equality = nothing
disable_resource_variables = disable_v2_tensorshape = disable_control_flow_v2 = disable_tensor_equality = nothing


class ConfigProto(SimpleNamespace):
    """Settings of a session."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{"gpu_options": GPUOptions(), **settings})


class GPUOptions(SimpleNamespace):
    """Settings of graphics processors."""


class Graph:
    """The graph of the process: there is one, whatever programs call it."""

    @contextlib.contextmanager
    def as_default(self) -> Iterator[Self]:
        """Return the graph, for ``with``; inside it, iterators give values that a session fetches."""
        token = _INSIDE.set(_INSIDE.get() + 1)
        try:
            yield self
        finally:
            _INSIDE.reset(token)

    def finalize(self) -> None:
        """Nothing."""


def get_default_graph() -> Graph:
    """The graph of the process."""
    return Graph()


def reset_default_graph() -> None:
    """Nothing: values of before stay what they are."""

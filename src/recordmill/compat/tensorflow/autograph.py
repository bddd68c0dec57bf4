"""``tf.autograph``: functions are Python's and stay what they are."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from recordmill.compat.tensorflow.core.absent import missing

__all__ = ["do_not_convert", "experimental", "set_verbosity", "to_graph", "trace"]
__getattr__ = missing(__name__)

experimental = sys.modules[__name__]  # the same names stand there


def do_not_convert(func: Callable[..., Any] | None = None) -> Any:
    """Decorate a function that is not to be converted: none is."""
    return (lambda function: function) if func is None else func


def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """Nothing: no function is converted, and nothing is told of it."""
    del level, alsologtostdout


def trace(*args: Any) -> None:
    """Print values."""
    print(*args)


def to_graph(entity: Callable[..., Any], recursive: bool = True) -> Callable[..., Any]:  # noqa: ARG001 (no graphs)
    """The function itself."""
    return entity

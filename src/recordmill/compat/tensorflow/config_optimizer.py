"""``tf.config.optimizer``: settings of TensorFlow's graphs, which change no result and are kept to be asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recordmill.compat.tensorflow.core.absent import missing

__all__ = ["get_experimental_options", "get_jit", "set_experimental_options", "set_jit"]
__getattr__ = missing(__name__, "config.optimizer")


class _Said:
    """What the program asked for."""

    jit = ""
    options: dict[str, Any] = {}  # noqa: RUF012 (replaced, not changed)


def set_jit(enabled: Any) -> None:
    """Nothing: there is no compiler."""
    _Said.jit = "autoclustering" if enabled else ""


def get_jit() -> str:
    """What `set_jit` was told."""
    return _Said.jit


def set_experimental_options(options: Mapping[str, Any]) -> None:
    """Nothing: there are no graphs that could be rewritten."""
    _Said.options = {**_Said.options, **options}


def get_experimental_options() -> dict[str, Any]:
    """What `set_experimental_options` was told."""
    return dict(_Said.options)

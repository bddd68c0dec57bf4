"""Aliases of modules that programs import from ``tensorflow.python``, a private package of TensorFlow."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

_PACKAGE = "recordmill.compat.tensorflow"


def make_module_getattr(alias: str, *modules: str) -> Callable[[str], Any]:
    """Create a ``__getattr__`` function that takes each attribute from the first of `modules` that has the attribute.

    Names in `modules` are relative to ``recordmill.compat.tensorflow``: "io" is its module, "" is the package itself.
    """

    def get_member(name: str) -> Any:
        for module in modules:
            try:
                return getattr(importlib.import_module(f"{_PACKAGE}{module and '.'}{module}"), name)
            except AttributeError as error:
                missing = error
        raise AttributeError(f"module {alias!r} has no attribute {name!r}", name=name) from missing

    return get_member

"""Modules whose names are imported when they are first used."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any

from recordmill.compat.tensorflow.core.absent import absent, face_of

_PACKAGE = "recordmill.compat.tensorflow"


def lazy(
    module: str, members: Mapping[str, str], modules: Mapping[str, str] | None = None, face: str | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make the ``__getattr__`` and ``__dir__`` of a module."""
    whole = modules or {}

    def get(name: str) -> Any:
        if name in whole:
            found: Any = importlib.import_module(f"{_PACKAGE}.{whole[name]}")
        elif name in members:
            place, _, other = members[name].partition(":")
            found = getattr(importlib.import_module(f"{_PACKAGE}.{place}"), other or name)
        else:
            raise absent(module, face_of(module) if face is None else face, name)
        setattr(sys.modules[module], name, found)
        return found

    def names() -> list[str]:
        return sorted({*vars(sys.modules[module]), *members, *whole})

    return get, names

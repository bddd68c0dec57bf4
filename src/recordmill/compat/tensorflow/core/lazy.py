"""Modules whose names are imported when they are first used."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any

_PACKAGE = "recordmill.compat.tensorflow"


def lazy(
    module: str, members: Mapping[str, str], modules: Mapping[str, str] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make the ``__getattr__`` and ``__dir__`` of a module.

    Parameters
    ----------
    module : str
        Its ``__name__``.
    members : mapping of str to str
        Module of this package that each name comes from, such as ``{"cast": "ops.casting"}``; ``"module:other"``
        where it has another name there.
    modules : mapping of str to str, optional
        Names that are modules themselves.

    Returns
    -------
    tuple of callable
    """
    whole = modules or {}

    def get(name: str) -> Any:
        if name in whole:
            found: Any = importlib.import_module(f"{_PACKAGE}.{whole[name]}")
        elif name in members:
            place, _, other = members[name].partition(":")
            found = getattr(importlib.import_module(f"{_PACKAGE}.{place}"), other or name)
        else:
            raise AttributeError(f"module {module!r} has no attribute {name!r}; the migration page lists what is here")
        setattr(sys.modules[module], name, found)
        return found

    def names() -> list[str]:
        return sorted({*vars(sys.modules[module]), *members, *whole})

    return get, names

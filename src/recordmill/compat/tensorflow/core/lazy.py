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
    face : str, optional
        How TensorFlow's programs call the module, where that is not its place in this package.

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
            raise absent(module, face_of(module) if face is None else face, name)
        setattr(sys.modules[module], name, found)
        return found

    def names() -> list[str]:
        return sorted({*vars(sys.modules[module]), *members, *whole})

    return get, names

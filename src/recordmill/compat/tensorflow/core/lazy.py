"""Modules whose names are imported when they are first used."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any

from recordmill.compat.tensorflow.core.absent import absent_error, public_path_of
from recordmill.compat.tensorflow.core.dispatch import operation

_PACKAGE = "recordmill.compat.tensorflow"


def table(names_by_source: Mapping[str, str]) -> dict[str, str]:
    """Map each name to its source.

    A source is a module ("ops.specs") or a family of operations ("@math"). An entry "mod:floormod" means that the name
    `mod` stands for `floormod` of the source.
    """
    members = {}
    for source, names in names_by_source.items():
        for entry in names.split():
            name, _, target = entry.partition(":")
            separator = "." if source.startswith("@") else ":"
            members[name] = f"{source}{separator}{target or name}"
    return members


def lazy(
    module: str, members: Mapping[str, str], modules: Mapping[str, str] | None = None, public_path: str | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Create the ``__getattr__`` and ``__dir__`` of a module that import its members when they are first used."""
    submodules = modules or {}

    def get(name: str) -> Any:
        if name in submodules:
            value: Any = importlib.import_module(f"{_PACKAGE}.{submodules[name]}")
        elif name in members:
            value = _load(members[name], name)
        else:
            raise absent_error(module, public_path_of(module) if public_path is None else public_path, name)
        setattr(sys.modules[module], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[module]), *members, *submodules})

    return get, names


def _load(source: str, name: str) -> Any:
    if source.startswith("@"):
        return operation(source.removeprefix("@"))
    place, _, target = source.partition(":")
    return getattr(importlib.import_module(f"{_PACKAGE}.{place}"), target or name)

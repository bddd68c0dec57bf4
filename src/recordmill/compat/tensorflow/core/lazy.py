"""Lazy modules, which import a name when it is first used."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any

from recordmill.compat.tensorflow.core.absent import absent_error, public_path_of
from recordmill.compat.tensorflow.core.dispatch import find_operation

_PACKAGE = "recordmill.compat.tensorflow"


def map_names_to_sources(names_by_source: Mapping[str, str]) -> dict[str, str]:
    """Invert `names_by_source`: return a dict that maps each name to its source.

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


def make_lazy_attributes(
    module: str, members: Mapping[str, str], modules: Mapping[str, str] | None = None, public_path: str | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Create a module's ``__getattr__`` and ``__dir__``; ``__getattr__`` imports each name on first use."""
    submodules = modules or {}

    def get_member(name: str) -> Any:
        if name in submodules:
            value: Any = importlib.import_module(f"{_PACKAGE}.{submodules[name]}")
        elif name in members:
            value = _import_member(members[name], name)
        else:
            raise absent_error(module, public_path_of(module) if public_path is None else public_path, name)
        setattr(sys.modules[module], name, value)
        return value

    def list_members() -> list[str]:
        return sorted({*vars(sys.modules[module]), *members, *submodules})

    return get_member, list_members


def _import_member(source: str, name: str) -> Any:
    if source.startswith("@"):
        return find_operation(source.removeprefix("@"))
    place, _, target = source.partition(":")
    return getattr(importlib.import_module(f"{_PACKAGE}.{place}"), target or name)

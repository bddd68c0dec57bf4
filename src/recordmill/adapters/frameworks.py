"""Frameworks are imported inside functions; a missing one is an error that names what to install."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from recordmill.errors import MissingExtraError


@contextmanager
def extra(name: str, hint: str | None = None) -> Iterator[None]:
    """Let the imports in a block fail by naming the extra that brings the packages."""
    try:
        yield
    except ModuleNotFoundError as missing:
        how = hint or f"pip install 'recordmill[{name}]'"
        raise MissingExtraError(f"recordmill.{name} needs the package {missing.name}", hint=how) from missing


def joined(ours: type, base: type, home: str) -> Any:
    """Put a class of ours on top of a class that a framework looks for."""
    return type(ours.__name__, (ours, base), {"__module__": home, "__doc__": ours.__doc__})

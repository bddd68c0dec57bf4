"""Frameworks are imported inside functions; a missing one is an error that names what to install."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from recordmill.errors import MissingExtraError


@contextmanager
def extra(name: str, hint: str | None = None) -> Iterator[None]:
    """Let the imports in a block fail by naming the extra that brings the packages.

    Parameters
    ----------
    name : str
        Of the extra.
    hint : str, optional
        How to go on; the command that installs the extra by default.

    Raises
    ------
    MissingExtraError
        A package that the block imports is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as missing:
        how = hint or f"pip install 'recordmill[{name}]'"
        raise MissingExtraError(f"recordmill.{name} needs the package {missing.name}", hint=how) from missing


def joined(ours: type, base: type, home: str) -> Any:
    """Put a class of ours on top of a class that a framework looks for.

    Parameters
    ----------
    ours, base : type
    home : str
        Module under which pickle finds the result by the name of `ours`.

    Returns
    -------
    type
    """
    return type(ours.__name__, (ours, base), {"__module__": home, "__doc__": ours.__doc__})

"""From what callers name (paths, patterns, folders, lists) to shards in natural order."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from recordmill.formats.registry import FORMATS
from recordmill.storage.local import LOCAL

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
_COMPANIONS = (".lst", *(format_.index.suffix for format_ in FORMATS.values() if format_.index is not None))


def expand(paths: Paths) -> list[str]:
    """Files that are meant, each once.

    Patterns and folders leave out hidden files and the index files of the formats' own tools; a path that is named
    in full is always taken. A list keeps its order.

    Parameters
    ----------
    paths : path, pattern, folder, or iterable of them

    Returns
    -------
    list of str

    Raises
    ------
    FileNotFoundError
        Nothing is there, a link among them leads nowhere, or the iterable is empty.
    TypeError
        Something else than paths.
    """
    given = _listed(paths)
    if not given:
        raise FileNotFoundError(2, "no shard was named", "an empty list of paths")
    found: dict[str, None] = {}
    for entry in given:
        name = os.fspath(entry)
        names = LOCAL.expand(name)
        if names != [name]:
            names = [candidate for candidate in names if not candidate.endswith(_COMPANIONS)]
        if not names:
            raise FileNotFoundError(2, _absent(name), name)
        found |= dict.fromkeys(names)
    return list(found)


def _listed(paths: Any) -> list[str | os.PathLike[str]]:
    if isinstance(paths, str | os.PathLike):
        return [paths]
    given = list(paths) if isinstance(paths, Iterable) and not isinstance(paths, bytes) else [paths]
    for entry in given:
        if not isinstance(entry, str | os.PathLike):
            raise TypeError(f"shards are named by paths, patterns, folders or lists of them, not by {entry!r:.60}")
    return given


def _absent(name: str) -> str:
    """Why nothing is found, as far as the name tells."""
    if os.path.isdir(name):
        return "no shard in that folder"
    if "://" in name:
        return "no shard of that name: files of this machine are read, addresses are not"
    if name.startswith("~"):
        return "no shard of that name: ~ is not expanded here, os.path.expanduser does that"
    if "{" in name:
        return "no shard of that name: patterns know *, ?, [0-9] and **, but no braces"
    if "[" in name:
        return "no shard of that name: brackets stand for a character of those inside; see glob.escape"
    return "no shard of that name"

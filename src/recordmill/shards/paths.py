"""From what callers name (paths, patterns, folders, lists) to shards in natural order."""

from __future__ import annotations

import os
from collections.abc import Iterable

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
        Nothing is there, or the iterable is empty.
    """
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if not given:
        raise FileNotFoundError(2, "no shard was named", "an empty list of paths")
    found: dict[str, None] = {}
    for entry in given:
        name = os.fspath(entry)
        names = LOCAL.expand(name)
        if names != [name]:
            names = [candidate for candidate in names if not candidate.endswith(_COMPANIONS)]
        if not names:
            raise FileNotFoundError(2, "no shard of that name", name)
        found |= dict.fromkeys(names)
    return list(found)

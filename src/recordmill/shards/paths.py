"""From what callers name (paths, patterns, folders, lists) to shards in natural order."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from glob import escape
from typing import Any

from recordmill.errors import FormatError
from recordmill.formats.detect import from_name
from recordmill.formats.registry import FORMATS
from recordmill.shards.open import NAME_THEM
from recordmill.storage.local import LOCAL

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
_COMPANIONS = (".lst", *(format_.index.suffix for format_ in FORMATS.values() if format_.index is not None))


def expand_paths(paths: Paths) -> list[str]:
    """Files that are meant, each once."""
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


@contextmanager
def leaving_out(names: Sequence[str]) -> Iterator[None]:
    """Put a pattern for the other files into the error that one of them is no shard."""
    try:
        yield
    except FormatError as error:
        pattern = error.hint == NAME_THEM and error.shard is not None and pattern_beside(error.shard, names)
        if pattern:
            error.hint = f"{NAME_THEM}, for example {pattern!r}"
        raise


def pattern_beside(stranger: str, names: Sequence[str]) -> str | None:
    """Pattern of the most files in the same folder whose names differ in numbers only."""
    folder = os.path.dirname(stranger)
    beside = [os.path.basename(name) for name in names if name != stranger and os.path.dirname(name) == folder]
    counts = Counter(map(_numbered, beside))
    counts.pop(_numbered(os.path.basename(stranger)), None)
    if not counts:
        return None
    best = max(counts, key=lambda form: (from_name(form) is not None, counts[form]))
    alone = next(name for name in beside if _numbered(name) == best) if counts[best] == 1 else best
    return os.path.join(folder, alone)


def _numbered(name: str) -> str:
    return re.sub(r"\d+", "*", escape(name))

"""Expand paths, glob patterns and directories to lists of shard files in natural order (``2`` before ``10``)."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from glob import escape
from typing import Any

from recordmill.datasets.manifest import find_manifests
from recordmill.errors import FormatError
from recordmill.formats.detect import guess_format_from_name
from recordmill.formats.registry import FORMATS
from recordmill.shards.class_names import LABELS_FILE
from recordmill.shards.open import NAME_SHARDS_HINT
from recordmill.storage.addresses import check_path, is_address, is_web_address, redact
from recordmill.storage.base import Storage

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
# Suffixes of list and index files, which often lie in a directory of shards but are not shards.
COMPANION_SUFFIXES = (".lst", *(format_.index.suffix for format_ in FORMATS.values() if format_.index is not None))


def list_paths(paths: Any) -> list[str]:
    """Convert one path, or an iterable of paths, to a list of str; raise TypeError for other values."""
    if isinstance(paths, str | os.PathLike):
        return [check_path(paths)]
    expected = "paths must be a path, a pattern, a directory or an iterable of them"
    found = "None" if paths is None else type(paths).__name__
    # Reject open files: they are iterables of lines, which would be treated as paths.
    if hasattr(paths, "read") or isinstance(paths, bytes | bytearray | memoryview):
        hint = "records cannot be read from memory or from an open file: write them to a file and pass its path"
        raise TypeError(f"{expected}, got {found}; {hint}")
    if not isinstance(paths, Iterable):
        raise TypeError(f"{expected}, got {found}")
    entries = list(paths)
    for entry in entries:
        if not isinstance(entry, str | os.PathLike):
            raise TypeError(f"{expected}, got {found} that contains {entry!r:.60}")
    return [check_path(entry) for entry in entries]


def expand_paths(paths: Paths, storage: Storage) -> list[str]:
    """Return the files that paths, glob patterns and directories refer to, without duplicates."""
    names = list_paths(paths)
    if not names:
        raise FileNotFoundError(2, "expected at least one shard, got", "an empty list of paths")
    files: dict[str, None] = {}
    for name in names:
        matches = expand_path(name, storage)
        if not matches:
            raise no_shard_error(name)
        files |= dict.fromkeys(matches)
    return list(files)


def expand_path(name: str, storage: Storage) -> list[str]:
    """Return the shards that a path, glob pattern or directory refers to; empty if there are none."""
    matches = storage.expand(name)
    return matches if matches == [name] else [path for path in matches if not is_companion(path)]


def is_companion(path: str) -> bool:
    """Return True if a file in a directory of shards has the name of a list or index file."""
    return path.endswith(COMPANION_SUFFIXES) or os.path.basename(path) == LABELS_FILE


def no_shard_error(name: str) -> FileNotFoundError:
    """Create the error for a path, pattern or directory for which there is no shard."""
    return FileNotFoundError(2, _explain_missing(name), redact(name))


def _explain_missing(name: str) -> str:
    """Return the error message for a path or pattern without matching files, with the likely reason."""
    if is_address(name):
        web = is_web_address(name)
        return "no object has this name" + (": web servers do not list folders, so name each shard" if web else "")
    if os.path.isdir(name):
        folders = _find_folders_of_shards(name)
        return "the directory contains no shards" + (f", but its folder {folders[0]!r} does" if folders else "")
    if name.startswith("~"):
        return "no shard has this name: ~ is not expanded; use os.path.expanduser"
    if "{" in name:
        return "no shard has this name: patterns support *, ?, [0-9] and **, but not braces"
    if "[" in name:
        return (
            "no shard has this name: brackets in a pattern match one character; use glob.escape for names with brackets"
        )
    return "no shard has this name"


def _find_folders_of_shards(folder: str) -> list[str]:
    """Return the direct subfolders that contain a manifest or a file with the suffix of a record format."""
    with os.scandir(folder) as entries:
        folders = sorted(entry.path for entry in entries if entry.is_dir() and not entry.name.startswith("."))
    return [path for path in folders if _contains_shards(path)]


def _contains_shards(folder: str) -> bool:
    try:
        names = os.listdir(folder)
    except PermissionError:
        return False
    return bool(find_manifests(names)) or any(guess_format_from_name(name) is not None for name in names)


def add_pattern_hint(error: FormatError, names: Sequence[str]) -> None:
    """Extend the hint of the error for a file that is not a shard: suggest a glob pattern that excludes this file."""
    if error.hint == NAME_SHARDS_HINT and error.shard is not None:
        pattern = _find_excluding_pattern(error.shard, names)
        if pattern is not None:
            error.hint = f"{NAME_SHARDS_HINT}, for example {pattern!r}"


def _find_excluding_pattern(excluded: str, names: Sequence[str]) -> str | None:
    """Return a glob pattern that matches the largest group of numbered names, but not `excluded`."""
    directory = os.path.dirname(excluded)
    others = [os.path.basename(name) for name in names if name != excluded and os.path.dirname(name) == directory]
    counts = Counter(map(_replace_numbers_with_wildcard, others))
    counts.pop(_replace_numbers_with_wildcard(os.path.basename(excluded)), None)
    if not counts:
        return None
    best = max(counts, key=lambda pattern: (guess_format_from_name(pattern) is not None, counts[pattern]))
    if counts[best] == 1:
        best = next(name for name in others if _replace_numbers_with_wildcard(name) == best)
    return os.path.join(directory, best)


def _replace_numbers_with_wildcard(name: str) -> str:
    return re.sub(r"\d+", "*", escape(name))

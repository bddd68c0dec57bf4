"""Glob patterns, and the index files that the library keeps beside shards."""

from __future__ import annotations

import glob
import os
import re

_WILDCARD = re.compile(r"[*?\[\\]")
# Index and entry points beside a shard: hidden files, which programs that list folders do not expect.
_SIDECAR = re.compile(r"\..+\.(rmx|rme)\Z")


def list_entries(folder: str) -> list[str]:
    """Return the sorted names in a folder without sidecars."""
    return sorted(name for name in os.listdir(folder) if _SIDECAR.match(name) is None)


def sidecars(path: str) -> list[str]:
    """Return the paths at which a shard's sidecars may exist."""
    folder, name = os.path.split(path)
    return [os.path.join(folder, f".{name}{suffix}") for suffix in (".rmx", ".rme")]


def is_sidecar(path: str) -> bool:
    """Whether a path is that of a sidecar whose shard exists."""
    folder, name = os.path.split(path)
    return _SIDECAR.match(name) is not None and os.path.exists(os.path.join(folder, name[1:-4]))


def match_pattern(pattern: str) -> list[str]:
    """Return the sorted paths that match; ``*`` and ``?`` match anything but slashes, also a leading dot."""
    wildcard = _WILDCARD.search(pattern)
    if "/" not in pattern[: wildcard.start() if wildcard else None]:
        pattern = f"./{pattern}"
    found = glob.iglob(pattern, include_hidden=True)
    return sorted(path for path in found if _SIDECAR.match(os.path.basename(path)) is None)

"""Functions that list folders and match glob patterns. The results omit the sidecar files of shards."""

from __future__ import annotations

import glob
import os
import re

_WILDCARD = re.compile(r"[*?\[\\]")
# Matches the names of files that recordmill adds to folders: manifests, indexes of shards (.rmx) and lists of positions
# at which JPEG decoding can start (.rme). TensorFlow programs that list folders do not expect these files.
_SIDECAR = re.compile(r"\.(?P<shard>.+)\.(rmx|rme|(?P<manifest>manifest\.json))\Z")


def list_entries(folder: str) -> list[str]:
    """Return the sorted names in a folder, without sidecar files."""
    return sorted(name for name in os.listdir(folder) if _SIDECAR.match(name) is None)


def sidecar_paths(path: str) -> list[str]:
    """Return the paths at which sidecar files of a shard may exist."""
    folder, name = os.path.split(path)
    return [os.path.join(folder, f".{name}{suffix}") for suffix in (".rmx", ".rme", ".manifest.json")]


def is_sidecar(path: str) -> bool:
    """Return whether a path names a manifest, or a sidecar file whose shard exists."""
    folder, name = os.path.split(path)
    match = _SIDECAR.match(name)
    return match is not None and bool(match["manifest"] or os.path.exists(os.path.join(folder, match["shard"])))


def match_pattern(pattern: str) -> list[str]:
    """Return the sorted paths that match a pattern; ``*`` and ``?`` also match a leading dot, but never a slash."""
    wildcard = _WILDCARD.search(pattern)
    if "/" not in pattern[: wildcard.start() if wildcard else None]:
        pattern = f"./{pattern}"
    found = glob.iglob(pattern, include_hidden=True)
    return sorted(path for path in found if _SIDECAR.match(os.path.basename(path)) is None)

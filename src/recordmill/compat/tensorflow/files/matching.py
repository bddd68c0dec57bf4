"""Which files match a pattern, and which files in a folder are only ours."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterator

_WILD = re.compile(r"[*?\[\\]")
# Index and entry points beside a shard: hidden files that programs which list folders do not ask for.
_SIDECAR = re.compile(r"\..+\.(rmx|rme)\Z")


def entries(folder: str) -> list[str]:
    """Names in a folder, without the index files that are kept beside shards."""
    return sorted(name for name in os.listdir(folder) if _SIDECAR.match(name) is None)


def sidecars(path: str) -> list[str]:
    """Index files that may be kept beside a shard."""
    folder, name = os.path.split(path)
    return [os.path.join(folder, f".{name}{suffix}") for suffix in (".rmx", ".rme")]


def beside_a_file(path: str) -> bool:
    """Tell whether a path is that of an index file beside its shard, where programs that list folders find it."""
    folder, name = os.path.split(path)
    return _SIDECAR.match(name) is not None and os.path.exists(os.path.join(folder, name[1:-4]))


def matches(pattern: str) -> list[str]:
    """Paths that match a pattern; ``*`` and ``?`` stand for anything but slashes, also a dot in front."""
    wild = _WILD.search(pattern)
    if "/" not in pattern[: wild.start() if wild else None]:
        pattern = f"./{pattern}"
    first, *rest = pattern.split("/")
    return sorted(_below(first + "/" if first in ("", ".") else first, rest, bare=first not in ("", ".")))


def _below(base: str, parts: list[str], *, bare: bool = False) -> Iterator[str]:
    """Paths below a folder, part by part."""
    if not parts:
        if os.path.lexists(base):
            yield base
        return
    prefix = f"{base}/" if bare else base
    part, rest = parts[0], parts[1:]
    names = [part] if _WILD.search(part) is None else _names(base, part)
    for name in names:
        yield from _below(prefix + name, rest, bare=True)


def _names(folder: str, part: str) -> list[str]:
    try:
        found = entries(folder)
    except OSError:
        return []
    matcher = re.compile(fnmatch.translate(part))
    return [name for name in found if matcher.match(name)]

"""Names of the shards that a destination stands for."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from itertools import count

from recordmill.errors import OutputExistsError
from recordmill.formats.base import Format
from recordmill.shards.foreign_index import foreign_index_path
from recordmill.shards.index import ENTRY_POINTS_SUFFIX, SIDECAR_SUFFIX, cache_path, sidecar_path
from recordmill.storage.local import LOCAL


def shard_paths(destination: str | os.PathLike[str], format_: Format, num_shards: int, suffix: str = "") -> list[str]:
    """Names of the shards that a destination stands for."""
    prefix = name_prefix(destination)
    if num_shards == 1 and prefix.removesuffix(suffix).endswith(format_.suffixes):
        return [prefix]
    pattern = format_.pattern
    return [pattern.format(prefix=prefix, shard=shard, num_shards=num_shards) + suffix for shard in range(num_shards)]


def name_prefix(destination: str | os.PathLike[str]) -> str:
    """Beginning of the names of the shards of a destination, with their folder."""
    prefix = os.fspath(destination)
    return os.path.join(prefix, "part") if prefix.endswith(os.sep) or prefix in ("", ".") else prefix


def refuse_siblings(destination: str | os.PathLike[str], format_: Format, suffix: str, paths: Iterable[str]) -> None:
    """Raise if a destination could stand for other shards that are there, besides those that are written now."""
    for name in _find(destination, format_, suffix, set(paths)):
        raise OutputExistsError(
            "shards of the same name and another number are there, which a pattern would mix with the new ones",
            shard=name,
            hint="choose another name, or overwrite=True, which removes them",
        )


def remove_siblings(destination: str | os.PathLike[str], format_: Format, suffix: str, paths: Iterable[str]) -> None:
    """Remove the shards that `refuse_siblings` would name, with their indexes."""
    for name in list(_find(destination, format_, suffix, set(paths))):
        others = [
            place(name, kind) for place in (sidecar_path, cache_path) for kind in (SIDECAR_SUFFIX, ENTRY_POINTS_SUFFIX)
        ]
        if format_.index is not None:
            others.append(foreign_index_path(name, format_.index.suffix))
        for path in (name, *others):
            LOCAL.remove(path)


def _find(destination: str | os.PathLike[str], format_: Format, suffix: str, written: set[str]) -> Iterator[str]:
    prefix = name_prefix(destination)
    if prefix.removesuffix(suffix).endswith(format_.suffixes):
        return iter(())
    if "{num_shards" in format_.pattern:
        return _with_another_total(prefix, format_.pattern, suffix, written)
    return _further(prefix, format_.pattern, suffix, len(written))


def _with_another_total(prefix: str, pattern: str, suffix: str, written: set[str]) -> Iterator[str]:
    """Shards whose names tell that they are one of so many."""
    folder, beginning = os.path.split(prefix)
    fixed = re.escape(pattern).replace(r"\{prefix\}", re.escape(beginning))
    any_number = re.sub(r"\\{(shard|num_shards)(:05d)?\\}", lambda _: "([0-9]+)", fixed) + re.escape(suffix)
    new = {os.path.basename(path) for path in written}
    there = LOCAL.expand(folder or ".") if os.path.isdir(folder or ".") else []
    names = (os.path.basename(path) for path in there)
    return (os.path.join(folder, name) for name in names if name not in new and re.fullmatch(any_number, name))


def _further(prefix: str, pattern: str, suffix: str, first: int) -> Iterator[str]:
    """Shards numbered on without a gap: behind one, a name such as ``coco-2017`` may be something else."""
    for shard in count(first):
        name = pattern.format(prefix=prefix, shard=shard) + suffix
        if not LOCAL.exists(name):
            return
        yield name

"""Shards of an earlier run that a new one would not replace, and that patterns would mix with it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from recordmill.errors import OutputExistsError
from recordmill.formats.base import Format
from recordmill.shards.foreign import foreign_path
from recordmill.shards.index import ENTRY_SUFFIX, SUFFIX, cache_path, sidecar_path
from recordmill.shards.names import name_prefix
from recordmill.storage.local import LOCAL


def find_siblings(destination: str | os.PathLike[str], format_: Format, suffix: str, paths: Iterable[str]) -> list[str]:
    """Shards that a destination could stand for, with any number of shards, and that are not written now.

    Parameters
    ----------
    destination : path
    format_ : Format
    suffix : str
        Put behind each name (``.gz``).
    paths : iterable of str
        What is written now.

    Returns
    -------
    list of str
    """
    prefix = name_prefix(destination)
    if prefix.removesuffix(suffix).endswith(format_.suffixes):
        return []
    folder, beginning = os.path.split(prefix)
    number = "([0-9]+)"
    pattern = re.escape(format_.pattern).replace(r"\{prefix\}", re.escape(beginning))
    pattern = re.sub(r"\\{(shard|num_shards)(:05d)?\\}", lambda _: number, pattern)
    written = {os.path.basename(path) for path in paths}
    there = LOCAL.expand(folder or ".") if os.path.isdir(folder or ".") else []
    names = (os.path.basename(path) for path in there)
    stale = (name for name in names if name not in written and re.fullmatch(pattern + re.escape(suffix), name))
    return [os.path.join(folder, name) for name in stale]


def refuse_siblings(siblings: Iterable[str]) -> None:
    """Raise OutputExistsError if there are any.

    Parameters
    ----------
    siblings : iterable of str
    """
    for name in siblings:
        raise OutputExistsError(
            "shards of the same name and another number are there, which a pattern would mix with the new ones",
            shard=name,
            hint="choose another name, or overwrite=True, which removes them",
        )


def remove_siblings(siblings: Iterable[str], format_: Format) -> None:
    """Remove shards with their indexes.

    Parameters
    ----------
    siblings : iterable of str
    format_ : Format
    """
    for name in siblings:
        others = [place(name, suffix) for place in (sidecar_path, cache_path) for suffix in (SUFFIX, ENTRY_SUFFIX)]
        if format_.index is not None:
            others.append(foreign_path(name, format_.index.suffix))
        for path in (name, *others):
            LOCAL.remove(path)

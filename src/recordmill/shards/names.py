"""Names of the shards that a destination stands for."""

from __future__ import annotations

import os

from recordmill.formats.base import Format


def shard_paths(destination: str | os.PathLike[str], format_: Format, num_shards: int, suffix: str = "") -> list[str]:
    """Names of the shards that a destination stands for.

    A destination that already ends like a shard of the format names the one shard itself. Otherwise it is the
    beginning of the names; a destination that ends with a separator stands for shards called ``part`` in a folder.

    Parameters
    ----------
    destination : path
    format_ : Format
    num_shards : int
    suffix : str
        Put behind each name (``.gz``).

    Returns
    -------
    list of str
    """
    prefix = name_prefix(destination)
    if num_shards == 1 and prefix.removesuffix(suffix).endswith(format_.suffixes):
        return [prefix]
    pattern = format_.pattern
    return [pattern.format(prefix=prefix, shard=shard, num_shards=num_shards) + suffix for shard in range(num_shards)]


def name_prefix(destination: str | os.PathLike[str]) -> str:
    """Beginning of the names of the shards of a destination, with their folder.

    Parameters
    ----------
    destination : path

    Returns
    -------
    str
    """
    prefix = os.fspath(destination)
    return os.path.join(prefix, "part") if prefix.endswith(os.sep) or prefix in ("", ".") else prefix

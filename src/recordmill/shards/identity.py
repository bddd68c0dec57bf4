"""Whether a shard that is opened again, by another process or later, is still the one that it was."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from recordmill.errors import FormatError, ShardChangedError
from recordmill.shards import sidecar as sidecars
from recordmill.shards.opening import OpenShard, open_shard
from recordmill.shards.sidecar import Sidecar
from recordmill.shards.translate import translated

# Bytes of the file, and checksums of some of its blocks: (offset, CRC-32C).
Identity = tuple[int, tuple[tuple[int, int], ...]]

# Device, number, bytes and time of change of each file.
Marks = tuple[tuple[int, int, int, int], ...]


def identity_of(sidecar: Sidecar) -> Identity:
    """What tells a shard from another.

    Parameters
    ----------
    sidecar : Sidecar

    Returns
    -------
    tuple
        Size in bytes, and checksums of blocks.
    """
    return sidecar.num_stored_bytes, tuple((offset, crc) for offset, crc in sidecar.probes)


def located(paths: Sequence[str], folder: str) -> tuple[str, ...]:
    """Paths as they are reached now; relative ones count from the folder where they were named first.

    Parameters
    ----------
    paths : sequence of str
    folder : str
        Working directory when they were named.

    Returns
    -------
    tuple of str
        As they are where none lies there: a data set goes to other machines, too.
    """
    if all(map(os.path.isabs, paths)) or folder in ("", working_folder()):
        return tuple(paths)
    there = tuple(os.path.join(folder, path) for path in paths)
    return there if all(map(os.path.exists, there)) else tuple(paths)


def working_folder() -> str:
    """Return the working directory; empty if somebody removed it."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return ""


def marks_of(paths: Sequence[str], before: Marks | None) -> Marks:
    """What the file system says of files, for opening them again in the same process.

    Parameters
    ----------
    paths : sequence of str
    before : Marks or None
        What it said when they were opened before.

    Returns
    -------
    Marks

    Raises
    ------
    ShardChangedError
        Something else than before.
    """
    found = [os.stat(path) for path in paths]
    marks = tuple((one.st_dev, one.st_ino, one.st_size, one.st_mtime_ns) for one in found)
    if before is not None and marks != before:
        raise _changed(paths[0], "is another one than before")
    return marks


def open_known(paths: Sequence[str], options: Mapping[str, Any], known: Identity | None) -> OpenShard:
    """Open a shard that may be known from an earlier time.

    Parameters
    ----------
    paths : sequence of str
    options : mapping
        Of `open_shard`.
    known : Identity or None
        What it was; None if it is opened for the first time.

    Returns
    -------
    OpenShard

    Raises
    ------
    ShardChangedError
        It is not there any more, or another one is.
    """
    if known is None:
        return open_shard(paths, **options)
    try:
        shard = open_shard(paths, **options)
    except FileNotFoundError:
        raise _changed(paths[0], "is not there any more") from None
    except FormatError:
        raise _changed(paths[0], "is another one than before") from None
    with translated(shard.name):
        found = shard.source.num_stored_bytes or 0
        if (found, tuple(sidecars.make_probes(shard.source, found))) != known:
            raise _changed(shard.name, "is another one than before")
    return shard


def _changed(name: str, what: str) -> ShardChangedError:
    hint = "open the data set again, in all processes"
    return ShardChangedError(f"the shard {what}", kind="changed", shard=name, hint=hint)

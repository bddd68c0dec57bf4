"""Opens many shards at once, and joins files where a record goes on in the next one."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from typing import Any

from recordmill.errors import FormatError, RecordmillError
from recordmill.shards.held import is_short
from recordmill.shards.index import sidecar_path
from recordmill.shards.reader import ShardReader
from recordmill.shards.strangers import leaving_out
from recordmill.storage.local import LOCAL

_MAX_SCANS = 8  # shards that are scanned at the same time


def open_all(names: Sequence[str], format: str | None, options: dict[str, Any]) -> list[ShardReader]:  # noqa: A002
    """Open shards of one format.

    Parameters
    ----------
    names : sequence of str
        Their files.
    format : str or None
        What content says by default.
    options : dict
        Of each `ShardReader`.

    Returns
    -------
    list of ShardReader
        In the order of the names; one for several files where a record goes on in the next file.

    Raises
    ------
    FormatError
        Not all are of one format.
    DamageError
        The frames of a shard cannot all be found.
    """
    full = [name for name in names if LOCAL.stat(name).num_bytes]
    with leaving_out(names):
        opened = {name: ShardReader(name, format=format, **options) for name in full}
    formats = {reader.format: reader for reader in opened.values()}
    if len(formats) > 1:
        found = ", ".join(f"{reader.path} is {name}" for name, reader in formats.items())
        raise FormatError("the shards are of several formats", kind="wrong_format", expected="one format", found=found)
    known = format or next(iter(formats), None)
    for name in names:
        if name not in opened:
            opened[name] = ShardReader(name, format=known, **options)
    readers = [opened[name] for name in names]
    return _join_spanning(readers, _damages(readers), options)


def _damages(readers: list[ShardReader]) -> list[RecordmillError | None]:
    """Find all frames: at once where an index is kept, side by side where shards must be scanned."""
    if all(LOCAL.exists(sidecar_path(reader.path)) for reader in readers):
        return [_damage(reader) for reader in readers]
    import hashlib  # noqa: F401 (what threads need is imported while there is a descriptor for it)

    from recordmill.concurrency.threads import map_range

    try:
        if not is_short():
            return map_range(lambda number: _damage(readers[number]), len(readers), _MAX_SCANS)
    except OSError as error:
        if error.errno != errno.EMFILE:
            raise
    return [_damage(reader) for reader in readers]  # one by one takes fewer descriptors


def _damage(reader: ShardReader) -> RecordmillError | None:
    try:
        len(reader)
    except RecordmillError as error:
        return error
    return None


def _join_spanning(
    readers: list[ShardReader], damages: list[RecordmillError | None], options: dict[str, Any]
) -> list[ShardReader]:
    """Put shards together whose records go on in the next one, where the format allows that."""
    joined: list[ShardReader] = []
    at = 0
    while at < len(readers):
        damage, reader, end = damages[at], readers[at], at + 1
        while damage is not None:
            spans = readers[at].shard.format.spans_files and (damage.kind or "").startswith("truncated")
            if not spans or end == len(readers) or readers[at].compression is not None:
                raise damage
            end += 1
            paths = [path for part in readers[at:end] for path in part.shard.paths]
            reader = ShardReader(paths, format=readers[at].format, **options)
            damage = _damage(reader)
        joined.append(reader)
        at = end
    return joined

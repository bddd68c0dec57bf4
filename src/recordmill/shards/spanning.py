"""Finds files whose records go on in the next one, where the format allows that: they are looked at as one stream."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from recordmill.errors import RecordmillError
from recordmill.shards.index import load_index
from recordmill.shards.open import open_shard


def groups(paths: Sequence[str], options: Mapping[str, Any]) -> Iterator[list[str]]:
    """Files that belong together, in their order."""
    at = 0
    while at < len(paths):
        end = _end(paths, at, options)
        yield list(paths[at:end])
        at = end


def _end(paths: Sequence[str], at: int, options: Mapping[str, Any]) -> int:
    """Behind the last file of the group that begins at one."""
    known = dict(options)
    for end in range(at + 1, len(paths) + 1):
        try:
            shard = open_shard(paths[at:end], **known)
            if not shard.format.spans_files or shard.compression is not None:
                return at + 1
            known |= {"format": shard.format.name, "compression": None}
            damage = load_index(shard, "never")[1]
        except (RecordmillError, OSError):
            return at + 1
        if damage is None:
            return end
        if not (damage.kind or "").startswith("truncated"):
            return at + 1
    return at + 1

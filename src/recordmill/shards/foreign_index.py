"""Index files of the formats' own tools, which lie beside the shards: ``.idx``, ``.tfindex``."""

from __future__ import annotations

import os

from recordmill.errors import FormatError
from recordmill.shards.open import OpenShard
from recordmill.storage.base import write_file_atomically
from recordmill.types import FrameIndex


def foreign_index_path(path: str, suffix: str) -> str:
    """Return the path of the index file: the path of the shard with another suffix."""
    stem, _ = os.path.splitext(path)
    return stem + suffix


def read_foreign_index(shard: OpenShard) -> tuple[list[str], list[int]] | None:
    """Read the keys and offsets from the index file of a shard; return None if there is none."""
    codec = shard.format.index
    if codec is None:
        return None
    path = foreign_index_path(shard.paths[0], codec.suffix)
    if not shard.storage.exists(path):
        return None
    try:
        return codec.parse(shard.storage.read(path))
    except FormatError as error:
        error.shard, error.kind = path, "bad_index"
        raise


def write_foreign_index(shard: OpenShard, index: FrameIndex) -> str | None:
    """Write the index file of a shard. An up-to-date one is kept, because its keys may differ from the positions."""
    codec = shard.format.index
    if codec is None or _is_foreign_index_current(shard, index):
        return None
    path = foreign_index_path(shard.paths[0], codec.suffix)
    write_file_atomically(shard.storage, path, codec.serialize(index, range(len(index))))
    return path


def _is_foreign_index_current(shard: OpenShard, index: FrameIndex) -> bool:
    try:
        existing = read_foreign_index(shard)
    except FormatError:
        return False
    return existing is not None and sorted(existing[1]) == index.offsets.tolist()

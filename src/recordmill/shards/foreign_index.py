"""Index files of the formats' own tools, beside the shards: ``.idx``, ``.tfindex``."""

from __future__ import annotations

import os

from recordmill.errors import FormatError
from recordmill.shards.open import OpenShard
from recordmill.storage.base import write_atomically
from recordmill.storage.local import LOCAL
from recordmill.types import FrameIndex


def read_foreign_index(shard: OpenShard) -> tuple[list[str], list[int]] | None:
    """Keys and offsets of the index file of the format's own tools, if it lies beside the shard."""
    codec = shard.format.index
    if codec is None:
        return None
    path = foreign_index_path(shard.paths[0], codec.suffix)
    if not LOCAL.exists(path):
        return None
    try:
        return codec.read(LOCAL.read(path))
    except FormatError as error:
        error.shard, error.kind = path, "bad_index"
        raise


def foreign_index_path(path: str, suffix: str) -> str:
    """Where the index of a format's own tools lies: the shard's name with another suffix."""
    stem, _ = os.path.splitext(path)
    return stem + suffix


def write_foreign_index(shard: OpenShard, index: FrameIndex) -> str | None:
    """Write the index file that the format's own tools read, unless one is there that fits: it may hold keys."""
    codec = shard.format.index
    if codec is None:
        return None
    path = foreign_index_path(shard.paths[0], codec.suffix)
    if _fits(shard, index):
        return None
    write_atomically(LOCAL, path, codec.write(index, range(len(index))))
    return path


def _fits(shard: OpenShard, index: FrameIndex) -> bool:
    try:
        found = read_foreign_index(shard)
    except FormatError:
        return False
    return found is not None and sorted(found[1]) == index.offsets.tolist()

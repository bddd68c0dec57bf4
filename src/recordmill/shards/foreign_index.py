"""Index files that the tools of each format use, such as ``.idx`` and ``.tfindex``. They lie beside the shards."""

from __future__ import annotations

import os

from recordmill.errors import FormatError
from recordmill.shards.open import OpenShard
from recordmill.storage.base import write_file_atomically
from recordmill.types import FrameIndex


def foreign_index_path(path: str, suffix: str) -> str:
    """Return the path of the index file: the path of the shard with `suffix` instead of its own suffix."""
    stem, _ = os.path.splitext(path)
    return stem + suffix


def read_foreign_index(shard: OpenShard) -> tuple[list[str], list[int]] | None:
    """Read the keys and offsets from the index file of a shard; return None if the shard has no index file."""
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
    """Write the index file of a shard. Keep an existing file with correct offsets: its keys may be user-defined."""
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

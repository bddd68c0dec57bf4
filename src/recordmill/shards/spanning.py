"""Group files whose last record continues in the next file, so that each group is read as one stream."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from recordmill.errors import RecordmillError
from recordmill.shards.index import load_index
from recordmill.shards.open import open_shard
from recordmill.storage.base import Storage


def group_spanning_files(paths: Sequence[str], options: Mapping[str, Any], storage: Storage) -> Iterator[list[str]]:
    """Yield consecutive groups of files. The files of a group form one stream of complete records."""
    start = 0
    while start < len(paths):
        end = _find_group_end(paths, start, options, storage)
        yield list(paths[start:end])
        start = end


def _find_group_end(paths: Sequence[str], start: int, options: Mapping[str, Any], storage: Storage) -> int:
    """Return the position in `paths` of the first file after the group that begins at `start`.

    Files are added while the stream ends within a record. If it never ends after a whole record, the first file is a
    group of its own, so that the caller finds its damage.
    """
    known = dict(options)
    for end in range(start + 1, len(paths) + 1):
        try:
            shard = open_shard(paths[start:end], **known, storage=storage)
            if not shard.format.spans_files or shard.compression is not None:
                return start + 1
            known |= {"format": shard.format.name, "compression": None}
            loaded = load_index(shard, "never")
        except (RecordmillError, OSError):
            return start + 1
        if not loaded.faults:
            return end
        if not all((fault.kind or "").startswith("truncated") for fault in loaded.faults.values()):
            return start + 1
    return start + 1

"""A shard's index: found in its sidecar, extended after an append, built by a scan, kept for the next time."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

import numpy as np

from recordmill import _core
from recordmill.errors import RecordmillError
from recordmill.schema import Schema
from recordmill.shards import sidecar as sidecars
from recordmill.shards.native_errors import convert_error, native_errors
from recordmill.shards.open import OpenShard
from recordmill.shards.sidecar import Sidecar
from recordmill.storage.base import write_atomically
from recordmill.storage.local import LOCAL
from recordmill.types import FrameIndex

SIDECAR_SUFFIX = ".rmx"
# Of the file with the entry points of images.
ENTRY_POINTS_SUFFIX = ".rme"
IndexMode = Literal["auto", "never"]


def sidecar_path(path: str, suffix: str = SIDECAR_SUFFIX) -> str:
    """Name of the sidecar beside a shard; hidden, so that patterns for shards never match it."""
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name}{suffix}")


def cache_path(path: str, suffix: str = SIDECAR_SUFFIX) -> str:
    """Name of the sidecar of a shard whose folder cannot be written to."""
    import hashlib

    digest = hashlib.sha256(os.path.realpath(path).encode("utf-8", "surrogateescape")).hexdigest()
    return os.path.join(_cache_folder(), digest[:32] + suffix)


def _cache_folder() -> str:
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.environ.get("RECORDMILL_CACHE") or os.path.join(home, "recordmill")


def sidecar_locations(path: str, suffix: str = SIDECAR_SUFFIX) -> Iterator[str]:
    """Where something may be kept about a shard, in the order in which it is looked for."""
    yield sidecar_path(path, suffix)
    if os.path.isdir(_cache_folder()):
        yield cache_path(path, suffix)


def load_sidecars(path: str) -> Iterator[Sidecar]:
    """Read what is kept about a shard, beside it and in the cache, whether it fits the shard or not."""
    for place in sidecar_locations(path):
        with contextlib.suppress(OSError):
            found = sidecars.from_bytes(LOCAL.read(place))
            if found is not None:
                yield found


def find_sidecar(shard: OpenShard) -> Sidecar | None:
    """Find what is kept about a shard and fits it, or its beginning if it was appended to."""
    if len(shard.paths) != 1:
        return None
    return next((kept for kept in load_sidecars(shard.paths[0]) if _usable(kept, shard)), None)


def save_sidecar(path: str, sidecar: Sidecar) -> str | None:
    """Keep a sidecar, beside the shard or, where that cannot be written, in the cache."""
    data = sidecars.to_bytes(sidecar)
    for place in (sidecar_path(path), cache_path(path)):
        with contextlib.suppress(OSError):
            write_atomically(LOCAL, place, data)
            return place
    return None


def save_schema(shard: OpenShard, sidecar: Sidecar, schema: Schema, payload: str) -> None:
    """Keep what was inferred from a shard's first records with its index, for those who open it later."""
    if len(shard.paths) == 1 and not _tells_damage(shard):
        save_sidecar(shard.paths[0], replace(sidecar, schema=schema, payload=payload, is_inferred=True))


def load_index(shard: OpenShard, keep: IndexMode = "auto") -> tuple[Sidecar, RecordmillError | None]:
    """Index of a shard: the kept one if it fits, otherwise a scan, which is kept."""
    with native_errors(shard.name):
        kept = find_sidecar(shard)
        if kept is not None and kept.num_stored_bytes == shard.source.num_stored_bytes and _restored(kept, shard):
            return kept, None
        if kept is not None and shard.compression is not None:
            kept = None
        sidecar, damage = _scan(shard, kept)
        wanted = damage is None and keep == "auto" and len(shard.paths) == 1
        if wanted and not _tells_damage(shard):
            save_sidecar(shard.paths[0], sidecar)
    return sidecar, damage


def _restored(kept: Sidecar, shard: OpenShard) -> bool:
    try:
        if kept.seek_points is not None:
            shard.source.restore_seek_points(kept.seek_points)
    except _core.CoreFault:
        return False
    return True


def _tells_damage(shard: OpenShard) -> bool:
    """Whether what is kept shows that the shard lost its end or turned some bits, which nothing else may show."""
    stored = shard.source.num_stored_bytes
    return any(
        sidecars.is_truncated(kept, shard.source)
        or (
            kept.checksums is not None
            and kept.num_stored_bytes == stored
            and not sidecars.matches_source(kept, shard.source)
        )
        for kept in load_sidecars(shard.paths[0])
    )


def _usable(kept: Sidecar, shard: OpenShard) -> bool:
    same = (kept.format, kept.compression) == (shard.format.name, shard.compression)
    return same and sidecars.matches_source(kept, shard.source)


def _scan(shard: OpenShard, kept: Sidecar | None) -> tuple[Sidecar, RecordmillError | None]:
    """Scan a shard, from the end of what is known of it if that is its beginning."""
    start = kept.end if kept is not None else 0
    found = _core.scan(shard.source, shard.format.framing.kind, start=start)
    offsets, lengths, end, fault = np.asarray(found[0]), np.asarray(found[1]), found[2], found[3]
    if kept is not None:
        offsets = np.concatenate((kept.index.offsets, offsets))
        lengths = np.concatenate((kept.index.lengths, lengths))
    damage = None
    if fault is not None:
        damage = convert_error((fault[0], len(offsets), *fault[2:]), shard.name)
    sidecar = build_sidecar(shard, FrameIndex(offsets, lengths), end)
    sidecar.checksums = None if kept is None else kept.checksums
    return sidecar, damage


def build_sidecar(shard: OpenShard, index: FrameIndex, end: int) -> Sidecar:
    """Make the sidecar of a shard whose frames are known."""
    stored = shard.source.num_stored_bytes or 0
    points = shard.source.save_seek_points()
    return Sidecar(
        format=shard.format.name,
        compression=shard.compression,
        num_stored_bytes=stored,
        probes=sidecars.make_probes(shard.source, stored),
        index=index,
        end=end,
        seek_points=None if points is None else bytes(memoryview(points)),
        num_uncompressed_bytes=shard.source.num_bytes,
    )

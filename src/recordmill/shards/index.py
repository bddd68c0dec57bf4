"""The index of a shard: load it from the sidecar file, extend it after an append, or build it by a scan."""

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
from recordmill.shards.native_errors import convert_error, native_errors
from recordmill.shards.open import OpenShard
from recordmill.shards.sidecar import (
    Sidecar,
    compute_probes,
    has_equal_blocks,
    is_truncated,
    parse_sidecar,
    serialize_sidecar,
)
from recordmill.storage.base import Storage, write_atomically
from recordmill.storage.local import LOCAL
from recordmill.types import FrameIndex

SIDECAR_SUFFIX = ".rmx"
ENTRY_POINTS_SUFFIX = ".rme"
# "auto" saves an index that was built, "never" does not.
IndexMode = Literal["auto", "never"]


def sidecar_path(path: str, suffix: str = SIDECAR_SUFFIX) -> str:
    """Return the path of a sidecar beside its shard; it is hidden, so that patterns for shards do not match it."""
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name}{suffix}")


def cache_path(path: str, suffix: str = SIDECAR_SUFFIX) -> str:
    """Return the path of a sidecar in the cache, for shards in read-only directories."""
    import hashlib

    digest = hashlib.sha256(os.path.realpath(path).encode("utf-8", "surrogateescape")).hexdigest()
    return os.path.join(_cache_directory(), digest[:32] + suffix)


def _cache_directory() -> str:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.environ.get("RECORDMILL_CACHE") or os.path.join(base, "recordmill")


def sidecar_locations(
    storage: Storage, path: str, suffix: str = SIDECAR_SUFFIX, *, writable: bool = False
) -> Iterator[tuple[Storage, str]]:
    """Yield the possible locations of a sidecar: beside the shard, then in the cache of this machine."""
    yield storage, sidecar_path(path, suffix)
    if writable or os.path.isdir(_cache_directory()):
        yield LOCAL, cache_path(path, suffix)


def load_sidecars(path: str, storage: Storage) -> Iterator[Sidecar]:
    """Load the valid sidecar files of a shard, even if they do not match it any more."""
    for location_storage, location in sidecar_locations(storage, path):
        with contextlib.suppress(OSError):
            sidecar = parse_sidecar(location_storage.read(location))
            if sidecar is not None:
                yield sidecar


def find_sidecar(shard: OpenShard) -> Sidecar | None:
    """Return the first sidecar that matches a shard, or its beginning if records were appended."""
    if len(shard.paths) == 1:
        for sidecar in load_sidecars(shard.paths[0], shard.storage):
            is_same_kind = (sidecar.format, sidecar.compression) == (shard.format.name, shard.compression)
            if is_same_kind and has_equal_blocks(sidecar, shard.source):
                return sidecar
    return None


def save_sidecar(path: str, sidecar: Sidecar, storage: Storage) -> str | None:
    """Save a sidecar beside its shard or, if that is not possible, in the cache; return the path or None."""
    data = serialize_sidecar(sidecar)
    for location_storage, location in sidecar_locations(storage, path, writable=True):
        with contextlib.suppress(OSError):
            write_atomically(location_storage, location, data)
            return location
    return None


def save_schema(shard: OpenShard, sidecar: Sidecar, schema: Schema, payload: str) -> None:
    """Save a schema that was inferred from the first records of a shard in its sidecar."""
    if len(shard.paths) == 1 and not _is_evidence_of_damage(shard):
        inferred = replace(sidecar, schema=schema, payload=payload, is_inferred=True)
        save_sidecar(shard.paths[0], inferred, shard.storage)


def load_index(shard: OpenShard, mode: IndexMode = "auto") -> tuple[Sidecar, RecordmillError | None]:
    """Load the index of a shard from its sidecar, or scan the shard and save the index; return it and the damage."""
    with native_errors(shard.name):
        known = find_sidecar(shard)
        if known is not None and known.num_stored_bytes == shard.source.num_stored_bytes:
            try:
                if known.seek_points is not None:
                    shard.source.restore_seek_points(known.seek_points)
            except _core.CoreFault:
                pass  # The scan below finds the seek points again.
            else:
                return known, None
        if known is not None and shard.compression is not None:
            known = None  # Records cannot be appended to a compressed stream.
        sidecar, damage = _scan_shard(shard, known)
        if damage is None and mode == "auto" and len(shard.paths) == 1 and not _is_evidence_of_damage(shard):
            save_sidecar(shard.paths[0], sidecar, shard.storage)
    return sidecar, damage


def _is_evidence_of_damage(shard: OpenShard) -> bool:
    """Return True if only the existing sidecar shows that the shard was truncated or that bits flipped.

    Such a sidecar must not be replaced, because `verify` reports the damage from it.
    """
    stored = shard.source.num_stored_bytes
    for sidecar in load_sidecars(shard.paths[0], shard.storage):
        if is_truncated(sidecar, shard.source):
            return True
        has_checksums = sidecar.checksums is not None and sidecar.num_stored_bytes == stored
        if has_checksums and not has_equal_blocks(sidecar, shard.source):
            return True
    return False


def _scan_shard(shard: OpenShard, known: Sidecar | None) -> tuple[Sidecar, RecordmillError | None]:
    """Scan a shard, starting at the end of the part that is already indexed."""
    start = known.end if known is not None else 0
    new_offsets, new_lengths, end, fault = _core.scan(shard.source, shard.format.framing.kind, start=start)
    offsets, lengths = np.asarray(new_offsets), np.asarray(new_lengths)
    if known is not None:
        offsets = np.concatenate((known.index.offsets, offsets))
        lengths = np.concatenate((known.index.lengths, lengths))
    damage = None
    if fault is not None:
        damage = convert_error((fault[0], len(offsets), *fault[2:]), shard.name)
    sidecar = build_sidecar(shard, FrameIndex(offsets, lengths), end)
    sidecar.checksums = None if known is None else known.checksums
    return sidecar, damage


def build_sidecar(shard: OpenShard, index: FrameIndex, end: int) -> Sidecar:
    """Build the sidecar of a shard with a known index."""
    stored = shard.source.num_stored_bytes or 0
    points = shard.source.save_seek_points()
    return Sidecar(
        format=shard.format.name,
        compression=shard.compression,
        num_stored_bytes=stored,
        probes=compute_probes(shard.source, stored),
        index=index,
        end=end,
        seek_points=None if points is None else bytes(memoryview(points)),
        num_uncompressed_bytes=shard.source.num_bytes,
    )

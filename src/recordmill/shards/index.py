"""The index of a shard: load it from the sidecar file, extend it after an append, or build it by a scan."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from recordmill import _core
from recordmill.datasets.manifest import ManifestShard
from recordmill.errors import RecordmillError, TruncatedError
from recordmill.schema import Schema
from recordmill.shards.native_errors import convert_error, native_errors
from recordmill.shards.open import OpenShard
from recordmill.shards.sidecar import (
    Sidecar,
    compute_probes,
    has_any_equal_block,
    has_equal_blocks,
    is_truncated,
    parse_sidecar,
    serialize_sidecar,
)
from recordmill.storage.addresses import is_address, redact
from recordmill.storage.base import Storage, write_file_atomically
from recordmill.storage.local import LOCAL
from recordmill.types import FrameIndex

SIDECAR_SUFFIX = ".rmx"
ENTRY_POINTS_SUFFIX = ".rme"
# "auto": save an index that had to be built by a scan; "never": only keep it in memory.
IndexMode = Literal["auto", "never"]
# Change of a shard since its sidecar was written: no change, records appended, bits flipped, or the end missing.
Condition = Literal["intact", "appended", "damaged", "truncated"]


def sidecar_path(path: str, suffix: str = SIDECAR_SUFFIX) -> str:
    """Return the path of a sidecar beside its shard. It is a hidden file, so that glob patterns do not match it."""
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name}{suffix}")


def cache_path(path: str, suffix: str = SIDECAR_SUFFIX) -> str:
    """Return the path of a sidecar in the cache, for shards in read-only directories."""
    import hashlib

    name = redact(path) if is_address(path) else os.path.realpath(path)
    digest = hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()
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
    """Yield the valid sidecars of a shard, even if the shard has changed since they were written."""
    for location_storage, location in sidecar_locations(storage, path):
        with contextlib.suppress(OSError):
            sidecar = parse_sidecar(location_storage.read(location))
            if sidecar is not None:
                yield sidecar


def find_sidecar(shard: OpenShard) -> tuple[Sidecar, Condition] | None:
    """Return the sidecar of a shard, and how the shard has changed since the sidecar was written."""
    if len(shard.paths) == 1:
        for sidecar in load_sidecars(shard.paths[0], shard.storage):
            condition = _compare_with_sidecar(sidecar, shard)
            if condition is not None:
                return sidecar, condition
    return None


def _compare_with_sidecar(sidecar: Sidecar, shard: OpenShard) -> Condition | None:
    """Return how a shard has changed since a sidecar was written; None if the sidecar belongs to another shard."""
    if (sidecar.format, sidecar.compression) != (shard.format.name, shard.compression):
        return None
    stored = shard.source.num_stored_bytes or 0
    if stored < sidecar.num_stored_bytes:
        return "truncated" if is_truncated(sidecar, shard.source) else None
    if has_equal_blocks(sidecar, shard.source):
        return "intact" if stored == sidecar.num_stored_bytes else "appended"
    # Some blocks of the shard changed. If the size is the same, either bits flipped, or the file was replaced. In both
    # cases, a sidecar with payload checksums is used, because each payload is checked when it is read. A sidecar
    # without payload checksums is used only if at least one block is unchanged. It is not used if a scan finds an
    # intact shard with different frame offsets.
    is_same = sidecar.checksums is not None or (
        has_any_equal_block(sidecar, shard.source) and not _is_intact_with_other_offsets(shard, sidecar.index)
    )
    return "damaged" if stored == sidecar.num_stored_bytes and is_same else None


def _is_intact_with_other_offsets(shard: OpenShard, index: FrameIndex) -> bool:
    """Return True if a shard is intact, but its frames have other offsets than those in the index."""
    offsets, _, _, faults = _core.scan(shard.source, shard.format.framing.kind)
    return not faults and not np.array_equal(np.asarray(offsets), index.offsets)


def save_sidecar(path: str, sidecar: Sidecar, storage: Storage, *, only_in_cache: bool = False) -> str | None:
    """Save a sidecar beside its shard, or else in the cache; return its path, or None if neither is writable."""
    data = serialize_sidecar(sidecar)
    locations = list(sidecar_locations(storage, path, writable=True))
    for location_storage, location in locations[1:] if only_in_cache else locations:
        with contextlib.suppress(OSError):
            write_file_atomically(location_storage, location, data)
            return location
    return None


def save_schema(shard: OpenShard, sidecar: Sidecar, schema: Schema, payload: str) -> None:
    """Add an inferred schema to the sidecar of a shard, and save the sidecar."""
    if len(shard.paths) == 1 and not _must_keep_sidecar(shard):
        inferred = replace(sidecar, schema=schema, payload=payload, is_inferred=True)
        save_sidecar(shard.paths[0], inferred, shard.storage, only_in_cache=shard.storage.is_remote)


def truncation_error(shard: str, num_records: int, num_indexed: int) -> TruncatedError:
    """Create the error for a shard with fewer records than are listed in its sidecar index."""
    return TruncatedError(
        "the end of the shard is missing",
        kind="truncated_shard",
        shard=shard,
        record=num_records,
        expected=f"{num_indexed} records, according to the sidecar index",
        found=f"{num_records} records",
        hint="restore the shard from an intact copy; if it was truncated on purpose, run `recordmill index`",
    )


@dataclass(slots=True)
class ShardIndex:
    """Index of an open shard, and the known damage of the shard.

    Parameters
    ----------
    sidecar : Sidecar
        Loaded from a file, or built by a scan.
    condition : str
        "intact", "appended", "damaged" or "truncated", according to the loaded sidecar; "intact" after a scan.
    faults : dict of int to RecordmillError
        Damage that a scan found, by the position of the record. Damaged bytes between two records, or at the end, count
        as one record.
    """

    sidecar: Sidecar
    condition: Condition = "intact"
    faults: dict[int, RecordmillError] = field(default_factory=dict)


def load_index(shard: OpenShard, mode: IndexMode = "auto", entry: ManifestShard | None = None) -> ShardIndex:
    """Load the index of a shard from its sidecar, or scan the shard and save the index.

    The sidecar of a damaged or truncated shard is used, because it states where the other records are. A sidecar that
    agrees with `entry`, the entry of the shard in its manifest, is used without reading the shard. A new index of a
    remote shard is saved in the cache of this machine, not beside the shard.
    """
    with native_errors(shard.name):
        known, condition = _find_sidecar_of_entry(shard, entry) or find_sidecar(shard) or (None, None)
        if known is not None and condition is not None and condition != "appended":
            try:
                if known.seek_points is not None:
                    shard.source.restore_seek_points(known.seek_points)
            except _core.CoreFault:
                pass  # Ignore unusable seek points: the scan below finds new ones.
            else:
                return ShardIndex(known, condition)
        is_extended = condition == "appended" and shard.compression is None
        loaded = scan_shard(shard, known if is_extended else None)
        if not loaded.faults and mode == "auto" and len(shard.paths) == 1 and not _must_keep_sidecar(shard):
            save_sidecar(shard.paths[0], loaded.sidecar, shard.storage, only_in_cache=shard.storage.is_remote)
    return loaded


def _find_sidecar_of_entry(shard: OpenShard, entry: ManifestShard | None) -> tuple[Sidecar, Condition] | None:
    """Return the sidecar that agrees with `entry`, the entry of the shard in its manifest.

    Returns None if no sidecar agrees with `entry`, or if `entry` is None.
    """
    if entry is not None and shard.source.num_stored_bytes == entry.num_bytes:
        for sidecar in load_sidecars(shard.paths[0], shard.storage):
            found = (sidecar.num_stored_bytes, sidecar.num_records, sidecar.probes)
            if found == (entry.num_bytes, entry.num_records, entry.fingerprint):
                return sidecar, "intact"
    return None


def _must_keep_sidecar(shard: OpenShard) -> bool:
    """Return True if an existing sidecar must not be replaced.

    A sidecar is kept if it shows that the shard was truncated or that bits flipped, because `verify` needs it to report
    this damage. It is also kept if it cannot be read now, because it may be readable later.
    """
    stored = shard.source.num_stored_bytes
    for storage, location in sidecar_locations(shard.storage, shard.paths[0]):
        try:
            storage.read(location)
        except FileNotFoundError:
            continue
        except OSError:
            return True
    for sidecar in load_sidecars(shard.paths[0], shard.storage):
        if is_truncated(sidecar, shard.source):
            return True
        has_checksums = sidecar.checksums is not None and sidecar.num_stored_bytes == stored
        if has_checksums and not has_equal_blocks(sidecar, shard.source):
            return True
    return False


def scan_shard(shard: OpenShard, known: Sidecar | None = None) -> ShardIndex:
    """Scan a shard and build its index. If `known` is given, scan only the bytes after its records."""
    start, num_known = (known.end, known.num_records) if known is not None else (0, 0)
    scanned = _core.scan(shard.source, shard.format.framing.kind, start=start, resync=True)
    offsets, lengths, end = np.asarray(scanned[0]), np.asarray(scanned[1]), scanned[2]
    faults = {num_known + int(fault[1] or 0): fault for fault in scanned[3]}
    if num_known + len(offsets) in faults:
        # All bytes after the last record are damaged, up to the end of the shard. Count them as one record.
        num_damaged = max((shard.source.num_bytes or 0) - end, 1)
        offsets, lengths = np.append(offsets, end), np.append(lengths, num_damaged)
    if known is not None:
        offsets = np.concatenate((known.index.offsets, offsets))
        lengths = np.concatenate((known.index.lengths, lengths))
    sidecar = build_sidecar(shard, FrameIndex(offsets, lengths), end)
    if known is not None:
        sidecar.checksums, sidecar.classes = known.checksums, known.classes
    errors = {record: convert_error((fault[0], record, *fault[2:]), shard.name) for record, fault in faults.items()}
    return ShardIndex(sidecar, faults=errors)


def build_sidecar(shard: OpenShard, index: FrameIndex, end: int) -> Sidecar:
    """Build the sidecar of a shard from its index. `end` is the offset at which the last frame ends."""
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

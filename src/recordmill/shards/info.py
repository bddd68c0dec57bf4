"""What is inside some shards: formats, sizes, records, features."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from recordmill.formats.base import FeatureSummary
from recordmill.schema import Schema
from recordmill.shards.index import load_index
from recordmill.shards.inference import SAMPLE_RECORDS, detect_payload, infer
from recordmill.shards.open import OpenShard, open_shard
from recordmill.shards.paths import Paths, expand_paths
from recordmill.shards.spanning import groups
from recordmill.storage.local import LOCAL
from recordmill.types import FrameIndex


@dataclass(frozen=True, slots=True)
class ShardInfo:
    """One shard.

    Parameters
    ----------
    path, format : str
    compression : {"gzip", "zlib"} or None
    num_records : int
        In front of the damage, if there is any.
    num_bytes : int
        As stored.
    damage : str or None
        What stopped the count of records.
    """

    path: str
    format: str
    compression: str | None
    num_records: int
    num_bytes: int
    damage: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain form."""
        names = ("path", "format", "compression", "num_records", "num_bytes")
        entry = {name: getattr(self, name) for name in names}
        return entry if self.damage is None else entry | {"damage": self.damage}


@dataclass(frozen=True, slots=True)
class Info:
    """What is inside some shards.

    Parameters
    ----------
    shards : list of ShardInfo
    payload : str
        Name of the payload codec.
    features : dict of str to FeatureSummary
        Of the records that were looked at.
    num_sampled : int
        Their number.
    schema : Schema or None
        What the writer noted, else what the sample shows.
    """

    shards: list[ShardInfo]
    payload: str | None = None
    features: dict[str, FeatureSummary] = field(default_factory=dict)
    num_sampled: int = 0
    schema: Schema | None = None

    @property
    def num_records(self) -> int:
        """Records of all shards."""
        return sum(shard.num_records for shard in self.shards)

    @property
    def num_bytes(self) -> int:
        """Stored bytes of all shards."""
        return sum(shard.num_bytes for shard in self.shards)

    @property
    def format(self) -> str:
        """Format of the shards; several are joined by ``+``."""
        return "+".join(dict.fromkeys(shard.format for shard in self.shards))

    def to_json(self) -> dict[str, Any]:
        """Plain form.

        Returns
        -------
        dict
        """
        return {
            "num_records": self.num_records,
            "num_bytes": self.num_bytes,
            "format": self.format,
            "payload": self.payload,
            "schema": {} if self.schema is None else self.schema.to_json(),
            "features": {name: self._feature(summary) for name, summary in self.features.items()},
            "num_sampled": self.num_sampled,
            "shards": [shard.to_json() for shard in self.shards],
        }

    def _feature(self, summary: FeatureSummary) -> dict[str, Any]:
        missing = 1 - summary.num_present / self.num_sampled if self.num_sampled else 0.0
        return {
            "kind": summary.feature.kind,
            "shape": list(summary.feature.shape),
            "varying": summary.counts[0] != summary.counts[1],
            "counts": list(summary.counts),
            "num_bytes": None if summary.num_bytes is None else list(summary.num_bytes),
            "missing_rate": missing,
            "mixed_kinds": summary.mixed_kinds,
        }


def info(
    paths: Paths,
    *,
    format: str | None = None,  # noqa: A002
    compression: str | None = "auto",
    num_records: int = SAMPLE_RECORDS,
    max_decompressed_bytes: int | None = None,
) -> Info:
    """Tell what is inside some shards, from their frames and a look at the first records.

    Parameters
    ----------
    paths : path, pattern, folder, or iterable of them
    format : {"tfrecord", "ofrecord", "recordio"}, optional
        What content says by default.
    compression : {"auto", "gzip", "zlib"} or None
    num_records : int
        Records of the first shard that has some, from which features are found.
    max_decompressed_bytes : int, optional
        Largest number of bytes that a compressed shard may inflate to.

    Returns
    -------
    Info

    Raises
    ------
    FormatError
        A file is of no known format.
    """
    shards, found = [], Info([])
    options: dict[str, Any] = {
        "format": format,
        "compression": compression,
        "max_decompressed_bytes": max_decompressed_bytes,
    }
    for files in groups(expand_paths(paths), options):
        shard = open_shard(files, **options)
        kept, damage = load_index(shard)
        shards += _infos(shard, kept.index, None if damage is None else str(damage).replace("\n", ";"))
        if found.payload is None and len(kept.index):
            codec = detect_payload(shard)
            seen = infer(shard, codec, num_records)
            schema = seen.schema if kept.schema is None or kept.is_inferred else kept.schema
            found = Info([], codec.name, seen.features, seen.num_records, schema)
    return Info(shards, found.payload, found.features, found.num_sampled, found.schema)


def _infos(shard: OpenShard, index: FrameIndex, damage: str | None) -> list[ShardInfo]:
    """One for each file; records count where they begin."""
    kind = (shard.format.name, shard.compression)
    if len(shard.paths) == 1:
        return [ShardInfo(shard.paths[0], *kind, len(index), shard.source.num_stored_bytes or 0, damage)]
    sizes = [LOCAL.stat(path).num_bytes for path in shard.paths]
    begun = np.diff(np.searchsorted(index.offsets, np.cumsum([0, *sizes]))).tolist()
    rows = zip(shard.paths, begun, sizes, strict=True)
    return [ShardInfo(path, *kind, count, size, damage) for path, count, size in rows]

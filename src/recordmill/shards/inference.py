"""Detect the payload codec and the features of a shard from its first records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from recordmill import _core
from recordmill.errors import FeatureError
from recordmill.formats.base import InferredFeatures, PayloadCodec
from recordmill.formats.raw import RAW
from recordmill.formats.registry import PAYLOADS
from recordmill.schema import Feature, Schema
from recordmill.shards.native_errors import native_errors
from recordmill.shards.open import OpenShard
from recordmill.shards.sidecar import Sidecar
from recordmill.types import Ragged

if TYPE_CHECKING:
    from recordmill.shards.reader import ShardReader

SAMPLE_RECORDS = 1000
# Maximum size of the sample in bytes. Without this limit, a sample of large images would be slow to read.
SAMPLE_BYTES = 64 << 20
_DETECTION_RECORDS = 32


def find_representative_shard(readers: Sequence[ShardReader], *, verify: bool = True) -> ShardReader:
    """Return the first shard with a saved schema or with an intact record, from which a schema can be inferred."""
    first_with_records = None
    for reader in readers:
        sidecar = reader.sidecar
        if not sidecar.num_records:
            continue
        if sidecar.schema is not None or len(_read_first_intact(reader.shard, sidecar, 1, verify=verify)):
            return reader
        first_with_records = first_with_records or reader
    if first_with_records is None:
        return readers[0]
    first_with_records.fetch([0])  # All records are damaged: raise the error of the first one.
    return first_with_records


def detect_payload(shard: OpenShard, sidecar: Sidecar | None, *, verify: bool = True) -> PayloadCodec:
    """Return the payload codec named in the sidecar, or else a codec that can parse most of the first records."""
    if sidecar is not None and sidecar.payload is not None and sidecar.payload in PAYLOADS:
        return PAYLOADS[sidecar.payload]
    payloads = _read_first_intact(shard, sidecar, _DETECTION_RECORDS, verify=verify)
    if not len(payloads):
        return shard.format.payloads[0]
    codecs = [codec for codec in shard.format.payloads if codec.kind is not None]
    for codec in codecs:
        if codec.accepts(payloads):
            return codec
    for codec in codecs:
        if _can_parse_most(codec, payloads):
            return codec
    others = (codec for codec in PAYLOADS.values() if codec.is_recognizable)
    return next((codec for codec in others if len(payloads.data) > 0 and codec.accepts(payloads)), RAW)


def _can_parse_most(codec: PayloadCodec, payloads: Ragged) -> bool:
    """Return True if a codec can parse more than half of the payloads. The others may be damaged."""
    num_fitting = sum(len(payload) > 0 and codec.accepts(Ragged.from_rows([payload])) for payload in payloads)
    return 2 * num_fitting > len(payloads)


def infer_features(
    shard: OpenShard,
    codec: PayloadCodec,
    num_records: int = SAMPLE_RECORDS,
    num_bytes: int = SAMPLE_BYTES,
    *,
    sidecar: Sidecar | None = None,
    verify: bool = True,
) -> InferredFeatures:
    """Infer features from the first records that can be parsed. If none can be parsed, `fault` of the result is set."""
    payloads = read_first_payloads(shard, num_records, num_bytes, sidecar=sidecar, verify=verify)
    inference = codec.infer_features(payloads)
    if inference.fault is None:
        return inference
    valid = [payload for payload in payloads if codec.infer_features(Ragged.from_rows([payload])).fault is None]
    return codec.infer_features(Ragged.from_rows(valid)) if valid else inference


def read_first_payloads(
    shard: OpenShard,
    num_records: int = SAMPLE_RECORDS,
    num_bytes: int = SAMPLE_BYTES,
    *,
    sidecar: Sidecar | None = None,
    verify: bool = True,
) -> Ragged:
    """Read the first payloads of a shard, except damaged ones. Without `sidecar`, find the frames by a scan."""
    kind = shard.format.framing.kind
    with native_errors(shard.name):
        if sidecar is None:
            frames = _core.scan(shard.source, kind, max_records=num_records, resync=True)
            offsets, lengths = np.asarray(frames[0]), np.asarray(frames[1])
        else:
            offsets, lengths = sidecar.index.offsets[:num_records], sidecar.index.lengths[:num_records]
        count = max(int(np.searchsorted(offsets, num_bytes)), 1)
        checksums = sidecar.payload_checksums() if sidecar is not None and verify else None
        columns = [None if column is None else column[:count] for column in (offsets, lengths, checksums)]
        try:
            return Ragged.from_blocks(*_fetch_payloads(shard, columns, verify=verify))
        except _core.CoreFault:
            return Ragged.from_rows(list(_iterate_intact_payloads(shard, columns, verify=verify)))


def _read_first_intact(shard: OpenShard, sidecar: Sidecar | None, count: int, *, verify: bool) -> Ragged:
    """Read the intact payloads of the first `count` records; if none is intact, read a larger sample."""
    sample = read_first_payloads(shard, count, sidecar=sidecar, verify=verify)
    return sample or read_first_payloads(shard, sidecar=sidecar, verify=verify)


def _fetch_payloads(shard: OpenShard, columns: Sequence[Any], *, verify: bool) -> tuple[_core.Block, _core.Block]:
    """Fetch the payloads of frames. `columns` holds their offsets, lengths and checksums."""
    offsets, lengths, checksums = columns
    kind = shard.format.framing.kind
    return _core.fetch(shard.source, kind, offsets, lengths, checksums=checksums, verify=verify)


def _iterate_intact_payloads(shard: OpenShard, columns: Sequence[Any], *, verify: bool) -> Iterator[Any]:
    """Yield the intact payloads. Skip damaged ones, but stop where a compressed stream is damaged."""
    start, count, num_frames = 0, 1, len(columns[0])
    while start < num_frames:
        part = slice(start, start + count)
        try:
            blocks = _fetch_payloads(
                shard, [None if column is None else column[part] for column in columns], verify=verify
            )
        except _core.CoreFault as error:
            if count == 1 and error.args[0] == "bad_compression":
                return
            # Read single records until the damaged one is skipped, then larger groups again.
            start, count = start + (count == 1), 1
        else:
            yield from Ragged.from_blocks(*blocks)
            start, count = start + count, 2 * count


def merge_schemas(known: Schema | None, new: Schema) -> Schema:
    """Merge two schemas into the narrowest one that fits the examples of both."""
    if known is None:
        return new
    merged = {}
    for name in dict.fromkeys((*known, *new)):
        if name not in known or name not in new:
            feature = known.get(name) or new[name]
            merged[name] = _allow_any_length(feature, optional=True)
            continue
        first, second = known[name], new[name]
        if (first.kind, first.sequence) != (second.kind, second.sequence):
            message = f"feature {name!r} must have the same kind in all examples"
            hint = "declare the kinds: ShardWriter(..., schema=...)"
            raise FeatureError(message, kind="feature_mismatch", expected=first.kind, found=second.kind, hint=hint)
        is_same = first.shape == second.shape and first.optional == second.optional
        merged[name] = first if is_same else _allow_any_length(first, optional=first.optional or second.optional)
    return Schema(merged)


def _allow_any_length(feature: Feature, *, optional: bool) -> Feature:
    shape = (None, None) if feature.sequence else (None,)
    return Feature(feature.kind, shape, feature.sequence, optional)

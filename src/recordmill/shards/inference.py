"""What the payloads of a shard are, and which features they have, from a look at the first records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from recordmill import _core
from recordmill.errors import FeatureError
from recordmill.formats.base import Inference, PayloadCodec
from recordmill.formats.raw import RAW
from recordmill.formats.registry import PAYLOADS, get_payload
from recordmill.schema import Feature, Schema
from recordmill.shards.index import find_sidecar
from recordmill.shards.native_errors import native_errors
from recordmill.shards.open import OpenShard
from recordmill.types import Ragged

if TYPE_CHECKING:
    from recordmill.shards.reader import ShardReader

SAMPLE_RECORDS = 1000
# Payload bytes that are looked at: records of photographs make a thousand of them slow to read.
SAMPLE_BYTES = 64 << 20
_FEW = 32


def sample(
    shard: OpenShard, num_records: int = SAMPLE_RECORDS, num_bytes: int = SAMPLE_BYTES, *, verify: bool = True
) -> Ragged:
    """First payloads of a shard, without those that are damaged; nothing behind a frame that is."""
    kind = shard.format.framing.kind
    with native_errors(shard.name):
        offsets, lengths, *_ = _core.scan(shard.source, kind, max_records=num_records)
        starts, sizes = np.asarray(offsets), np.asarray(lengths)
        keep = int(np.searchsorted(starts, num_bytes)) if len(starts) else 0
        starts, sizes = starts[: max(keep, 1)], sizes[: max(keep, 1)]
        try:
            return Ragged.from_blocks(*_core.fetch(shard.source, kind, starts, sizes, verify=verify))
        except _core.CoreFault:
            return Ragged.from_rows(list(_sound(shard, starts, sizes, verify=verify)))


def _sound(shard: OpenShard, starts: NDArray[np.int64], sizes: NDArray[np.int64], *, verify: bool) -> Iterator[Any]:
    """Payloads that are not damaged; a stream that does not inflate ends there."""
    at, count, kind = 0, 1, shard.format.framing.kind
    while at < len(starts):
        several = slice(at, at + count)
        try:
            fetched = _core.fetch(shard.source, kind, starts[several], sizes[several], verify=verify)
        except _core.CoreFault as error:
            if count == 1 and error.args[0] == "bad_compression":
                return
            at, count = at + (count == 1), 1  # one by one up to the damaged one, and more at a time behind it
        else:
            yield from Ragged.from_blocks(*fetched)
            at, count = at + count, 2 * count


def _some(shard: OpenShard, few: int, *, verify: bool) -> Ragged:
    """First payloads; where all of these are damaged, those of as many records as tell features."""
    return sample(shard, few, verify=verify) or sample(shard, verify=verify)


def telling(readers: Sequence[ShardReader], *, verify: bool = True) -> ShardReader:
    """First shard that shows what records are: one whose schema is kept, or with a record that is not damaged."""
    full = [reader for reader in readers if len(reader)]
    for reader in full:
        if reader.sidecar.schema is not None or len(_some(reader.shard, 1, verify=verify)):
            return reader
    if full:
        full[0].fetch([0])
    return (full or readers)[0]


def detect_payload(shard: OpenShard, *, verify: bool = True) -> PayloadCodec:
    """Payload codec of a shard: what its writer noted, else the first that fits its first records, or most of them."""
    kept = find_sidecar(shard)
    if kept is not None and kept.payload is not None and kept.payload in PAYLOADS:
        return get_payload(kept.payload, shard.format)
    few = _some(shard, _FEW, verify=verify)
    if not len(few):
        return shard.format.payloads[0]
    codecs = [codec for codec in shard.format.payloads if codec.kind is not None]
    found = next((codec for codec in codecs if codec.fits(few)), None)
    found = found or next((codec for codec in codecs if _fits_most(codec, few)), None)
    return found or next((codec for codec in PAYLOADS.values() if codec.shows_itself and _shows(codec, few)), RAW)


def payload_name(shard: OpenShard, asked: str | None, *, verify: bool = True) -> str:
    """Name of the payload codec that was asked for, or of the usual one."""
    return (get_payload(asked, shard.format) if asked else detect_payload(shard, verify=verify)).name


def _shows(codec: PayloadCodec, payloads: Ragged) -> bool:
    return len(payloads.data) > 0 and codec.fits(payloads)


def _fits_most(codec: PayloadCodec, payloads: Ragged) -> bool:
    """Whether a codec fits more than half of some payloads: a damaged one does not make its neighbors opaque."""
    sound = sum(len(payload) > 0 and codec.fits(Ragged.from_rows([payload])) for payload in payloads)
    return 2 * sound > len(payloads)


def infer(
    shard: OpenShard,
    codec: PayloadCodec,
    num_records: int = SAMPLE_RECORDS,
    num_bytes: int = SAMPLE_BYTES,
    *,
    verify: bool = True,
) -> Inference:
    """Features of the first records of a shard; those that do not parse are passed over, if any does."""
    payloads = sample(shard, num_records, num_bytes, verify=verify)
    found = codec.infer(payloads)
    if found.fault is None:
        return found
    sound = [payload for payload in payloads if codec.infer(Ragged.from_rows([payload])).fault is None]
    return codec.infer(Ragged.from_rows(sound)) if sound else found


def merge_schemas(known: Schema | None, new: Schema) -> Schema:
    """Narrowest schema that fits the examples of both."""
    if known is None:
        return new
    merged = {}
    for name in dict.fromkeys((*known, *new)):
        if name not in known or name not in new:
            feature = known.get(name) or new[name]
            merged[name] = _widened(feature, optional=True)
            continue
        first, second = known[name], new[name]
        if (first.kind, first.sequence) != (second.kind, second.sequence):
            message = f"feature {name!r} changes its kind"
            hint = "give the kinds: ShardWriter(..., schema=...)"
            raise FeatureError(message, kind="feature_mismatch", expected=first.kind, found=second.kind, hint=hint)
        same = first.shape == second.shape and first.optional == second.optional
        merged[name] = first if same else _widened(first, optional=first.optional or second.optional)
    return Schema(merged)


def _widened(feature: Feature, *, optional: bool) -> Feature:
    shape = (None, None) if feature.sequence else (None,)
    return Feature(feature.kind, shape, feature.sequence, optional)

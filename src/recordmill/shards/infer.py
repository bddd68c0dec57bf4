"""What the payloads of a shard are, and which features they have, from a look at the first records."""

from __future__ import annotations

import numpy as np

from recordmill import _core
from recordmill.formats.base import Inference, PayloadCodec
from recordmill.formats.raw import RAW
from recordmill.formats.registry import PAYLOADS, get_payload
from recordmill.shards.index import fitting_sidecar
from recordmill.shards.opening import OpenShard
from recordmill.shards.translate import translated
from recordmill.types import Ragged

SAMPLE_RECORDS = 1000
# Payload bytes that are looked at: records of photographs make a thousand of them slow to read.
SAMPLE_BYTES = 64 << 20
_FEW = 32


def sample(shard: OpenShard, num_records: int = SAMPLE_RECORDS, num_bytes: int = SAMPLE_BYTES) -> Ragged:
    """First payloads of a shard, in front of any damage.

    Parameters
    ----------
    shard : OpenShard
    num_records, num_bytes : int
        Most records, and uncompressed bytes behind which no further record begins.

    Returns
    -------
    Ragged of uint8
    """
    kind = shard.format.framing.kind
    with translated(shard.name):
        offsets, lengths, *_ = _core.scan(shard.source, kind, max_records=num_records)
        starts, sizes = np.asarray(offsets), np.asarray(lengths)
        keep = int(np.searchsorted(starts, num_bytes)) if len(starts) else 0
        starts, sizes = starts[: max(keep, 1)], sizes[: max(keep, 1)]
        try:
            data, splits = _core.fetch(shard.source, kind, starts, sizes)
        except _core.CoreFault as error:
            sound = int(error.args[1] or 0)
            data, splits = _core.fetch(shard.source, kind, starts[:sound], sizes[:sound])
    return Ragged.from_blocks(data, splits)


def usual_payload(shard: OpenShard) -> PayloadCodec:
    """Payload codec of a shard: what its writer noted, else the first that fits its first records, or most of them.

    Messages of other formats are known where all of the first records are such.

    Parameters
    ----------
    shard : OpenShard

    Returns
    -------
    PayloadCodec
    """
    kept = fitting_sidecar(shard)
    if kept is not None and kept.payload is not None and kept.payload in PAYLOADS:
        return get_payload(kept.payload, shard.format)
    few = sample(shard, _FEW)
    if not len(few):
        return shard.format.payloads[0]
    codecs = [codec for codec in shard.format.payloads if codec.kind is not None]
    found = next((codec for codec in codecs if codec.fits(few)), None)
    found = found or next((codec for codec in codecs if _fits_most(codec, few)), None)
    return found or next((codec for codec in PAYLOADS.values() if codec.shows_itself and _shows(codec, few)), RAW)


def _shows(codec: PayloadCodec, payloads: Ragged) -> bool:
    return len(payloads.data) > 0 and codec.fits(payloads)


def _fits_most(codec: PayloadCodec, payloads: Ragged) -> bool:
    """Whether a codec fits more than half of some payloads: a damaged one does not make its neighbours opaque."""
    sound = sum(len(payload) > 0 and codec.fits(Ragged.from_rows([payload])) for payload in payloads)
    return 2 * sound > len(payloads)


def infer(
    shard: OpenShard, codec: PayloadCodec, num_records: int = SAMPLE_RECORDS, num_bytes: int = SAMPLE_BYTES
) -> Inference:
    """Features of the first records of a shard; those that do not parse are passed over, if any does.

    Parameters
    ----------
    shard : OpenShard
    codec : PayloadCodec
    num_records, num_bytes : int
        Most records, and uncompressed bytes behind which no further record begins.

    Returns
    -------
    Inference
    """
    payloads = sample(shard, num_records, num_bytes)
    found = codec.infer(payloads)
    if found.fault is None:
        return found
    sound = [payload for payload in payloads if codec.infer(Ragged.from_rows([payload])).fault is None]
    return codec.infer(Ragged.from_rows(sound)) if sound else found

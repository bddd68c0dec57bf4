"""TFRecord framing: u64 length, masked CRC-32C of the length, payload, masked CRC-32C of the payload."""

from __future__ import annotations

from recordmill import _core
from recordmill.formats.base import Framing

HEAD_BYTES = 12
FRAMING = Framing(
    kind=_core.FrameKind("tfrecord"),
    min_payload_bytes=0,
    max_payload_bytes=2**63 - 17,  # A frame has up to 2**63 - 1 bytes, 16 of them for the length and two checksums.
)


def looks_like_tfrecord(head: bytes, num_bytes: int | None) -> bool:
    """Return True if a shard starts like TFRecord: with a length and the valid checksum of the length.

    Parameters
    ----------
    head : bytes
        First uncompressed bytes of the shard.
    num_bytes : int or None
        Length of the uncompressed shard in bytes, if known.

    Returns
    -------
    bool
    """
    del num_bytes
    if len(head) < HEAD_BYTES:
        return False
    source = _core.Source.from_bytes(head[:HEAD_BYTES])
    faults = _core.scan(source, FRAMING.kind)[3]
    return not faults or faults[0][0] in ("truncated_payload", "bad_length")

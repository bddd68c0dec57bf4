"""OFRecord framing: a signed 64-bit length, then the payload."""

from __future__ import annotations

from recordmill import _core
from recordmill.formats.base import Framing

HEAD_BYTES = 8
FRAMING = Framing(
    kind=_core.FrameKind("ofrecord"),
    min_payload_bytes=1,
    max_payload_bytes=2**31 - 1,  # Protobuf messages are at most this long.
)


def looks_like_ofrecord(head: bytes, num_bytes: int | None) -> bool:
    """Return True if a shard begins with a plausible record length and the protobuf tag of a map entry.

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
    if len(head) <= HEAD_BYTES:
        return False
    length = int.from_bytes(head[:HEAD_BYTES], "little", signed=True)
    room = (2**31 if num_bytes is None else num_bytes) - HEAD_BYTES
    if not 0 < length <= room or head[HEAD_BYTES] != 0x0A:
        return False
    payload = head[HEAD_BYTES : HEAD_BYTES + length]
    if len(payload) < length:
        return payload[1] != 0
    return _core.survey(_core.PayloadKind.OFRECORD, payload, _build_row_splits(length))[1] is None


def _build_row_splits(length: int) -> memoryview:
    return memoryview((0).to_bytes(8, "little") + length.to_bytes(8, "little")).cast("q")

"""RecordIO framing: magic word, 3-bit flag and 29-bit length, data, padding to 4 bytes."""

from __future__ import annotations

from recordmill import _core
from recordmill.formats.base import Framing

MAGIC = (0xCED7230A).to_bytes(4, "little")
FRAMING = Framing(
    kind=_core.FrameKind("recordio"),
    min_payload_bytes=0,
    max_payload_bytes=2**29 - 1,
)


def looks_like_recordio(head: bytes, num_bytes: int | None) -> bool:
    """Return True if a shard starts with the magic word of RecordIO.

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
    return len(head) >= 8 and head[:4] == MAGIC

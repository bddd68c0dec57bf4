"""RecordIO framing: magic word, flag and 29-bit length, data, padding to 4 bytes."""

from __future__ import annotations

from recordmill import _core
from recordmill.formats.base import Framing

MAGIC = (0xCED7230A).to_bytes(4, "little")
FRAMING = Framing(
    kind=_core.FrameKind.RECORDIO,
    has_checksum=False,
    can_resync=True,
    min_payload_bytes=0,
    max_payload_bytes=2**29 - 1,
)


def looks_like(head: bytes, num_bytes: int | None) -> bool:
    """Whether a shard that begins so is RecordIO: the magic word, then a flag that begins a record.

    Parameters
    ----------
    head : bytes
        First uncompressed bytes.
    num_bytes : int or None
        Uncompressed bytes in all, if known.

    Returns
    -------
    bool
    """
    del num_bytes
    return len(head) >= 8 and head[:4] == MAGIC

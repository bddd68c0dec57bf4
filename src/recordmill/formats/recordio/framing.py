"""RecordIO framing: magic word, 3-bit flag and 29-bit length, data, padding to 4 bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill import _core
from recordmill.formats.base import Framing

MAGIC = (0xCED7230A).to_bytes(4, "little")
_FLAG_SHIFT = 29
_FIRST_FLAG = 1


def _find_record_starts(data: Any) -> NDArray[np.int64]:
    """Return the positions where records begin: at a magic word with flag 0 (unsplit record) or 1 (first part).

    Writers split payloads that contain magic words, so each of these positions is the beginning of a record.
    """
    words = np.frombuffer(data, "<u4", len(data) // 4)
    rows = np.flatnonzero(words[:-1] == int.from_bytes(MAGIC, "little"))
    return rows[words[rows + 1] >> _FLAG_SHIFT <= _FIRST_FLAG] * 4


FRAMING = Framing(
    kind=_core.FrameKind("recordio"),
    min_payload_bytes=0,
    max_payload_bytes=2**29 - 1,
    find_starts=_find_record_starts,
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

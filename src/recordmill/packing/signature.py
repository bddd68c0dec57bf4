"""Tells from the first bytes whether files are pictures, without decoding them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from recordmill.types import Ragged

_HEAD = 12
_MAGICS = (
    b"\xff\xd8\xff",  # JPEG
    b"\x89PNG\r\n\x1a\n",
    b"GIF8",
    b"BM",
    b"II*\0",  # TIFF, both byte orders
    b"MM\0*",
    b"II+\0",  # BigTIFF
    b"MM\0+",
)


def find_others(files: Ragged) -> list[int]:
    """Files that do not begin like a JPEG, PNG, GIF, BMP, WebP or TIFF.

    Parameters
    ----------
    files : Ragged of uint8
        Their contents, or at least the first 12 bytes of them.

    Returns
    -------
    list of int
        Their rows.
    """
    view, splits = np.asarray(files.data).data, files.row_splits.tolist()
    heads = [bytes(view[start : min(start + _HEAD, stop)]) for start, stop in pairwise(splits)]
    return [
        row
        for row, head in enumerate(heads)
        if not (head.startswith(_MAGICS) and len(head) == _HEAD) and not _is_webp(head)
    ]


def _is_webp(head: bytes) -> bool:
    return head[:4] == b"RIFF" and head[8:] == b"WEBP"


def describe_bytes(data: bytes) -> str:
    """Say what a file that is no picture holds.

    Parameters
    ----------
    data : bytes

    Returns
    -------
    str
    """
    return f"not a picture: it begins with {data[:8].hex(' ')}" if data else "the file is empty"

"""Tells from the first bytes whether files are pictures, without decoding them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.types import Ragged

_HEAD = 12
_MAGICS = (
    b"\xff\xd8\xff",  # JPEG
    b"\x89PNG\r\n\x1a\n",
    b"GIF8",
    b"BM",
    b"RIFF\0\0\0\0WEBP",  # the zeros stand for a length
    b"II*\0",  # TIFF, both byte orders
    b"MM\0*",
    b"II+\0",  # BigTIFF
    b"MM\0+",
)


def are_pictures(files: Ragged) -> NDArray[np.bool_]:
    """Whether each file begins like a JPEG, PNG, GIF, BMP, WebP or TIFF.

    Parameters
    ----------
    files : Ragged of uint8

    Returns
    -------
    ndarray of bool, shape (num_files,)
    """
    starts = files.row_splits[:-1]
    data: NDArray[Any] = np.asarray(files.data)
    if not len(data):
        return np.zeros(len(files), np.bool_)
    heads = data[np.minimum(starts[:, None] + np.arange(_HEAD), len(data) - 1)]
    found = np.zeros(len(files), np.bool_)
    for magic in _MAGICS:
        wanted = np.frombuffer(magic, np.uint8)
        fixed = np.flatnonzero(wanted) if magic.startswith(b"RIFF") else np.arange(len(wanted))
        found |= (heads[:, fixed] == wanted[fixed]).all(axis=1)
    return found & (np.diff(files.row_splits) >= _HEAD)


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

"""Recognize the formats of image files by their first bytes."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from recordmill.types import Ragged

_SIGNATURE_BYTES = 12
_SIGNATURES = {
    b"\xff\xd8\xff": "jpeg",
    b"\x89PNG\r\n\x1a\n": "png",
    b"GIF8": "gif",
    b"BM": "bmp",
    b"II*\0": "tiff",  # TIFF with either byte order
    b"MM\0*": "tiff",
    b"II+\0": "tiff",  # BigTIFF
    b"MM\0+": "tiff",
}


def find_image_format(data: bytes) -> str | None:
    """Return "jpeg", "png", "gif", "bmp", "webp" or "tiff" if bytes begin with such a signature, else None."""
    head = data[:_SIGNATURE_BYTES]
    if head[:4] == b"RIFF" and head[8:] == b"WEBP":
        return "webp"
    if len(head) < _SIGNATURE_BYTES:
        return None
    return next((name for signature, name in _SIGNATURES.items() if head.startswith(signature)), None)


def are_mostly_images(files: Iterable[bytes]) -> bool:
    """Return whether more than half of the byte strings begin like image files."""
    formats = list(map(find_image_format, files))
    return 2 * formats.count(None) < len(formats)


def find_image_formats(files: Ragged) -> list[str | None]:
    """Return the format of each file, as `find_image_format` does."""
    view, splits = np.asarray(files.data).data, files.row_splits.tolist()
    heads = [bytes(view[start : min(start + _SIGNATURE_BYTES, stop)]) for start, stop in pairwise(splits)]
    return list(map(find_image_format, heads))

"""Image records: the 24-byte header with labels and ids, in front of any bytes or of an encoded picture."""

from __future__ import annotations

import numbers
import struct
from collections import namedtuple
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.mxnet.encoding import encode_picture
from recordmill.compat.pixel_copies import reordered

# flag, label, id, id2; little-endian, without padding.
_HEADER = struct.Struct("<IfQQ")
# Markers of JPEG frames: SOF0 to SOF15 without the tables that lie between them.
_FRAMES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}
_JPEG, _PNG, _PNG_COLOURS, _PNG_GREY = b"\xff\xd8", b"\x89PNG", 25, 0
# Depth and colours of a PNG of bytes in grey.
_GREY_BYTES = b"\x08\x00"

HEADER = namedtuple("HEADER", ["flag", "label", "id", "id2"])  # noqa: PYI024 (programs call _replace)
IRHeader: Any = HEADER
HEADER.__doc__ = """Header of an image record.

Parameters
----------
flag : int
    Number of labels behind the header; 0 for the one in the header. `pack` sets it.
label : float, or array_like of float
id : int
id2 : int
    Upper bits of the id; usually 0.
"""


def pack(header: Any, s: bytes) -> bytes:
    """Payload of an image record."""
    header = IRHeader(*header)
    if isinstance(header.label, numbers.Number):
        return _HEADER.pack(*header._replace(flag=0)) + s
    labels = np.asarray(header.label, np.float32)
    return _HEADER.pack(*header._replace(flag=labels.size, label=0)) + labels.astype("<f4").tobytes() + s


def unpack(s: bytes) -> tuple[Any, bytes]:
    """Header and data of an image record."""
    header: Any = IRHeader(*_HEADER.unpack(s[: _HEADER.size]))
    data = s[_HEADER.size :]
    if header.flag > 0:
        header = header._replace(label=np.frombuffer(data, np.float32, header.flag))
        data = data[4 * header.flag :]
    return header, data


def pack_img(header: Any, img: Any, quality: int = 95, img_fmt: str = ".jpg") -> bytes:
    """Payload of an image record with an encoded picture (needs Pillow)."""
    return pack(header, encode_picture(np.asarray(img), quality, img_fmt))


def unpack_img(s: bytes, iscolor: int = -1) -> tuple[Any, NDArray[Any] | None]:
    """Header and picture of an image record, as OpenCV's ``imdecode`` has it."""
    if iscolor not in _DECODERS:
        raise ValueError(f"iscolor is -1, 0 or 1, not {iscolor}")
    header, data = unpack(s)
    try:
        return header, _DECODERS[iscolor](data)
    except (rm.ImageError, rm.LimitError):
        return header, None


def _stored(data: bytes) -> NDArray[Any]:
    if _is_coloured_jpeg(data):
        return rm.decode_image(data, like="opencv", channels="bgr", orientation="ignore")
    if data.startswith(_PNG) and data[_PNG_COLOURS - 1 : _PNG_COLOURS + 1] == _GREY_BYTES:
        picture = rm.decode_png(data)
        return picture if picture.ndim == 2 else np.ascontiguousarray(picture[:, :, 0])
    picture = rm.decode_image(data, like="opencv", channels="stored", orientation="ignore", depth="stored")
    if picture.ndim == 3 and data.startswith(_PNG) and data[_PNG_COLOURS] == _PNG_GREY:
        return np.ascontiguousarray(picture[:, :, 0])  # one grey is transparent: OpenCV has no channel for that
    return _blue_first(picture)


def _is_coloured_jpeg(data: bytes) -> bool:
    """Whether a file is a JPEG whose frame has more than one component, as far as its markers tell."""
    place = 2 if data.startswith(_JPEG) else len(data)
    while place + 9 < len(data) and data[place] == 0xFF:
        kind, length = data[place + 1], int.from_bytes(data[place + 2 : place + 4], "big")
        if kind in _FRAMES:
            return data[place + 9] > 1
        place += 1 if kind == 0xFF else 2 + length  # a marker may have more bytes of 255 in front of it
    return False


def _grey(data: bytes) -> NDArray[Any]:
    return rm.decode_image(data, channels="grey", like="opencv", orientation="apply", depth="8")


def _coloured(data: bytes) -> NDArray[Any]:
    return rm.decode_image(data, like="opencv", channels="bgr", orientation="apply", depth="8")


_DECODERS = {-1: _stored, 0: _grey, 1: _coloured}


def _blue_first(picture: NDArray[Any]) -> NDArray[Any]:
    if picture.ndim == 2 or picture.shape[2] == 1:
        return picture
    if picture.shape[2] == 2:
        return reordered(picture, (0, 0, 0, 1))
    return reordered(picture, (2, 1, 0, *range(3, picture.shape[2])))

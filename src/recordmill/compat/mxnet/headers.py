"""Image records: a 24-byte header with labels and ids in front of any bytes or of an encoded image."""

from __future__ import annotations

import io
import numbers
import struct
from collections import namedtuple
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.mxnet.base import ParameterError

# flag, label, id, id2; little-endian, without padding.
IR_FORMAT = "<IfQQ"
IR_SIZE = struct.calcsize(IR_FORMAT)
# Markers of JPEG frames: SOF0 to SOF15 without the tables between them.
_FRAME_MARKERS = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}
_JPEG, _PNG = b"\xff\xd8", b"\x89PNG"
# Offset of the color type of a PNG, behind the bit depth; color type of gray; depth and color type of 8-bit gray.
_PNG_COLOR_TYPE, _PNG_GRAY, _PNG_GRAY_8 = 25, 0, b"\x08\x00"
_FORMATS_WITH_ALPHA = ("PNG", "WEBP", "TIFF")

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
    """Return the payload of an image record."""
    header = IRHeader(*header)
    if isinstance(header.label, numbers.Number):
        return struct.pack(IR_FORMAT, *header._replace(flag=0)) + s
    labels = np.asarray(header.label, np.float32)
    return struct.pack(IR_FORMAT, *header._replace(flag=labels.size, label=0)) + labels.astype("<f4").tobytes() + s


def unpack(s: bytes) -> tuple[Any, bytes]:
    """Return header and data of an image record."""
    header: Any = IRHeader(*struct.unpack(IR_FORMAT, s[:IR_SIZE]))
    data = s[IR_SIZE:]
    if header.flag > 0:
        header = header._replace(label=np.frombuffer(data, np.float32, header.flag))
        data = data[4 * header.flag :]
    return header, data


def pack_img(header: Any, img: Any, quality: int = 95, img_fmt: str = ".jpg") -> bytes:
    """Return the payload of an image record with an image (blue first) that Pillow encodes."""
    return pack(header, _encode(np.asarray(img), quality, img_fmt))


def unpack_img(s: bytes, iscolor: int = -1) -> tuple[Any, NDArray[Any] | None]:
    """Return header and image of an image record, decoded as ``cv2.imdecode`` does: blue first, None on failure."""
    if iscolor not in _DECODERS:
        raise ValueError(f"iscolor must be -1, 0 or 1, got {iscolor}")
    header, data = unpack(s)
    try:
        return header, _DECODERS[iscolor](data)
    except (rm.ImageError, rm.LimitError):
        return header, None


def _decode_unchanged(data: bytes) -> NDArray[Any]:
    if _is_color_jpeg(data):
        return rm.decode_image(data, like="opencv", channels="bgr", orientation="ignore")
    if data.startswith(_PNG) and data[_PNG_COLOR_TYPE - 1 : _PNG_COLOR_TYPE + 1] == _PNG_GRAY_8:
        pixels = rm.decode_png(data)
    else:
        pixels = rm.decode_image(data, like="opencv", channels="stored", orientation="ignore", depth="stored")
    if pixels.ndim == 2:
        return pixels
    if data.startswith(_PNG) and data[_PNG_COLOR_TYPE] == _PNG_GRAY:
        return np.ascontiguousarray(pixels[:, :, 0])  # OpenCV has no channel for a transparent gray
    return reverse_colors(pixels)


def reverse_colors(pixels: NDArray[Any]) -> NDArray[Any]:
    """Exchange red and blue; gray with alpha becomes blue, green, red and alpha."""
    if pixels.ndim == 2 or pixels.shape[2] == 1:
        return pixels
    if pixels.shape[2] == 2:
        return pixels[:, :, [0, 0, 0, 1]]
    return pixels[:, :, [2, 1, 0, *range(3, pixels.shape[2])]]


def _is_color_jpeg(data: bytes) -> bool:
    """Return whether the data is a JPEG whose frame has more than one component."""
    offset = 2 if data.startswith(_JPEG) else len(data)
    while offset + 9 < len(data) and data[offset] == 0xFF:
        marker, length = data[offset + 1], int.from_bytes(data[offset + 2 : offset + 4], "big")
        if marker in _FRAME_MARKERS:
            return data[offset + 9] > 1
        offset += 1 if marker == 0xFF else 2 + length  # any number of 0xFF may precede a marker
    return False


def _decode_gray(data: bytes) -> NDArray[Any]:
    return rm.decode_image(data, channels="grey", like="opencv", orientation="apply", depth="8")


def _decode_color(data: bytes) -> NDArray[Any]:
    return rm.decode_image(data, like="opencv", channels="bgr", orientation="apply", depth="8")


_DECODERS = {-1: _decode_unchanged, 0: _decode_gray, 1: _decode_color}


def _encode(pixels: NDArray[Any], quality: int, suffix: str) -> bytes:
    """Encode an image as ``cv2.imencode`` does."""
    module = _import_pillow()
    name = module.registered_extensions().get(suffix.lower())
    if name not in module.SAVE:
        raise ParameterError(f"could not find encoder for the specified extension {suffix!r}", kind="bad_format")
    options: dict[str, Any] = {}
    if name == "JPEG":
        options["quality"] = min(max(int(quality), 1), 100)
    elif name == "PNG":
        options["compress_level"] = min(max(int(quality), 0), 9)
    out = io.BytesIO()
    _create_image(module, _check_pixels(pixels, name), name).save(out, name, **options)
    return out.getvalue()


def _create_image(module: Any, pixels: NDArray[Any], name: str) -> Any:
    if pixels.ndim == 2:
        return module.fromarray(pixels)
    height, width, channels = pixels.shape
    if channels == 4 and name in _FORMATS_WITH_ALPHA:
        return module.fromarray(reverse_colors(pixels))
    pixels = np.ascontiguousarray(pixels[:, :, :3])
    return module.frombytes("RGB", (width, height), pixels, "raw", "BGR", 0, 1)


def _check_pixels(pixels: NDArray[Any], name: str) -> NDArray[Any]:
    """Return contiguous pixels that the format can store; a single channel has no axis."""
    if pixels.ndim == 3 and pixels.shape[2] == 1:
        pixels = pixels[:, :, 0]
    is_deep = pixels.dtype == np.uint16 and name == "PNG" and pixels.ndim == 2
    channels = pixels.shape[2] if pixels.ndim == 3 else 1
    has_shape = pixels.ndim in (2, 3) and pixels.size > 0 and channels in (1, 3, 4)
    if not has_shape or not (is_deep or pixels.dtype == np.uint8):
        message, found = "the image cannot be encoded", f"{pixels.dtype} of shape {pixels.shape}"
        expected = "a non-empty uint8 image with 1, 3 or 4 channels"
        raise ParameterError(message, kind="bad_image", expected=expected, found=found)
    return np.ascontiguousarray(pixels)


def _import_pillow() -> Any:
    try:
        from PIL import Image
    except ImportError as error:
        message = "Pillow is needed to encode images"
        raise rm.MissingExtraError(message, hint="pip install 'recordmill[image]'") from error
    Image.init()
    return Image

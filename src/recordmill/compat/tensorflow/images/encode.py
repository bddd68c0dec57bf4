"""``tf.io.encode_jpeg`` and ``encode_png``."""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core import dtypes
from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.errors import InternalError
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.images.arguments import check_dtype, raise_invalid
from recordmill.compat.tensorflow.images.decode import import_pillow

_FORMAT_CHANNELS = {"": (1, 3), "grayscale": (1,), "rgb": (3,)}
_DENSITY_UNITS = {"in": 1, "cm": 2}
# Byte offset of the density unit in a JPEG file with a JFIF header (ITU T.871).
_JFIF_DENSITY = 13
_PNG_COLOR_TYPES = {1: 0, 2: 4, 3: 2, 4: 6}
_PNG_FILTER_UP = 2


@op("io.encode_jpeg")
def encode_jpeg(
    image: Any,
    format: str = "",  # noqa: A002 (TensorFlow's name)
    quality: int = 95,
    progressive: bool = False,
    optimize_size: bool = False,
    chroma_downsampling: bool = True,
    density_unit: str = "in",
    x_density: int = 300,
    y_density: int = 300,
    xmp_metadata: str | bytes = "",
) -> Tensor:
    """``tf.io.encode_jpeg``: encode an image as JPEG with Pillow; the bytes differ from TensorFlow's."""
    pixels = array_of(image) if isinstance(image, Tensor) else array_of(image, dtypes.uint8)
    check_dtype("image.dtype", pixels.dtype, (dtypes.uint8,))
    if format not in _FORMAT_CHANNELS:
        raise_invalid(f"format must be one of {list(_FORMAT_CHANNELS)}, got {format!r}")
    if density_unit not in _DENSITY_UNITS:
        raise_invalid(f"density_unit must be one of {list(_DENSITY_UNITS)}, got {density_unit!r}")
    if not 0 <= quality <= 100:
        raise_invalid(f"quality must be in [0, 100], got {quality}")
    if pixels.ndim != 3 or pixels.shape[2] not in _FORMAT_CHANNELS[format]:
        channels = " or ".join(map(str, _FORMAT_CHANNELS[format]))
        raise_invalid(f"image must have shape (height, width, {channels}), got {pixels.shape}")
    if not pixels.size:
        raise InternalError("image must not be empty", kind="bad_shape")
    options: dict[str, Any] = {"progressive": progressive, "optimize": optimize_size or progressive}
    if pixels.shape[2] == 3:
        options["subsampling"] = 2 if chroma_downsampling else 0
    if xmp_metadata:
        options["xmp"] = xmp_metadata.encode() if isinstance(xmp_metadata, str) else xmp_metadata
    out = io.BytesIO()
    picture = import_pillow().fromarray(np.ascontiguousarray(pixels[:, :, 0] if pixels.shape[2] == 1 else pixels))
    picture.save(out, "JPEG", quality=max(int(quality), 1), dpi=(300, 300), **options)
    encoded = bytearray(out.getvalue())
    struct.pack_into(">BHH", encoded, _JFIF_DENSITY, _DENSITY_UNITS[density_unit], int(x_density), int(y_density))
    return Tensor(array_of(bytes(encoded)))


@op("io.encode_png")
def encode_png(image: Any, compression: int = -1) -> Tensor:
    """``tf.io.encode_png``: encode images as PNG; the pixels equal TensorFlow's, the compressed bytes differ."""
    pixels = array_of(image)
    check_dtype("image.dtype", pixels.dtype, (dtypes.uint8, dtypes.uint16))
    if not -1 <= compression <= 9:
        raise_invalid(f"compression must be in [-1, 9], got {compression}")
    if pixels.ndim < 3 or pixels.shape[-1] not in _PNG_COLOR_TYPES:
        raise_invalid(f"image must have shape (..., height, width, 1 to 4), got {pixels.shape}")
    if not pixels.size:
        raise InternalError("image must not be empty", kind="bad_shape")
    files = np.empty(pixels.shape[:-3], object)
    for position in np.ndindex(files.shape):
        files[position] = _encode_png_pixels(pixels[position], int(compression))
    return Tensor(files)


def _encode_png_pixels(pixels: NDArray[Any], level: int) -> bytes:
    """Encode a PNG whose rows use the filter Up; Pillow is not used, because it cannot write 16-bit colors."""
    height, width, channels = pixels.shape
    header = struct.pack(">IIBBBBB", width, height, 8 * pixels.itemsize, _PNG_COLOR_TYPES[channels], 0, 0, 0)
    big_endian = np.ascontiguousarray(pixels.astype(pixels.dtype.newbyteorder(">"), copy=False))
    rows = big_endian.view(np.uint8).reshape(height, -1)
    differences = np.diff(rows, axis=0, prepend=np.zeros_like(rows[:1]))
    filtered = np.insert(differences, 0, _PNG_FILTER_UP, axis=1)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(filtered.tobytes(), level)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_encode_png_chunk(name, data) for name, data in chunks)


def _encode_png_chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

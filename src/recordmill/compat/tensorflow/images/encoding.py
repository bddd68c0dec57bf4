"""``tf.io.encode_jpeg`` and ``encode_png``."""

from __future__ import annotations

import io
import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.tensorflow.core import dtypes
from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import as_dtype
from recordmill.compat.tensorflow.core.errors import InternalError
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.images.contents import check_attribute, kernel_name, refuse
from recordmill.compat.tensorflow.images.png_file import png_file

_FORMATS = {"": (1, 3), "grayscale": (1,), "rgb": (3,)}
_UNITS = {"in": 1, "cm": 2}
# Of the JFIF header, behind the marker, length, name and version (ITU T.871).
_DENSITY = 13


def jpeg_of(pixels: NDArray[np.uint8], *, quality: int, **options: Any) -> bytes:
    """Encode as libjpeg-turbo does, through Pillow."""
    shape = ",".join(map(str, pixels.shape))
    if not 0 <= quality <= 100:
        refuse(f"quality must be in [0,100], got {quality}")
    if pixels.ndim != 3:
        refuse(f"image must be 3-dimensional[{shape}]")
    if pixels.shape[2] not in (1, 3):
        refuse(f"image must have 1 or 3 channels, got [{shape}]")
    if not pixels.size:
        raise InternalError("JPEG encoding failed", kind="bad_shape")
    module, out = _pillow(), io.BytesIO()
    image = module.fromarray(np.ascontiguousarray(pixels[:, :, 0] if pixels.shape[2] == 1 else pixels))
    image.save(out, "JPEG", quality=max(quality, 1), **options)
    return out.getvalue()


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError as error:
        message = "Pillow is needed to encode JPEG"
        raise rm.MissingExtraError(message, hint="pip install 'recordmill[image]'") from error
    return Image


def _string(data: bytes) -> Tensor:
    return Tensor(array_of(data))


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
    name: str | None = None,
) -> Tensor:
    """Encode as JPEG."""
    pixels = array_of(image) if isinstance(image, Tensor) else array_of(image, dtypes.uint8)
    if pixels.dtype != np.uint8:
        refuse(
            "cannot compute EncodeJpeg as input #0(zero-based) was expected to be a uint8 tensor but is a "
            f"{kernel_name(as_dtype(pixels.dtype))} tensor"
        )
    _check_options(format, density_unit, pixels)
    options: dict[str, Any] = {"progressive": progressive, "optimize": optimize_size or progressive}
    if pixels.ndim == 3 and pixels.shape[2] == 3:
        options["subsampling"] = 2 if chroma_downsampling else 0
    if xmp_metadata:
        options["xmp"] = xmp_metadata.encode() if isinstance(xmp_metadata, str) else xmp_metadata
    encoded = bytearray(jpeg_of(pixels, quality=int(quality), dpi=(300, 300), **options))
    struct.pack_into(">BHH", encoded, _DENSITY, _UNITS[density_unit], int(x_density), int(y_density))
    return _string(bytes(encoded))


def _check_options(name: str, unit: str, pixels: NDArray[np.uint8]) -> None:
    if name not in _FORMATS:
        refuse(f'Value for attr \'format\' of "{name}" is not in the list of allowed values: "", "grayscale", "rgb"')
    if unit not in _UNITS:
        refuse(f'Value for attr \'density_unit\' of "{unit}" is not in the list of allowed values: "in", "cm"')
    if name and pixels.ndim == 3 and pixels.shape[2] not in _FORMATS[name]:
        shape = ",".join(map(str, pixels.shape))
        refuse(f"format {name} expects {_FORMATS[name][0]} channels, got [{shape}]")


@op("io.encode_png")
def encode_png(image: Any, compression: int = -1, name: str | None = None) -> Tensor:
    """Encode as PNG."""
    pixels = array_of(image)
    check_attribute("T", pixels.dtype, (dtypes.uint8, dtypes.uint16))
    if not -1 <= compression <= 9:
        refuse(f"compression should be in [-1,9], got {compression}")
    if pixels.ndim < 3:
        refuse(f"images must be at least rank 3[{','.join(map(str, pixels.shape))}]")
    if pixels.shape[-1] not in (1, 2, 3, 4):
        refuse(f"image must have 1, 2, 3, or 4 channels, got {pixels.shape[-1]}")
    if not pixels.size:
        raise InternalError("PNG encoding failed at the following flattened batch indices: 0", kind="bad_shape")
    files = np.empty(pixels.shape[:-3], object)
    for place in np.ndindex(files.shape):
        files[place] = png_file(pixels[place], int(compression))
    return Tensor(files)

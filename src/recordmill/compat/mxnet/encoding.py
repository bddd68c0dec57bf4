"""Pictures encoded as OpenCV's ``imencode`` does it, by Pillow."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.mxnet.base import ParameterError
from recordmill.compat.pixel_copies import reordered


def encode_picture(pixels: NDArray[Any], quality: int, suffix: str) -> bytes:
    """Encode a picture."""
    module = _pillow()
    ending = suffix.lower()
    name = module.registered_extensions().get(ending)
    if name not in module.SAVE:
        raise ParameterError(f"could not find encoder for the specified extension {suffix!r}", kind="bad_format")
    options: dict[str, Any] = {}
    if name == "JPEG":
        options["quality"] = min(max(int(quality), 1), 100)
    elif name == "PNG":
        options["compress_level"] = min(max(int(quality), 0), 9)
    out = io.BytesIO()
    _picture(module, _checked(pixels, name), name).save(out, name, **options)
    return out.getvalue()


def _picture(module: Any, pixels: NDArray[Any], name: str) -> Any:
    """Pillow's picture, without what the format has no room for."""
    if pixels.ndim == 2:
        return module.fromarray(pixels)
    height, width, channels = pixels.shape
    if channels == 3:
        return module.frombytes("RGB", (width, height), pixels, "raw", "BGR", 0, 1)
    keeps_alpha = name in ("PNG", "WEBP", "TIFF")
    return module.fromarray(reordered(pixels, (2, 1, 0, 3) if keeps_alpha else (2, 1, 0)))


def _checked(pixels: NDArray[Any], name: str) -> NDArray[Any]:
    """Pixels side by side in memory that can be encoded; a single channel has no axis of its own."""
    if pixels.ndim == 3 and pixels.shape[2] == 1:
        pixels = pixels[:, :, 0]
    deep = pixels.dtype == np.uint16 and name == "PNG" and pixels.ndim == 2
    channels = pixels.shape[2] if pixels.ndim == 3 else 1
    if (
        pixels.ndim not in (2, 3)
        or not pixels.size
        or channels not in (1, 3, 4)
        or not (deep or pixels.dtype == np.uint8)
    ):
        raise ParameterError(
            "a picture that cannot be encoded",
            kind="bad_image",
            expected="a pixel at least, uint8, one, three or four channels",
            found=f"{pixels.dtype} of shape {pixels.shape}",
        )
    return np.ascontiguousarray(pixels)


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError as error:
        message = "Pillow is needed to encode pictures"
        raise rm.MissingExtraError(message, hint="pip install 'recordmill[image]'") from error
    Image.init()
    return Image

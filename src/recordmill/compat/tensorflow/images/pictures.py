"""Encoded bytes of any format to pixels: which decoder takes which format, and what dtypes become."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.images.bitmap import bmp_pixels
from recordmill.compat.tensorflow.images.contents import check_channels, contents_of, format_of, refuse
from recordmill.compat.tensorflow.images.frames import gif_frames, webp_frames
from recordmill.compat.tensorflow.images.jpeg import JpegOptions, jpeg_pixels
from recordmill.compat.tensorflow.images.levels import eight_bits_as, sixteen_bits_as
from recordmill.compat.tensorflow.images.png import png_pixels

BYTES = np.dtype(np.uint8)


def decoded(
    name: str,
    contents: Any,
    channels: Any,
    dtype: np.dtype[Any] = BYTES,
    *,
    expand: bool = True,
    jpeg: JpegOptions | None = None,
) -> NDArray[Any]:
    """Decode as the operations for JPEG, PNG, GIF and any format do."""
    wanted, data = check_channels(channels), contents_of(contents)
    found = format_of(data)
    if found == "BMP" and name != "DecodeImage" and wanted != 1:
        refuse(
            f"Trying to decode BMP format using a wrong op. Use `decode_bmp` or `decode_image` instead. Op used: {name}"
        )
    if found == "PNG":
        pixels = png_pixels(data, wanted, deep=dtype != np.uint8)
        return _framed(name, pixels if dtype == np.uint8 else sixteen_bits_as(pixels, dtype))
    if found == "WebP":
        return webp_pixels(data, wanted, dtype, expand=expand)
    if found == "GIF":
        return eight_bits_as(_gif(name, data, wanted, expand=expand), dtype)
    if found == "BMP":
        return eight_bits_as(bmp_pixels(data, wanted), dtype)
    return _framed(name, eight_bits_as(jpeg_pixels(data, wanted, jpeg or JpegOptions()), dtype))


def _framed(name: str, pixels: NDArray[Any]) -> NDArray[Any]:
    return pixels[None] if name == "DecodeGif" else pixels


def _gif(name: str, data: bytes, channels: int, *, expand: bool) -> NDArray[np.uint8]:
    if name == "DecodeImage":
        frames = gif_frames(data, channels, first=not expand)
        return frames if expand else np.ascontiguousarray(frames[0])
    frames = gif_frames(data, channels)
    if name == "DecodeGif":
        return frames
    if len(frames) > 1:
        refuse(
            f"Got {len(frames)} frames, but animated gifs can only be decoded by tf.io.decode_gif or tf.io.decode_image"
        )
    return np.ascontiguousarray(frames[0])


def webp_pixels(data: bytes, channels: int, dtype: np.dtype[Any], *, expand: bool) -> NDArray[np.uint8]:
    """Decode a WebP."""
    if channels == 1:
        refuse("WebP only supports 3 or 4 channels")
    if dtype != np.uint8:
        refuse("WebP only supports uint8 for dtype")
    frames = webp_frames(data, channels, first=not expand)
    return frames if expand else np.ascontiguousarray(frames[0])

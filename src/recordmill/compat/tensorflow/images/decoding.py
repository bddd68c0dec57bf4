"""``tf.io.decode_jpeg`` and the other decoders; each takes the formats that TensorFlow's takes."""

from __future__ import annotations

from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core import dtypes
from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import as_dtype
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.images.bitmap import bmp_pixels
from recordmill.compat.tensorflow.images.contents import check_attribute, check_channels, contents_of, format_of, refuse
from recordmill.compat.tensorflow.images.jpeg import JpegOptions, jpeg_pixels, jpeg_shape, window_of
from recordmill.compat.tensorflow.images.levels import converted_levels
from recordmill.compat.tensorflow.images.pictures import BYTES, decoded, webp_pixels


@op("io.decode_jpeg")
def decode_jpeg(
    contents: Any,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> Tensor:
    """Pixels of a JPEG, as TensorFlow's own transform gives them; PNG and GIF of one frame are decoded too."""
    options = JpegOptions(ratio, fancy_upscaling, try_recover_truncated, acceptable_fraction, dct_method)
    return Tensor(decoded("DecodeJpeg", contents, channels, jpeg=options))


@op("io.decode_and_crop_jpeg")
def decode_and_crop_jpeg(
    contents: Any,
    crop_window: Any,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> Tensor:
    """Part of a JPEG; what lies outside is not decoded.

    The part equals that of the whole picture. TensorFlow's own ends halved colour planes at the window's sides, so that
    its outermost columns differ by some levels with `fancy_upscaling`.
    """
    options = JpegOptions(ratio, fancy_upscaling, try_recover_truncated, acceptable_fraction, dct_method)
    wanted, data = check_channels(channels), contents_of(contents)
    window = window_of(array_of(crop_window, dtypes.int32).ravel().tolist())
    found = format_of(data)
    if found != "JPEG":
        refuse(f"DecodeAndCropJpeg operation can run on JPEG only, but detected {found}.")
    return Tensor(jpeg_pixels(data, wanted, options, window))


@op("io.decode_png")
def decode_png(contents: Any, channels: int = 0, dtype: Any = dtypes.uint8, name: str | None = None) -> Tensor:
    """Pixels of a PNG; JPEG and GIF of one frame are decoded too."""
    wanted = check_attribute("dtype", dtype, (dtypes.uint8, dtypes.uint16))
    return Tensor(decoded("DecodePng", contents, channels, wanted))


@op("io.decode_gif")
def decode_gif(contents: Any, name: str | None = None) -> Tensor:
    """Frames of a GIF; JPEG and PNG give one frame."""
    return Tensor(decoded("DecodeGif", contents, 3))


@op("io.decode_bmp")
def decode_bmp(contents: Any, channels: int = 0, name: str | None = None) -> Tensor:
    """Pixels of an uncompressed BMP, of palettes the indices; WebP is decoded too."""
    data = contents_of(contents)
    found = format_of(data)
    if found == "WebP":
        return Tensor(webp_pixels(data, check_channels(channels), BYTES, expand=True))
    if found != "BMP":
        instead = found.lower() if found in ("JPEG", "PNG", "GIF") else "image"
        refuse(f"Trying to decode {found} format using DecodeBmp op. Use `decode_{instead}` or `decode_image` instead.")
    return Tensor(bmp_pixels(data, channels))


@op("io.decode_webp")
def decode_webp(contents: Any, channels: int = 0, dtype: Any = dtypes.uint8, name: str | None = None) -> Tensor:
    """Frames of a WebP."""
    check_attribute("dtype", dtype, (dtypes.uint8,))
    data = contents_of(contents)
    if format_of(data) != "WebP":
        refuse("Failed to decode WebP image.")
    return Tensor(webp_pixels(data, channels, BYTES, expand=True))


@op("io.decode_image")
def decode_image(
    contents: Any,
    channels: int | None = None,
    dtype: Any = dtypes.uint8,
    name: str | None = None,
    expand_animations: bool = True,
) -> Tensor:
    """Pixels of a JPEG, PNG, GIF, BMP or WebP."""
    wanted = as_dtype(dtype)
    if not (wanted.is_floating or wanted.is_integer):
        raise AttributeError("dtype must be either floating point or integer")
    direct = wanted in (dtypes.float32, dtypes.uint8, dtypes.uint16)
    first = wanted.numpy_dtype if direct else np.dtype(np.uint16)
    pixels = decoded("DecodeImage", contents, channels or 0, first, expand=expand_animations)
    return Tensor(converted_levels(pixels, wanted.numpy_dtype))


@op("io.extract_jpeg_shape")
def extract_jpeg_shape(contents: Any, output_type: Any = dtypes.int32, name: str | None = None) -> Tensor:
    """Height, width and channels that a JPEG's header tells."""
    dtype = check_attribute("output_type", output_type, (dtypes.int32, dtypes.int64))
    return Tensor(np.array(jpeg_shape(contents_of(contents)), dtype))


@op("io.is_jpeg")
def is_jpeg(contents: Any, name: str | None = None) -> Tensor:
    """Whether bytes begin as those of a JPEG do."""
    strings = array_of(contents, dtypes.string)
    answers = [one.startswith(b"\xff\xd8\xff") for one in strings.ravel().tolist()]
    return Tensor(np.array(answers, np.bool_).reshape(strings.shape))

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
    """Pixels of a JPEG, as TensorFlow's own transform gives them; PNG and GIF of one frame are decoded too.

    Parameters
    ----------
    contents : scalar string tensor
    channels : {0, 1, 3}
        0 is as stored, 1 the luma plane.
    ratio : {1, 2, 4, 8}
        By what the size is divided, rounded up.
    fancy_upscaling : bool
        How halved colour planes are brought to size.
    try_recover_truncated : bool
        Whether a JPEG that is cut gets an end marker: all rows are there, grey from the cut on.
    acceptable_fraction : float
        Of the rows of a JPEG that is cut, how many are enough; others become zeros.
    dct_method : {"", "INTEGER_FAST", "INTEGER_ACCURATE"}
        "" is "INTEGER_FAST", and "INTEGER_ACCURATE" for the kinds that only Pillow decodes, such as arithmetic coding.
    name : str, optional
        Without effect.

    Returns
    -------
    Tensor of uint8, shape (height, width, channels)

    Raises
    ------
    InvalidArgumentError
        No sound picture of these formats, or an option that does not exist.
    UnimplementedError
        "INTEGER_FAST" for what only Pillow decodes; `try_recover_truncated` for a progressive JPEG that is cut.
    """
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

    Parameters
    ----------
    contents : scalar string tensor
    crop_window : tensor of int32, shape (4,)
        y, x, height and width, within the picture as `ratio` makes it.
    channels, ratio, fancy_upscaling, try_recover_truncated, acceptable_fraction, dct_method, name
        As in `decode_jpeg`.

    Returns
    -------
    Tensor of uint8, shape (height, width, channels)

    Raises
    ------
    InvalidArgumentError
        No JPEG, or a window beyond it.
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
    """Pixels of a PNG; JPEG and GIF of one frame are decoded too.

    Parameters
    ----------
    contents : scalar string tensor
    channels : {0, 1, 3, 4}
        0 is as stored, palettes looked up.
    dtype : {uint8, uint16}
        Of 16-bit levels uint8 keeps the upper halves.
    name : str, optional
        Without effect.

    Returns
    -------
    Tensor, shape (height, width, channels)

    Raises
    ------
    InvalidArgumentError
        No sound picture of these formats, or an option that does not exist.
    """
    wanted = check_attribute("dtype", dtype, (dtypes.uint8, dtypes.uint16))
    return Tensor(decoded("DecodePng", contents, channels, wanted))


@op("io.decode_gif")
def decode_gif(contents: Any, name: str | None = None) -> Tensor:
    """Frames of a GIF; JPEG and PNG give one frame.

    Parameters
    ----------
    contents : scalar string tensor
    name : str, optional
        Without effect.

    Returns
    -------
    Tensor of uint8, shape (frames, height, width, 3)

    Raises
    ------
    InvalidArgumentError
        No sound picture of these formats.
    """
    return Tensor(decoded("DecodeGif", contents, 3))


@op("io.decode_bmp")
def decode_bmp(contents: Any, channels: int = 0, name: str | None = None) -> Tensor:
    """Pixels of an uncompressed BMP, of palettes the indices; WebP is decoded too.

    Parameters
    ----------
    contents : scalar string tensor
    channels : {0, 3, 4}
        0 is as stored.
    name : str, optional
        Without effect.

    Returns
    -------
    Tensor of uint8, shape (height, width, channels)

    Raises
    ------
    InvalidArgumentError
        No sound picture of these formats.
    """
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
    """Frames of a WebP.

    Parameters
    ----------
    contents : scalar string tensor
    channels : {0, 3, 4}
        As many as the file has; 0 is any number.
    dtype : {uint8}
    name : str, optional
        Without effect.

    Returns
    -------
    Tensor of uint8, shape (frames, height, width, channels)

    Raises
    ------
    InvalidArgumentError
        No sound WebP, or other channels.
    """
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
    """Pixels of a JPEG, PNG, GIF, BMP or WebP.

    Parameters
    ----------
    contents : scalar string tensor
    channels : {0, 1, 3, 4}, optional
        0 is as stored.
    dtype : DType
        Floats reach from 0 to 1, whole numbers to their largest value.
    name : str, optional
        Without effect.
    expand_animations : bool
        Whether GIF and WebP give all frames, with an axis of their own in front; else the first one.

    Returns
    -------
    Tensor, shape (height, width, channels) or (frames, height, width, channels)

    Raises
    ------
    InvalidArgumentError
        No sound picture of these formats.
    """
    wanted = as_dtype(dtype)
    if not (wanted.is_floating or wanted.is_integer):
        raise AttributeError("dtype must be either floating point or integer")
    direct = wanted in (dtypes.float32, dtypes.uint8, dtypes.uint16)
    first = wanted.numpy_dtype if direct else np.dtype(np.uint16)
    pixels = decoded("DecodeImage", contents, channels or 0, first, expand=expand_animations)
    return Tensor(converted_levels(pixels, wanted.numpy_dtype))


@op("io.extract_jpeg_shape")
def extract_jpeg_shape(contents: Any, output_type: Any = dtypes.int32, name: str | None = None) -> Tensor:
    """Height, width and channels that a JPEG's header tells.

    Parameters
    ----------
    contents : scalar string tensor
    output_type : {int32, int64}
    name : str, optional
        Without effect.

    Returns
    -------
    Tensor of `output_type`, shape (3,)

    Raises
    ------
    InvalidArgumentError
        No JPEG.
    """
    dtype = check_attribute("output_type", output_type, (dtypes.int32, dtypes.int64))
    return Tensor(np.array(jpeg_shape(contents_of(contents)), dtype))


@op("io.is_jpeg")
def is_jpeg(contents: Any, name: str | None = None) -> Tensor:
    """Whether bytes begin as those of a JPEG do.

    Parameters
    ----------
    contents : string tensor
    name : str, optional
        Without effect.

    Returns
    -------
    Tensor of bool, of the same shape
    """
    strings = array_of(contents, dtypes.string)
    answers = [one.startswith(b"\xff\xd8\xff") for one in strings.ravel().tolist()]
    return Tensor(np.array(answers, np.bool_).reshape(strings.shape))

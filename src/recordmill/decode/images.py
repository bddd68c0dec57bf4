"""One encoded image to its pixels."""

from __future__ import annotations

import functools
from operator import index
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from recordmill import _core
from recordmill.decode.executors.native_one import bad_window, check_window, decode_one, header_one, natively
from recordmill.decode.features.image import reading_of
from recordmill.decode.pillow import opened
from recordmill.decode.pixels.header import check_pixels, orientation_of
from recordmill.decode.pixels.indices import MAX_PIXELS, read_indices
from recordmill.decode.pixels.moving import Window, cut, orient, stored_window
from recordmill.decode.pixels.reading import Reading, prepare, read_pixels
from recordmill.decode.pixels.values import Values
from recordmill.decode.presets import Channels, Dct, Like, Orientation, Upsampling, preset_of
from recordmill.decode.specs.checks import check_word
from recordmill.decode.specs.image import Image
from recordmill.decode.truncated import check_truncated, decode_truncated, refuse_recovery
from recordmill.errors import ImageError

Pixels = NDArray[Any]


def decode_jpeg(  # noqa: PLR0913 (the options of one call)
    data: Any,
    *,
    window: Window | None = None,
    channels: Literal["rgb", "bgr", "gray", "stored"] = "rgb",
    mode: Dct = "accurate",
    upsampling: Upsampling = "fancy",
    scale: Literal[1, 2, 4, 8] = 1,
    orientation: Orientation = "ignore",
    cmyk: Literal["pillow", "opencv", "tensorflow"] = "pillow",
    max_pixels: int = MAX_PIXELS,
    entry_points: Any = None,
    recover_truncated: bool = False,
    acceptable_fraction: float | None = None,
) -> Pixels:
    """Pixels of a JPEG.

    Parameters
    ----------
    data : buffer
    window : (int, int, int, int), optional
        x, y, width and height, within the upright image as decoded; the result equals that part of the whole image.
    channels : {"rgb", "bgr", "gray", "stored"}
        "gray" is the luma plane.
    mode : {"accurate", "fast"}
        Inverse transform: libjpeg's ISLOW or IFAST.
    upsampling : {"fancy", "plain"}
        How halved color planes are brought to size.
    scale : {1, 2, 4, 8}
        Decode at a half, a quarter or an eighth of the size, rounded up.
    orientation : {"ignore", "apply"}
        What becomes of a rotation that EXIF asks for.
    cmyk : {"pillow", "opencv", "tensorflow"}
        Whose formula turns four inks into colors; TensorFlow's does so with "stored", too.
    max_pixels : int
    entry_points : buffer, optional
        Of this very image, as `find_entry_points` gives them; empty for none. Rows above a window then are not read.
    recover_truncated : bool
        Whether a file that is damaged or ends too early passes: an end marker is put behind it, and libjpeg-turbo's
        pixels are given, those of 2.1 where progressive files are estimated; sequential ones are gray from there on.
        The last blocks in front of it are noise as a rule.
    acceptable_fraction : float, optional
        Of the rows of such a file, 0 to 1, that is enough without an end marker; the others become zeros.

    Returns
    -------
    ndarray of uint8, shape (height, width, 3); (height, width) for gray, (height, width, 4) for stored CMYK

    Raises
    ------
    ImageError
        No JPEG, a damaged one, a window beyond it, entry points of another one, or a mode that no decoder here has.
    LimitError
        More than `max_pixels` pixels.
    """
    _check_magic(data, b"\xff\xd8", "JPEG")
    window = _window_of(window)
    check_word("channels", channels, ("rgb", "bgr", "gray", "stored"))
    check_word("mode", mode, ("accurate", "fast"))
    check_word("upsampling", upsampling, ("fancy", "plain"))
    if scale not in (1, 2, 4, 8):
        raise ValueError(f"scale is 1, 2, 4 or 8, not {scale!r}")
    check_word("orientation", orientation, ("ignore", "apply"))
    check_word("cmyk", cmyk, ("pillow", "opencv", "tensorflow"))
    may_pass = check_truncated(recover_truncated, acceptable_fraction, orientation)
    read: Any = "rgb" if channels == "bgr" else channels
    how = Reading(read, mode, upsampling, gray="libpng", cmyk=cmyk, scale=scale)
    points = entry_points if entry_points is not None and len(entry_points) else None
    stored = (window, 1) if orientation == "ignore" else _stored(data, how, window, max_pixels)
    if stored is not None:
        options = (stored[0], channels, mode, upsampling, cmyk, scale, max_pixels)
        if may_pass:
            pixels = decode_truncated(data, options, points, recover_truncated, acceptable_fraction)
        else:
            pixels = natively(lambda: _core.decode_jpeg(data, *options, points))
        if pixels is not None:
            return _squeezed(orient(pixels, stored[1]))
    try:
        return _decoded(data, how, window, orientation, channels == "bgr", max_pixels)
    except ImageError as error:
        if recover_truncated and error.kind not in ("unsupported", "bad_window"):
            refuse_recovery(error)
        raise


def decode_png(
    data: Any,
    *,
    palette: Literal["colors", "indices"] = "colors",
    window: Window | None = None,
    max_pixels: int = MAX_PIXELS,
) -> Pixels:
    """Pixels of a PNG, as the file holds them.

    Parameters
    ----------
    data : buffer
    palette : {"colors", "indices"}
        Whether palette images give colors, or the indices, as label images need. With "indices", gray images of less
        than 8 bits give values as stored, not brightness.
    window : (int, int, int, int), optional
        x, y, width and height, within the image.
    max_pixels : int

    Returns
    -------
    ndarray of uint8 or uint16, shape (height, width) or (height, width, channels)
        Two channels are gray and alpha, four are red, green, blue and alpha. Transparent colors become alpha.

    Raises
    ------
    ImageError
        No PNG, a damaged one, a window beyond it, or indices of an image without a palette or gray values.
    LimitError
        More than `max_pixels` pixels.
    """
    _check_magic(data, b"\x89PNG\r\n\x1a\n", "PNG")
    window = _window_of(window)
    check_word("palette", palette, ("colors", "indices"))
    pixels = natively(lambda: _core.decode_png(data, palette == "indices", max_pixels))
    if pixels is not None:
        return _squeezed(_windowed(pixels, window))
    if palette == "indices":
        classes = read_indices(data, max_pixels=max_pixels)
        return _squeezed(_windowed(classes[:, :, None], window))
    return _decoded(data, Reading("stored"), window, "ignore", False, max_pixels)


def decode_image(  # noqa: PLR0913 (the options of one call)
    data: Any,
    *,
    like: Like = "pillow",
    window: Window | None = None,
    channels: Channels | None = None,
    orientation: Orientation | None = None,
    dct: Dct | None = None,
    upsampling: Upsampling | None = None,
    scale: Literal[1, 2, 4, 8] = 1,
    depth: Literal["stored", "8"] = "stored",
    max_pixels: int = MAX_PIXELS,
) -> Pixels:
    """Pixels of an image of any format, decoded as a framework decodes it.

    Parameters
    ----------
    data : buffer
    like : {"pillow", "opencv", "tensorflow", "mxnet"}
        Whose choices hold where an option is not given.
    window : (int, int, int, int), optional
        x, y, width and height, within the upright image as decoded.
    channels, orientation, dct, upsampling, scale
        As in `Image`.
    depth : {"stored", "8"}
        Whether 16-bit samples stay, or become 8 bits as the framework makes them (Pillow's choice is an error).
    max_pixels : int

    Returns
    -------
    ndarray of uint8 or uint16, shape (height, width, channels), or (height, width) where there is one

    Raises
    ------
    ImageError
        No image, a damaged one, a window beyond it, or something that no decoder here does.
    LimitError
        More than `max_pixels` pixels.
    """
    check_word("depth", depth, ("stored", "8"))
    options = (like, channels, orientation, dct, upsampling, scale, "uint8" if depth == "8" else "uint16")
    try:
        reading, turn, reverse = _choices(*options)
    except TypeError:  # an option that is no word, which the checks name
        reading, turn, reverse = _choices.__wrapped__(*options)
    return _decoded(data, reading, _window_of(window), turn, reverse, max_pixels)


@functools.lru_cache(64)
def _choices(
    like: Like, channels: Any, orientation: Any, dct: Any, upsampling: Any, scale: Any, dtype: Any
) -> tuple[Reading, Orientation, bool]:
    """What is read, whether EXIF counts, and whether blue comes first."""
    preset = preset_of(like)
    spec = Image(
        like=like,
        channels=channels,
        orientation=orientation,
        dct=dct,
        upsampling=upsampling,
        reduce=scale,
        dtype=dtype,
    )
    return reading_of(spec), orientation or preset.orientation, (channels or preset.channels) == "bgr"


def _check_magic(data: Any, magic: bytes, name: str) -> None:
    head = bytes(memoryview(data)[: len(magic)])
    if head != magic:
        raise ImageError(f"the bytes are no {name}", kind="bad_image", expected=magic.hex(" "), found=head.hex(" "))


def _window_of(window: Any) -> Window | None:
    """Four whole numbers in a sequence of any kind; those that lie in no image are refused."""
    if window is None:
        return None
    numbers = [index(number) for number in window]
    if len(numbers) != 4:
        raise ValueError(f"a window is x, y, width and height, not {len(numbers)} numbers")
    x, y, width, height = numbers
    if not (min(x, y) >= 0 and min(width, height) >= 1 and max(numbers) < 1 << 31):
        raise bad_window("a corner of 0 or more and a pixel or more", numbers)
    return x, y, width, height


def _stored(data: Any, how: Reading, window: Window | None, max_pixels: int) -> tuple[Window | None, int] | None:
    """Turn a window of the upright image into one of the stored image; its orientation; None for Pillow's images."""
    header = header_one(data, how, upright=True, max_pixels=max_pixels)
    if header is None:
        return None
    width, height, orientation = header
    if window is None:
        return None, orientation
    check_window(window, width, height)
    return stored_window(window, (width, height), orientation), orientation


def _decoded(
    data: Any, how: Reading, window: Window | None, orientation: str, reverse: bool, max_pixels: int
) -> Pixels:
    upright = orientation == "apply"
    values = Values(reverse=reverse)
    found = decode_one(data, how, values, window=window, upright=upright, max_pixels=max_pixels)
    if found is not None:
        return _squeezed(found)
    with opened(data) as image:
        check_pixels(image.width, image.height, max_pixels)
        turn = orientation_of(image) if upright else 1
        prepare(image, data, how)
        pixels = _windowed(orient(read_pixels(image, how), turn), window)
    if reverse and pixels.shape[2] == 3:
        pixels = pixels[:, :, ::-1]
    return _squeezed(pixels)


def _windowed(pixels: Pixels, window: Window | None) -> Pixels:
    if window is None:
        return pixels
    check_window(window, pixels.shape[1], pixels.shape[0])
    return cut(pixels, window)


def _squeezed(pixels: Pixels) -> Pixels:
    return np.ascontiguousarray(pixels[:, :, 0] if pixels.shape[2] == 1 else pixels)

"""Decode one encoded image."""

from __future__ import annotations

import functools
from operator import index
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from recordmill import _core
from recordmill.decode.native_image import (
    check_window,
    decode_single,
    image_error,
    read_native_header,
    try_native,
    window_error,
)
from recordmill.decode.options import MAX_PIXELS, DecodeOptions, OutputFormat
from recordmill.decode.pillow import (
    check_pixel_count,
    open_image,
    prepare_image,
    read_classes,
    read_orientation,
    read_pixels,
)
from recordmill.decode.pixels import Window, apply_orientation, crop_pixels, to_stored_window
from recordmill.decode.plan import compile_image_spec
from recordmill.decode.presets import Channels, Dct, Like, Orientation, Upsampling
from recordmill.decode.specs.base import check_choice
from recordmill.decode.specs.image import Image
from recordmill.errors import ImageError
from recordmill.suggestions import suggest_arguments

Pixels = NDArray[Any]


@suggest_arguments
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
    """Decode a JPEG.

    Parameters
    ----------
    data : buffer
        The encoded image.
    window : (int, int, int, int), optional
        x, y, width and height of the part to decode, in pixels of the decoded, upright image. The result equals that
        part of the whole image.
    channels : str
        Channels of the result: "rgb", "bgr", "gray" (the luma plane) or "stored" (those of the file).
    mode : str
        Inverse DCT: "accurate" is libjpeg's ISLOW, "fast" its IFAST.
    upsampling : str
        Upsampling of subsampled chroma: "fancy" interpolates, "plain" repeats values.
    scale : int
        Denominator of the decoded size; sides are rounded up. One of 1, 2, 4 or 8.
    orientation : str
        Whether to apply the EXIF orientation. Either "ignore" or "apply".
    cmyk : str
        Library whose formula converts CMYK to RGB. TensorFlow's formula is applied even with ``channels="stored"``. One
        of "pillow", "opencv" or "tensorflow".
    max_pixels : int
        Largest accepted number of pixels.
    entry_points : buffer, optional
        Result of `find_entry_points` for this image: positions in the file at which decoding can start. With entry
        points, a window is decoded without the rows above it. May be empty.
    recover_truncated : bool
        Whether to decode files that are damaged or truncated, as libjpeg-turbo 2.1 does by appending an end marker.
        Missing parts of sequential files are gray, those of progressive files are estimated. The last blocks before the
        damage are usually noise.
    acceptable_fraction : float, optional
        Fraction of the rows, from 0 to 1, that a damaged or truncated file must contain to be accepted without
        `recover_truncated`. Missing rows are filled with zeros.

    Returns
    -------
    ndarray of uint8, shape (height, width, 3); (height, width) for gray, (height, width, 4) for stored CMYK

    Raises
    ------
    ImageError
        If the data is not a JPEG or is damaged, the window reaches beyond the image, the entry points belong to
        another image, or no decoder supports the options.
    LimitError
        If the image has more than `max_pixels` pixels.

    Examples
    --------
    >>> rm.decode_jpeg(Path("photo.jpg").read_bytes()).shape
    (48, 64, 3)
    """
    _check_signature(data, b"\xff\xd8", "JPEG")
    window = _parse_window(window)
    channels = _parse_channels(channels)
    check_choice("channels", channels, ("rgb", "bgr", "gray", "stored"))
    check_choice("mode", mode, ("accurate", "fast"))
    check_choice("upsampling", upsampling, ("fancy", "plain"))
    if scale not in (1, 2, 4, 8):
        raise ValueError(f"scale must be 1, 2, 4 or 8, got {scale!r}")
    check_choice("orientation", orientation, ("ignore", "apply"))
    check_choice("cmyk", cmyk, ("pillow", "opencv", "tensorflow"))
    accepts_damage = _check_recovery_options(recover_truncated, acceptable_fraction, orientation)
    read: Any = "rgb" if channels == "bgr" else channels
    options = DecodeOptions(read, mode, upsampling, gray="libpng", cmyk=cmyk, scale=scale)
    points = entry_points if entry_points is not None and len(entry_points) else None
    stored = (window, 1) if orientation == "ignore" else _find_stored_window(data, options, window, max_pixels)
    if stored is not None:
        arguments = (stored[0], channels, mode, upsampling, cmyk, scale, max_pixels)
        if accepts_damage:
            pixels = _decode_damaged_jpeg(data, arguments, points, recover_truncated, acceptable_fraction)
        else:
            pixels = try_native(lambda: _core.decode_jpeg(data, *arguments, points))
        if pixels is not None:
            return _drop_single_channel(apply_orientation(pixels, stored[1]))
    try:
        return _decode_single_image(data, options, window, orientation, channels == "bgr", max_pixels)
    except ImageError as error:
        if recover_truncated and error.kind not in ("unsupported", "bad_window"):
            raise ImageError(
                "recover_truncated is not supported for this file",
                kind="unsupported",
                expected="a JPEG that the native decoder supports",
                found=error.message,
            ) from error
        raise


@suggest_arguments
def decode_png(
    data: Any,
    *,
    palette: Literal["colors", "indices"] = "colors",
    window: Window | None = None,
    max_pixels: int = MAX_PIXELS,
) -> Pixels:
    """Decode a PNG, and keep the channels and the bit depth of the file.

    Parameters
    ----------
    data : buffer
        The encoded image.
    palette : str
        "colors" converts palette images to colors. "indices" returns palette indices, which is useful for label images.
        It also keeps the stored values of gray images with less than 8 bits instead of scaling them to 0..255.
    window : (int, int, int, int), optional
        x, y, width and height of the part to return.
    max_pixels : int
        Largest accepted number of pixels.

    Returns
    -------
    ndarray of uint8 or uint16, shape (height, width) or (height, width, channels)
        Two channels are gray and alpha, four are red, green, blue and alpha. A transparent color becomes alpha.

    Raises
    ------
    ImageError
        If the data is not a PNG or is damaged, the window reaches beyond the image, or indices are requested for an
        image that has neither a palette nor gray values.
    LimitError
        If the image has more than `max_pixels` pixels.
    """
    _check_signature(data, b"\x89PNG\r\n\x1a\n", "PNG")
    window = _parse_window(window)
    check_choice("palette", palette, ("colors", "indices"))
    pixels = try_native(lambda: _core.decode_png(data, palette == "indices", max_pixels))
    if pixels is not None:
        return _drop_single_channel(_crop_to_window(pixels, window))
    if palette == "indices":
        classes = read_classes(data, max_pixels=max_pixels)
        return _drop_single_channel(_crop_to_window(classes[:, :, None], window))
    return _decode_single_image(data, DecodeOptions("stored"), window, "ignore", False, max_pixels)


@suggest_arguments
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
    """Decode an image of any format the way Pillow, OpenCV, TensorFlow or MXNet does.

    Parameters
    ----------
    data : buffer
        The encoded image.
    like : str
        Framework whose choices are the defaults of the other options. One of "pillow", "opencv", "tensorflow" or
        "mxnet".
    window : (int, int, int, int), optional
        x, y, width and height of the part to decode, in pixels of the decoded, upright image.
    channels, orientation, dct, upsampling
        As in `Image`.
    scale : int
        Denominator of the decoded size, as `reduce` in `Image`: 1, 2, 4 or 8.
    depth : str
        "stored" keeps 16-bit samples. "8" converts them to 8 bits as the framework of `like` does; with
        ``like="pillow"``, 16-bit samples raise an error.
    max_pixels : int
        Largest accepted number of pixels.

    Returns
    -------
    ndarray of uint8 or uint16, shape (height, width, channels), or (height, width) for one channel

    Raises
    ------
    ImageError
        If the data is not an image or is damaged, the window reaches beyond the image, or no decoder supports the
        options.
    LimitError
        If the image has more than `max_pixels` pixels.

    Examples
    --------
    >>> rm.decode_image(Path("photo.jpg").read_bytes(), channels="gray").shape
    (48, 64)
    """
    check_choice("depth", depth, ("stored", "8"))
    arguments = (like, channels, orientation, dct, upsampling, scale, "uint8" if depth == "8" else "uint16")
    try:
        options, applied, reverse = _resolve_options(*arguments)
    except TypeError:
        # An option is invalid, because it cannot be hashed. Call the function without the cache, so that the checks of
        # Image raise an error that names the option.
        options, applied, reverse = _resolve_options.__wrapped__(*arguments)
    return _decode_single_image(data, options, _parse_window(window), applied, reverse, max_pixels)


@functools.lru_cache(64)
def _resolve_options(
    like: Like, channels: Any, orientation: Any, dct: Any, upsampling: Any, scale: Any, dtype: Any
) -> tuple[DecodeOptions, Orientation, bool]:
    """Return the decode options, the EXIF mode ("apply" or "ignore"), and True if the channel order is BGR."""
    compiled = compile_image_spec(
        Image(
            like=like,
            channels=channels,
            orientation=orientation,
            dct=dct,
            upsampling=upsampling,
            reduce=scale,
            dtype=dtype,
        )
    )
    return compiled.plan.options, "apply" if compiled.upright else "ignore", compiled.plan.reverse


def _parse_channels(channels: Any) -> Any:
    return "gray" if channels == "grey" else channels


def _check_signature(data: Any, signature: bytes, name: str) -> None:
    head = bytes(memoryview(data)[: len(signature)])
    if head != signature:
        raise ImageError(
            f"the data is not a {name}", kind="bad_image", expected=signature.hex(" "), found=head.hex(" ")
        )


def _parse_window(window: Any) -> Window | None:
    """Convert a window to four integers; raise if the window is empty, negative, or too large for any image."""
    if window is None:
        return None
    numbers = [index(number) for number in window]
    if len(numbers) != 4:
        raise ValueError(f"window must be (x, y, width, height), got {len(numbers)} numbers")
    x, y, width, height = numbers
    if not (min(x, y) >= 0 and min(width, height) >= 1 and max(numbers) < 1 << 31):
        raise window_error("x and y of at least 0, width and height of at least 1", numbers)
    return x, y, width, height


def _find_stored_window(
    data: Any, options: DecodeOptions, window: Window | None, max_pixels: int
) -> tuple[Window | None, int] | None:
    """Return the window in the stored image, before the EXIF rotation, and the EXIF orientation.

    Return None if the native decoder does not support the image.
    """
    header = read_native_header(data, options, upright=True, max_pixels=max_pixels)
    if header is None:
        return None
    width, height, orientation = header
    if window is None:
        return None, orientation
    check_window(window, width, height)
    return to_stored_window(window, (width, height), orientation), orientation


def _decode_single_image(
    data: Any, options: DecodeOptions, window: Window | None, orientation: str, reverse: bool, max_pixels: int
) -> Pixels:
    """Decode one image natively, or with Pillow if the native decoder does not support it."""
    upright = orientation == "apply"
    output = OutputFormat(reverse=reverse)
    pixels = decode_single(data, options, output, window=window, upright=upright, max_pixels=max_pixels)
    if pixels is not None:
        return _drop_single_channel(pixels)
    with open_image(data) as image:
        check_pixel_count(image.width, image.height, max_pixels)
        exif_orientation = read_orientation(image) if upright else 1
        prepare_image(image, data, options)
        pixels = _crop_to_window(apply_orientation(read_pixels(image, options), exif_orientation), window)
    if reverse and pixels.shape[2] == 3:
        pixels = pixels[:, :, ::-1]
    return _drop_single_channel(pixels)


def _crop_to_window(pixels: Pixels, window: Window | None) -> Pixels:
    if window is None:
        return pixels
    check_window(window, pixels.shape[1], pixels.shape[0])
    return crop_pixels(pixels, window)


def _drop_single_channel(pixels: Pixels) -> Pixels:
    return np.ascontiguousarray(pixels[:, :, 0] if pixels.shape[2] == 1 else pixels)


def _check_recovery_options(recover: bool, acceptable_fraction: float | None, orientation: str) -> bool:
    """Check the options for damaged files; return True if damaged files are allowed."""
    if acceptable_fraction is not None and not 0 <= acceptable_fraction <= 1:
        raise ValueError(f"acceptable_fraction must be from 0 to 1, got {acceptable_fraction}")
    accepts_damage = recover or acceptable_fraction is not None
    if accepts_damage and orientation == "apply":
        raise ValueError('recover_truncated and acceptable_fraction cannot be combined with orientation="apply"')
    return accepts_damage


def _decode_damaged_jpeg(
    data: Any, arguments: tuple[Any, ...], points: Any, recover: bool, acceptable_fraction: float | None
) -> Pixels | None:
    """Decode a JPEG that may be damaged or truncated, as libjpeg-turbo does."""
    # The normal decoder does not detect damage outside a window. Use this decoder only if there is no window.
    if arguments[0] is None:
        try:
            pixels = try_native(lambda: _core.decode_jpeg(*(data, *arguments, points)))
        except ImageError as error:
            if error.kind == "bad_entry_points":
                raise
        else:
            if pixels is not None:
                return pixels
    try:
        (block, height, width, channels), num_rows = _core.decode_truncated_jpeg(*(data, *arguments, recover))
    except _core.ImageRefused as refused:
        kind, offset, expected, found = refused.args
        if kind == "unsupported":
            return None
        if kind != "truncated":
            raise image_error(refused.args) from None
        raise ImageError("the image ends too early", kind=kind, offset=offset, expected=expected, found=found) from None
    fraction = 1.0 if acceptable_fraction is None else acceptable_fraction
    # Compare in float32, as TensorFlow does.
    if np.float32(num_rows) / np.float32(height) < np.float32(fraction):
        raise ImageError(
            "the image ends too early",
            kind="truncated",
            expected=f"at least {fraction:g} of {height} rows",
            found=str(num_rows),
            hint="lower acceptable_fraction= to accept fewer rows",
        )
    return np.asarray(block).reshape(height, width, channels)

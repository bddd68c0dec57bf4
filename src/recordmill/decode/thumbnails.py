"""Create small images for people to look at: thumbnails of encoded images, and PNG files of pixels."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from recordmill import _core
from recordmill.decode.image import decode_image
from recordmill.decode.image_files import image_sizes
from recordmill.decode.native_image import native_image_errors
from recordmill.decode.options import MAX_PIXELS
from recordmill.decode.pillow import import_pillow
from recordmill.decode.signatures import find_image_format
from recordmill.decode.transforms import resize
from recordmill.errors import ImageError, LimitError, MissingExtraError

Pixels = NDArray[np.uint8]

_JPEG_QUALITIES = (85, 70, 50)
_SHRINK_FACTOR = 0.8
_BACKGROUND = 255  # Gray level of the background behind transparent pixels.
_FORMATS_WITH_ALPHA = ("png", "gif", "webp")
_SCALES: tuple[Literal[8, 4, 2], ...] = (8, 4, 2)


def create_thumbnail(data: bytes, size: int = 160, max_bytes: int = 20_000, *, max_pixels: int = MAX_PIXELS) -> bytes:
    """Create a thumbnail of an encoded image.

    Parameters
    ----------
    data : buffer
        Encoded image of any format and mode.
    size : int
        Largest width and height, in pixels. Smaller images are not enlarged.
    max_bytes : int
        Largest size of the result, at least 1000.
    max_pixels : int
        Largest accepted number of pixels of the image.

    Returns
    -------
    bytes
        A JPEG, or a PNG if Pillow is not installed: gray or RGB, 8 bits per sample, upright.

    Raises
    ------
    ImageError
        If the image is damaged, larger than `max_pixels`, or of an unsupported format.
    MissingExtraError
        If the image is neither JPEG nor PNG and Pillow is not installed.
    """
    return encode_thumbnail(read_thumbnail(data, size, max_pixels=max_pixels), max_bytes)


def read_thumbnail(data: bytes, size: int, *, max_pixels: int = MAX_PIXELS) -> Pixels:
    """Decode an image to an array of 1 or 3 channels, and scale it down to fit into size × size pixels."""
    image_format = find_image_format(data)
    try:
        pixels = _decode_scaled(data, image_format, size, max_pixels)
    except LimitError as error:
        raise ImageError(error.message, kind=error.kind, expected=error.expected, found=error.found) from error
    except MissingExtraError as error:
        if image_format in (None, "jpeg", "png"):
            raise ImageError("the image cannot be decoded", kind="bad_image", hint=error.hint) from error
        raise
    return shrink_pixels(drop_alpha(pixels), size)


def _decode_scaled(data: bytes, image_format: str | None, size: int, max_pixels: int) -> NDArray[Any]:
    """Decode an image to an array of shape (height, width, channels). A large JPEG is decoded at a reduced scale."""
    channels: Literal["stored", "rgb"] = "stored" if image_format in _FORMATS_WITH_ALPHA else "rgb"
    longer_side = int(image_sizes([data], max_pixels=max_pixels).max()) if image_format == "jpeg" else 0
    for scale in (*(scale for scale in _SCALES if longer_side >= scale * size), 1):
        try:
            pixels = decode_image(
                data,
                like="mxnet",
                channels=channels,
                orientation="apply",
                scale=scale,  # type: ignore[arg-type]
                depth="8",
                max_pixels=max_pixels,
            )
        except ImageError as error:
            # Pillow cannot reduce every JPEG by every factor. Try the next factor.
            if scale == 1 or error.kind != "unsupported":
                raise
        else:
            return pixels if pixels.ndim == 3 else pixels[:, :, None]
    raise AssertionError("unreachable")


def drop_alpha(pixels: NDArray[Any]) -> Pixels:
    """Draw pixels with an alpha channel on a white background; return pixels without an alpha channel unchanged."""
    if pixels.shape[2] not in (2, 4):
        return pixels
    alpha = pixels[:, :, -1:].astype(np.uint16)
    return ((pixels[:, :, :-1] * alpha + _BACKGROUND * (255 - alpha) + 127) // 255).astype(np.uint8)


def shrink_pixels(pixels: Pixels, size: int) -> Pixels:
    """Scale an image down to fit into size × size; return smaller images unchanged."""
    height, width = pixels.shape[:2]
    factor = size / max(height, width)
    if factor >= 1:
        return pixels
    shrunk: Pixels = resize(pixels, (max(1, round(height * factor)), max(1, round(width * factor))))
    return shrunk


def encode_thumbnail(pixels: Pixels, max_bytes: int = 20_000) -> bytes:
    """Encode pixels of 1 or 3 channels as a JPEG (PNG if Pillow is not installed) of at most `max_bytes` bytes."""
    if max_bytes < 1000:
        raise ValueError(f"max_bytes must be at least 1000, got {max_bytes}")
    side: float = max(pixels.shape[:2])
    while True:
        for encoded in _encode_at_each_quality(shrink_pixels(pixels, max(1, int(side)))):
            if len(encoded) <= max_bytes:
                return encoded
        side *= _SHRINK_FACTOR


def _encode_at_each_quality(pixels: Pixels) -> Iterator[bytes]:
    try:
        pillow = import_pillow()
    except MissingExtraError:
        yield encode_pixels(pixels)
        return
    image = pillow.fromarray(pixels[:, :, 0] if pixels.shape[2] == 1 else pixels)
    for quality in _JPEG_QUALITIES:
        file = io.BytesIO()
        image.save(file, "JPEG", quality=quality)
        yield file.getvalue()


def encode_pixels(pixels: NDArray[np.uint8]) -> bytes:
    """Encode pixels as PNG. They have dtype uint8, shape (height, width, channels), and 1 to 4 channels."""
    samples: Any = np.ascontiguousarray(pixels, np.uint8).reshape(-1)
    height, width, channels = pixels.shape
    with native_image_errors():
        return bytes(memoryview(_core.encode_png(samples, height, width, channels)))

"""Convert decoded images to 8-bit pixels, and masks of class labels to colors, for display."""

from __future__ import annotations

import colorsys
import zlib
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.decode.options import OutputFormat
from recordmill.decode.plan import compile_image_spec
from recordmill.decode.specs.image import Image

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
# Opacity of the classes of a mask. The background and the label 255, which means "ignore", are transparent.
MASK_OPACITY = 0.6
_TRANSPARENT = (0, 255)
# Number of levels by which a float image may be darker than black or brighter than white, for example because the
# resize kernel overshoots.
_TOLERANCE = 26


def find_images(value: Any, layout: str | None) -> list[NDArray[Any]]:
    """Return the images in a value with channels last. The value is one image, or a list or an array of images.

    Parameters
    ----------
    value : object
    layout : str or None
        "chw" or "hwc" if it is known; otherwise the channels are the shorter axis of 1, 3 or 4.
    """
    if isinstance(value, list) or (isinstance(value, np.ndarray) and value.ndim == 4):
        images = [image for part in value for image in find_images(part, layout)]
        return images if len(images) == len(value) else []
    if not isinstance(value, np.ndarray) or value.ndim != 3 or not value.size or value.dtype.kind not in "buif":
        return []
    axes = sorted((0, 2), key=value.shape.__getitem__) if layout is None else [{"chw": 0, "hwc": 2}[layout]]
    for axis in axes:
        if value.shape[axis] in (1, 3, 4) or (layout and value.shape[axis] == 2):
            return [np.moveaxis(value, axis, 2)]
    return [] if layout is None else find_images(value, None)


def to_levels(pixels: NDArray[Any], spec: Any = None) -> NDArray[np.uint8]:
    """Convert an image, channels last, to 8-bit levels.

    The normalization of an `Image` spec is inverted. Floats from 0 to 1 and integers from 0 to 255 keep their
    brightness. Others are scaled, so that the minimum is black and the maximum white.

    Parameters
    ----------
    pixels : ndarray, shape (height, width, 1 to 4)
    spec : object
        Spec with which the image was decoded, if it is known.
    """
    output = compile_image_spec(spec).plan.output if isinstance(spec, Image) else None
    levels = _convert_to_uint8(pixels, output)
    return levels[..., ::-1] if output is not None and output.reverse and levels.shape[2] == 3 else levels


def _convert_to_uint8(pixels: NDArray[Any], output: OutputFormat | None) -> NDArray[np.uint8]:
    if pixels.dtype == np.uint8:
        return pixels
    if pixels.dtype == np.uint16:
        return (pixels >> 8).astype(np.uint8)
    if pixels.dtype == np.bool_:
        return pixels.astype(np.uint8) * np.uint8(255)
    numbers = pixels.astype(np.float32)
    finite = numbers[np.isfinite(numbers)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    numbers = np.nan_to_num(numbers, nan=low, posinf=high, neginf=low)
    if output is not None and pixels.dtype.kind == "f":
        levels = _invert_normalization(numbers, output)
        # If the levels are clearly outside of 0 to 255, a function has changed the image after the decode stage.
        if levels is not None and levels.min() >= -_TOLERANCE and levels.max() <= 255 + _TOLERANCE:
            return _round_to_uint8(levels)
    if low >= 0 and high <= (1 if pixels.dtype.kind == "f" else 255):
        low, high = 0.0, 1.0 if pixels.dtype.kind == "f" else 255.0
    return _round_to_uint8((numbers - low) * (255 / (high - low) if high > low else 0.0))


def _invert_normalization(numbers: NDArray[np.float32], output: OutputFormat) -> NDArray[np.float32] | None:
    """Undo the normalization by `mean` and `std`. Return the values on the scale from 0 to 255.

    Return None if the image has a different number of channels than `mean` or `std`.
    """
    mean, std = np.array(output.mean or (0,), np.float32), np.array(output.std or (1,), np.float32)
    if not {mean.size, std.size} <= {1, numbers.shape[2]}:
        return None
    return (numbers * std + mean) * np.float32(255 / output.white)


def _round_to_uint8(levels: NDArray[Any]) -> NDArray[np.uint8]:
    rounded: NDArray[np.uint8] = np.clip(np.rint(levels), 0, 255).astype(np.uint8)
    return rounded


def to_labels(mask: NDArray[Any]) -> NDArray[np.uint8]:
    """Convert class labels of any integer type to uint8.

    The result is 0, the background, for label 255 and for labels up to 0. Labels above 255 are mapped to 1 to 254, so
    that they share colors with smaller labels.
    """
    is_background = (mask <= 0) | (mask == 255)
    labels: NDArray[np.uint8] = ((mask.astype(np.int64) - 1) % 254 + 1).astype(np.uint8)
    labels[is_background] = 0
    return labels


def encode_mask(mask: NDArray[np.uint8]) -> bytes:
    """Encode a mask of shape (height, width) with one color per class; 0 and 255 are transparent."""
    height, width = mask.shape
    header = width.to_bytes(4, "big") + height.to_bytes(4, "big") + bytes([8, 3, 0, 0, 0])
    opacity = bytes(0 if label in _TRANSPARENT else round(255 * MASK_OPACITY) for label in range(256))
    # In a PNG, each row of pixels begins with the number of a filter; 0 means no filter.
    rows = np.zeros((height, width + 1), np.uint8)
    rows[:, 1:] = mask
    chunks = (
        (b"IHDR", header),
        (b"PLTE", mask_colors().tobytes()),
        (b"tRNS", opacity),
        (b"IDAT", zlib.compress(rows.tobytes(), 1)),
        (b"IEND", b""),
    )
    return _SIGNATURE + b"".join(_build_png_chunk(kind, data) for kind, data in chunks)


def _build_png_chunk(kind: bytes, data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")


@cache
def mask_colors() -> NDArray[np.uint8]:
    """Return 256 different colors, of shape (256, 3). Neighboring labels have very different hues."""
    colors = (
        colorsys.hsv_to_rgb(label * 0.618034 % 1, 1 - 0.15 * (label % 3), 1 - 0.1 * (label % 4)) for label in range(256)
    )
    levels: NDArray[np.uint8] = np.rint(255 * np.array(list(colors))).astype(np.uint8)
    return levels

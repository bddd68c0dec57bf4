"""Convert the arrays of samples to 8-bit pixels that can be shown."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.decode.specs.image import Image

# Number of levels by which a float image may exceed black and white, for instance after a resize that overshoots.
_TOLERANCE = 26


def find_images(value: Any, layout: str | None) -> list[NDArray[Any]]:
    """Return the images in a value, channels last: one array, or a list or an array of several.

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

    The normalization of an `Image` spec is inverted. Other floats are scaled, so that 0 is black and 1 is white if they
    lie between, else so that the minimum is black and the maximum white.

    Parameters
    ----------
    pixels : ndarray, shape (height, width, 1 to 4)
    spec : object
        Spec with which the image was decoded, if it is known.
    """
    image_spec = spec if isinstance(spec, Image) else None
    levels = _to_levels(pixels, image_spec)
    is_bgr = image_spec is not None and image_spec.channels == "bgr" and levels.shape[2] == 3
    return levels[..., ::-1] if is_bgr else levels


def _to_levels(pixels: NDArray[Any], spec: Image | None) -> NDArray[np.uint8]:
    if pixels.dtype == np.uint8:
        return pixels
    if pixels.dtype == np.uint16:
        return (pixels >> 8).astype(np.uint8)
    if pixels.dtype == np.bool_:
        return pixels.astype(np.uint8) * np.uint8(255)
    numbers = np.nan_to_num(pixels.astype(np.float32), posinf=0.0, neginf=0.0)
    if spec is not None and pixels.dtype.kind == "f":
        levels = _invert_normalization(numbers, spec)
        # Other values were changed by a function after the decode stage.
        if levels is not None and levels.min() >= -_TOLERANCE and levels.max() <= 255 + _TOLERANCE:
            return _round(levels)
    low, high = float(numbers.min()), float(numbers.max())
    if pixels.dtype.kind == "f" and low >= 0 and high <= 1:
        low, high = 0.0, 1.0
    return _round((numbers - low) * (255 / (high - low) if high > low else 0.0))


def _invert_normalization(numbers: NDArray[np.float32], spec: Image) -> NDArray[np.float32] | None:
    """Return the 8-bit levels before `mean` and `std`; None if the number of channels has changed since."""
    for values in (spec.mean, spec.std):
        if values is not None and np.size(values) not in (1, numbers.shape[2]):
            return None
    scaled = numbers if spec.std is None else numbers * np.array(spec.std, np.float32)
    shifted = scaled if spec.mean is None else scaled + np.array(spec.mean, np.float32)
    return shifted * np.float32(255 / spec.white)


def _round(levels: NDArray[Any]) -> NDArray[np.uint8]:
    rounded: NDArray[np.uint8] = np.clip(np.rint(levels), 0, 255).astype(np.uint8)
    return rounded


def to_labels(mask: NDArray[Any]) -> NDArray[np.uint8]:
    """Convert class labels of any integer type to 8 bits: 0 and 255 are background, larger ones repeat the colors."""
    is_background = (mask <= 0) | (mask == 255)
    labels: NDArray[np.uint8] = ((mask.astype(np.int64) - 1) % 254 + 1).astype(np.uint8)
    labels[is_background] = 0
    return labels

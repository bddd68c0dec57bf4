"""``tf.image.crop_to_bounding_box``, ``pad_to_bounding_box``, ``central_crop`` and ``resize_with_crop_or_pad``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import SIZES_UNKNOWN, op
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.images.arguments import to_image, to_integer, to_number


@op("image.crop_to_bounding_box")
def crop_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Tensor:
    """``tf.image.crop_to_bounding_box``: crop a window, which must be inside the image."""
    window = map(to_integer, (offset_height, offset_width, target_height, target_width))
    return Tensor(crop_image(to_image(image), *window))


@op("image.pad_to_bounding_box")
def pad_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Tensor:
    """``tf.image.pad_to_bounding_box``: place an image at an offset in a larger image of zeros."""
    window = map(to_integer, (offset_height, offset_width, target_height, target_width))
    return Tensor(pad_image(to_image(image), *window))


@op("image.resize_with_crop_or_pad")
def resize_with_crop_or_pad(image: Any, target_height: Any, target_width: Any) -> Tensor:
    """``tf.image.resize_with_crop_or_pad``: crop to the center or pad with zeros, separately for each axis."""
    pixels, height, width = to_image(image), to_integer(target_height), to_integer(target_width)
    check_target_size(height, width)
    missing_height, missing_width = height - pixels.shape[-3], width - pixels.shape[-2]
    size = (min(height, pixels.shape[-3]), min(width, pixels.shape[-2]))
    center = crop_image(pixels, max(-missing_height // 2, 0), max(-missing_width // 2, 0), *size)
    return Tensor(pad_image(center, max(missing_height // 2, 0), max(missing_width // 2, 0), height, width))


@op("image.central_crop")
def central_crop(image: Any, central_fraction: Any) -> Tensor:
    """``tf.image.central_crop``: keep the central `central_fraction` of height and width."""
    pixels, fraction = array_of(image), float(to_number(central_fraction))
    if type(central_fraction) is float and SIZES_UNKNOWN.get():
        # TensorFlow rounds the fraction to float32 if the image size is unknown.
        fraction = float(np.float32(fraction))
    if not 0.0 < fraction <= 1.0:
        raise ValueError(f"central_fraction must be in (0, 1], got {fraction}")
    if fraction == 1.0:
        return Tensor(pixels)
    height, width = to_image(pixels).shape[-3:-1]
    y, x = (int((side - side * fraction) / 2) for side in (float(height), float(width)))
    return Tensor(np.ascontiguousarray(pixels[..., y : height - y, x : width - x, :]))


def check_target_size(height: int, width: int) -> None:
    """Raise ValueError if a target height or width is not positive."""
    if height <= 0 or width <= 0:
        raise ValueError(f"target_height and target_width must be positive, got {height} and {width}")


def crop_image(image: NDArray[Any], y: int, x: int, height: int, width: int) -> NDArray[Any]:
    """Crop a window of an array; raise ValueError unless the window is inside the array."""
    check_target_size(height, width)
    if not (0 <= y <= image.shape[-3] - height and 0 <= x <= image.shape[-2] - width):
        window = f"top {y}, left {x}, height {height}, width {width}"
        raise ValueError(f"the crop window must be inside the image of shape {image.shape}, got {window}")
    return np.ascontiguousarray(image[..., y : y + height, x : x + width, :])


def pad_image(image: NDArray[Any], y: int, x: int, height: int, width: int) -> NDArray[Any]:
    """Place an array at an offset in an image of zeros."""
    bottom, right = y + image.shape[-3], x + image.shape[-2]
    if min(y, x) < 0 or bottom > height or right > width:
        target = f"height {height}, width {width}"
        raise ValueError(f"the image of shape {image.shape} at offset {(y, x)} must fit into the target: {target}")
    out = np.zeros((*image.shape[:-3], height, width, image.shape[-1]), image.dtype)
    out[..., y:bottom, x:right, :] = image
    return out

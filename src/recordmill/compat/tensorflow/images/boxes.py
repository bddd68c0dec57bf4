"""``tf.image.crop_to_bounding_box``, ``central_crop`` and the other windows and borders."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.graph_sizes import UNKNOWN
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.images.checks import framed, image_of, number_of, whole


def cropped(image: NDArray[Any], y: int, x: int, height: int, width: int) -> NDArray[Any]:
    """Window of an image."""
    _demand(x >= 0, "offset_width must be >= 0.")
    _demand(y >= 0, "offset_height must be >= 0.")
    check_target(height, width)
    _demand(image.shape[-2] >= width + x, "width must be >= target + offset.")
    _demand(image.shape[-3] >= height + y, "height must be >= target + offset.")
    return np.ascontiguousarray(image[..., y : y + height, x : x + width, :])


def padded(image: NDArray[Any], y: int, x: int, height: int, width: int) -> NDArray[Any]:
    """Zeros around an image."""
    right, below = width - x - image.shape[-2], height - y - image.shape[-3]
    _demand(y >= 0, "offset_height must be >= 0")
    _demand(x >= 0, "offset_width must be >= 0")
    _demand(right >= 0, "width must be <= target - offset")
    _demand(below >= 0, "height must be <= target - offset")
    made = np.zeros((*image.shape[:-3], height, width, image.shape[-1]), image.dtype)
    made[..., y : y + image.shape[-3], x : x + image.shape[-2], :] = image
    return made


def _demand(holds: bool, message: str) -> None:
    if not holds:
        raise ValueError(message)


def check_target(height: int, width: int) -> None:
    """Refuse an empty result."""
    _demand(width > 0, "target_width must be > 0.")
    _demand(height > 0, "target_height must be > 0.")


@op("image.crop_to_bounding_box")
def crop_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Tensor:
    """Window of an image."""
    numbers = (offset_height, offset_width, target_height, target_width)
    return Tensor(cropped(framed(image), *map(whole, numbers)))


@op("image.pad_to_bounding_box")
def pad_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Tensor:
    """Zeros around an image."""
    numbers = (offset_height, offset_width, target_height, target_width)
    return Tensor(padded(framed(image), *map(whole, numbers)))


@op("image.resize_with_crop_or_pad")
def resize_with_crop_or_pad(image: Any, target_height: Any, target_width: Any) -> Tensor:
    """Middle of an image, with zeros around it where it is smaller."""
    pixels, height, width = framed(image), whole(target_height), whole(target_width)
    check_target(height, width)
    down, across = height - pixels.shape[-3], width - pixels.shape[-2]
    kept = (min(height, pixels.shape[-3]), min(width, pixels.shape[-2]))
    middle = cropped(pixels, max(-down // 2, 0), max(-across // 2, 0), *kept)
    return Tensor(padded(middle, max(down // 2, 0), max(across // 2, 0), height, width))


@op("image.central_crop")
def central_crop(image: Any, central_fraction: Any) -> Tensor:
    """Middle of an image."""
    pixels, fraction = array_of(image), float(number_of(central_fraction))
    if type(central_fraction) is float and UNKNOWN.get():
        fraction = float(np.float32(fraction))  # as graphs hold it, where they do not know how large the image is
    if not 0.0 < fraction <= 1.0:
        raise ValueError("central_fraction must be within (0, 1]")
    if fraction == 1.0:
        return Tensor(pixels)
    if pixels.ndim > 4:
        raise ValueError(f"`image` should either be a Tensor with rank = 3 or rank = 4. Had rank = {pixels.ndim}.")
    image_of(pixels)
    height, width = pixels.shape[-3:-1]
    y, x = (int((side - side * fraction) / 2) for side in (float(height), float(width)))
    return Tensor(np.ascontiguousarray(pixels[..., y : height - y, x : width - x, :]))

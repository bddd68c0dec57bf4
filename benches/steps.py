"""Image transforms in OpenCV and NumPy, for contenders without their own."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np

from benches.tasks.base import Recipe

SIDE, SHORTER = 224, 256
# Mean and standard deviation of ImageNet in 8-bit levels: red, green, blue.
MEAN, STD = (123.675, 116.28, 103.53), (58.395, 57.12, 57.375)
_AREA, _RATIO = (0.08, 1.0), (3 / 4, 4 / 3)

Box = tuple[int, int, int, int]


def random_box(height: int, width: int, draw: random.Random) -> Box:
    """Draw the window of a random-resized crop: 8 to 100 % of the area, aspect ratio 3:4 to 4:3, at most ten attempts.

    Parameters
    ----------
    height, width : int
    draw : random.Random

    Returns
    -------
    tuple of int
        x, y, width, height.
    """
    for _ in range(10):
        area = height * width * draw.uniform(*_AREA)
        ratio = math.exp(draw.uniform(math.log(_RATIO[0]), math.log(_RATIO[1])))
        box_width, box_height = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if 0 < box_width <= width and 0 < box_height <= height:
            return draw.randint(0, width - box_width), draw.randint(0, height - box_height), box_width, box_height
    side = min(height, width)
    return (width - side) // 2, (height - side) // 2, side, side


def center_box(height: int, width: int) -> Box:
    """Return the window that becomes the center crop of 224 when the shorter side is resized to 256.

    Parameters
    ----------
    height, width : int

    Returns
    -------
    tuple of int
        x, y, width, height.
    """
    side = round(min(height, width) * SIDE / SHORTER)
    return (width - side) // 2, (height - side) // 2, side, side


class Steps:
    """Transforms images as a task requires: crop, resize without antialiasing, flip, normalize.

    Parameters
    ----------
    recipe : {"crop", "crop-uint8", "center", "digit", "function"}
    """

    def __init__(self, recipe: Recipe) -> None:
        import cv2

        cv2.setNumThreads(0)
        self._recipe, self._draw = recipe, random.Random()
        # Arrays of full size, because NumPy takes ten times as long to broadcast over three channels.
        self._factors = np.tile(1 / np.array(STD, np.float32), (SIDE, SIDE, 1))
        self._offsets = np.tile(np.array(MEAN, np.float32) / np.array(STD, np.float32), (SIDE, SIDE, 1))

    def file(self, data: bytes) -> Any:
        """Decode and transform an image file.

        Parameters
        ----------
        data : bytes

        Returns
        -------
        ndarray, shape (224, 224, 3) or (28, 28)
        """
        import cv2

        buffer = np.frombuffer(data, np.uint8)
        if self._recipe == "function":
            return pad_and_crop(cv2.imdecode(buffer, cv2.IMREAD_GRAYSCALE))
        if self._recipe == "digit":
            return cv2.imdecode(buffer, cv2.IMREAD_GRAYSCALE).astype(np.float32) * np.float32(1 / 255)
        return self.pixels(cv2.imdecode(buffer, cv2.IMREAD_COLOR_RGB))

    def pixels(self, pixels: Any) -> Any:
        """Transform a decoded image.

        Parameters
        ----------
        pixels : ndarray of uint8, shape (height, width, 3)

        Returns
        -------
        ndarray, shape (224, 224, 3)
        """
        import cv2

        height, width = pixels.shape[:2]
        is_center = self._recipe == "center"
        x, y, box_width, box_height = center_box(height, width) if is_center else random_box(height, width, self._draw)
        part = pixels[y : y + box_height, x : x + box_width]
        image = cv2.resize(part, (SIDE, SIDE), interpolation=cv2.INTER_LINEAR)
        if not is_center and self._draw.random() < 0.5:
            image = cv2.flip(image, 1)
        if self._recipe == "crop-uint8":
            return image
        values = image.astype(np.float32)
        values *= self._factors
        values -= self._offsets
        return values


def pad_and_crop(pixels: Any) -> Any:
    """Pad a digit, crop the same pixels and scale them: several small NumPy calls, as in augmentations.

    Parameters
    ----------
    pixels : ndarray of uint8, shape (28, 28)

    Returns
    -------
    ndarray of float32, shape (28, 28)
    """
    return np.pad(pixels, 2)[2:-2, 2:-2].astype(np.float32) * np.float32(1 / 255)


def decode_raw_digit(data: bytes) -> Any:
    """Decode a digit that is stored as raw pixels.

    Parameters
    ----------
    data : bytes

    Returns
    -------
    ndarray of float32, shape (28, 28)
    """
    return np.frombuffer(data, np.uint8).reshape(28, 28).astype(np.float32) * np.float32(1 / 255)

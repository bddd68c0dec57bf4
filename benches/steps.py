"""The steps of the image tasks for contenders that bring none of their own, in OpenCV and NumPy."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np

from benches.tasks.base import Recipe

SIDE, SHORTER = 224, 256
# Of ImageNet, in levels from 0 to 255, red first.
MEAN, STD = (123.675, 116.28, 103.53), (58.395, 57.12, 57.375)
_AREA, _RATIO = (0.08, 1.0), (3 / 4, 4 / 3)

Box = tuple[int, int, int, int]


def random_box(height: int, width: int, draw: random.Random) -> Box:
    """Window of a random-resized crop: 8 % to all of the area, sides from 3:4 to 4:3, at most ten trials.

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
    """Window that becomes the center crop of 224 once the shorter side is 256.

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
    """One image to what the task wants: cut, resized without antialiasing, mirrored, normalized.

    Parameters
    ----------
    recipe : {"crop", "crop-uint8", "center", "digit", "function"}
    """

    def __init__(self, recipe: Recipe) -> None:
        import cv2

        cv2.setNumThreads(0)
        self._recipe, self._draw = recipe, random.Random()
        # In full size: broadcasting over three channels takes NumPy ten times as long.
        self._factors = np.tile(1 / np.array(STD, np.float32), (SIDE, SIDE, 1))
        self._offsets = np.tile(np.array(MEAN, np.float32) / np.array(STD, np.float32), (SIDE, SIDE, 1))

    def file(self, data: bytes) -> Any:
        """From the bytes of an image file.

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
            return framed(cv2.imdecode(buffer, cv2.IMREAD_GRAYSCALE))
        if self._recipe == "digit":
            return cv2.imdecode(buffer, cv2.IMREAD_GRAYSCALE).astype(np.float32) * np.float32(1 / 255)
        return self.pixels(cv2.imdecode(buffer, cv2.IMREAD_COLOR_RGB))

    def pixels(self, pixels: Any) -> Any:
        """From decoded pixels.

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


def framed(pixels: Any) -> Any:
    """Digit with a frame, cut out of it again where it was: a few small calls, as augmentations consist of.

    Parameters
    ----------
    pixels : ndarray of uint8, shape (28, 28)

    Returns
    -------
    ndarray of float32, shape (28, 28)
    """
    return np.pad(pixels, 2)[2:-2, 2:-2].astype(np.float32) * np.float32(1 / 255)


def digit_of(data: bytes) -> Any:
    """Digit stored as the bytes of its pixels.

    Parameters
    ----------
    data : bytes

    Returns
    -------
    ndarray of float32, shape (28, 28)
    """
    return np.frombuffer(data, np.uint8).reshape(28, 28).astype(np.float32) * np.float32(1 / 255)

"""Images in memory at other sizes, through the native module."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill import _core
from recordmill.decode.executors.native_one import change_one, image_error
from recordmill.decode.moves import Moves
from recordmill.decode.pixels.values import Values
from recordmill.decode.presets import gives_floats


def resize_images(images: NDArray[Any], size: tuple[int, int], kernel: str) -> NDArray[Any]:
    """Scale images of one size in memory, each as `resize_one` does it."""
    if gives_floats(kernel):
        return resize_floats(images, size, kernel)
    out = np.empty((len(images), *size, images.shape[3]), images.dtype)
    for image, place in zip(images, out, strict=True):
        place[...] = resize_one(image, size, kernel)
    return out


def resize_one(pixels: NDArray[Any], size: tuple[int, int], kernel: str) -> NDArray[Any]:
    """Scale one image in memory as a plan for a batch would."""
    if kernel.endswith(":nearest"):
        return _picked(pixels, size, kernel)
    if gives_floats(kernel) or (pixels.dtype == np.float32 and kernel.startswith("opencv:")):
        return resize_floats(pixels, size, kernel)
    height, width, _ = pixels.shape
    wanted = np.array([[0, 0, size[1], size[0]]])
    moves = Moves(np.array([[0, 0, width, height]]), wanted[:, 2:], wanted, np.zeros((1, 2), np.bool_))
    white = 65535.0 if pixels.dtype == np.uint16 else 255.0
    return change_one(pixels, Values(pixels.dtype.name, white=white), moves=moves, kernel=kernel)


def _picked(pixels: NDArray[Any], size: tuple[int, int], kernel: str) -> NDArray[Any]:
    flat, shape = np.ascontiguousarray(pixels).reshape(-1), pixels.shape
    try:
        made: Any = _core.pick_pixels(flat, pixels.dtype.name, shape, size, kernel)
    except _core.ImageRefused as refused:
        raise image_error(refused.args) from None
    return np.frombuffer(made, pixels.dtype).reshape(*size, shape[2])


def resize_floats(pixels: NDArray[Any], size: tuple[int, int], kernel: str) -> NDArray[np.float32]:
    """Scale images by a kernel that gives floats, or floats by one of OpenCV's."""
    flat, shape = np.ascontiguousarray(pixels).reshape(-1), pixels.shape
    try:
        made = _core.resize_floats(flat, pixels.dtype.name, shape[-3:], size, kernel)
    except _core.ImageRefused as refused:
        raise image_error(refused.args) from None
    return np.asarray(made).reshape(*shape[:-3], *size, shape[-1])

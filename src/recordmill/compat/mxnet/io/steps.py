"""One image step by step: for images that are resized several times, or cut and then resized."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.mxnet.base import MXNetError
from recordmill.compat.mxnet.io.geometry import grow_to, shorter_to
from recordmill.compat.mxnet.kernels import kernel_for

Pixels = NDArray[np.uint8]


def prepare_image(data: Any, values: Mapping[str, Any], draws: rm.Draws, position: int) -> Pixels:
    """Decode, scale, pad and cut one image.

    Parameters
    ----------
    data : buffer
    values : mapping of str to object
        The parameters of the iterator.
    draws : Draws
    position : int
        Of the sample in the epoch.

    Returns
    -------
    ndarray of uint8, shape (height, width, channels)
        Red, green, blue.

    Raises
    ------
    ImageError, LimitError
        No image, or one that is too large.
    MXNetError
        An image smaller than the square that is to be cut.
    """
    channels, height, width = values["data_shape"]
    words = {1: "grey", 3: "rgb", 4: "stored"}
    orientation = "ignore" if channels == 4 else "apply"
    pixels = rm.decode_image(data, like="mxnet", channels=words[channels], orientation=orientation, depth="8")  # type: ignore[arg-type]
    if pixels.ndim == 2:
        pixels = pixels[:, :, None]
    if pixels.shape[2] != channels:
        raise MXNetError(f"Expected {channels} channels, got {pixels.shape[2]}", kind="channel_mismatch")
    shorter = shorter_to(_size(pixels), values["resize"])
    pixels = _resized(pixels, shorter, _kernel(pixels, shorter, values))
    if pad := values["pad"]:
        rows, columns = pixels.shape[:2]
        pixels = rm.crop(pixels, (-pad, -pad, columns + 2 * pad, rows + 2 * pad), fill=fill_of(values))
    if max(values["max_crop_size"], values["min_crop_size"]) > 0:
        pixels = _square(pixels, values, draws, position)
    else:
        goal = np.array((height, width))
        kernel = _kernel(pixels, goal[None], values)
        for side in (0, 1):
            pixels = _resized(pixels, grow_to(_size(pixels), goal, side), kernel)
        pixels = _window(pixels, (height, width), values, draws, position)
    return rm.flip(pixels) if _is_mirrored(values, draws, position) else pixels


def fill_of(values: Mapping[str, Any]) -> int | tuple[int, ...]:
    """Levels that padding adds: a fourth channel gets none of `fill_value`, as in MXNet.

    Parameters
    ----------
    values : mapping of str to object
        The parameters of the iterator.

    Returns
    -------
    int or tuple of int
    """
    fill: int = values["fill_value"]
    return (fill, fill, fill, 0) if values["data_shape"][0] == 4 else fill


def _size(pixels: Pixels) -> NDArray[np.int64]:
    return np.array([pixels.shape[:2]])


def _kernel(pixels: Pixels, size: NDArray[np.int64], values: Mapping[str, Any]) -> str:
    return kernel_for(values["inter_method"], _size(pixels), size)


def _resized(pixels: Pixels, size: NDArray[np.int64], kernel: str) -> Pixels:
    height, width = size[0].tolist()
    if (height, width) == pixels.shape[:2]:
        return pixels
    return rm.resize(pixels, (max(height, 1), max(width, 1)), kernel=kernel)


def _square(pixels: Pixels, values: Mapping[str, Any], draws: rm.Draws, position: int) -> Pixels:
    """A square of a size between the two, brought to the batch's."""
    largest, smallest = values["max_crop_size"], values["min_crop_size"]
    if min(pixels.shape[:2]) < largest:
        message = "Check failed: input image size smaller than max_crop_size"
        found = f"{pixels.shape[1]} x {pixels.shape[0]}"
        raise MXNetError(message, kind="small_image", expected=f"at least {largest} pixels", found=found)
    side = smallest
    if largest > smallest:
        side += int(draws.integers([position], rm.Stage.CROP, largest - smallest + 1, first=2)[0])
    cut = _window(pixels, (side, side), values, draws, position)
    goal = np.array([values["data_shape"][1:]])
    return _resized(cut, goal, _kernel(cut, goal, values))


def _window(pixels: Pixels, size: tuple[int, int], values: Mapping[str, Any], draws: rm.Draws, position: int) -> Pixels:
    room = [pixels.shape[side] - size[side] for side in (0, 1)]
    if values["rand_crop"]:
        drawn = [draws.integers([position], rm.Stage.CROP, room[1 - axis] + 1, first=axis) for axis in (0, 1)]
        left, top = (int(one[0]) for one in drawn)
    else:
        top, left = (one // 2 for one in room)
    return rm.crop(pixels, (left, top, size[1], size[0]))


def _is_mirrored(values: Mapping[str, Any], draws: rm.Draws, position: int) -> bool:
    if values["mirror"] or not values["rand_mirror"]:
        return bool(values["mirror"])
    return bool(draws.booleans([position], rm.Stage.FLIP, 0.5)[0])

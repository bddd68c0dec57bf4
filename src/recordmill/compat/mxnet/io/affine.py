"""Rotation, shear, scale and aspect ratio of ImageRecordIter: one affine map about the middle of an image."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.mxnet.io.asked import aspect_ratios
from recordmill.compat.mxnet.io.methods import drawn_method
from recordmill.compat.mxnet.io.numbers import Numbers
from recordmill.compat.mxnet.kernels import AREA, BILINEAR
from recordmill.dataclass import dataclass

_KERNELS: Any = {0: "nearest", 1: "bilinear", 2: "cubic", 4: "lanczos4"}
_TWO = np.float32(2)


@dataclass(frozen=True, eq=False, slots=True)
class AffineMap:
    """A map of one image."""

    matrix: NDArray[np.float32]
    size: tuple[int, int]


def draw_map(size: tuple[int, int], values: Mapping[str, Any], chance: Numbers) -> AffineMap:
    """Draw the map of an image; float32 throughout, with MXNet's order of operations."""
    shear = chance.uniform() * np.float32(values["max_shear_ratio"]) * _TWO - np.float32(values["max_shear_ratio"])
    angle = chance.integer(-values["max_rotate_angle"], values["max_rotate_angle"])
    turn = (values["rotate"] if values["rotate"] > 0 else angle) / 180.0 * math.pi
    cosine, sine = np.float32(math.cos(turn)), np.float32(math.sin(turn))
    scale, ratio = _stretch(values, chance)
    down = _TWO * scale / (np.float32(1) + ratio)
    across = ratio * down
    height, width = (np.float32(side) for side in size)
    smallest, largest = np.float32(values["min_img_size"]), np.float32(values["max_img_size"])
    wide, high = (max(smallest, min(largest, scale * side)) for side in (width, height))
    a, b = down * cosine - shear * sine * across, down * sine + shear * cosine * across
    d, e = -sine * across, cosine * across
    c, f = (wide - (a * width + b * height)) / _TWO, (high - (d * width + e * height)) / _TWO
    return AffineMap(np.array([[a, b, c], [d, e, f]], np.float32), (int(high), int(wide)))


def _stretch(values: Mapping[str, Any], chance: Numbers) -> tuple[np.float32, np.float32]:
    """Scale and aspect ratio, which are not drawn where random windows have theirs."""
    if values["random_resized_crop"]:
        return np.float32(1), np.float32(1)
    low, high = (np.float32(values[f"{end}_random_scale"]) for end in ("min", "max"))
    scale = chance.uniform() * (high - low) + low
    low, high = (np.float32(end) for end in aspect_ratios(values))
    return scale, chance.uniform() * (high - low) + low


def mapped(pixels: NDArray[np.uint8], values: Mapping[str, Any], chance: Numbers) -> NDArray[np.uint8]:
    """Send an image through a map of its own."""
    height, width, channels = pixels.shape
    made = draw_map((height, width), values, chance)
    method = drawn_method(values["inter_method"], (height, width), made.size, chance)
    kernel = _KERNELS[BILINEAR if method == AREA else method]
    fill = [values["fill_value"]] * min(channels, 3) + [0] * (channels - 3)
    size = tuple(max(side, 1) for side in made.size)
    return rm.warp_affine(pixels, made.matrix, size, kernel=kernel, fill=fill)

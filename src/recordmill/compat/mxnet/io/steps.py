"""One image step by step, with MXNet's draws: for what no single native call does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.mxnet.io.affine import mapped
from recordmill.compat.mxnet.io.asked import has_map
from recordmill.compat.mxnet.io.colouring import coloured
from recordmill.compat.mxnet.io.geometry import grow_to, shorter_to
from recordmill.compat.mxnet.io.methods import drawn_method, resized
from recordmill.compat.mxnet.io.numbers import Numbers
from recordmill.compat.mxnet.io.singles import decoded
from recordmill.compat.mxnet.io.windows import draw_area, draw_square, draw_window

Pixels = NDArray[np.uint8]


def prepare_image(data: Any, values: Mapping[str, Any], chance: Numbers) -> Pixels:
    """Decode, scale, map, pad, cut and colour one image."""
    pixels = decoded(data, values["data_shape"][0])
    shorter = _as_size(shorter_to(_sizes(pixels), values["resize"]))
    if values["resize"] != -1:
        pixels = resized(pixels, shorter, drawn_method(values["inter_method"], pixels.shape[:2], shorter, chance))
    if has_map(values):
        pixels = mapped(pixels, values, chance)
    if pad := values["pad"]:
        rows, columns = pixels.shape[:2]
        pixels = rm.crop(pixels, (-pad, -pad, columns + 2 * pad, rows + 2 * pad), fill=fill_of(values))
    return coloured(_cut(pixels, values, chance), values, chance)


def fill_of(values: Mapping[str, Any]) -> int | tuple[int, ...]:
    """Levels that padding adds: a fourth channel gets none of `fill_value`, as in MXNet."""
    fill: int = values["fill_value"]
    return (fill, fill, fill, 0) if values["data_shape"][0] == 4 else fill


def draw_mirror(values: Mapping[str, Any], chance: Numbers) -> bool:
    """Tell whether an image is mirrored."""
    return bool((values["rand_mirror"] and chance.coin()) or values["mirror"])


def _cut(pixels: Pixels, values: Mapping[str, Any], chance: Numbers) -> Pixels:
    """The window, brought to the size of the batch."""
    size, goal = pixels.shape[:2], tuple(values["data_shape"][1:])
    window = None
    if values["random_resized_crop"]:
        window = draw_area(size, values, chance)
    elif values["max_crop_size"] > 0:
        window = draw_square(size, values, chance)
    if window is not None:
        part = rm.crop(pixels, window)
        return resized(part, goal, drawn_method(values["inter_method"], part.shape[:2], goal, chance))
    method = drawn_method(values["inter_method"], size, goal, chance)
    for side in (0, 1):
        pixels = resized(pixels, _as_size(grow_to(_sizes(pixels), np.array(goal), side)), method)
    return rm.crop(pixels, draw_window(pixels.shape[:2], goal, values, chance))


def _sizes(pixels: Pixels) -> NDArray[np.int64]:
    return np.array([pixels.shape[:2]])


def _as_size(sizes: NDArray[np.int64]) -> tuple[int, int]:
    height, width = sizes[0].tolist()
    return height, width

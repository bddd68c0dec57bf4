"""The part of an image that ImageRecordIter keeps, as MXNet draws it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from recordmill.compat.mxnet.base import MXNetError
from recordmill.compat.mxnet.io.asked import aspect_ratios
from recordmill.compat.mxnet.io.numbers import Numbers, rounded

# Rows, columns.
Size = tuple[int, int]
# x, y, width, height.
Window = tuple[int, int, int, int]
_ATTEMPTS = 10


def draw_window(size: Size, wanted: Size, values: Mapping[str, Any], chance: Numbers) -> Window:
    """Draw a window of a size, or the one in the middle without `rand_crop`."""
    room = [side - part for side, part in zip(size, wanted, strict=True)]
    y, x = (chance.integer(0, one) if values["rand_crop"] else one // 2 for one in room)
    return x, y, wanted[1], wanted[0]


def draw_square(size: Size, values: Mapping[str, Any], chance: Numbers) -> Window:
    """Draw a square between `min_crop_size` and `max_crop_size`."""
    largest = values["max_crop_size"]
    if min(size) < largest:
        message = "Check failed: input image size smaller than max_crop_size"
        found = f"{size[1]} x {size[0]}"
        raise MXNetError(message, kind="small_image", expected=f"at least {largest} pixels", found=found)
    side = chance.integer(values["min_crop_size"], largest)
    return draw_window(size, (side, side), values, chance)


def draw_area(size: Size, values: Mapping[str, Any], chance: Numbers) -> Window | None:
    """Draw a window of random area and shape."""
    areas = values["min_random_area"], values["max_random_area"]
    ratios = aspect_ratios(values)
    if areas == (1.0, 1.0) and ratios == (1.0, 1.0):
        return None
    whole = np.float32(size[0] * size[1])
    for _ in range(_ATTEMPTS):
        area = whole * chance.uniform(*areas)
        ratio = chance.uniform(*ratios)
        height, width = rounded(np.sqrt(area / ratio)), rounded(np.sqrt(area * ratio))
        if chance.uniform() > 0.5:
            height, width = width, height
        if height <= size[0] and width <= size[1]:
            y, x = chance.integer(0, size[0] - height), chance.integer(0, size[1] - width)
            return x, y, width, height
    return None

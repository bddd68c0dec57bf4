"""MXNet's own windows and mirrors for images that one native call makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.mxnet.io.asked import has_light
from recordmill.compat.mxnet.io.geometry import shorter_to
from recordmill.compat.mxnet.io.lighting import draw_light
from recordmill.compat.mxnet.io.numbers import Numbers
from recordmill.compat.mxnet.io.steps import draw_mirror
from recordmill.compat.mxnet.io.windows import Size, Window, draw_area, draw_window
from recordmill.dataclass import dataclass

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False, slots=True)
class Drawn:
    """The choices of n images."""

    windows: Ints
    mirrors: NDArray[np.bool_]
    lights: NDArray[np.float32]
    possible: NDArray[np.bool_]

    def __getitem__(self, rows: Ints) -> Drawn:
        """Return the choices of some images."""
        return Drawn(self.windows[rows], self.mirrors[rows], self.lights[rows], self.possible[rows])


def draw_all(sizes: Ints, values: Mapping[str, Any], numbers: Sequence[Numbers]) -> Drawn:
    """Draw what MXNet draws for images that are only scaled, padded, cut and mirrored."""
    windows = np.zeros((len(sizes), 4), np.int64)
    mirrors, possible = np.zeros(len(sizes), np.bool_), np.ones(len(sizes), np.bool_)
    lights = np.zeros((len(sizes), 2), np.float32)
    for row, (height, width) in enumerate(shorter_to(sizes, values["resize"]).tolist()):
        if not sizes[row].all():
            windows[row] = 0, 0, 1, 1
            continue
        chance = numbers[row]
        window = _window((height, width), values, chance)
        if window is None:
            possible[row] = False
            continue
        windows[row], mirrors[row] = window, draw_mirror(values, chance)
        if has_light(values):
            lights[row] = draw_light(values, chance)
    return Drawn(windows, mirrors, lights, possible)


def _window(size: Size, values: Mapping[str, Any], chance: Numbers) -> Window | None:
    if values["random_resized_crop"]:
        return draw_area(size, values, chance)
    pad, (height, width) = values["pad"], values["data_shape"][1:]
    padded = size[0] + 2 * pad, size[1] + 2 * pad
    if padded[0] < height or padded[1] < width:
        return None
    x, y, _, _ = draw_window(padded, (height, width), values, chance)
    return x - pad, y - pad, width, height

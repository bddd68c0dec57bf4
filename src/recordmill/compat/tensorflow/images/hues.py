"""Red, green and blue to hue, saturation and value and back, as TensorFlow's kernels compute them.

Float32 takes the library's kernels, other floats NumPy's way, which the kernels are compared with.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import recordmill as rm

Floats = NDArray[Any]
_SIXTHS = 6


def hsv_of(colours: Floats) -> Floats:
    """Hue, saturation and value, each from 0 to 1."""
    return rm.rgb_to_hsv(colours) if colours.dtype == np.float32 else any_hsv_of(colours)


def colours_of(hsv: Floats) -> Floats:
    """Red, green and blue of hue, saturation and value."""
    return rm.hsv_to_rgb(hsv) if hsv.dtype == np.float32 else any_colours_of(hsv)


def any_hsv_of(colours: Floats) -> Floats:
    """`hsv_of` in NumPy, for all floats."""
    kind = colours.dtype.type
    red, green, blue = (colours[..., channel] for channel in range(3))
    value, spread = colours.max(-1), colours.max(-1) - colours.min(-1)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        saturation = np.where(value > 0, spread / value, kind(0))
        unit = (kind(1) / spread) * kind(1 / 6)
        hue = np.where(
            red == value,
            unit * (green - blue),
            np.where(green == value, unit * (blue - red) + kind(2 / 6), unit * (red - green) + kind(4 / 6)),
        )
    hue = np.where(spread > 0, hue, kind(0))
    return np.stack([np.where(hue < 0, hue + kind(1), hue), saturation, value], -1)


def any_colours_of(hsv: Floats) -> Floats:
    """`colours_of` in NumPy, for all floats."""
    kind = hsv.dtype.type
    hue, saturation, value = hsv[..., 0] * kind(_SIXTHS), hsv[..., 1], hsv[..., 2]
    ramps = (
        np.abs(hue - kind(3)) - kind(1),
        kind(2) - np.abs(hue - kind(2)),
        kind(2) - np.abs(hue - kind(4)),
    )
    rest = kind(1) - saturation
    parts = [(rest + saturation * np.clip(ramp, kind(0), kind(1))) * value for ramp in ramps]
    return np.stack(parts, -1)

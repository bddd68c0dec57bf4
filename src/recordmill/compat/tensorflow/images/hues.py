"""Red, green and blue to hue, saturation and value and back, as TensorFlow's kernels compute them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[Any]
_SIXTHS = 6
# What each sixth of the circle of hues makes of the largest, middle and smallest part: places of red, green, blue.
_PARTS = np.array([(0, 1, 2), (1, 0, 2), (2, 0, 1), (2, 1, 0), (1, 2, 0), (0, 2, 1)])


def hsv_of(colours: Floats) -> Floats:
    """Hue, saturation and value, each from 0 to 1.

    Parameters
    ----------
    colours : ndarray of float, shape (..., 3)
        Red, green, blue.

    Returns
    -------
    ndarray of the same dtype and shape
    """
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


def colours_of(hsv: Floats) -> Floats:
    """Red, green and blue of hue, saturation and value.

    Parameters
    ----------
    hsv : ndarray of float, shape (..., 3)

    Returns
    -------
    ndarray of the same dtype and shape
    """
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


def with_saturation(colours: Floats, factor: float) -> Floats:
    """Colours of another saturation.

    Parameters
    ----------
    colours : ndarray of float32, shape (..., 3)
    factor : float

    Returns
    -------
    ndarray of float32, of the same shape
    """
    kind = colours.dtype.type
    value, spread = colours.max(-1), colours.max(-1) - colours.min(-1)
    red, green, blue = (colours[..., channel] for channel in range(3))
    with np.errstate(divide="ignore", invalid="ignore"):
        saturation = np.where(value > 0, spread / value, kind(0))
        unit = kind(1) / (kind(6) * spread)
        hue = np.where(
            red == value,
            unit * (green - blue),
            np.where(green == value, unit * (blue - red) + kind(2 / 6), unit * (red - green) + kind(4 / 6)),
        )
    hue = np.where(spread <= 0, kind(0), hue)
    hue = np.where(hue < 0, hue + kind(1), hue)
    return _mixed(hue, np.minimum(np.maximum(saturation * kind(factor), kind(0)), kind(1)), value)


def _mixed(hue: Floats, saturation: Floats, value: Floats) -> Floats:
    kind = value.dtype.type
    chroma = saturation * value
    least, sixth = value - chroma, hue * kind(6)
    middle = chroma * (kind(1) - np.abs(np.fmod(sixth, kind(2)) - kind(1)))
    ordered = np.stack([chroma, middle, np.zeros_like(chroma)], -1) + least[..., None]
    return _placed(ordered, sixth.astype(np.int64))


def _placed(ordered: Floats, sixth: NDArray[np.int64]) -> Floats:
    """Largest, middle and smallest part, each to its colour."""
    return np.take_along_axis(ordered, _PARTS[np.clip(sixth, 0, _SIXTHS - 1)], -1)


def with_hue(colours: Floats, delta: float) -> Floats:
    """Colours turned on the circle of hues; their largest and smallest parts stay.

    Parameters
    ----------
    colours : ndarray of float32, shape (..., 3)
    delta : float
        In full turns.

    Returns
    -------
    ndarray of float32, of the same shape
    """
    kind = colours.dtype.type
    least, middle, most = np.moveaxis(np.sort(colours, axis=-1), -1, 0)
    sixth = _sixth_of(colours)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(most == least, kind(0), (middle - least) / (most - least))
    hue = np.where(most == least, kind(0), sixth + np.where(sixth % 2 == 0, ratio, kind(1) - ratio)).astype(
        colours.dtype
    )
    hue = hue + kind(delta) * kind(_SIXTHS)
    hue = np.where(hue < 0, hue + kind(_SIXTHS), hue)
    hue = np.where(hue >= kind(_SIXTHS), hue - kind(_SIXTHS), hue)
    turned = hue.astype(np.int64)
    ratio = hue - turned.astype(colours.dtype)
    ratio = np.where(turned % 2 == 0, ratio, kind(1) - ratio)
    return _placed(np.stack([most, least + ratio * (most - least), least], -1), turned)


def _sixth_of(colours: Floats) -> NDArray[np.int64]:
    """Sixth of the circle that a colour lies in, by the order of its parts."""
    red, green, blue = (colours[..., channel] for channel in range(3))
    if_red_less = np.where(blue < red, 1, np.where(blue > green, 3, 2))
    if_red_more = np.where(blue < green, 0, np.where(blue > red, 4, 5))
    return np.where(red < green, if_red_less, if_red_more)

"""Reference of TensorFlow's saturation, hue and HSV arithmetic in NumPy's float32."""

from __future__ import annotations

import numpy as np

one, two, six = np.float32(1), np.float32(2), np.float32(6)


def adjust_saturation(color: np.ndarray, factor: float) -> np.ndarray:
    """Multiply the saturation of one color, and clip it to 1."""
    red, green, blue = color
    # The order of these comparisons matters for NaN.
    larger, smaller = max(green, blue), min(green, blue)
    value = max(red, larger)
    spread = value - min(red, smaller)
    saturation = spread / value if value > 0 else np.float32(0)
    saturation = min(one, max(np.float32(0), saturation * np.float32(factor)))
    chroma = saturation * value
    return _color_of_hue(_hue(red, green, blue, value, spread) * six, chroma) + (value - chroma)


def _hue(red: np.float32, green: np.float32, blue: np.float32, value: np.float32, spread: np.float32) -> np.float32:
    unit = one / (six * spread)
    if red == value:
        hue = unit * (green - blue)
    elif green == value:
        hue = np.float32(np.float64(unit * (blue - red)) + 2 / 6)
    else:
        hue = np.float32(np.float64(unit * (red - green)) + 4 / 6)
    hue = np.float32(0) if spread <= 0 else hue
    return hue + one if hue < 0 else hue


def _color_of_hue(hue: np.float32, chroma: np.float32) -> np.ndarray:
    """Return the color with a minimum of 0; hues are from 0 to 6."""
    if not 0 <= hue < 6:  # Rounding can give 6; NaN has no hue. TensorFlow returns gray for both.
        return np.zeros(3, np.float32)
    middle = chroma * (one - abs(np.fmod(hue, two) - one))
    return np.array(_arrange_channels(int(hue), chroma, middle, np.float32(0)), np.float32)


def adjust_hue(color: np.ndarray, shift: float) -> np.ndarray:
    """Rotate the hue of one color by a fraction of a full turn."""
    sector, largest, middle, smallest = _sort_channels(*color)
    hue = np.float32(0)
    if largest != smallest:
        fraction = (middle - smallest) / (largest - smallest)
        hue = np.float32(sector) + (one - fraction if sector % 2 else fraction)
    hue += np.float32(shift) * six
    while hue < 0:
        hue += six
    while hue >= 6:
        hue -= six
    sector = 6 if np.isnan(hue) else int(hue)
    fraction = hue - np.float32(sector)
    middle = smallest + (one - fraction if sector % 2 else fraction) * (largest - smallest)
    return np.array(_arrange_channels(sector, largest, middle, smallest), np.float32)


def _sort_channels(
    red: np.float32, green: np.float32, blue: np.float32
) -> tuple[int, np.float32, np.float32, np.float32]:
    """Return the sector of the hue, and the channels from largest to smallest."""
    if red < green:
        if blue < red:
            return 1, green, red, blue
        return (3, blue, green, red) if blue > green else (2, green, blue, red)
    if blue < green:
        return 0, red, green, blue
    return (4, blue, red, green) if blue > red else (5, red, blue, green)


def _arrange_channels(
    sector: int, largest: np.float32, middle: np.float32, smallest: np.float32
) -> tuple[np.float32, ...]:
    """Return red, green and blue of a hue in one of six sectors."""
    colors = [
        (largest, middle, smallest),
        (middle, largest, smallest),
        (smallest, largest, middle),
        (smallest, middle, largest),
        (middle, smallest, largest),
        (largest, smallest, middle),
    ]
    return colors[min(sector, 5)]


def rgb_to_hsv(colors: np.ndarray) -> np.ndarray:
    """Return hue, saturation and value of an array of colors."""
    zero, third = np.float32(0), np.float32(2 / 6)
    red, green, blue = (colors[..., channel] for channel in range(3))
    value, spread = colors.max(-1), colors.max(-1) - colors.min(-1)
    saturation = np.where(value > 0, spread / value, zero)
    unit = (one / spread) * np.float32(1 / 6)
    hue = np.where(green == value, unit * (blue - red) + third, unit * (red - green) + np.float32(4 / 6))
    hue = np.where(red == value, unit * (green - blue), hue)
    hue = np.where(spread > 0, hue, zero)
    return np.stack([np.where(hue < 0, hue + one, hue), saturation, value], -1)


def hsv_to_rgb(hsv: np.ndarray) -> np.ndarray:
    """Return the colors of an array of hue, saturation and value."""
    hue, saturation, value = hsv[..., 0] * six, hsv[..., 1], hsv[..., 2]
    ramps = (np.abs(hue - np.float32(3)) - one, two - np.abs(hue - two), two - np.abs(hue - np.float32(4)))
    rest = one - saturation
    channels = [(rest + saturation * np.clip(ramp, np.float32(0), one)) * value for ramp in ramps]
    return np.stack(channels, -1)

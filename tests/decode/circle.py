"""TensorFlow's arithmetic of saturation and hue in NumPy's float32: one color with branches, and arrays."""

from __future__ import annotations

import numpy as np

one, two, six = np.float32(1), np.float32(2), np.float32(6)


def saturated(color: np.ndarray, factor: float) -> np.ndarray:
    """A color whose saturation is multiplied, at most to the full."""
    red, green, blue = color
    largest, smallest = max(green, blue), min(green, blue)
    most = max(red, largest)
    spread = most - min(red, smallest)
    saturation = spread / most if most > 0 else np.float32(0)
    saturation = min(one, max(np.float32(0), saturation * np.float32(factor)))
    chroma = saturation * most
    return _mixed(_hue(red, green, blue, most, spread) * six, chroma) + (most - chroma)


def _hue(red: np.float32, green: np.float32, blue: np.float32, most: np.float32, spread: np.float32) -> np.float32:
    unit = one / (six * spread)
    if red == most:
        hue = unit * (green - blue)
    elif green == most:
        hue = np.float32(np.float64(unit * (blue - red)) + 2 / 6)
    else:
        hue = np.float32(np.float64(unit * (red - green)) + 4 / 6)
    hue = np.float32(0) if spread <= 0 else hue
    return hue + one if hue < 0 else hue


def _mixed(sixth: np.float32, chroma: np.float32) -> np.ndarray:
    if not 0 <= sixth < 6:  # a whole turn, or no number: gray
        return np.zeros(3, np.float32)
    middle = chroma * (one - abs(np.fmod(sixth, two) - one))
    return np.array(_placed(int(sixth), chroma, middle, np.float32(0)), np.float32)


def turned(color: np.ndarray, turn: float) -> np.ndarray:
    """A color turned on the circle."""
    sixth, most, middle, least = _ordered(*color)
    hue = np.float32(0)
    if most != least:
        share = (middle - least) / (most - least)
        hue = np.float32(sixth) + (one - share if sixth % 2 else share)
    hue += np.float32(turn) * six
    while hue < 0:
        hue += six
    while hue >= 6:
        hue -= six
    sixth = 6 if np.isnan(hue) else int(hue)
    share = hue - np.float32(sixth)
    middle = least + (one - share if sixth % 2 else share) * (most - least)
    return np.array(_placed(sixth, most, middle, least), np.float32)


def _ordered(red: np.float32, green: np.float32, blue: np.float32) -> tuple[int, np.float32, np.float32, np.float32]:
    if red < green:
        if blue < red:
            return 1, green, red, blue
        return (3, blue, green, red) if blue > green else (2, green, blue, red)
    if blue < green:
        return 0, red, green, blue
    return (4, blue, red, green) if blue > red else (5, red, blue, green)


def _placed(sixth: int, most: np.float32, middle: np.float32, least: np.float32) -> tuple[np.float32, ...]:
    ways = [
        (most, middle, least),
        (middle, most, least),
        (least, most, middle),
        (least, middle, most),
        (middle, least, most),
        (most, least, middle),
    ]
    return ways[min(sixth, 5)]


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
    parts = [(rest + saturation * np.clip(ramp, np.float32(0), one)) * value for ramp in ramps]
    return np.stack(parts, -1)

"""Colours as ImageRecordIter changes them, with MXNet's draws and arithmetic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.mxnet.io.hues import looked_up, shifted
from recordmill.compat.mxnet.io.numbers import Numbers

Pixels = NDArray[np.uint8]
_LEVELS = np.arange(256, dtype=np.float32)
_JITTER = ("brightness", "contrast", "saturation")
_SHIFTS = ("random_h", "random_l", "random_s")
# Weights of 14 bits; MXNet takes its blue for red, and so weighs red as blue.
_GREY = np.array([1868, 9617, 4899])
# ImageNet's axes of colours times their deviations: rows for red, green and blue.
_AXES = np.array(
    [
        [55.46 * -0.5675, 4.794 * 0.7192, 1.148 * 0.4009],
        [55.46 * -0.5808, 4.794 * -0.0045, 1.148 * -0.8140],
        [55.46 * -0.5836, 4.794 * -0.6948, 1.148 * 0.4203],
    ],
    np.float32,
)


def coloured(pixels: Pixels, values: Mapping[str, Any], chance: Numbers) -> Pixels:
    """Jitter, shift and add noise to the colours of one image, as the parameters ask for."""
    if any(values[name] > 0 for name in _JITTER):
        pixels = _jittered(pixels, values, chance)
    if any(values[name] for name in _SHIFTS):
        pixels = shifted(pixels, _shifts(values, chance))
    if values["pca_noise"] > 0:
        pixels = _noisy(pixels, values["pca_noise"], chance)
    return pixels


def _jittered(pixels: Pixels, values: Mapping[str, Any], chance: Numbers) -> Pixels:
    factors = [np.float32(1.0 + float(chance.uniform(-values[name], values[name]))) for name in _JITTER]
    for which in chance.order(len(_JITTER)):
        factor = factors[which]
        if factor == 1:
            continue
        if which == 0:
            pixels = _kept(_LEVELS * factor)[pixels]
        elif which == 1:
            mean = np.float32(_grey(pixels).mean(dtype=np.float64))
            pixels = _kept(_LEVELS * factor + (np.float32(1) - factor) * mean)[pixels]
        else:
            pixels = _kept(pixels * factor + _grey(pixels)[:, :, None] * (np.float32(1) - factor))
    return pixels


def _grey(pixels: Pixels) -> Pixels:
    if pixels.shape[2] == 1:
        return pixels[:, :, 0]
    grey: Pixels = ((pixels @ _GREY + (1 << 13)) >> 14).astype(np.uint8)
    return grey


def _kept(values: NDArray[np.float32]) -> Pixels:
    """Nearest levels, ties to even."""
    kept: Pixels = np.clip(np.rint(values), 0, 255).astype(np.uint8)
    return kept


def _shifts(values: Mapping[str, Any], chance: Numbers) -> list[int]:
    """What is added to hue, lightness and saturation: less than the parameters say, drawn in another order."""
    drawn = {name: _near_middle(chance) for name in ("random_h", "random_s", "random_l")}
    most = {name: np.float32(values[name]) for name in _SHIFTS}
    return [int(drawn[name] * most[name] * np.float32(2) - most[name]) for name in _SHIFTS]


def _near_middle(chance: Numbers) -> np.float32:
    """A float32 from 0 to 1, rarely near its ends."""
    return (chance.uniform() + np.float32(4) * chance.uniform()) / np.float32(5)


def _noisy(pixels: Pixels, deviation: float, chance: Numbers) -> Pixels:
    amounts = chance.normals(3, deviation)
    offsets = [(axis[0] * amounts[0] + axis[1] * amounts[1]) + axis[2] * amounts[2] for axis in _AXES]
    if pixels.shape[2] == 1:
        offsets = [np.float32(sum(offsets) / 3)]
    tables = [np.clip(np.trunc(_LEVELS + offset), 0, 255).astype(np.uint8) for offset in offsets]
    return looked_up(pixels, tables)

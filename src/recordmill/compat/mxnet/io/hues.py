"""Hue, lightness and saturation of pictures moved, each within its range."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

import recordmill as rm

Pixels = NDArray[np.uint8]
_LARGEST = (180, 255, 255)


def shifted(pixels: Pixels, shifts: Sequence[int], behind: int | None = None) -> Pixels:
    """Picture with other hue, lightness and saturation; hues end at 180 and do not begin again."""
    levels = np.arange(256)
    tables = [np.clip(levels + by, 0, top).astype(np.uint8) for by, top in zip(shifts, _LARGEST, strict=True)]
    return rm.hls_to_rgb(looked_up(rm.rgb_to_hls(pixels, behind=behind), tables))


def looked_up(pixels: Pixels, tables: Sequence[Pixels]) -> Pixels:
    """Levels of every channel by its own table."""
    return np.stack([table.take(pixels[:, :, channel]) for channel, table in enumerate(tables)], axis=2)

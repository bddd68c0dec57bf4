"""Hands arrays of any depth and number of channels to a function of Pillow images, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.decode.pillow import need_pillow


def through_pillow(pixels: NDArray[Any], function: Callable[[Any], Any]) -> NDArray[Any]:
    """Apply a function of Pillow images; channels never mix, 16 bits travel as 32-bit fractions and are rounded."""
    if pixels.dtype == np.uint8 and pixels.shape[2] == 3:
        return np.asarray(function(_image(pixels)))
    planes = [_plane(pixels[:, :, channel], function) for channel in range(pixels.shape[2])]
    return np.stack(planes, axis=2)


def _plane(plane: NDArray[Any], function: Callable[[Any], Any]) -> NDArray[Any]:
    if plane.dtype == np.uint8:
        return np.asarray(function(_image(plane)))
    moved = np.asarray(function(_image(plane.astype(np.float32))))
    return moved if plane.dtype == np.float32 else np.clip(np.rint(moved), 0, 65535).astype(np.uint16)


def _image(pixels: NDArray[Any]) -> Any:
    return need_pillow().fromarray(np.ascontiguousarray(pixels))

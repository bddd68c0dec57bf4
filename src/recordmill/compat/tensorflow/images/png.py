"""PNG to pixels with the channels and depth that are asked for."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.pixel_copies import laid_out
from recordmill.compat.tensorflow.images.contents import refuse
from recordmill.errors import MissingExtraError, RecordmillError

_DEPTH, _COLOUR_TYPE = 24, 25
_STORED = {0: 1, 2: 3}
_CHANNELS: dict[int, Literal["stored", "grey", "rgb"]] = {0: "stored", 1: "grey", 3: "rgb", 4: "stored"}


def png_pixels(data: bytes, channels: int, *, deep: bool) -> NDArray[Any]:
    """Decode a PNG."""
    try:
        pixels = _as_stored(data) if _holds(data, channels) else _as_asked(data, channels, deep)
    except MissingExtraError:
        raise
    except RecordmillError as error:
        refuse(f"Invalid PNG data, size {len(data)}", error)
    if deep and pixels.dtype == np.uint8:
        pixels = pixels.astype(np.uint16) * np.uint16(257)
    pixels = pixels[:, :, None] if pixels.ndim == 2 else pixels
    if channels == 0:
        return pixels[:, :, : _STORED.get(data[_COLOUR_TYPE], 4)]  # a transparent colour is no channel
    return _with_alpha(pixels) if channels == 4 else pixels


def _holds(data: bytes, channels: int) -> bool:
    """Whether a file says that it holds 8-bit levels of the channels that are asked for."""
    head = data[_DEPTH : _COLOUR_TYPE + 1]
    return len(head) == 2 and head[0] == 8 and (stored := _STORED.get(head[1], 0)) > 0 and channels in (0, stored)


def _as_stored(data: bytes) -> NDArray[Any]:
    pixels = rm.decode_png(data)
    # Transparency is no channel.
    return pixels if pixels.ndim == 2 else laid_out(pixels[:, :, : _STORED[data[_COLOUR_TYPE]]])


def _as_asked(data: bytes, channels: int, deep: bool) -> NDArray[Any]:
    return rm.decode_image(data, like="tensorflow", channels=_CHANNELS[channels], depth="stored" if deep else "8")


def _with_alpha(pixels: NDArray[Any]) -> NDArray[Any]:
    """Red, green, blue and alpha of what a file holds."""
    stored = pixels.shape[2]
    if stored == 4:
        return pixels
    opaque = np.full((*pixels.shape[:2], 1), np.iinfo(pixels.dtype).max, pixels.dtype)
    colours = pixels if stored == 3 else np.repeat(pixels[:, :, :1], 3, axis=2)
    return np.concatenate([colours, pixels[:, :, 1:] if stored == 2 else opaque], axis=2)

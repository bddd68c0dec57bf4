"""Pictures decoded one after another, and what of them is wrong told with its record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.oneflow.faults import placed
from recordmill.compat.oneflow.tensors import Place
from recordmill.compat.oneflow.threads import in_threads
from recordmill.compat.pixel_copies import reordered
from recordmill.compat.processors import num_processors
from recordmill.errors import DecodeError, RecordmillError
from recordmill.types import Ragged

Pixels = NDArray[Any]
Channels = Literal["rgb", "bgr", "grey"]
_JPEG = b"\xff\xd8"


def decode_all(
    name: str, encoded: Sequence[Any], places: Sequence[Place], channels: Channels, orientation: Any
) -> list[Pixels]:
    """Pictures of a batch, decoded as OpenCV does."""
    spec = rm.Image(like="opencv", channels=channels, orientation=orientation, layout="hwc", stack=False, dtype="uint8")
    try:
        found: list[Pixels] = rm.decode_batch({name: list(encoded)}, {name: spec}, threads=num_processors())[name]
    except DecodeError as error:
        raise placed(error, places[error.position or 0]) from None
    return found


def decode_windows(
    encoded: Sequence[Any], places: Sequence[Place], windows: NDArray[np.int64], channels: Channels
) -> list[Pixels]:
    """Parts of the pictures of a batch; EXIF is ignored."""

    def decode(position: int) -> Pixels:
        try:
            return _decode_window(encoded[position], tuple(windows[position].tolist()), channels)
        except RecordmillError as error:
            raise placed(error, places[position]) from None

    return in_threads(decode, len(encoded))


def _decode_window(data: Any, window: Any, channels: Channels) -> Pixels:
    if bytes(data[:2]) == _JPEG:
        pixels = rm.decode_jpeg(data, window=window, channels="stored")
        if pixels.ndim == 3 and pixels.shape[2] == 3:
            return _coloured(data, pixels, window, channels)
        if pixels.ndim == 2:
            return np.repeat(pixels[:, :, None], 1 if channels == "grey" else 3, axis=2)
    pixels = rm.decode_image(data, like="opencv", window=window, channels=channels, orientation="ignore", depth="8")
    return pixels[:, :, None] if pixels.ndim == 2 else pixels


def _coloured(data: Any, pixels: Pixels, window: Any, channels: str) -> Pixels:
    if channels == "grey":
        return rm.decode_jpeg(data, window=window, channels="grey")[:, :, None]
    return pixels if channels == "rgb" else reordered(pixels, (2, 1, 0))


def rows_of(strings: Ragged) -> list[Any]:
    """Byte strings as views of their buffer."""
    splits = strings.row_splits
    return [strings.data[splits[row] : splits[row + 1]] for row in range(len(strings))]
